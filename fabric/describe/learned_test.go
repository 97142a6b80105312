package describe

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
)

// TestWithLearned: what was learned is written into the path's place, and
// nothing else of the text changes.
func TestWithLearned(t *testing.T) {
	hash := func(to, field string, mask uint16) flow.LearnedHash {
		return flow.LearnedHash{
			To: to, Links: []string{"eth0", "eth1"}, Field: field, Masks: []uint16{mask}, Ports: flow.PortRange{First: 5202, Last: 65535},
			Flows:    []flow.LearnedFlow{{Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.2"), Port: 5201, Start: 1}},
			Observed: 17, Checked: 32, Date: "2026-11-26",
		}
	}
	const hosts = "linerate: v1\n# who\nhosts:\n  a: {network: {version: 2}} # one\n  b: {network: {version: 2}}\n  c: {network: {version: 2}}\n"
	for _, paths := range []string{
		"paths:\n  - {between: [a, c]}\n  - {between: [b, a], rtt: 1ms} # ours\n# end\n",
		"paths:\n  - between: [a, c]\n  - between: [b, a]\n    rtt: 1ms # ours\n# end\n",
	} {
		text := hosts + paths
		for round, mask := range []uint16{0x1234, 0x4321} {
			f, err := fabric.Parse("f.yaml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			again, kept, err := WithLearned(f, "a", "b", []flow.LearnedHash{hash("b", flow.LearnedSport, mask), hash("a", flow.LearnedDport, 7)})
			if err != nil || !kept || strings.Count(again, "#") != 4-1 {
				t.Fatalf("round %d: kept %v, %v\n%s", round, kept, err, again)
			}
			text = again
			g, err := fabric.Parse("f.yaml", []byte(text))
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if l := g.Paths[1].Learned; len(l) != 2 || l[0].Masks[0] != mask || l[1].To != "a" || len(g.Paths[0].Learned) != 0 || g.Paths[1].RTT == 0 {
				t.Errorf("round %d: %+v", round, g.Paths)
			}
		}
	}
	f, err := fabric.Parse("f.yaml", []byte(hosts))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := WithLearned(f, "a", "b", nil); err == nil || !strings.Contains(err.Error(), "no path between a and b") {
		t.Error(err)
	}
}
