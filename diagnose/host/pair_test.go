package host

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
)

// twoBusy is two busy hosts in one network, a fifth of a millisecond apart.
func twoBusy() predict.Fabric {
	a, b := busyHost(), busyHost()
	b.Name = "beta"
	b.Links[bond0].Addresses = []netip.Prefix{netip.MustParsePrefix("10.0.0.2/24")}
	return predict.Fabric{Hosts: map[string]netstate.Host{"alpha": a, "beta": b},
		Paths: []fabric.Path{{From: "alpha", To: "beta", RTT: 200 * time.Microsecond, Declared: true}}}
}

// beta changes the second host's bond.
func beta(change func(*netstate.Link)) func(*predict.Fabric) {
	return func(f *predict.Fabric) { change(&f.Hosts["beta"].Links[bond0]) }
}

func probed(change func(*PathProbe)) []PathProbe {
	lane := flow.Lane{Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.2")}
	p := PathProbe{From: "alpha", To: "beta", Lane: lane, Link: "bond0", MTU: 9000, Answers: true, Sent: 12, Passed: 12, Passes: 9000, RTT: 200 * time.Microsecond}
	back := p
	back.From, back.To, back.Lane = p.To, p.From, lane.Reverse()
	if change != nil {
		change(&p)
	}
	return []PathProbe{p, back}
}

func TestPairs(t *testing.T) {
	for _, c := range []struct {
		name     string
		change   func(*predict.Fabric)
		probes   []PathProbe
		kinds    []string
		severity Severity // of the first
		what     string   // in the first
	}{
		{"healthy", nil, probed(nil), nil, "", ""},
		{"not probed", nil, nil, nil, "", ""},
		{"two MTUs", beta(func(l *netstate.Link) { l.MTU = 1500 }), nil, []string{PairMTU}, Warning, "of alpha has MTU 9000"},
		{"two MTUs, proven", beta(func(l *netstate.Link) { l.MTU = 1500 }), probed(func(p *PathProbe) { p.Passed, p.Passes = 0, 1500 }), []string{PairMTU}, Fault, "1500"},
		{"MTU of one unknown", beta(func(l *netstate.Link) { l.MTU = 0 }), nil, nil, "", ""},
		{"two MTUs behind a router", beta(func(l *netstate.Link) { l.MTU = 1500; l.Addresses[0] = netip.MustParsePrefix("10.0.0.2/32") }), nil, nil, "", ""},
		{"a switch in between", nil, probed(func(p *PathProbe) { p.Passed, p.Passes = 0, 1500 }), []string{PathMTU}, Fault, "without a word: no more than 1500 pass"},
		{"one member", nil, probed(func(p *PathProbe) { p.Sent, p.Passed, p.Passes = 24, 11, 1500 }), []string{PathMTU}, Fault, "only some packets of 9000 bytes"},
		{"a router says so", nil, probed(func(p *PathProbe) { p.Sent, p.Passed, p.Passes, p.Named = 1, 0, 1500, 1500 }), []string{PathMTU}, Warning, "the way takes 1500"},
		{"nobody answers", nil, probed(func(p *PathProbe) { p.Answers, p.Sent, p.Passed, p.Passes = false, 0, 0, 0 }), nil, "", ""},
		{"policies", beta(func(l *netstate.Link) { l.Bond.HashPolicy = netstate.Layer23 }), nil, []string{PairHash}, Warning, "by layer3+4 and bond0 of beta by layer2+3"},
		{"policies, one does not hash", beta(func(l *netstate.Link) { l.Bond.HashPolicy, l.Bond.Mode = netstate.Layer23, netstate.BalanceRR }), nil, nil, "", ""},
		{"10 ms", func(f *predict.Fabric) { f.Paths[0].RTT = 10 * time.Millisecond }, nil, []string{BufferForBDP, BufferForBDP}, Warning, "tcp_rmem of"},
		{"10 ms, by the probe", func(f *predict.Fabric) { f.Paths = nil }, probed(func(p *PathProbe) { p.RTT = 10 * time.Millisecond }), []string{BufferForBDP, BufferForBDP}, Warning, ""},
		{"10 ms, with buffers for it", func(f *predict.Fabric) {
			f.Paths[0].RTT = 10 * time.Millisecond
			for _, h := range f.Hosts {
				set("net.ipv4.tcp_rmem", "4096 131072 268435456")(&h)
				set("net.ipv4.tcp_wmem", "4096 16384 268435456")(&h)
			}
		}, nil, nil, "", ""},
		{"10 ms, speed unknown", func(f *predict.Fabric) {
			f.Paths[0].RTT = 10 * time.Millisecond
			for _, h := range f.Hosts {
				h.Links[port0].Speed, h.Links[port1].Speed = 0, 0
			}
		}, nil, nil, "", ""},
	} {
		f := twoBusy()
		if c.change != nil {
			c.change(&f)
		}
		found := Pairs(f, c.probes)
		if found == nil || strings.Join(kindsOf(found), " ") != strings.Join(c.kinds, " ") {
			t.Errorf("%s: %+v", c.name, found)
			continue
		}
		if len(found) == 0 {
			continue
		}
		if g := found[0]; g.Severity != c.severity || !strings.Contains(g.What, c.what) || len(g.Hosts) != 2 || len(g.Evidence) < 2 || g.Remedy == "" {
			t.Errorf("%s: %+v", c.name, g)
		}
	}
}

// The remedy for a small buffer is one with which the finding goes.
func TestBufferRemedyHelps(t *testing.T) {
	f := twoBusy()
	f.Paths[0].RTT = 10 * time.Millisecond
	for range 4 {
		found := Pairs(f, nil)
		if len(found) == 0 {
			return
		}
		for _, g := range found {
			words := strings.Fields(g.Remedy) // on HOST: raise the last number of KEY to N, or ...
			h := f.Hosts[strings.TrimSuffix(words[1], ":")]
			set(words[7], "4096 131072 "+strings.TrimSuffix(words[9], ","))(&h)
		}
	}
	t.Errorf("the remedies did not help: %+v", Pairs(f, nil))
}
