package plan_test

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// anyHost is a host with three ports, the first of them in use.
func anyHost() netstate.Host {
	h := netstate.Host{Name: "h", Kernel: netstate.Kernel{Release: "6.12.1"}, MPTCP: &netstate.MPTCP{Subflows: 2},
		Sysctls: map[string]netstate.Sysctl{}}
	for _, key := range []string{"all", "default", "p0", "p1", "p2"} {
		h.Sysctls["net.ipv4.conf."+key+".rp_filter"] = netstate.Sysctl{Value: "0"}
	}
	for i, name := range []string{"p0", "p1", "p2"} {
		m := flow.MAC{2, 0, 0, 0, 0, byte(i + 1)}
		h.Links = append(h.Links, netstate.Link{Name: name, MTU: 1500, MaxMTU: 9216, Up: true, MAC: m, PermanentMAC: m,
			Offloads: map[string]bool{"gro": true}, Addresses: []netip.Prefix{},
			Device: &netstate.Device{Rings: &netstate.Rings{Rx: 256, RxMax: 4096}, Coalescing: map[string]int{"rx-usecs": 3, "adaptive-rx": 1}}})
	}
	h.Links[0].Addresses = []netip.Prefix{netip.MustParsePrefix("10.0.0.1/24")}
	h.Routes = []netstate.Route{{Dst: netip.MustParsePrefix("0.0.0.0/0"), Gateway: netip.MustParseAddr("10.0.0.254"), Link: "p0", Table: 254, Protocol: "boot"}}
	h.Rules = []netstate.Rule{{Priority: 0, Table: 255, Family: "ipv4"}, {Priority: 32766, Table: 254, Family: "ipv4"}}
	return h
}

// drawAny wishes bonds, VLANs, addresses, routes, rules and more for a host.
func drawAny(t *rapid.T, label string) netstate.Host {
	draw := func(what string, of ...int) int { return rapid.SampledFrom(of).Draw(t, label+" "+what) }
	h := anyHost()
	top := "p0"
	if draw("bond", 0, 1, 1) == 1 {
		mode := rapid.SampledFrom(netstate.BondModes()).Draw(t, label+" mode")
		l, err := plan.Fresh("b", plan.Made{Kind: "bond"}, h)
		if err != nil {
			t.Fatal(err)
		}
		b := l.Bond
		b.Mode, b.Miimon = mode, 100*time.Millisecond
		b.HashPolicy = rapid.SampledFrom(netstate.HashPolicies()).Draw(t, label+" policy")
		b.UpDelay = time.Duration(draw("updelay", 0, 200)) * time.Millisecond
		b.Ports = slices.Clone(rapid.SampledFrom([][]string{{"p0"}, {"p0", "p1"}, {"p1", "p0"}, {"p1", "p2", "p0"}, {"p2"}}).Draw(t, label+" ports"))
		b.Options["arp_ip_target"], b.Options["primary"] = plan.NoValue, plan.NoValue // nothing said would leave them
		switch {
		case mode == netstate.LACP:
			b.LACPRate = rapid.SampledFrom(netstate.LACPRates()).Draw(t, label+" rate")
		case mode == netstate.ActiveBackup && draw("arp", 0, 1) == 1:
			b.Miimon, b.UpDelay = 0, 0
			b.Options["arp_ip_target"], b.Options["arp_interval"], b.Options["arp_validate"] = "10.0.0.254,10.0.0.253", "100", "all"
		case mode == netstate.ActiveBackup:
			b.Options["primary"] = b.Ports[0]
		}
		l.MTU, l.Up = draw("bond mtu", 1500, 9000), true
		l.Addresses = []netip.Prefix{}
		queues := rapid.SampledFrom([][]int{{0, 0, 0}, {3, 0, 1}, {1, 3, 0}}).Draw(t, label+" queues") // no two have the same
		for i, name := range b.Ports {
			p, _ := h.Link(name)
			p.Master, p.MTU, p.Addresses = "b", l.MTU, []netip.Prefix{}
			p.Port = &netstate.BondPort{Bond: "b", Active: true, MIIUp: true, QueueID: queues[i]}
			h.SetLink(p)
			if name == "p0" {
				top = "b"
			}
		}
		if first, _ := h.Link(b.Ports[0]); true {
			l.MAC = first.PermanentMAC
			for _, name := range b.Ports {
				p, _ := h.Link(name)
				p.MAC = l.MAC
				h.SetLink(p)
			}
		}
		h.SetLink(l)
		if draw("vlan", 0, 1) == 1 {
			h.SetLink(netstate.Link{Name: "v", Kind: "vlan", MTU: 1500, MaxMTU: 65535, Up: true, MAC: l.MAC, VLAN: &netstate.VLAN{ID: 7, Parent: "b"},
				Addresses: []netip.Prefix{netip.MustParsePrefix("10.7.0.1/24")}})
		}
	}
	on, _ := h.Link(top)
	on.Addresses = slices.Clone(rapid.SampledFrom([][]netip.Prefix{
		{netip.MustParsePrefix("10.0.0.1/24")}, {netip.MustParsePrefix("10.0.0.1/24"), netip.MustParsePrefix("10.0.0.2/24")},
		{netip.MustParsePrefix("10.0.0.3/24"), netip.MustParsePrefix("10.0.0.1/24")}}).Draw(t, label+" addresses"))
	h.SetLink(on)
	h.Routes[0].Link = top
	if draw("route", 0, 1) == 1 {
		h.Routes = append(h.Routes, netstate.Route{Dst: netip.MustParsePrefix("10.9.0.0/16"), Gateway: netip.MustParseAddr("10.0.0.7"), Link: top, Table: 101, MTU: 1400, Protocol: "static"},
			netstate.Route{Dst: netip.MustParsePrefix("10.0.0.0/24"), Link: top, Table: 101, Source: netip.MustParseAddr("10.0.0.1"), Protocol: "static"})
		h.Rules = append(h.Rules, netstate.Rule{Priority: 101, From: netip.MustParsePrefix("10.0.0.1/32"), Table: 101, Family: "ipv4", Protocol: "static"})
	}
	if draw("mptcp", 0, 1) == 1 {
		h.MPTCP.Subflows, h.MPTCP.Endpoints = 8, []netstate.MPTCPEndpoint{{Addr: netip.MustParseAddr("10.0.0.1"), Link: top, Flags: netstate.MPTCPSubflow}}
	}
	for i := range h.Links {
		l := &h.Links[i]
		if l.Device == nil {
			continue
		}
		d := *l.Device
		d.Rings = &netstate.Rings{Rx: draw(l.Name+" ring", 256, 4096), RxMax: 4096}
		d.Coalescing = map[string]int{"rx-usecs": draw(l.Name+" usecs", 3, 16), "adaptive-rx": draw(l.Name+" adaptive", 0, 1)}
		l.Device, l.Offloads = &d, map[string]bool{"gro": draw(l.Name+" gro", 0, 1) == 1}
		l.Qdiscs = []netstate.Qdisc{{Kind: "mq", Handle: "0:", Parent: "root"}}
		if draw(l.Name+" qdisc", 0, 1) == 1 {
			q, err := plan.ParseQdisc("fq maxrate 1gbit")
			if err != nil {
				t.Fatal(err)
			}
			q.Handle = "8001:"
			l.Qdiscs = []netstate.Qdisc{q}
		}
	}
	h.Sysctls["net.ipv4.conf.all.rp_filter"] = netstate.Sysctl{Value: fmt.Sprint(draw("rp_filter", 0, 1, 2))}
	for _, name := range []string{"b", "v"} {
		if _, ok := h.Link(name); ok {
			h.Sysctls["net.ipv4.conf."+name+".rp_filter"] = netstate.Sysctl{Value: fmt.Sprint(draw(name+" rp_filter", 0, 2))}
		}
	}
	return h
}

// governed is what a plan governs of a host, comparable: what comes and goes
// in another order, or only shows while it runs, is left out.
func governed(h netstate.Host) map[string]string {
	out := make(map[string]string)
	for key, v := range h.Sysctls {
		out["sysctl "+key] = strings.Join(strings.Fields(v.Value), " ")
	}
	for _, r := range h.Routes {
		out["route "+plan.Step{Kind: plan.Route, Route: &r}.Target()+" "+r.Protocol] = plan.Present
	}
	for _, r := range h.Rules {
		out["rule "+plan.Step{Kind: plan.Rule, Rule: &r}.Target()] = plan.Present
	}
	if h.MPTCP != nil {
		out["mptcp"] = fmt.Sprint(h.MPTCP.Subflows, h.MPTCP.AddAddrAccepted)
		for _, e := range h.MPTCP.Endpoints {
			out["endpoint "+plan.Step{Kind: plan.MPTCPEndpoint, Endpoint: &e}.Target()] = plan.Present
		}
	}
	for _, l := range h.Links {
		say := func(key string, v any) { out[l.Name+" "+key] = fmt.Sprint(v) }
		say("state", l.Up)
		say("mtu", l.MTU)
		say("mac", l.MAC)
		say("master", l.Master)
		say("addresses", l.Addresses)
		say("offloads", l.Offloads)
		if l.Device != nil {
			say("rings", *l.Device.Rings)
			say("coalescing", l.Device.Coalescing)
		}
		q, _ := plan.RootQdisc(l)
		say("qdisc", q)
		if l.Port != nil && l.Master != "" {
			say("port", []int{l.Port.Priority, l.Port.QueueID})
		}
		if l.Bond == nil {
			continue
		}
		if l.Bond.Mode.Hashes() {
			say("ports", l.Bond.Ports)
		}
		for _, r := range bondopt.Options() {
			if v, err := plan.Current(h, plan.Step{Kind: plan.BondOption, Link: l.Name, Key: r.Name}); err == nil && r.Allows(l.Bond.Mode) && r.Name != "active_slave" {
				say(r.Name, v)
			}
		}
	}
	return out
}

// TestDrawnHosts: from any of the drawn hosts to any other, and back.
func TestDrawnHosts(t *testing.T) {
	planned := 0
	rapid.Check(t, func(t *rapid.T) {
		observed, desired := drawAny(t, "observed"), drawAny(t, "desired")
		for _, name := range []string{"v", "b"} {
			if _, wanted := desired.Link(name); !wanted {
				desired.Absent = append(desired.Absent, name)
			}
		}
		p, err := plan.Between(observed, desired)
		if err != nil {
			var rule *plan.RuleError
			if !errors.As(err, &rule) {
				t.Fatalf("error is no RuleError: %v", err)
			}
			if strings.Contains(err.Error(), "which no other link gets") {
				return // the one rule that these hosts can break
			}
			t.Fatalf("refused: %v", err)
		}
		planned++
		after, err := plan.Apply(observed, p)
		if err != nil {
			t.Fatalf("apply: %v\n%s", err, p.Text(80))
		}
		want := governed(desired)
		got := governed(after)
		maps.DeleteFunc(want, func(k, _ string) bool { return strings.HasSuffix(k, " mac") })
		maps.DeleteFunc(got, func(k, _ string) bool { return strings.HasSuffix(k, " mac") })
		for _, m := range []map[string]string{want, got} {
			maps.DeleteFunc(m, func(k, _ string) bool { return strings.HasPrefix(k, "route ") })
			for k, v := range m {
				if strings.HasSuffix(k, " addresses") {
					f := strings.Fields(strings.Trim(v, "[]"))
					slices.Sort(f) // the first of a subnet stays the first
					m[k] = strings.Join(f, " ")
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("after (-want +got):\n%s\n%s", diff, p.Text(80))
		}
		rest, err := plan.Between(after, desired)
		if err != nil || len(rest.Steps) > 0 {
			t.Fatalf("left something to do: %v\n%s\nafter\n%s", err, rest.Text(80), p.Text(80))
		}
		before, err := plan.Apply(after, p.Rollback())
		if err != nil {
			t.Fatalf("undo: %v\n%s", err, p.Rollback().Text(80))
		}
		if diff := cmp.Diff(governed(observed), governed(before)); diff != "" {
			t.Fatalf("undo (-before +after):\n%s\n%s", diff, p.Text(80))
		}
	})
	if planned == 0 {
		t.Error("nothing was planned")
	}
}
