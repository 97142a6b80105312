package archive

import (
	"bytes"
	"regexp"
	"strings"
)

// Part is one output of a text that has several.
type Part struct {
	Member
	First int // number of its first line in the text, from 1
	Text  []byte
}

// heading is how a kind of text names the output below.
type heading struct {
	mark *regexp.Regexp // that such a heading is in a text
	// head is the member that a heading's lines name, and how many lines the heading
	// has; 0 is no heading. A heading of what nobody reads has no member.
	head func(lines []string) (Member, int)
}

var headings = []heading{
	{regexp.MustCompile(`(?m)^#==\[ [\w ()-]+ \]=+#\r?$`), supportconfig},
	{regexp.MustCompile(`(?m)^==== [\w :,()/-]+ ====\r?$`), pvereport},
	{regexp.MustCompile(`(?m)^\+-{40,}\+\r?$`), fndebug},
	{regexp.MustCompile(`(?m)^-{5,}\r?\n1\) \S.*\r?\n-{5,}\r?$`), ixdiagnose},
}

// headBytes is where the first heading of a text with several outputs stands.
const headBytes = 64 << 10

// Parts are the outputs in a text of supportconfig, pvereport or TrueNAS that are
// read; false for a text without such headings.
func Parts(text []byte) ([]Part, bool) {
	for _, h := range headings {
		if h.mark.Match(text[:min(len(text), headBytes)]) {
			return cut(text, h.head), true
		}
	}
	return nil, false
}

// mostHead is the lines of the longest heading.
const mostHead = 3

// cut parts a text at its headings.
func cut(text []byte, head func([]string) (Member, int)) []Part {
	var out []Part
	var now *Part
	from := 0
	flush := func(end int) {
		if now != nil && len(bytes.TrimSpace(text[from:end])) > 0 {
			now.Text = text[from:end]
			out = append(out, *now)
		}
		now = nil
	}
	for at, number := 0, 1; at < len(text); {
		line, next := lineAt(text, at)
		n, m := 0, Member{}
		var lines []string
		ends := [mostHead]int{next}
		if mayHead(line) {
			lines = append(lines, string(line))
			for len(lines) < mostHead && next < len(text) {
				line, next = lineAt(text, next)
				ends[len(lines)] = next
				lines = append(lines, string(line))
			}
			m, n = head(lines)
		}
		if n == 0 {
			at, number = ends[0], number+1
			continue
		}
		flush(at)
		at, number = ends[min(n, len(lines))-1], number+n
		if m.Command != "" || m.Path != "" || m.Names {
			now, from = &Part{Member: m, First: number}, at
		}
	}
	flush(len(text))
	return out
}

// lineAt is the line that begins there, without its end, and where the next begins.
func lineAt(text []byte, at int) (line []byte, next int) {
	next = len(text)
	if end := bytes.IndexByte(text[at:], '\n'); end >= 0 {
		next = at + end + 1
	}
	return bytes.TrimRight(text[at:next], "\r\n"), next
}

func mayHead(line []byte) bool {
	return len(line) > 0 && len(line) < 400 && strings.IndexByte("#=+-", line[0]) >= 0
}

// supportconfig's: "#==[ Command ]===#", "# /sbin/ip addr".
func supportconfig(lines []string) (Member, int) {
	kind, ok := strings.CutPrefix(lines[0], "#==[ ")
	if !ok {
		return Member{}, 0
	}
	if len(lines) < 2 || !strings.HasPrefix(lines[1], "# ") {
		return Member{}, 1
	}
	what := strings.TrimPrefix(lines[1], "# ")
	switch {
	case strings.HasPrefix(kind, "Command"):
		m, _ := ofCommand(what)
		return m, 2
	case strings.HasPrefix(kind, "Configuration File"), strings.HasPrefix(kind, "Log File"):
		file, _, _ := strings.Cut(what, " ")
		m, _ := ofFile(file)
		return m, 2
	}
	return Member{}, 2
}

// pvereport's: "==== title ====", and "# command" between empty lines.
func pvereport(lines []string) (Member, int) {
	if strings.HasPrefix(lines[0], "==== ") && strings.HasSuffix(lines[0], " ====") {
		return Member{}, 1
	}
	command, ok := strings.CutPrefix(lines[0], "# ")
	if !ok || len(lines) < 2 || lines[1] != "" {
		return Member{}, 0
	}
	if m, ok := ofCommand(command); ok {
		return m, 2
	}
	if program, _, _ := strings.Cut(command, " "); pveCommands[program] {
		return Member{}, 2
	}
	return Member{}, 0 // a comment
}

// pveCommands are those of a report that nobody reads.
var pveCommands = words(`date cat pvesubscription top head pvecm pvesh pvesm lsblk ls vgs lvs pvs df zpool zfs free uptime qm pct ha-manager iptables-save nft ceph
	pveceph rbd pvenode proxmox-boot-tool efibootmgr corosync-cfgtool corosync-quorumtool systemctl last apt-get apt-cache dpkg ps vmstat iostat proxmox-backup-manager du find for`)

// fndebug's: a title in a box, "+   Interfaces @1700000000   +".
func fndebug(lines []string) (Member, int) {
	if len(lines) < 3 || !strings.HasPrefix(lines[0], "+----") || !strings.HasPrefix(lines[2], "+----") {
		return Member{}, 0
	}
	title, _, _ := strings.Cut(strings.Trim(lines[1], "+ "), " @")
	m, _ := ofCommand(titles[title])
	return m, 3
}

// ixdiagnose's: "1) title" between dashes.
func ixdiagnose(lines []string) (Member, int) {
	if len(lines) < 3 || !strings.HasPrefix(lines[0], "----") || !strings.HasPrefix(lines[2], "----") {
		return Member{}, 0
	}
	_, title, ok := strings.Cut(lines[1], ") ")
	if !ok {
		return Member{}, 0
	}
	m, _ := ofCommand(titles[title])
	return m, 3
}

// titles of TrueNAS's sections, and the command that each stands for.
var titles = map[string]string{
	"Interfaces": "ifconfig", "Interface statistics (netstat)": "netstat -in", "Routing tables (netstat)": "netstat -rn", "Hostname": "hostname",
	"Interface Statistics": "ip -s addr", "routing_tables": "ip route show table all", "ip_rules": "ip rule list", "Statistics of All protocols": "netstat -s",
	"Socket Statistics": "ss -nipea", "All kernel parameters": "sysctl -a", "List of PCI Devices": "lspci -vvvD", "Dmidecode": "dmidecode", "CPU Information": "lscpu",
}
