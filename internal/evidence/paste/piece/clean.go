package piece

import (
	"html"
	"strconv"
	"strings"
)

// cleaned takes off what lies around the outputs: what terminals, mail and markup
// add. A line keeps its number; one that has nothing else is left empty.
func cleaned(lines []Line) []Line {
	for i := range lines {
		lines[i].Text = plainLine(lines[i].Text)
	}
	lines = apart(lines)
	unindent(lines)
	unquote(lines)
	unnumber(lines)
	undiff(lines)
	return lines
}

// escapes are CSI and OSC sequences and the shorter ones of terminals.
var escapes = Compile("\x1b(\\[[0-9;:?<=>]*[ -/]*[@-~]|\\][^\x07\x1b]*(\x07|\x1b\\\\)?|[()][A-Z0-9]|[=>78cDEHM])")

// bareColours are colours whose escape character was lost on the way.
var bareColours = Compile(`\[(?:\d{1,3};?)*m`)

var overstrike = Compile("[^\b]\b")

var markup = Compile(`(?i)</?(pre|code|p|div|span|b|i|em|strong|tt|details|summary|blockquote|samp|font|a)(\s[^<>]*)?/?>|\[/?(code|quote|pre|b|i|size|font|spoiler|icode|plain|code=[a-z]+)\]`)

var entities = Compile(`&(lt|gt|amp|nbsp|quot|apos|#\d{2,4}|#x[0-9a-fA-F]{2,4});`)

// typeset are characters that word processors and forums put in place of others.
var typeset = strings.NewReplacer("\u00a0", " ", "\u202f", " ", "\u2007", " ", "\u2013", "-", "\u2014", "-", "\u2212", "-",
	"\u2018", "'", "\u2019", "'", "\u201c", `"`, "\u201d", `"`, "\u200b", "", "\u200e", "", "\ufeff", "", "\u2028", " ", "\x00", "",
	"кбит/с", "kbit/s", "Кбит/с", "kbit/s", "Мбит/с", "Mbit/s", "мбит/с", "Mbit/s", "Гбит/с", "Gbit/s", "гбит/с", "Gbit/s", "КБ/с", "kB/s", "МБ/с", "MB/s", "ГБ/с", "GB/s",
	"，", ", ", "。", ". ", "？", "? ", "！", "! ", "；", "; ", "：", ": ", "（", " (", "）", ") ")

// octets are the bytes of French.
var octets = Compile(`\b([KMG])o/s\b`)

// bareLine is a line of an output that nobody has quoted: without a terminal's
// colours and blanks at its end.
func bareLine(s string) string {
	if strings.IndexByte(s, 0x1b) >= 0 {
		s = escapes.ReplaceAllString(s, "")
	}
	return strings.TrimRight(s, " \t\f\v\x00")
}

func plainLine(s string) string {
	if strings.IndexByte(s, 0x1b) >= 0 {
		s = escapes.ReplaceAllString(s, "")
	}
	if strings.IndexByte(s, '\b') >= 0 {
		for range 4096 {
			was := s
			if s = overstrike.ReplaceAllString(s, ""); s == was {
				break
			}
		}
		s = strings.ReplaceAll(s, "\b", "")
	}
	if strings.Contains(s, "[0m") || strings.Contains(s, "[m") && !strings.Contains(s, "options [mss ") { // tcpdump's begin alike
		s = bareColours.ReplaceAllString(s, "")
	}
	if strings.IndexByte(s, '&') >= 0 && entities.MatchString(s) {
		s = html.UnescapeString(s)
	}
	if mayMark(s) {
		s = markup.ReplaceAllString(s, "")
	}
	if !plain(s) {
		s = typeset.Replace(s)
	}
	if strings.Contains(s, "o/s") {
		s = octets.ReplaceAllString(s, "${1}B/s")
	}
	if at := strings.IndexByte(s, '\\'); at >= 0 && at+1 < len(s) && strings.TrimSpace(s[:at]) == "" && strings.IndexByte("#$>*_`|-", s[at+1]) >= 0 {
		s = s[:at] + s[at+1:] // Markdown's way to write the sign itself
	}
	return strings.TrimRight(s, " \t\f\v")
}

// mayMark reports a bracket with a letter or a slash behind it.
func mayMark(s string) bool {
	for i := 0; i+1 < len(s); i++ {
		if c := s[i+1]; (s[i] == '<' || s[i] == '[') && (c == '/' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') {
			return true
		}
	}
	return false
}

// plain reports a line of ASCII without NULs.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] == 0 || s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// firstOf is a line's first character that is no blank; 0 none.
func firstOf(s string) byte {
	for i := range len(s) {
		if s[i] != ' ' && s[i] != '\t' {
			return s[i]
		}
	}
	return 0
}

// codeIndent is what Markdown puts before each line of a block of code.
const codeIndent = "    "

// unindent takes the indentation of code off where Markdown's blocks have it: at the
// beginning, or between a blank line that follows what somebody says and the next such one.
func unindent(lines []Line) {
	apart, told := true, true // a blank line or none was before, and a sentence before that
	for i := 0; i < len(lines); i++ {
		text := lines[i].Text
		switch {
		case text == "":
			apart = true
		case apart && told && strings.HasPrefix(text, codeIndent) && text[len(codeIndent)] != ' ':
			n := i
			for n < len(lines) && (lines[n].Text == "" || strings.HasPrefix(lines[n].Text, codeIndent)) {
				lines[n].Text = strings.TrimPrefix(lines[n].Text, codeIndent)
				n++
			}
			i, apart = n-1, n > 0 && lines[n-1].Text == ""
		default:
			apart, told = false, firstOf(text) == text[0] && Spoken(text) && len(strings.Fields(text)) >= fewestSaid
		}
	}
}

// fewestSaid are the words of a line that is said and no row of an output's.
const fewestSaid = 5

var quoted = Compile(`^ ?(> ?)+`)

// quotedCounter is one counter with its value that somebody quotes: no prompt's command.
var quotedCounter = Compile(`^ ?> ?[a-z][a-z0-9_.]*: \d+$`)

// unquote takes the marks of quoted mail off where they stand before several lines:
// one alone is a prompt or a redirection.
func unquote(lines []Line) {
	for i := 0; i < len(lines); {
		n := i
		for n < len(lines) && firstOf(lines[n].Text) == '>' && quoted.MatchString(lines[n].Text) {
			n++
		}
		if n-i >= 2 || n > i && quotedCounter.MatchString(lines[i].Text) {
			for ; i < n; i++ {
				lines[i].Text = quoted.ReplaceAllString(lines[i].Text, "")
			}
		}
		i = max(n, i+1)
	}
}

// tableHead is the line above a table's rows: their numbers are ports or groups.
var tableHead = Compile(`^\s*(?:[-=+| ]*[-=]{3,}[-=+| ]*|(?:Port|Group|No\.?|#|ID|Id|Index|Vlan|VLAN|Channel|CPU|Chan|ChanId|Slot|LAG)\s.*)$`)

var numbered = Compile(`^\s{0,6}(\d{1,6})(?:[:|\t]\s?|\s\s)(.*)$`)

// unnumber takes line numbers off where nearly all lines of a run have one and they
// rise by one.
func unnumber(lines []Line) {
	for i := 0; i < len(lines); {
		n, next := i, -1
		for n < len(lines) {
			var m []string
			if c := firstOf(lines[n].Text); c >= '0' && c <= '9' {
				m = numbered.FindStringSubmatch(lines[n].Text)
			}
			if m == nil {
				if next >= 0 && strings.TrimSpace(lines[n].Text) == "" {
					n++ // between two outputs
					continue
				}
				if bare, err := strconv.Atoi(strings.TrimSpace(lines[n].Text)); err == nil && bare == next {
					n, next = n+1, next+1 // a blank line's number
					continue
				}
				break
			}
			number, _ := strconv.Atoi(m[1])
			if next >= 0 && number != next {
				break
			}
			n, next = n+1, number+1
		}
		if n-i >= 4 && !(i > 0 && tableHead.MatchString(lines[i-1].Text)) && !countedRows(lines[i:n]) {
			for ; i < n; i++ {
				if m := numbered.FindStringSubmatch(lines[i].Text); m != nil {
					lines[i].Text = m[2]
				} else {
					lines[i].Text = ""
				}
			}
		}
		i = max(n, i+1)
	}
}

var hunk = Compile(`^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@`)

// undiff leaves of a unified diff what its new side has: the other side's lines are
// no longer so. The new file's name becomes a heading.
func undiff(lines []Line) {
	within := false
	for i := range lines {
		text := lines[i].Text
		next := ""
		if i+1 < len(lines) {
			next = lines[i+1].Text
		}
		switch {
		case strings.HasPrefix(text, "--- ") && strings.HasPrefix(next, "+++ "):
			lines[i].Text = ""
		case strings.HasPrefix(text, "+++ ") && i > 0 && lines[i-1].Text == "" && hunk.MatchString(next):
			name, _, _ := strings.Cut(strings.TrimPrefix(text, "+++ "), "\t")
			lines[i].Text = strings.TrimPrefix(name, "b")
			if !strings.HasPrefix(lines[i].Text, "/") || lines[i].Text == name {
				lines[i].Text = name
			} else if strings.Count(lines[i].Text, "/") == 1 {
				lines[i].Text = lines[i].Text[1:]
			}
		case hunk.MatchString(text):
			lines[i].Text, within = "", true
		case !within:
		case strings.HasPrefix(text, "+") || strings.HasPrefix(text, " "):
			lines[i].Text = text[1:]
		case strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "---"), strings.HasPrefix(text, `\ No newline`):
			lines[i].Text = ""
		case text != "":
			within = false
		}
	}
	unmark(lines)
}

var addedLine, removedLine = Compile(`^\+[ \t]*[A-Za-z_"'#\[{]`), Compile(`^-[ \t]{2,}[A-Za-z_"'#\[{]|^-[A-Za-z_#]`)

// unmark does the same for the rows of a diff whose head was left out: a paragraph of
// which every row begins with a blank, + or -, and that has both of them.
func unmark(lines []Line) {
	for i := 0; i < len(lines); {
		n, added, removed, kept := i, 0, 0, 0
		for ; n < len(lines) && lines[n].Text != ""; n++ {
			switch text := lines[n].Text; {
			case addedLine.MatchString(text):
				added++
			case removedLine.MatchString(text):
				removed++
			case text[0] == ' ' || text == "+" || text == "-":
				kept++
			default:
				added = -len(lines)
			}
		}
		if added > 0 && removed > 0 && kept > 0 {
			for ; i < n; i++ {
				if lines[i].Text[0] == '-' {
					lines[i].Text = ""
				} else {
					lines[i].Text = lines[i].Text[1:]
				}
			}
		}
		i = max(n, i+1)
	}
}

// countedRow is a row that has a number of its own: a link's of ip -o, a hop's of a
// trace, an interrupt's.
var countedRow = Compile(`^\s*\d{1,4}[:\s]\s*(?:[\w.@-]+:?\s+(?:<|.*\bmtu \d|inet6? |link/)|.*\d ms\b|(?:\* ?){2,}|(?:\d+\s+)+\S*(?:MSI|APIC|GIC|xen|ITS-))`)

// countedRows reports a run of which most rows are such.
func countedRows(lines []Line) bool {
	n := 0
	for _, l := range lines {
		if countedRow.MatchString(l.Text) {
			n++
		}
	}
	return n > len(lines)/2
}
