package piece

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
