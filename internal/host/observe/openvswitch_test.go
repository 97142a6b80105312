package observe

import (
	"net"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/host/openvswitch"
	"github.com/linerate/linerate/netstate"
)

// TestOpenVSwitchWhose: a bond is put on the host whose links its members are, also over
// the interface that Debian's script makes of its name; never over a link of its own.
func TestOpenVSwitchWhose(t *testing.T) {
	mac := func(last byte) flow.MAC { return flow.MAC{2, 0, 0, 0, 0, last} }
	members := []openvswitch.Member{{Name: "eno1", IfIndex: 2, MAC: net.HardwareAddr{2, 0, 0, 0, 0, 1}.String()}, {Name: "eno2", IfIndex: 3, MAC: "02:00:00:00:00:02"}}
	bond := openvswitch.Bond{Name: "bond0", Bridge: "br0", Members: members, State: netstate.OVSBond{Mode: netstate.OVSBalanceSLB, Ports: []string{"eno1", "eno2"}}}
	for _, c := range []struct {
		name  string
		links []netstate.Link
		want  bool
	}{
		{"its members", nil, true},
		{"its interface of the kernel's", []netstate.Link{{Name: "bond0", Kind: netstate.KindOVSBridge, Up: true}}, true},
		{"a bond of the kernel's of that name", []netstate.Link{{Name: "bond0", Kind: "bond", Bond: &netstate.Bond{}}}, false},
		{"another namespace's link of a member's name and number", []netstate.Link{{Name: "eno2", Index: 3, MAC: mac(9)}}, false},
		{"another namespace's link of a member's name", []netstate.Link{{Name: "eno2", Index: 9, MAC: mac(2)}}, false},
	} {
		h := netstate.Host{Links: []netstate.Link{{Name: "eno1", Index: 2, MAC: mac(1), Up: true, Carrier: true}, {Name: "eno2", Index: 3, MAC: mac(2)}, {Name: "br0", Kind: "tun"}}}
		for _, l := range c.links {
			h.SetLink(l)
		}
		addOpenVSwitch(&h, []openvswitch.Bond{bond})
		l, _ := h.Link("bond0")
		port, _ := h.Link("eno1")
		if got := l.OVS != nil && l.Kind == netstate.KindOVSBond && l.Master == "br0" && l.Carrier && port.Master == "bond0"; got != c.want {
			t.Errorf("%s: bond0 %+v, eno1 under %q", c.name, l, port.Master)
		}
		if bridge, _ := h.Link("br0"); (bridge.Kind == netstate.KindOVSBridge) != c.want {
			t.Errorf("%s: br0 is a %s", c.name, bridge.Kind)
		}
	}
}
