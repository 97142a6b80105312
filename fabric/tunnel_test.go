package fabric

import (
	"net/netip"
	"testing"

	"github.com/linerate/linerate/netstate"
)

// TestTunnelState: netplan's tunnels become what the kernel makes of them; a mode
// that is not known stays what it was.
func TestTunnelState(t *testing.T) {
	f, err := Parse("f.yaml", []byte(`linerate: v1
hosts:
  a:
    network:
      version: 2
      ethernets:
        lower: {match: {macaddress: "02:00:00:00:00:01"}, set-name: ens3, mtu: 9000, addresses: [192.0.2.1/24]}
        narrow: {mtu: 40}
      tunnels:
        vx0: {mode: vxlan, id: 77, link: lower, local: 192.0.2.1, remote: 192.0.2.2, addresses: [172.16.0.1/24]}
        vx1: {mode: vxlan, id: 78, link: lower, remote: "2001:db8::2"}
        vx2: {mode: vxlan, id: many, local: here, mtu: 1400}
        vx3: {mode: vxlan, id: 80}
        vx4: {mode: vxlan, id: 81, link: narrow, local: 192.0.2.1}
        vx5: {mode: vxlan, id: 82, port-range: [40000, 40001]}
        vx6: {mode: vxlan, id: 83, port-range: [40000, 50000]}
        gre0: {mode: gre, local: 192.0.2.1, remote: 192.0.2.2}
        gre1: {mode: gretap, local: 192.0.2.1, remote: 192.0.2.2, key: 7}
        six0: {mode: ip6gre, local: "2001:db8::1", remote: "2001:db8::2"}
        ipip0: {mode: ipip, remote: 192.0.2.2}
        sit0: {mode: sit, local: 192.0.2.1, remote: 192.0.2.2}
        tnl0: {mode: ipip6, local: "2001:db8::1", remote: "2001:db8::2"}
        wg0: {mode: wireguard, key: a2V5, port: 51820, peers: [{keys: {public: a2V5}}, {keys: {public: a2V5}, endpoint: "192.0.2.2:51820", allowed-ips: [172.16.9.0/24]}]}
        wg1: {mode: wireguard, peers: [{endpoint: "vpn.example:51820"}]}
        vti0: {mode: vti, local: 192.0.2.1, remote: 192.0.2.2}
`))
	if err != nil {
		t.Fatal(err)
	}
	h, err := f.State("a")
	if err != nil {
		t.Fatal(err)
	}
	local, remote := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	for _, c := range []struct {
		name string
		kind string
		mtu  int
		want *netstate.Tunnel
	}{
		{"vx0", "vxlan", 8950, &netstate.Tunnel{Kind: "vxlan", ID: 77, Lower: "ens3", Local: local, Remote: remote}},
		{"vx1", "vxlan", 8930, &netstate.Tunnel{Kind: "vxlan", ID: 78, Lower: "ens3", Remote: netip.MustParseAddr("2001:db8::2")}},
		{"vx2", "vxlan", 1400, &netstate.Tunnel{Kind: "vxlan"}},
		{"vx3", "vxlan", 1500, &netstate.Tunnel{Kind: "vxlan", ID: 80}},
		{"vx4", "vxlan", 1, &netstate.Tunnel{Kind: "vxlan", ID: 81, Lower: "narrow", Local: local}},
		{"vx5", "vxlan", 1500, &netstate.Tunnel{Kind: "vxlan", ID: 82, OnePort: true}},
		{"vx6", "vxlan", 1500, &netstate.Tunnel{Kind: "vxlan", ID: 83}},
		{"gre0", "gre", 8976, &netstate.Tunnel{Kind: "gre", Local: local, Remote: remote}},
		{"gre1", "gretap", 8958, &netstate.Tunnel{Kind: "gretap", Local: local, Remote: remote, Options: 4}},
		{"six0", "ip6gre", 1448, &netstate.Tunnel{Kind: "ip6gre", Local: netip.MustParseAddr("2001:db8::1"), Remote: netip.MustParseAddr("2001:db8::2")}},
		{"ipip0", "ipip", 1480, &netstate.Tunnel{Kind: "ipip", Remote: remote}},
		{"sit0", "sit", 8980, &netstate.Tunnel{Kind: "sit", Local: local, Remote: remote}},
		{"tnl0", "ip6tnl", 1452, &netstate.Tunnel{Kind: "ip6tnl", Local: netip.MustParseAddr("2001:db8::1"), Remote: netip.MustParseAddr("2001:db8::2")}},
		{"wg0", "wireguard", 1420, &netstate.Tunnel{Kind: "wireguard", Remote: remote}},
		{"wg1", "wireguard", 1420, &netstate.Tunnel{Kind: "wireguard"}},
		{"vti0", "tunnel", 1500, nil},
	} {
		l, ok := h.Link(c.name)
		if !ok || l.Kind != c.kind || l.MTU != c.mtu || (l.Tunnel == nil) != (c.want == nil) || c.want != nil && *l.Tunnel != *c.want {
			t.Errorf("%s: %+v (%+v); want %s, MTU %d, %+v", c.name, l, l.Tunnel, c.kind, c.mtu, c.want)
		}
	}
}
