package root

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSteerAddressesJSON(t *testing.T) {
	doc := document(t, run(t, "", "steer", "addresses", "--policy", "layer2+3", "--links", "2", "--kernel", "6.1", "--byte-order", "little",
		"--src", "192.168.10.1", "--dst", "192.168.10.2", "--subnet", "192.168.10.0/24", "--dev", "bond1",
		"--smac", "02:00:00:00:01:11", "--dmac", "02:00:00:00:02:22", "--back-policy", "layer2+3", "--back-links", "2", "--nfs", "/srv", "--json"))
	wantKeys(t, "document", doc, "lanes addresses per_link back_per_link add_near add_far even commands")
	// .2 takes link 0 by the vectors of the facts; the XOR of one bit more the other.
	want := []any{
		map[string]any{"src": "192.168.10.1", "dst": "192.168.10.2", "link": 0.0, "group": 0.0, "back_link": 0.0},
		map[string]any{"src": "192.168.10.1", "dst": "192.168.10.3", "link": 1.0, "group": 1.0, "back_link": 1.0},
	}
	if diff := cmp.Diff(want, doc["lanes"]); diff != "" {
		t.Errorf("lanes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{"192.168.10.3"}, doc["add_far"]); diff != "" {
		t.Errorf("add_far (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{1.0, 1.0}, doc["per_link"]); diff != "" {
		t.Errorf("per_link (-want +got):\n%s", diff)
	}
	commands := doc["commands"].(map[string]any)
	wantKeys(t, "commands", commands, "far server client")
	wantKeys(t, "commands.far", commands["far"].(map[string]any), "probe ip netplan")
	wantKeys(t, "commands.client", commands["client"].(map[string]any), "mount fstab check")
	if diff := cmp.Diff([]any{"ip addr add 192.168.10.3/24 dev bond1"}, commands["far"].(map[string]any)["ip"]); diff != "" {
		t.Errorf("ip (-want +got):\n%s", diff)
	}
}

// TestSteerAddressesFits: what is printed for people, but for commands and
// files, keeps to 80 columns.
func TestSteerAddressesFits(t *testing.T) {
	for _, args := range [][]string{
		{"--policy", "layer2+3", "--links", "4", "--kernel", "6.1", "--src", "10.0.0.1", "--dst", "10.0.0.2", "--format", "all"},
		{"--system", "freebsd", "--policy", "l2,l3", "--links", "4", "--src", "10.0.0.1", "--side", "both", "--back-system", "aix", "--back-links", "2"},
		{"--system", "aix", "--links", "3", "--src", "10.0.0.1", "--dst", "10.0.0.2", "--back-policy", "layer2+3", "--back-links", "3", "--far-policy", "layer2", "--far-links", "2"},
	} {
		o := run(t, "", append([]string{"steer", "addresses", "--subnet", "10.0.0.0/24"}, args...)...)
		if o.status != 0 {
			t.Errorf("%v: status %d: %s", args, o.status, o.stderr)
		}
		command := false
		for line := range strings.Lines(o.stdout) {
			command = strings.HasPrefix(line, "# ") || command && line != "\n"
			if len(line) > 81 && (!command || strings.HasPrefix(line, "# ")) {
				t.Errorf("%v: %d columns: %s", args, len(line)-1, line)
			}
		}
	}
}
