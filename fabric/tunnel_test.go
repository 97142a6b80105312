package fabric

import (
	"net/netip"
	"testing"

	"github.com/linerate/linerate/netstate"
)

// TestVXLANState: netplan's tunnels of mode vxlan become what the kernel makes
// of them; other tunnels stay what they were.
func TestVXLANState(t *testing.T) {
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
        gre0: {mode: gre, local: 192.0.2.1, remote: 192.0.2.2}
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
		want *netstate.VXLAN
	}{
		{"vx0", "vxlan", 8950, &netstate.VXLAN{ID: 77, Lower: "ens3", Local: local, Remote: remote}},
		{"vx1", "vxlan", 8930, &netstate.VXLAN{ID: 78, Lower: "ens3", Remote: netip.MustParseAddr("2001:db8::2")}},
		{"vx2", "vxlan", 1400, &netstate.VXLAN{}},
		{"vx3", "vxlan", 1500, &netstate.VXLAN{ID: 80}},
		{"vx4", "vxlan", 1, &netstate.VXLAN{ID: 81, Lower: "narrow", Local: local}},
		{"gre0", "tunnel", 1500, nil},
	} {
		l, ok := h.Link(c.name)
		if !ok || l.Kind != c.kind || l.MTU != c.mtu || (l.VXLAN == nil) != (c.want == nil) || c.want != nil && *l.VXLAN != *c.want {
			t.Errorf("%s: %+v (%+v); want %s, MTU %d, %+v", c.name, l, l.VXLAN, c.kind, c.mtu, c.want)
		}
	}
}
