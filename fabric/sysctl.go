package fabric

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
)

// A sysctl's value may be text, a number, or a list of numbers, since the file
// is YAML and the kernel is not.

func sysctlSchema(*schemaWriter) map[string]any {
	return map[string]any{
		"type":          []string{"object", "null"},
		"propertyNames": map[string]any{"pattern": `^[A-Za-z0-9_./-]+$`},
		"additionalProperties": either(
			map[string]any{"type": []string{"string", "number", "boolean"}},
			map[string]any{"type": "array", "items": map[string]any{"type": []string{"string", "number"}}}),
	}
}

func readSysctl(d *decoder, at place, n *yamldoc.Node, into *Host) {
	if !d.want(at, n, yamldoc.MappingNode) {
		return
	}
	for _, p := range n.Pairs {
		name := canonicalSysctl(p.Key)
		if !sysctlName(name) {
			d.Add(p.Line, p.Column, at.of("sysctl "+yamldoc.Quote(p.Key))+" is no dotted name", "write it as sysctl(8) does: net.ipv4.tcp_rmem")
			continue
		}
		if value, ok := sysctlValue(d, at.key(p.Key), p.Value); ok {
			if n := sysctlNumbers[name]; n > 0 && !wholeNumbers(value, n) {
				d.wrong(at.key(p.Key), p.Value, fmt.Sprintf("%q is not %s", value, counted(n)), "write it as sysctl(8) prints it")
				continue
			}
			if into.Sysctl == nil {
				into.Sysctl = map[string]string{}
			}
			into.Sysctl[name] = value
		}
	}
}

// sysctlNumbers is how many whole numbers the tunables hold that predictions
// rest on.
var sysctlNumbers = map[string]int{
	"net.ipv4.tcp_rmem": 3, "net.ipv4.tcp_wmem": 3, "net.core.rmem_max": 1, "net.core.wmem_max": 1,
	"net.ipv4.tcp_adv_win_scale": 1, "net.ipv4.tcp_moderate_rcvbuf": 1, "net.ipv4.tcp_window_scaling": 1,
	"net.ipv4.tcp_sack": 1, "net.ipv4.tcp_timestamps": 1, "net.ipv4.fib_multipath_hash_policy": 1,
}

func counted(n int) string {
	if n == 1 {
		return "a whole number"
	}
	return fmt.Sprintf("%d whole numbers", n)
}

func wholeNumbers(s string, n int) bool {
	fields := strings.Fields(s)
	for _, f := range fields {
		if _, err := strconv.ParseInt(f, 10, 64); err != nil {
			return false
		}
	}
	return len(fields) == n
}

// canonicalSysctl is a key in the dotted form, whichever separator comes first;
// the other is then part of a name: net/ipv4/conf/eth0.10/rp_filter is
// net.ipv4.conf.eth0/10.rp_filter, as sysctl(8) has it.
func canonicalSysctl(key string) string {
	i := strings.IndexAny(key, "./")
	if i < 0 || key[i] == '.' {
		return key
	}
	return strings.NewReplacer("/", ".", ".", "/").Replace(key)
}

func sysctlName(name string) bool {
	parts := strings.Split(name, ".")
	for _, part := range parts {
		if part == "" || strings.ContainsFunc(part, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '/' || r == '@' || r == ':')
		}) {
			return false
		}
	}
	return len(parts) > 1
}

func sysctlValue(d *decoder, at place, n *yamldoc.Node) (string, bool) {
	if n.Kind != yamldoc.SequenceNode {
		v, ok := free.decode(d, at, n)
		return FoldBlanks(v), ok
	}
	var fields []string
	for i, item := range n.Items {
		v, ok := free.decode(d, at.item(i), item)
		if !ok {
			return "", false
		}
		fields = append(fields, v)
	}
	return FoldBlanks(strings.Join(fields, " ")), len(fields) > 0
}

// FoldBlanks makes one space of every run of blanks: the kernel prints tabs.
func FoldBlanks(s string) string { return strings.Join(strings.Fields(s), " ") }
