package plan_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// TestOrderKeepsPortOptions: the rollback of a new order moves other ports than the order
// did. What they would lose by that is steps too, so that whoever goes on with a rollback
// that was cut short finds it.
func TestOrderKeepsPortOptions(t *testing.T) {
	port := func(name string, queue, prio int) netstate.Link {
		return netstate.Link{Name: name, MTU: 1500, Up: true, Master: "b", Port: &netstate.BondPort{Bond: "b", QueueID: queue, Priority: prio}}
	}
	host := func(ports ...string) netstate.Host {
		return netstate.Host{Links: []netstate.Link{
			port("p0", 0, 0), port("p1", 2, 0), port("p2", 3, 0),
			{Name: "b", Kind: "bond", MTU: 1500, Up: true, Bond: &netstate.Bond{Mode: netstate.BalanceXOR, Ports: ports}},
		}}
	}
	p, err := plan.Between(host("p0", "p1", "p2"), host("p1", "p2", "p0"))
	if err != nil {
		t.Fatal(err)
	}
	moved := false
	options := make(map[string]string) // as they are at the order's step
	for _, s := range p.Steps {
		switch {
		case s.Kind == plan.PortOption && !moved:
			options[s.Link+" "+s.Key] = s.New
		case s.Kind == plan.PortOrder:
			moved = true
		}
	}
	if !moved || options["p1 queue_id"] != "0" || options["p2 queue_id"] != "0" {
		t.Errorf("the order is changed with %v; steps: %+v", options, p.Steps)
	}
	after, err := plan.Apply(host("p0", "p1", "p2"), p)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"p0": 0, "p1": 2, "p2": 3} {
		if l, _ := after.Link(name); l.Port == nil || l.Port.QueueID != want {
			t.Errorf("%s has %+v afterwards, want queue %d", name, l.Port, want)
		}
	}
}

// TestPortKeepsAddress: the kernel takes a port's own IPv6 address when it closes the port,
// so that a plan takes it off before and puts it back where the file names it, and refuses
// where it does not, or the port comes back at once.
func TestPortKeepsAddress(t *testing.T) {
	own := prefix("fd00:2::3/64")
	host := func() netstate.Host {
		h := bonded()
		h.Links[1].Addresses = []netip.Prefix{prefix("fe80::1/64"), own}
		h.Links[2].Bond.Mode = netstate.BalanceXOR
		return h
	}
	leaves := func(h *netstate.Host) { h.Links[2].Bond.Ports = []string{"e"} }
	want := host()
	leaves(&want)
	p, err := plan.Between(host(), want)
	if err != nil {
		t.Fatal(err)
	}
	after, err := plan.Apply(host(), p)
	if l, _ := after.Link("f"); err != nil || !slices.Contains(l.Addresses, own) {
		t.Errorf("%v, f has %v afterwards\n%s", err, l.Addresses, p.Text(80))
	}
	back, err := plan.Apply(after, p.Rollback())
	if l, _ := back.Link("f"); err != nil || !slices.Contains(l.Addresses, own) {
		t.Errorf("%v, f has %v after the rollback\n%s", err, l.Addresses, p.Text(80))
	}
	for name, change := range map[string]func(*netstate.Host){
		"not named": func(h *netstate.Host) { leaves(h); h.Links[1].Addresses = nil },
		"is second": func(h *netstate.Host) { h.Links[2].Bond.Ports = []string{"f", "e"} },
		"was alone": func(h *netstate.Host) {
			h.Links[2].Bond.Mode, h.Links[2].Bond.Miimon = netstate.LACP, 100*time.Millisecond
		},
	} {
		want := host()
		change(&want)
		if p, err := plan.Between(host(), want); err == nil || !strings.Contains(err.Error(), "f holds fd00:2::3/64, which the kernel removes when it leaves bond0") {
			t.Errorf("%s: %v\n%s", name, err, p.Text(80))
		}
	}
}
