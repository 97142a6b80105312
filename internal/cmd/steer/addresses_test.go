package steer

import (
	"net/netip"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/snippet"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

func TestCountConnections(t *testing.T) {
	tuple := func(src, dst string, dport uint16) flow.Tuple {
		return flow.Tuple{Proto: flow.TCP, Src: netip.MustParseAddr(src), Dst: netip.MustParseAddr(dst), Sport: 700, Dport: dport}
	}
	sockets := []agentapi.Socket{
		{Tuple: tuple("10.0.0.1", "10.0.0.2", 2049), State: "established"},
		{Tuple: tuple("::ffff:10.0.0.1", "::ffff:10.0.0.2", 2049), State: "established"},
		{Tuple: tuple("10.0.0.1", "10.0.0.2", 2049), State: "time-wait"},
		{Tuple: tuple("10.0.0.1", "10.0.0.2", 22), State: "established"},
		{Tuple: tuple("10.0.0.1", "10.0.0.9", 2049), State: "established"},
	}
	doc := countConnections(sockets, 2049, []netip.Addr{netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("10.0.0.3")})
	if doc.Servers[0].Connections != 2 || doc.Servers[1].Connections != 0 || len(doc.Servers[0].Sources) != 2 {
		t.Errorf("counted %+v", doc)
	}
}

// TestAddressesFromHost: the host's own subnet, MAC address and VLAN count,
// and its addresses are not chosen again.
func TestAddressesFromHost(t *testing.T) {
	host := netstate.Host{Links: []netstate.Link{
		{Name: "bond0", Bond: &netstate.Bond{}, MAC: flow.MAC{2, 0, 0, 0, 0, 1}},
		{Name: "lan", VLAN: &netstate.VLAN{ID: 7, Parent: "bond0"}, MAC: flow.MAC{2, 0, 0, 0, 0, 1}, Addresses: []netip.Prefix{netip.MustParsePrefix("10.1.0.5/20"), netip.MustParsePrefix("10.1.0.6/20")}},
	}}
	req := steer.AddressRequest{Src: netip.MustParseAddr("10.1.0.5")}
	fromHost(&host, req.Src, &req.Avoid, &req.Subnet, &req.Frame)
	if req.Subnet.String() != "10.1.0.0/20" || req.Frame.VLAN != 7 || req.Frame.SrcMAC != host.Links[0].MAC || len(req.Avoid) != 2 {
		t.Errorf("request %+v", req)
	}
	var l lineFlags
	near, far := l.devices(req, &host)
	if (near != device{"lan", snippet.KindVLAN}) || far.name != noDevice {
		t.Errorf("devices %+v, %+v", near, far)
	}
}
