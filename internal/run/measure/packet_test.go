package measure

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/record"
)

func TestPacket(t *testing.T) {
	for _, c := range []struct {
		name string
		spec Spec
		seen int // TCP_INFO's, zero not read
		want int
	}{
		{"full segments", Spec{}, 1448, 0},
		{"small segments", Spec{Socket: record.Socket{MSS: 536}}, 524, 524},
		{"small segments, TCP_INFO not read", Spec{Socket: record.Socket{MSS: 536}}, 0, 524},
		{"small segments of subflows", Spec{Protocol: protocolMPTCP, Socket: record.Socket{MSS: 536}}, 9000, 524},
		{"full datagrams", Spec{Protocol: protocolUDP}, 0, 0},
		{"small datagrams", Spec{Protocol: protocolUDP, Datagrams: &agentapi.Datagrams{Payload: 100}}, 0, 100},
	} {
		tr := measured(t)
		tr.spec.Protocol, tr.spec.Socket, tr.spec.Datagrams = c.spec.Protocol, c.spec.Socket, c.spec.Datagrams
		for _, e := range tr.ends {
			for k := range e.samples {
				for i := range e.samples[k].TCP {
					e.samples[k].TCP[i].Last.SndMSS = c.seen
				}
			}
		}
		if got := tr.packet(tr.ends[0].way); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// TestCeilingOfLanes: a trial over some of the pair's lanes is held against
// the links of those alone.
func TestCeilingOfLanes(t *testing.T) {
	tr := measured(t)
	for _, name := range []string{"alpha", "beta"} {
		h := tr.cfg.Network.Fabric.Hosts[name].Clone()
		own, _ := h.Link("eth0")
		own.Name, own.Master, own.Port, own.Up, own.Carrier = "eth9", "", nil, true, true
		last := map[string]string{"alpha": "1", "beta": "2"}[name]
		own.Addresses = []netip.Prefix{netip.MustParsePrefix("10.9.0." + last + "/24")}
		h.Links = append(h.Links, own)
		tr.cfg.Network.Fabric.Hosts[name] = h
	}
	all, _, err := tr.ceilingOf(flow.Forward)
	if err != nil {
		t.Fatal(err)
	}
	lane := flow.Lane{Src: netip.MustParseAddr("10.9.0.1"), Dst: netip.MustParseAddr("10.9.0.2")}
	tr.spec.Lanes = []flow.Lane{lane}
	for _, d := range []flow.Direction{flow.Forward, flow.Reverse} {
		one, _, err := tr.ceilingOf(d)
		if err != nil || one <= 0 || one > all*0.51 {
			t.Errorf("%s: %v of one lane, %v of all: %v", d, one, all, err)
		}
	}
	lane.Dst = netip.MustParseAddr("10.77.0.1")
	tr.spec.Lanes = []flow.Lane{lane}
	if got, _, err := tr.ceilingOf(flow.Forward); err != nil || got != all {
		t.Errorf("a lane that no host has: %v, %v; want the pair's %v", got, err, all)
	}
}

func TestBacklogNotes(t *testing.T) {
	for _, c := range []struct {
		name  string
		trial record.Trial
		want  string
	}{
		{"above by what had waited", record.Trial{Goodput: 481e6, Ceiling: 478e6, Unread: -3e6}, "0.6 % of the goodput had arrived before the window"},
		{"above, nothing had waited", record.Trial{Goodput: 481e6, Ceiling: 478e6}, ""},
		{"below the ceiling", record.Trial{Goodput: 470e6, Ceiling: 478e6, Unread: -3e6}, ""},
		{"more waits than did", record.Trial{Goodput: 481e6, Ceiling: 478e6, Unread: 3e6}, ""},
		{"ceiling unknown", record.Trial{Goodput: 481e6, Unread: -3e6}, ""},
	} {
		got := strings.Join(backlogNotes(c.trial), "\n")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
