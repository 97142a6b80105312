package plan_test

import (
	"fmt"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// The steps from a host as it was observed to the host that is wanted, what each
// disturbs, and what undoes it.
func Example() {
	observed := netstate.Host{Name: "web", Links: []netstate.Link{
		{Name: "bond0", Index: 4, Kind: "bond", MTU: 1500, Up: true, Bond: &netstate.Bond{Mode: netstate.LACP, HashPolicy: netstate.Layer2}},
		{Name: "eno1", Index: 2, MTU: 1500, Up: true, Master: "bond0"},
		{Name: "eno2", Index: 3, MTU: 1500, Up: true, Master: "bond0"},
	}}
	wanted := observed.Clone()
	wanted.Links[0].MTU = 9000
	wanted.Links[0].Bond.HashPolicy = netstate.Layer34

	p, err := plan.Between(observed, wanted)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, step := range p.Steps {
		fmt.Printf("%s (%s)\n", step.Change(), step.Disruption)
	}
	after, err := plan.Apply(observed, p)
	fmt.Println(after.Links[0].MTU, err)
	// Output:
	// bond0 xmit_hash_policy: layer2 -> layer3+4 (online)
	// bond0 mtu: 1500 -> 9000 (online)
	// 9000 <nil>
}
