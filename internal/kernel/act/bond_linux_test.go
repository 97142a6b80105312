package act

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

func allOptions(t *testing.T) map[string]string {
	t.Helper()
	out := make(map[string]string)
	l, err := findLink("b")
	must(t, err)
	for _, r := range bondopt.Options() {
		if v, err := readBondOption(l, r.Name); err == nil {
			out[r.Name] = v
		}
	}
	return out
}

// makeBond makes bond b, up, with the veths p0 (and more) as slaves.
func makeBond(t *testing.T, mode netstate.BondMode, ports ...string) {
	t.Helper()
	bond := netlink.NewLinkBond(netlink.LinkAttrs{Name: "b"})
	bond.Mode, bond.Miimon = netlink.BondMode(mode), 100
	must(t, netlink.LinkAdd(bond))
	if len(ports) == 0 {
		ports = []string{"p0"}
	}
	for _, p := range ports {
		must(t, netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: p}, PeerName: p + "x"}))
		must(t, do(t.Context(), plan.Step{Kind: plan.LinkState, Link: p + "x", New: plan.Up}))
		must(t, do(t.Context(), plan.Step{Kind: plan.PortMaster, Link: p, Old: plan.NoMaster, New: "b"}))
	}
	must(t, do(t.Context(), plan.Step{Kind: plan.LinkState, Link: "b", Old: plan.Down, New: plan.Up}))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestKernelPlanAndRollback carries out whole plans on a bond with a VLAN and
// routes, step by step, and rolls them back.
func TestKernelPlanAndRollback(t *testing.T) {
	if inGuest(t) {
		return
	}
	for name, wish := range map[string]func(b *netstate.Bond){
		"online":     func(b *netstate.Bond) { b.HashPolicy = netstate.Layer34 },
		"delays":     func(b *netstate.Bond) { b.Miimon, b.UpDelay = 50*time.Millisecond, 150*time.Millisecond },
		"bond down":  func(b *netstate.Bond) { b.LACPRate = netstate.LACPFast },
		"other mode": func(b *netstate.Bond) { b.Mode, b.Miimon = netstate.BalanceRR, 0 },
	} {
		t.Run(name, func(t *testing.T) {
			inNewNamespace(t, func() {
				host := hostWithBond(t)
				want := host.Clone()
				bond, _ := want.Link("b")
				wish(bond.Bond)
				bond.MTU = 9000
				want.SetLink(bond)
				p, err := plan.Between(host, want)
				must(t, err)
				before := snapshot(t)
				if before["slaves"] != "p1\np0\n" {
					t.Fatalf("slaves %q", before["slaves"])
				}
				carryOut(t, p)
				if cmp.Equal(before, snapshot(t)) {
					t.Fatal("the plan changed nothing")
				}
				carryOut(t, p.Rollback())
				if diff := cmp.Diff(before, snapshot(t)); diff != "" {
					t.Errorf("after undo (-before +after):\n%s", diff)
				}
			})
		})
	}
}

func hostWithBond(t *testing.T) netstate.Host {
	t.Helper()
	makeBond(t, netstate.LACP, "p1", "p0")
	b, err := findLink("b")
	must(t, err)
	must(t, netlink.LinkAdd(&netlink.Vlan{LinkAttrs: netlink.LinkAttrs{Name: "v", ParentIndex: b.index}, VlanId: 7, VlanProtocol: netlink.VLAN_PROTOCOL_8021Q}))
	must(t, setAddress("v", netip.MustParsePrefix("10.7.0.1/24"), false, plan.Present))
	must(t, do(t.Context(), plan.Step{Kind: plan.LinkState, Link: "v", New: plan.Up}))
	h := netstate.Host{Name: "h", Links: []netstate.Link{
		{Name: "p1", Kind: "veth", MTU: 1500, Up: true, Master: "b"},
		{Name: "p0", Kind: "veth", MTU: 1500, Up: true, Master: "b"},
		{Name: "b", Kind: "bond", MTU: 1500, Up: true, Bond: &netstate.Bond{Mode: netstate.LACP, Miimon: 100 * time.Millisecond,
			PacketsPerSlave: 1, TLBDynamic: true, Ports: []string{"p1", "p0"}}},
		{Name: "v", Kind: "vlan", MTU: 1500, Up: true, VLAN: &netstate.VLAN{ID: 7, Parent: "b"},
			Addresses: []netip.Prefix{netip.MustParsePrefix("10.7.0.1/24")}},
	}, Routes: []netstate.Route{
		{Dst: netip.MustParsePrefix("0.0.0.0/0"), Gateway: netip.MustParseAddr("10.7.0.254"), Link: "v", Table: 254},
		{Dst: netip.MustParsePrefix("10.8.0.0/16"), Gateway: netip.MustParseAddr("192.0.2.1"), Link: "v", Table: 254, Metric: 5, OnLink: true},
		{Dst: netip.MustParsePrefix("10.9.0.0/16"), Link: "b", Table: 100},
		{Dst: netip.MustParsePrefix("2001:db8:9::/48"), Gateway: netip.MustParseAddr("fe80::1"), Link: "v", Table: 254, Metric: 1024},
	}}
	for i := range h.Routes {
		must(t, setRoute(&h.Routes[i], plan.Present))
	}
	return h
}

func carryOut(t *testing.T, p plan.Plan) {
	t.Helper()
	ctx := context.Background()
	for _, s := range p.Steps {
		if now, err := (Kernel{}).Read(ctx, s); err != nil || now != s.Old {
			t.Fatalf("before %s: reads %q, %v\n%s", s.Change(), now, err, p.Text(80))
		}
		if err := (Kernel{}).Do(ctx, s); err != nil {
			t.Fatalf("%s: %v\n%s", s.Change(), err, p.Text(80))
		}
		if now, err := (Kernel{}).Read(ctx, s); err != nil || now != s.New {
			t.Fatalf("after %s: reads %q, %v", s.Change(), now, err)
		}
	}
}

// snapshot is everything a plan may have touched, as the kernel tells it.
func snapshot(t *testing.T) map[string]string {
	t.Helper()
	out := allOptions(t)
	for _, name := range []string{"b", "p0", "p1", "v"} {
		l, err := findLink(name)
		must(t, err)
		out[name] = fmt.Sprintf("up %v mtu %d master %d", l.up, l.mtu, l.master)
	}
	// The order of the slaves is the order the transmit hash counts them in.
	status, err := os.ReadFile("/proc/thread-self/net/bonding/b")
	must(t, err)
	for line := range strings.Lines(string(status)) {
		if slave, ok := strings.CutPrefix(line, "Slave Interface: "); ok {
			out["slaves"] += slave
		}
	}
	all, err := netlink.RouteListFiltered(netlink.FAMILY_ALL, &netlink.Route{}, netlink.RT_FILTER_TABLE)
	must(t, err)
	for _, r := range all {
		// Links with carrier make link-local and multicast routes at their own pace.
		if r.Dst != nil && (r.Dst.IP.IsLinkLocalUnicast() || r.Dst.IP.IsMulticast()) || r.Type != 1 {
			continue
		}
		out[fmt.Sprintf("route %v table %d metric %d", r.Dst, r.Table, r.Priority)] = fmt.Sprint(r.Gw, r.LinkIndex, r.Scope)
	}
	return out
}
