package root

import (
	"slices"
	"strings"
	"testing"
)

// What takes words offers them to the shell: formats, policies, modes, hosts and paths of
// the fabric that is named, scenarios and labs.
func TestCompletion(t *testing.T) {
	two := file(t, "two.yaml", twoInterfaces)
	for _, c := range []struct {
		args []string
		want string // among the words
		not  string
	}{
		{[]string{"render", two, "--to", ""}, "netplan fabric truenas", ""},
		{[]string{"render", two, "--host", ""}, "app1 db1", ""},
		{[]string{"plan", two, "--host", "app1,"}, "app1,db1", "app1,app1"},
		{[]string{"apply", two, "--canary", ""}, "app1 db1", ""},
		{[]string{"tune", two, "--path", ""}, "app1,db1", ""},
		{[]string{"rollback", two, "--host", ""}, "app1 db1", ""},
		{[]string{"apply", two, "--profiles", ""}, "throughput security none", ""},
		{[]string{"apply", two, "--persist", ""}, "auto netplan", ""},
		{[]string{"apply", two, "--accept", ""}, "mtu reach", ""},
		{[]string{"steer", "show", "--policy", ""}, "layer2 layer3+4 vlan+srcmac", ""},
		{[]string{"steer", "show", "--mode", ""}, "802.3ad balance-rr active-backup", ""},
		{[]string{"steer", "show", "--system", ""}, "linux", ""},
		{[]string{"measure", two, "--directions", "forward,"}, "forward,both", "forward,forward"},
		{[]string{"measure", two, "--tool", ""}, "iperf3", ""},
		{[]string{"serve", "token", "--role", ""}, "agent measure change", ""},
		{[]string{"lab", "run", ""}, "two-links one-link all", ""},
		{[]string{"lab", "up", ""}, "two-links", "all"},
		{[]string{"lab", "down", ""}, "all", ""},
		{[]string{"steer", "pick", "--for", ""}, "iperf3", ""},
	} {
		o := run(t, "", append([]string{"__complete"}, c.args...)...)
		offered := strings.Split(o.stdout, "\n")
		for _, want := range strings.Fields(c.want) {
			if !slices.Contains(offered, want) {
				t.Errorf("%q offers %q, not %s: %s", c.args, offered, want, o.stderr)
			}
		}
		if c.not != "" && slices.Contains(offered, c.not) {
			t.Errorf("%q offers %s", c.args, c.not)
		}
	}
}
