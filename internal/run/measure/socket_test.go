package measure

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

func TestShortfalls(t *testing.T) {
	for _, c := range []struct {
		name           string
		asked, granted record.Socket
		want           []string
	}{
		{"nothing asked", record.Socket{}, record.Socket{RcvBuf: 131072, SndBuf: 16384, MSS: 1448}, nil},
		{"all granted", record.Socket{RcvBuf: 8, SndBuf: 8, MSS: 1000}, record.Socket{RcvBuf: 16, SndBuf: 16, MSS: 988}, nil},
		{"a receive buffer clamped", record.Socket{RcvBuf: 8 * unit.MiB}, record.Socket{RcvBuf: 425984, Window: 212992},
			[]string{"asked for a receive buffer of 8 MiB, granted 416 KiB, usable as window 208 KiB: net.core.rmem_max"}},
		{"its window not known", record.Socket{RcvBuf: 8 * unit.MiB}, record.Socket{RcvBuf: 425984},
			[]string{"asked for a receive buffer of 8 MiB, granted 416 KiB: net.core.rmem_max"}},
		{"a send buffer clamped", record.Socket{SndBuf: 8 * unit.MiB}, record.Socket{SndBuf: 425984},
			[]string{"asked for a send buffer of 8 MiB, granted 416 KiB: net.core.wmem_max"}},
		{"a gibibyte of both units", record.Socket{SndBuf: unit.GiB}, record.Socket{SndBuf: 8 * unit.MiB},
			[]string{"asked for a send buffer of 1 GiB, granted 8 MiB: net.core.wmem_max"}},
		{"segments above the MTU", record.Socket{MSS: 8948}, record.Socket{MSS: 1448},
			[]string{"asked for segments of 8948 B, granted 1448 B: the MTU, or the peer, allows no more"}},
		{"nothing read back", record.Socket{RcvBuf: 8, SndBuf: 8, MSS: 8}, record.Socket{}, nil},
	} {
		if diff := cmp.Diff(c.want, shortfalls(c.asked, c.granted)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
}

// TestSettle: nobody asked, so all senders have the default of the host that
// the trial is named from, where they can.
func TestSettle(t *testing.T) {
	host := func(name, def, have string) netstate.Host {
		h := bonded(name, 1, 1, 1)
		h.Sysctls = map[string]netstate.Sysctl{defaultCongestion: {Value: def}, availableCongestion: {Value: have}}
		return h
	}
	n := networkOf(host("alpha", "bbr", "reno bbr cubic"), host("beta", "cubic", "reno cubic"), "")
	back := way{name: flow.Reverse, from: "beta", to: "alpha"}
	for _, c := range []struct {
		name string
		spec Spec
		way  way
		want string
	}{
		{"the sender's own", Spec{From: "alpha"}, way{from: "alpha", to: "beta"}, "bbr"},
		{"the other has it not", Spec{From: "alpha"}, back, ""},
		{"the other has it", Spec{From: "beta"}, way{from: "alpha", to: "beta"}, "cubic"},
		{"asked for", Spec{From: "alpha", Socket: record.Socket{Congestion: "reno"}}, back, "reno"},
		{"UDP has none", Spec{From: "alpha", Protocol: "udp"}, back, ""},
		{"nor where one is asked for", Spec{From: "alpha", Protocol: "udp", Socket: record.Socket{Congestion: "reno"}}, back, ""},
		{"not known", Spec{From: "gamma"}, back, ""},
	} {
		if got := (&trial{cfg: Config{Network: n}, spec: c.spec}).settle(c.way); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestCongest(t *testing.T) {
	tr := &trial{cfg: Config{Network: networkOf(bonded("alpha", 1, 1, 1), bonded("beta", 1, 1, 101), "")}}
	stream := func(name string) []agentapi.Stream {
		return []agentapi.Stream{{Socket: record.Socket{Congestion: name}}}
	}
	tr.granted(way{from: "alpha", to: "beta"}, stream("bbr"), record.Socket{})
	if tr.congestion != "bbr" || tr.notes != nil {
		t.Errorf("%q, %q", tr.congestion, tr.notes)
	}
	tr.granted(way{from: "beta", to: "alpha"}, stream("cubic"), record.Socket{})
	if len(tr.notes) != 1 {
		t.Errorf("of two that differ: %q", tr.notes)
	}
}

// TestWindowOfGranted: half of what the receiver was granted, where something
// was asked for.
func TestWindowOfGranted(t *testing.T) {
	n := networkOf(bonded("alpha", 1, 1, 1), bonded("beta", 1, 1, 101), "")
	for asked, want := range map[unit.Bytes]unit.Bytes{0: 0, 8 * unit.MiB: 212992} {
		tr := &trial{cfg: Config{Network: n}, spec: Spec{Socket: record.Socket{SndBuf: asked, RcvBuf: asked}}}
		streams := []agentapi.Stream{{Socket: record.Socket{RcvBuf: 1}}}
		tr.granted(way{from: "alpha", to: "beta"}, streams, record.Socket{RcvBuf: 425984})
		if got := streams[0].Socket; got.RcvBuf != 425984 || got.Window != want {
			t.Errorf("asked %v: %+v", asked, got)
		}
	}
}
