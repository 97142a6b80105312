package wanted_test

import (
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/wanted"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// TestOddHosts: of a host such as nobody should have comes a plan, or an
// error that says why not; the plan can be carried out and undone.
func TestOddHosts(t *testing.T) {
	spoil := map[string]func(*netstate.Host){
		"no sysctls":      func(h *netstate.Host) { h.Sysctls = nil },
		"no links":        func(h *netstate.Host) { h.Links = nil },
		"no routes":       func(h *netstate.Host) { h.Routes, h.Rules = nil, nil },
		"no MPTCP":        func(h *netstate.Host) { h.MPTCP = nil },
		"empty words":     func(h *netstate.Host) { emptyWords(h) },
		"zero routes":     func(h *netstate.Host) { h.Routes = append(h.Routes, netstate.Route{}, netstate.Route{Link: "gone"}) },
		"zero rules":      func(h *netstate.Host) { h.Rules = append(h.Rules, netstate.Rule{}, netstate.Rule{Priority: -7}) },
		"bond of nothing": func(h *netstate.Host) { ofLink(h, "bond0", func(l *netstate.Link) { l.Bond = nil }) },
		"bond of no port": func(h *netstate.Host) {
			ofLink(h, "bond0", func(l *netstate.Link) { l.Bond = &netstate.Bond{Mode: 9} })
		},
		"bond in itself": func(h *netstate.Host) {
			ofLink(h, "bond0", func(l *netstate.Link) {
				l.Bond, l.Master = &netstate.Bond{Ports: []string{"bond0", "gone"}}, "bond0"
			})
		},
		"VLAN on itself": func(h *netstate.Host) {
			ofLink(h, "lan", func(l *netstate.Link) { l.VLAN = &netstate.VLAN{ID: 5, Parent: "lan"} })
		},
		"VLAN on nothing": func(h *netstate.Host) {
			ofLink(h, "lan", func(l *netstate.Link) { l.VLAN = &netstate.VLAN{ID: 5, Parent: "gone"} })
		},
		"VLAN of nothing": func(h *netstate.Host) { ofLink(h, "lan", func(l *netstate.Link) { l.VLAN = nil }) },
		"master is gone":  func(h *netstate.Host) { ofLink(h, "eth2", func(l *netstate.Link) { l.Master = "gone" }) },
		"port of nothing": func(h *netstate.Host) { ofLink(h, "eth2", func(l *netstate.Link) { l.Port = nil }) },
		"addresses of none": func(h *netstate.Host) {
			ofLink(h, "eth0", func(l *netstate.Link) { l.Addresses, l.Leases = []netip.Prefix{{}, {}}, []netip.Prefix{{}} })
		},
		"no device": func(h *netstate.Host) { ofLink(h, "eth0", func(l *netstate.Link) { l.Device, l.Offloads = nil, nil }) },
		"bare":      func(h *netstate.Host) { ofLink(h, "eth1", func(l *netstate.Link) { *l = netstate.Link{Name: "eth1"} }) },
		"twice":     func(h *netstate.Host) { h.Links = append(h.Links, h.Links...) },
	}
	rapid.Check(t, func(rt *rapid.T) {
		text := drawnText(rt)
		f, err := fabric.Parse("f", []byte(text))
		if err != nil {
			rt.Fatalf("%v\n%s", err, text)
		}
		h := running()
		var names []string
		for name := range spoil {
			names = append(names, name)
		}
		names = rapid.SliceOfN(rapid.SampledFrom(netstate.InNaturalOrder(names)), 1, 3).Draw(rt, "spoilt")
		for _, name := range names {
			spoil[name](&h)
		}
		state, err := wanted.Of(wanted.Request{Fabric: f, Host: "h", Observed: h, Exact: rapid.Bool().Draw(rt, "exact")})
		if err != nil {
			return
		}
		p, err := plan.Between(h, state.Host)
		if err != nil {
			return
		}
		after, err := plan.Apply(h, p)
		if err != nil {
			rt.Fatalf("%s: apply: %v\n%s", strings.Join(names, ", "), err, text)
		}
		if _, err := plan.Apply(after, p.Rollback()); err != nil {
			rt.Fatalf("%s: undo: %v\n%s", strings.Join(names, ", "), err, text)
		}
	})
}

func ofLink(h *netstate.Host, name string, f func(*netstate.Link)) {
	for i := range h.Links {
		if l := h.Links[i].Clone(); l.Name == name {
			f(&l)
			h.Links[i] = l
			return
		}
	}
}

func emptyWords(h *netstate.Host) {
	for key := range h.Sysctls {
		h.Sysctls[key] = netstate.Sysctl{}
	}
}
