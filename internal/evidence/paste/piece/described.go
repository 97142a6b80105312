package piece

import "strings"

// Described is a text that describes a program, a protocol or a way to do things: nobody's
// case, whatever it says and shows as an example.
type Described struct {
	Kind string // "a manual page"
	Source
}

// The kinds of such texts.
const (
	manualPage    = "a manual page"
	standard      = "a standard"
	changes       = "a list of changes"
	documentation = "documentation"
)

// mostLooked is how many lines of a text tell what it is.
const mostLooked = 6000

// From how much on marks count. What people write about their own networks has a few lines
// of prose between outputs, and speaks of them.
const (
	fewestSections = 3   // of a manual page
	fewestEntries  = 2   // of a list of changes
	fewestTitles   = 3   // underlined
	fewestMarked   = 12  // lines of prose below a heading
	fewestGoingOn  = 20  // lines that go on in the next, where no heading is
	fewestWhole    = 5   // lines that go on or end a sentence, below headings
	wordsOfOne     = 250 // in so many words a description says "I" once at most
)

var (
	section   = Compile(`^\s{0,8}(?:NAME|SYNOPSIS|SYNTAX|DESCRIPTION|OPTIONS|EXAMPLES?|SEE ALSO|AUTHORS?|BUGS|FILES|EXIT STATUS|ENVIRONMENT|COPYRIGHT|HISTORY|NOTES|COMMANDS|PARAMETERS|RETURN VALUE|ERRORS|VERSIONS|LIMITATIONS)\s*$`)
	ofRFC     = Compile(`^(?:Request for Comments: ?\d|Internet-Draft\b|RFC \d{2,5} {8}|\s*Status of [Tt]his (?:Memo|Document)\s*$)`)
	entry     = Compile(`^(?:[a-z0-9][a-z0-9.+-]* \([^()\s]+\) [\w -]+; urgency=|commit [0-9a-f]{40}\b|#{1,4} \[?(?:v|[Vv]ersion |[Rr]elease )?\d+\.\d+[^ ]*\]?(?: ?[-(:].*)?\s*$|(?:== |Version |Release |Changes (?:in|since|between) )(?:\S+[ -])?v?\d+\.\d+)`)
	heading   = Compile(`^#{1,5} +\S`)
	form      = Compile(`(?i)^#{1,5} +.*\b(?:bugs?|expected|actual|behaviou?rs?|reproduc\w*|environment|issues?|problems?|logs?|what happened|happen\w*|context|versions?|checklist|screenshots?|symptoms?|outputs?|results?|setup|hardware|troubleshoot\w*|analysis|measured|before|after)\b`)
	rstMark   = Compile(`^\.\. (?:SPDX-|[\w-]+::|_\S)`)
	ofSpeaker = Compile(`(?:^|[\s("'])(?:I(?:'m|'ve|'d|'ll)?|[Mm]y|[Ii]'m|i) [a-z]+|^\s*(?:Hi|Hello|Hey)\b[ ,!.]*(?:all|everyone|guys|there|folks)?[,!.]*\s*$|\b[Aa]ny (?:advice|ideas?|help|hints?|suggestions?|thoughts?)|\b(?:We have|we have|We are|We're|we're seeing|[Oo]ur) [a-z]+|(?i:(?:^|[^\p{L}])(?:ich|mir|mein\p{L}*|wir|unser\p{L}*|je|j'ai|nous|notre|tengo|nuestr\p{L}+|hemos|minha|abbiamo|мы|я|меня|мой|наш\p{L}*|нас)(?:[^\p{L}]|$))|我`)
	prose     = Compile(`^[\s*>|-]*(?:[A-Za-z(\["'` + "`" + `]).*[a-z]{2,} [a-z]{2,} [a-z]{2,}`)
)

// signs are what tells a description from a case.
type signs struct {
	sections, standard, entries, titles, headings, forms, prose, goesOn, ends, words, speaker int
}

// describes is what kind of description lines are; "" they may be a case.
func describes(lines []Line) string {
	var n signs
	for i, l := range lines[:min(len(lines), mostLooked)] {
		n.look(l.Text, lines[:i])
	}
	switch {
	case n.sections >= fewestSections:
		return manualPage
	case n.standard > 1:
		return standard
	case n.speaker > n.words/wordsOfOne:
		return ""
	case n.entries >= fewestEntries && n.prose >= n.entries:
		return changes
	case n.prose < fewestMarked:
	case n.titles >= fewestTitles && n.goesOn >= fewestWhole, n.headings > n.forms && n.forms*3 < n.headings && n.goesOn+n.ends >= fewestWhole, n.goesOn >= fewestGoingOn && n.goesOn*4 > n.prose:
		return documentation
	}
	return ""
}

// look takes the signs of a line, which stands below others.
func (n *signs) look(text string, above []Line) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || len(text) > longestParagraph {
		return
	}
	before := ""
	if len(above) > 0 {
		before = above[len(above)-1].Text
	}
	switch {
	case section.MatchString(text):
		n.sections++
	case ofRFC.MatchString(text):
		n.standard++
	case entry.MatchString(text):
		n.entries++
	case rstMark.MatchString(text), underlines(text, before):
		n.titles++
	case heading.MatchString(text) && strings.TrimSpace(before) == "":
		n.headings++
		if form.MatchString(text) {
			n.forms++
		}
	}
	n.words += strings.Count(trimmed, " ") + 1
	if ofSpeaker.MatchString(text) {
		n.speaker++
	}
	if strings.Count(trimmed, " ") < fewestSpaces || !Spoken(text) || !prose.MatchString(text) || listed(trimmed, strings.TrimSpace(before)) {
		return
	}
	n.prose++
	if strings.HasSuffix(trimmed, ".") || trimmed[0] == '|' {
		n.ends++
	}
	if first := trimmed[0]; first >= 'a' && first <= 'z' && strings.Count(before, " ") >= fewestSpaces && Spoken(before) && prose.MatchString(before) && !endsSentence.MatchString(before) {
		n.goesOn++
	}
}

// listed reports a line that begins with the same three words as the one above it: one of
// a list of commands.
func listed(line, above string) bool {
	end := 0
	for range 3 {
		space := strings.IndexByte(line[end:], ' ')
		if space < 0 {
			return false
		}
		end += space + 1
	}
	return strings.HasPrefix(above, line[:end])
}

// underlines reports a row of one sign below a title as long as it is.
func underlines(text, title string) bool {
	row := strings.TrimRight(text, " ")
	title = strings.TrimRight(title, " ")
	if len(row) < 4 || strings.IndexByte(`=-~^*"`, row[0]) < 0 || title == "" || title[0] == ' ' || strings.Trim(row, row[:1]) != "" {
		return false
	}
	longer := len(row) - len(title)
	return longer >= -1 && longer <= 2 && strings.IndexFunc(title, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }) >= 0 && !strings.Contains(title, "  ")
}
