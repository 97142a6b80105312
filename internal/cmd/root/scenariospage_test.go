package root

import (
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// TestDocumentedPorts: the links that docs/scenarios.md gives ports on AIX and on
// Linux are those of their rules.
func TestDocumentedPorts(t *testing.T) {
	page, err := os.ReadFile("../../../docs/scenarios.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for line := range strings.Lines(string(page)) {
		if f := strings.Fields(line); len(f) == 9 {
			rows[f[0]] = f[1:]
		}
	}
	spreaders := map[string]steer.Spreader{
		"src_dst_port": steer.EtherChannel{Mode: steer.Channel8023ad, Hash: steer.ChannelHashSrcDstPort, Adapters: []string{"ent0", "ent1"}},
		"layer3+4":     steer.Declared(netstate.Layer34, 2),
	}
	if len(rows["SPORT"]) != 8 {
		t.Fatalf("no ports on the page: %v", rows)
	}
	for name, s := range spreaders {
		for i, port := range rows["SPORT"] {
			sport, err := strconv.ParseUint(port, 10, 16)
			if err != nil {
				t.Fatal(err)
			}
			p := s.Place(flow.Frame{Tuple: flow.Tuple{Proto: flow.TCP, Src: netip.MustParseAddr("10.4.0.2"), Dst: netip.MustParseAddr("10.4.0.1"), Sport: uint16(sport), Dport: 5201}})
			if len(rows[name]) != 8 || !p.Known || strconv.Itoa(p.Index) != rows[name][i] {
				t.Errorf("%s, port %s: link %d, the page says %v", name, port, p.Index, rows[name])
			}
		}
	}
}
