package plan_test

import (
	"testing"

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
