package piece

import (
	"strings"
	"unicode"
)

// longestParagraph is how long a line may be that people write.
const longestParagraph = 4000

// logged is a line of a log, and row one of a table or of a tool's output: nobody says them.
var (
	logged = Compile(`^\s*(?:\[\s*\d+\.\d+\]|[A-Z][a-z]{2}\s+\d+ \d\d:\d\d:\d\d|\d{4}-\d\d-\d\d[ T]\d\d:\d\d|[IWE]\d{4} \d\d:)|\bkernel: |^\s*[\w.@-]+\[\d+\]: `)
	row    = Compile(`^\s*(?:\[ *(?:\d+|SUM|ID)\]|\d+ bytes from|\d+: \w|inet6? |link/|iperf3?: |nc: |ping: |ssh: |curl: |[\w.-]+:\s+flags=|[\d.]+ MB / +[\d.]+ sec|(?:READ|WRITE): |\S+ +\d+% +\d\S* |[#$%>] ?(?:ip|iperf|ping|ss|ethtool)\b)`)
)

// Spoken reports a line that somebody may have said: no log's, no tool's, and no longer
// than people write a paragraph.
func Spoken(line string) bool {
	return len(line) <= longestParagraph && !logged.MatchString(line) && !row.MatchString(line)
}

// WordCount is how many words a line has: by its blanks, and of Chinese and Japanese, which
// write none, two characters for one.
func WordCount(line string) int {
	n := len(strings.Fields(line))
	if plain(line) {
		return n
	}
	signs := 0
	for _, r := range line {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) {
			signs++
		}
	}
	return n + signs/2
}

// Cut are the parts of a text between the matches of a pattern.
func Cut(text string, at Pattern) (out []string) {
	for {
		i := at.FindStringIndex(text)
		if i == nil {
			return append(out, text)
		}
		out, text = append(out, text[:i[0]]), text[i[1]:]
	}
}

// Lines of prose that somebody wrapped by hand: how long they are, and of how many one
// sentence is.
const (
	shortestWrapped, longestWrapped = 48, 120
	mostWrapped                     = 4
)

var (
	endsSentence = Compile(`[.!?:;,)"'` + "`" + `|>]\s*$`)
	goesOn       = Compile(`^[a-z][a-z']*(?: [\w'-]+){1,}`)
)

// unwrapped are lines whose first goes on to the end of its sentence, where that was wrapped
// by hand. Nothing but its text changes.
func unwrapped(lines []Line) []Line {
	text := lines[0].Text
	for i := 1; i < min(len(lines), mostWrapped); i++ {
		last, next := lines[i-1].Text, lines[i].Text
		if len(last) < shortestWrapped || len(last) > longestWrapped || endsSentence.MatchString(last) || strings.Count(last, " ") < fewestSpaces || !goesOn.MatchString(next) || !Spoken(last) || !Spoken(next) {
			break
		}
		text += " " + next
	}
	if text == lines[0].Text {
		return lines
	}
	first := lines[0]
	first.Text = text
	return append([]Line{first}, lines[1:]...)
}

// fewestSpaces are those of a line of prose.
const fewestSpaces = 5
