package piece

import (
	"strings"
	"testing"
)

// TestUnmark: what a diff without its head leaves, and texts that only seem one.
func TestUnmark(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a pasted piece of a diff", " bonds:\n   bond0:\n-    mode: balance-rr\n+    mode: 802.3ad\n     mtu: 9000", "bonds:\n  bond0:\n\n    mode: 802.3ad\n    mtu: 9000"},
		{"a list of YAML", "interfaces:\n- name: eno1\n- name: eno2", "interfaces:\n- name: eno1\n- name: eno2"},
		{"rules of iptables", "-A INPUT -j ACCEPT\n-A FORWARD -j DROP", "-A INPUT -j ACCEPT\n-A FORWARD -j DROP"},
		{"a tree", " +- nvme0 tcp\n +- nvme1 tcp\n-[0000:00]-+-00.0", " +- nvme0 tcp\n +- nvme1 tcp\n-[0000:00]-+-00.0"},
		{"a table with rules", " a\n+-----+\n- b", " a\n+-----+\n- b"},
	} {
		var lines []Line
		for i, text := range strings.Split(c.text, "\n") {
			lines = append(lines, Line{Text: text, Number: i + 1})
		}
		unmark(lines)
		var got []string
		for _, l := range lines {
			got = append(got, l.Text)
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}
