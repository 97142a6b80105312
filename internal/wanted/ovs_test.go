package wanted_test

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/wanted"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// A bond of Open vSwitch is none of the kernel's: nothing is planned for it, which is
// said, and a bond of the kernel's under its name, or with its members, is refused.
func TestOVSBond(t *testing.T) {
	const member = ", bonds: {%: {interfaces: [eth1, eth4], openvswitch: {lacp: active}, parameters: {mode: balance-tcp}}}"
	for name, c := range map[string]struct {
		network, left, problem string
	}{
		"left as it is":        {"ethernets: {eth1: {}, eth4: {}}" + member, "`ovs-vsctl set port ovs0 bond_mode=balance-tcp lacp=active` sets it", ""},
		"a bond of the kernel": {"ethernets: {eth1: {}, eth4: {}}" + strings.Replace(member, "%", "bond0", 1), "", "bond0 is a bond here, and the file has it as a bond of Open vSwitch"},
		"a bond's port":        {"ethernets: {eth2: {}, eth4: {}}" + strings.Replace(member, "eth1", "eth2", 1), "", "eth2 is a port of the kernel's bond bond0"},
	} {
		t.Run(name, func(t *testing.T) {
			text := "linerate: v1\nhosts: {h: {network: {" + strings.Replace(c.network, "%", "ovs0", 1) + "}, profiles: []}}\n"
			f, err := fabric.Parse("f.yaml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			state, err := wanted.Of(wanted.Request{Fabric: f, Host: "h", Observed: running()})
			if c.problem != "" {
				if err == nil || !strings.Contains(err.Error(), c.problem) {
					t.Errorf("problem: %v", err)
				}
				return
			}
			if err != nil || !strings.Contains(strings.Join(state.Left, "\n"), c.left) {
				t.Fatalf("left: %v %v", state.Left, err)
			}
			p, err := plan.Between(running(), state.Host)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range p.Steps {
				if s.Kind != plan.LinkState {
					t.Errorf("step %+v", s)
				}
			}
			if l, there := state.Host.Link("ovs0"); there || l.Bond != nil {
				t.Errorf("ovs0 is wanted: %+v", l)
			}
			if eth4, _ := state.Host.Link("eth4"); eth4.Master != "" || eth4.Port != (*netstate.BondPort)(nil) {
				t.Errorf("eth4: %+v", eth4)
			}
		})
	}
}
