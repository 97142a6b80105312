package piece

import (
	"slices"
	"strings"
)

// apart gives outputs back the line ends and the blanks that a forum took: an output whose
// rows stand in one line, and rows whose columns stand without a blank. The parts of a line
// keep its number.
func apart(lines []Line) []Line {
	for i := 0; i < len(lines); i++ {
		text := lines[i].Text
		at := begins(text)
		if len(at) == 0 {
			lines[i].Text = spaced(text)
			continue
		}
		var parts []Line
		from := 0
		for _, next := range append(at, len(text)) {
			if part := strings.TrimSpace(text[from:next]); part != "" {
				l := lines[i]
				row, said := rowEnd(spaced(part))
				l.Text = row
				parts = append(parts, l)
				if said != "" {
					l.Text = said
					parts = append(parts, l)
				}
			}
			from = next
		}
		lines = slices.Replace(lines, i, i+1, parts...)
		i += len(parts) - 1
	}
	return lines
}

// Where rows begin, by a word without which a line has none of that output.
var rowBegins = []struct {
	word string
	rows Pattern
	min  int // so many rows in one line are an output that lost its line ends
}{
	{"its/sec", Compile(`Connecting to host \S+, port \d|Client connecting to \S+, (?:TCP|UDP) port \d|Server listening on |TCP window size: |\[ *(?:\d+|SUM|ID)\] ?(?:\d+\.\d+ ?- ?\d|local \S+ port|Interval)|(?:- ){5,}-?|-{20,}|iperf Done\.`), 2},
	{" bytes from ", Compile(`\bPING \S+ \(|\b\d+ bytes from |--- \S+ ping statistics ---|\b(?:rtt|round-trip) min/avg/max|\b\d+ packets transmitted, `), 2},
	{"Bonding Mode: ", Compile(`\b(?:Bonding Mode|Transmit Hash Policy|Primary Slave|Currently Active Slave|MII Status|MII Polling Interval \(ms\)|Up Delay \(ms\)|Down Delay \(ms\)|Slave Interface|Speed|Duplex|Link Failure Count|Permanent HW addr|Slave queue ID|LACP rate|LACP active|Min links|Aggregator selection policy \(ad_select\)|Active Aggregator Info|Aggregator ID|Number of ports|Actor Key|Partner Key|Partner Mac Address|Actor Churn State|Partner Churn State|Actor Churned Count|Partner Churned Count):|\b802\.3ad info\b|\bdetails (?:actor|partner) lacp pdu:`), 4},
}

// begins are the places in a line at which rows begin, where they are so many that they
// stood in lines of their own.
func begins(text string) (at []int) {
	if len(text) < shortestRows {
		return nil
	}
	for _, b := range rowBegins {
		if !strings.Contains(text, b.word) {
			continue
		}
		all := b.rows.FindAllStringSubmatchIndex(text, -1)
		if len(all) < b.min {
			continue
		}
		for _, m := range all {
			at = append(at, m[0])
		}
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// shortestRows is how long a line is that holds several rows.
const shortestRows = 60

// rowEnd parts a row of iperf's from what somebody says behind it.
func rowEnd(text string) (row, said string) {
	if m := rowAndWords.FindStringSubmatchIndex(text); m != nil {
		return text[:m[3]], strings.TrimSpace(text[m[3]:])
	}
	return text, ""
}

var rowAndWords = Compile(`^(\[ *(?:\d+|SUM)\] .*?its/sec(?: +\d+)?(?: +[\d.]+ [KMG]?Bytes)?(?: +(?:sender|receiver))?)(?: +[^\s\d].*|)$`)

// compactRow is a row of iperf's, columnsLost one in which a blank is missing.
var (
	compactRow  = Compile(`^\s*\[ *(\d+|SUM)\] *(\d+\.\d+) ?- ?(\d+\.\d+) *sec *([\d.]+) *([KMGT]?Bytes) *([\d.]+) *([KMGT]?bits/sec) *(\d*)( *)([\d.]* ?[KMG]?Bytes)? *(sender|receiver)?\s*$`)
	columnsLost = Compile(`\]\d|sec\d|Bytes\d|\dsec|\d[KMGT]?(?:Bytes|bits/sec)|/sec(?:sender|receiver)|\d(?:sender|receiver)`)
	compactHead = Compile(`^\s*\[ *ID\] *Interval *Transfer *(?:Bitrate|Bandwidth)`)
)

// spaced is a row with blanks between its columns.
func spaced(text string) string {
	if !strings.Contains(text, "]") || !columnsLost.MatchString(text) {
		if m := compactHead.FindString(text); m != "" && !strings.Contains(m, " ") {
			return "[ ID] Interval           Transfer     Bitrate"
		}
		return text
	}
	m := compactRow.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	again, window := m[8], m[10]
	switch {
	case window == "" || m[9] != "":
	case len(again) > 1 && again[0] == '0': // none was sent again: what follows is the window's
		again, window = "0", again[1:]+window
	default:
		again, window = "", "" // where one number ends nobody can tell
	}
	row := "[" + m[1] + "] " + m[2] + "-" + m[3] + "  sec  " + m[4] + " " + m[5] + "  " + m[6] + " " + m[7]
	for _, more := range []string{again, window, m[11]} {
		if more = strings.TrimSpace(more); more != "" {
			row += "  " + more
		}
	}
	return row
}
