package piece

import (
	"path"
	"strings"
)

// Statements are the programs that a command line runs, each with its arguments;
// what they are piped into is left out. A loop's variable is filled in.
func Statements(command string) [][]string {
	var out [][]string
	loop := forLoop.FindStringSubmatch(command)
	for _, part := range strings.FieldsFunc(strings.ReplaceAll(command, "&&", ";"), func(r rune) bool { return r == ';' || r == '`' }) {
		part, _, _ = strings.Cut(part, "|")
		fields := strings.Fields(part)
		for len(fields) > 1 && (noProgram[fields[0]] || strings.Contains(fields[0], "=")) {
			fields = fields[1:]
		}
		if len(fields) == 0 {
			continue
		}
		fields[0] = path.Base(fields[0])
		if loop == nil || !strings.Contains(part, "$") {
			out = append(out, fields)
			continue
		}
		for _, value := range strings.Fields(loop[2]) {
			filled := strings.NewReplacer("${"+loop[1]+"}", value, "$"+loop[1], value, `"`, "").Replace(strings.Join(fields, " "))
			out = append(out, strings.Fields(filled))
		}
	}
	return out
}

var forLoop = Compile(`\bfor (\w+) in ([^;]*);`)

var noProgram = Words("sudo time watch do then doas env")

var LinkName = Compile(`^[A-Za-z][\w.:@-]{0,30}$`)

var nameless = Words("link addr address route rule neigh l a r show s ls list dev up type master details get statistics stats tables table dump actual state config view main local all vrf to from")

// Runs reports a segment whose command line runs the program.
func (s Segment) Runs(names ...string) bool {
	if s.Command == "" {
		return false
	}
	for _, name := range names {
		if !strings.Contains(s.Command, name) {
			continue
		}
		for _, st := range Statements(s.Command) {
			if st[0] == name {
				return true
			}
		}
	}
	return false
}

// LinksOf are the links that the command line names to a program, in order.
func (s Segment) LinksOf(name string) []string {
	var out []string
	for _, st := range Statements(s.Command) {
		if st[0] != name {
			continue
		}
		for i := len(st) - 1; i > 0; i-- { // ip's last word, ethtool's too
			if !strings.HasPrefix(st[i], "-") && !nameless[st[i]] && LinkName.MatchString(st[i]) {
				out = append(out, st[i])
				break
			}
		}
	}
	return out
}

// InTurn gives lines without a name to the links that a command line names: the
// first until a key comes again, then the next.
type InTurn struct {
	Names []string
	seen  map[string]bool
}

// Next is the subject of a key's line; "" where nobody names it.
func (t *InTurn) Next(key string) string {
	if len(t.Names) == 0 {
		return ""
	}
	if t.seen == nil {
		t.seen = make(map[string]bool)
	}
	if t.seen[key] {
		if len(t.Names) == 1 {
			return "link " + t.Names[0]
		}
		t.Names, t.seen = t.Names[1:], make(map[string]bool)
	}
	t.seen[key] = true
	return "link " + t.Names[0]
}
