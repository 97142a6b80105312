package yamldoc

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRevise(t *testing.T) {
	const text = `# the top
network:
  version: 2 # two
  ethernets:
    eno1: {match: {macaddress: "52:54:00:00:00:01"}, mtu: 1500}  # left
    # the second
    eno2:
      mtu: 1500
      optional: true # keep
      addresses:
        # first
        - 10.0.0.1/24
        - "fd00::1/64"
      nameservers: {addresses: [1.1.1.1]} # dns
  bonds:
`
	for _, c := range []struct{ name, want, text string }{
		{"nothing", text, text},
		{"scalar in braces", strings.Replace(text, "mtu: 1500}", "mtu: 9000}", 1), strings.Replace(text, "mtu: 1500}", "mtu: 9000}", 1)},
		{"scalar", strings.Replace(text, "      mtu: 1500", "      mtu: 9000", 1), strings.Replace(text, "      mtu: 1500", "      mtu: 9000", 1)},
		{"item added", strings.Replace(text, "fd00::1/64\"\n", "fd00::1/64\"\n        - 10.0.0.2/24\n", 1), strings.Replace(text, "fd00::1/64\"\n", "fd00::1/64\"\n        - 10.0.0.2/24\n", 1)},
		{"item removed", strings.Replace(text, "        - 10.0.0.1/24\n", "", 1), strings.Replace(text, "        - 10.0.0.1/24\n", "", 1)},
		{"list in brackets", strings.Replace(text, "[1.1.1.1]", "[9.9.9.9, 8.8.8.8]", 1), strings.Replace(text, "[1.1.1.1]", "[9.9.9.9, 8.8.8.8]", 1)},
		{"key removed", strings.Replace(text, "      optional: true # keep\n", "", 1), strings.Replace(text, "      optional: true # keep\n", "", 1)},
		{"key added", text + "  vlans:\n    v5:\n      id: 5\n", text + "  vlans:\n    v5:\n      id: 5\n"},
		{"null filled", text + "    bond0:\n      interfaces: [eno1]\n", text + "    bond0:\n      interfaces: [eno1]\n"},
		{"emptied", strings.Replace(text, "\n        # first\n        - 10.0.0.1/24\n        - \"fd00::1/64\"\n", " []\n", 1), strings.Replace(text, "\n        # first\n        - 10.0.0.1/24\n        - \"fd00::1/64\"\n", " []\n", 1)},
		{"key in braces", strings.Replace(text, "mtu: 1500}", "mtu: 1500, wakeonlan: true}", 1), strings.Replace(text, "{match", "{wakeonlan: true, match", 1)},
	} {
		wanted, err := Parse("want", []byte(c.want))
		if err != nil {
			t.Fatal(err)
		}
		got, kept, err := Revise(text, wanted)
		if err != nil || !kept {
			t.Errorf("%s: kept %v, %v", c.name, kept, err)
		}
		if diff := cmp.Diff(c.text, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// FuzzRevise: whatever the two texts, the result reads as the wanted one.
func FuzzRevise(f *testing.F) {
	f.Add("a: 1\nb: [1, 2]\n", "a: 2\nb: [3]\nc: {d: e}\n")
	f.Add("network:\n  ethernets:\n    e: {}\n", "network:\n  bonds:\n    b:\n      - 1\n")
	f.Add("a: &x {b: 1}\nc: *x\n", "a: {b: 2}\n")
	f.Fuzz(func(t *testing.T, have, want string) {
		if len(have) > 2000 || len(want) > 2000 {
			return
		}
		wanted, err := Parse("want", []byte(want))
		if err != nil || wanted.Kind != MappingNode {
			return
		}
		got, kept, err := Revise(have, wanted)
		if err != nil {
			return
		}
		if !kept && got != Write(wanted) {
			t.Fatalf("not kept and not written: %q", got)
		}
		if kept {
			back, err := Parse("got", []byte(got))
			if err != nil || !back.Equal(wanted) {
				t.Fatalf("%q became %q: %v", have, got, err)
			}
		}
	})
}
