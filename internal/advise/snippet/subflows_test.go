package snippet

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/steer/subflow"
)

// connection asks for the subflows between .1 and .2 of a network.
func connection(near steer.Spreader) subflow.SubflowRequest {
	return subflow.SubflowRequest{
		Near: near, Client: netip.MustParseAddr("10.0.0.1"), Server: netip.MustParseAddr("10.0.0.2"), Subnet: netip.MustParsePrefix("10.0.0.0/24"),
		Frame: flow.Frame{SrcMAC: flow.MAC{2, 0, 0, 0, 1, 0x11}, DstMAC: flow.MAC{2, 0, 0, 0, 2, 0x22}},
	}
}

func mustPlan(t *testing.T, req subflow.SubflowRequest) subflow.Subflows {
	t.Helper()
	s, err := subflow.Plan(req)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What a host was set to before is what taking the plan back sets.
func TestSubflowRollback(t *testing.T) {
	req := connection(steer.Declared(netstate.Layer23, 2))
	req.ClientBefore = &netstate.MPTCP{Subflows: 5, AddAddrAccepted: 4, Endpoints: []netstate.MPTCPEndpoint{{ID: 101, Addr: netip.MustParseAddr("192.0.2.1")}}}
	s := mustPlan(t, req)
	c := SubflowClient(s, SubflowHost{Device: "bond0", Before: req.ClientBefore}, 24)
	want := []string{
		"ip mptcp endpoint delete id 102", "ip mptcp limits set subflows 5 add_addr_accepted 4", "ip addr del 10.0.0.4/24 dev bond0",
	}
	if diff := cmp.Diff(want, c.Rollback); diff != "" {
		t.Errorf("undo (-want +got):\n%s", diff)
	}
}

func TestSubflowCommands(t *testing.T) {
	s := mustPlan(t, connection(steer.Declared(netstate.Layer23, 2)))
	c := SubflowClient(s, SubflowHost{Device: "bond0"}, 24)
	want := []string{
		"ip addr add 10.0.0.4/24 dev bond0", "sysctl -w net.mptcp.enabled=1",
		"ip mptcp limits set subflows 2 add_addr_accepted 0", "ip mptcp endpoint add 10.0.0.4 id 101 subflow",
	}
	if diff := cmp.Diff(want, c.Set); diff != "" {
		t.Errorf("set (-want +got):\n%s", diff)
	}
	unit := strings.Join(c.Unit, "\n")
	if !strings.Contains(unit, "ExecStart=-/usr/bin/env ip mptcp endpoint add 10.0.0.4 id 101 subflow") {
		t.Errorf("unit:\n%s", unit)
	}
	netplan := strings.Join(c.Netplan, "\n")
	if !strings.Contains(netplan, "bond0:") || !strings.Contains(netplan, "- 10.0.0.4/24") {
		t.Errorf("netplan:\n%s", netplan)
	}
	server := SubflowServer(s, SubflowHost{Device: "bond1"}, 24)
	if diff := cmp.Diff([]string{"sysctl -w net.mptcp.enabled=1", "ip mptcp limits set subflows 2 add_addr_accepted 0"}, server.Set); diff != "" || server.Netplan != nil {
		t.Errorf("server: %+v (-want +got):\n%s", server, diff)
	}
	announced := mustPlan(t, connection(steer.EtherChannel{Mode: steer.ChannelStandard, Hash: steer.ChannelHashDefault, Adapters: []string{"ent0", "ent1"}}))
	if line := strings.Join(SubflowClient(announced, SubflowHost{Device: "en2"}, 24).Verify, "\n"); !strings.Contains(line, fmt.Sprintf("'dst 10.0.0.2 or dst %s'", announced.AddFar[0])) {
		t.Errorf("verify:\n%s", line)
	}
}
