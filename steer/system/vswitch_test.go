package system

import (
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/steer"
)

func sent(src, dst string) flow.Frame {
	return flow.Frame{Tuple: flow.Tuple{Proto: flow.TCP, Src: netip.MustParseAddr(src), Dst: netip.MustParseAddr(dst), Sport: 40000, Dport: 2049}}
}

// TestIPHashPublished holds the rule to every worked example that is published:
// "Troubleshooting IP-Hash Load Balancing on a NFS Storage Network" (2012), four
// uplinks, C0A86465 with four servers.
func TestIPHashPublished(t *testing.T) {
	for _, c := range []struct {
		src, dst string
		hash     uint32
		link     int
	}{
		{"192.168.100.101", "192.168.100.120", 0x1d, 1},
		{"192.168.100.101", "192.168.100.130", 0xe7, 3},
		{"192.168.100.101", "192.168.100.140", 0xe9, 1},
		{"192.168.100.101", "192.168.100.150", 0xf3, 3},
	} {
		v := VSwitch{Mode: IPHash, Uplinks: steer.Numbered(4)}
		p := v.Place(sent(c.src, c.dst))
		if !p.Known || p.Index != c.link || p.Hash == nil || *p.Hash != c.hash {
			t.Errorf("%s to %s: %+v, want uplink %d by %#x", c.src, c.dst, p, c.link, c.hash)
		}
	}
}

// Three uplinks: 10.0.1.5 with 10.0.3.9 is 12 mod 3 by the last octets, 524 mod 3
// by the whole addresses.
func TestIPHashInTwoWords(t *testing.T) {
	v := VSwitch{Mode: IPHash, Uplinks: steer.Numbered(3)}
	if p := v.Place(sent("10.0.1.5", "10.0.3.9")); p.Known || !strings.Contains(p.Why, "uplink 2 by the whole addresses, 0 by their last octets") || !strings.Contains(p.Why, "steer probe") {
		t.Errorf("%+v", p)
	}
	if p := v.Place(sent("10.0.1.5", "10.0.1.9")); !p.Known || p.Index != 0 {
		t.Errorf("one /24: %+v", p)
	}
	if g, known, _ := v.Groups([]flow.Frame{sent("10.0.1.5", "10.0.3.9"), sent("10.0.1.5", "10.0.3.9")}); !known || g[0] != g[1] {
		t.Errorf("one pair twice: %v %v", g, known)
	}
}

// The sum of an address and its peer is the same both ways; ports do not count;
// where the number of uplinks is a power of two both descriptions agree.
func TestIPHashHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		address := func(name string) netip.Addr {
			b := rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, name)
			return netip.AddrFrom4([4]byte(b))
		}
		f := flow.Frame{Tuple: flow.Tuple{Proto: flow.TCP, Src: address("src"), Dst: address("dst"), Sport: 1}}
		n := 1 << rapid.IntRange(0, 5).Draw(t, "log2")
		v := VSwitch{Mode: IPHash, Uplinks: steer.Numbered(n)}
		p := v.Place(f)
		src, dst := f.Src.As4(), f.Dst.As4()
		if want := int(src[3]^dst[3]) % n; !p.Known || p.Index != want {
			t.Fatalf("%v of %d: %+v, want %d", f.Tuple, n, p, want)
		}
		other := f
		other.Tuple = f.Reverse()
		if q := v.Place(other); q.Index != p.Index {
			t.Fatalf("back: %d, not %d", q.Index, p.Index)
		}
		f.Sport = rapid.Uint16().Draw(t, "port")
		if q := v.Place(f); q.Index != p.Index {
			t.Fatalf("port %d: %d, not %d", f.Sport, q.Index, p.Index)
		}
	})
}

// What is published of no rule has no place, and says what to do.
func TestVSwitchUnknown(t *testing.T) {
	four := sent("10.0.0.1", "10.0.0.2")
	six := sent("fd00::1", "fd00::2")
	arp := flow.Frame{EtherType: 0x0806}
	for _, c := range []struct {
		name string
		v    VSwitch
		f    flow.Frame
		says string
	}{
		{"port ID", VSwitch{Mode: PortID}, four, "esxtop"},
		{"source MAC", VSwitch{Mode: SourceMAC}, four, "steer probe"},
		{"load", VSwitch{Mode: LoadBased}, four, "esxtop"},
		{"LACP", VSwitch{Mode: LACPGroup, Fields: "srcDestIpTcpUdpPortVlan"}, four, "steer probe"},
		{"IPv6", VSwitch{Mode: IPHash}, six, "IPv4 only"},
		{"ARP", VSwitch{Mode: IPHash}, arp, "not IP"},
		{"no address", VSwitch{Mode: IPHash}, flow.Frame{}, "not given"},
	} {
		c.v.Uplinks = steer.Numbered(2)
		if p := c.v.Place(c.f); p.Known || p.Index != -1 || !strings.Contains(p.Why, c.says) {
			t.Errorf("%s: %+v", c.name, p)
		}
		c.v.Uplinks = c.v.Uplinks[:1]
		if p := c.v.Place(c.f); !p.Known || p.Index != 0 {
			t.Errorf("%s, one uplink: %+v", c.name, p)
		}
	}
	if p := (VSwitch{Mode: Explicit, Uplinks: steer.Numbered(2)}).Place(four); !p.Known || p.Index != 0 {
		t.Errorf("explicit failover order: %+v", p)
	}
}

func TestVSwitchReach(t *testing.T) {
	for _, c := range []struct {
		v                VSwitch
		ports, addresses bool
		chosen           bool
	}{
		{VSwitch{Mode: PortID}, false, true, false},
		{VSwitch{Mode: IPHash}, false, true, true},
		{VSwitch{Mode: Explicit}, false, false, false},
		{VSwitch{Mode: LACPGroup, Fields: "srcDestIpTcpUdpPortVlan"}, true, true, false},
		{VSwitch{Mode: LACPGroup, Fields: "srcDestTcpUdpPort"}, true, false, false},
		{VSwitch{Mode: LACPGroup, Fields: "srcDestIp"}, false, true, false},
		{VSwitch{Mode: LACPGroup, Fields: "srcDestMac"}, false, false, false},
	} {
		c.v.Uplinks = steer.Numbered(2)
		if r := c.v.Reach(); r.Ports != c.ports || r.Addresses != c.addresses || r.Chosen != c.chosen || r.Why == "" {
			t.Errorf("%s %s: %+v", c.v.Mode, c.v.Fields, r)
		}
	}
}
