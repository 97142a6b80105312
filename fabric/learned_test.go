package fabric

import (
	"strings"
	"testing"
)

const learnedFile = `linerate: v1
hosts:
  a: {network: {version: 2}}
  b: {network: {version: 2}}
paths:
  - between: [a, b]
    learned:
      - {to: b, links: [eth0, eth1, eth2, eth3], field: sport, masks: [0x8f31, 0x00ff], ports: 5202-65535, flows: [{src: 10.0.0.1, dst: 10.0.0.2, port: 5201, start: 3}], observed: 17, checked: 32, date: 2026-11-26}
`

// TestLearned: a learned hash is read as written, and one that does not fit
// together is named with its place.
func TestLearned(t *testing.T) {
	f, err := Parse("f.yaml", []byte(learnedFile))
	if err != nil {
		t.Fatal(err)
	}
	l := f.Paths[0].Learned[0]
	if l.To != "b" || len(l.Links) != 4 || l.Masks[0] != 0x8f31 || l.Ports.First != 5202 || l.Flows[0].Start != 3 || l.Checked != 32 {
		t.Errorf("%+v", l)
	}
	for _, c := range []struct{ old, new, want string }{
		{"eth2, eth3]", "eth2]", "f.yaml:8:9: paths[0].learned[0]: 3 links, want 2, 4 or 8"},
		{"eth2, eth3]", "eth2, eth2]", "link eth2 is listed twice"},
		{"[0x8f31, 0x00ff]", "[0x8f31]", "1 masks, want 2 for 4 links"},
		{"0x8f31", "0x18f31", `"0x18f31" is no mask of 16 bits`},
		{"start: 3", "start: 4", "start 4, want one below 4"},
		{"dst: 10.0.0.2", "dst: 2001:db8::2", "different families"},
		{"to: b", "to: c", `f.yaml:8:14: paths[0].learned[0]: host "c" is no end of this path`},
		{"field: sport", "field: port", `"port" is not known`},
		{"5202-65535", "5202-70000", "want a port or a range"},
		{"2026-11-26", "2026-13-26", "is no day"},
		{"checked", "proven", "proven"},
		{"to: b, ", "", "missing key \"to\""},
	} {
		_, err := Parse("f.yaml", []byte(strings.Replace(learnedFile, c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.new, err, c.want)
		}
	}
}
