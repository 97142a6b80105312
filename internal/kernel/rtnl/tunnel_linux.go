package rtnl

import (
	"encoding/binary"
	"net/netip"
	"slices"

	"github.com/linerate/linerate/internal/kernel/nlattr"
	"github.com/linerate/linerate/netstate"
)

// tunnelAttributes are the numbers of a kind's attributes in IFLA_INFO_DATA; zero none.
type tunnelAttributes struct {
	id, link, flags, ports uint16
	local, remote          []uint16
}

// Attributes of include/uapi/linux/if_link.h (IFLA_VXLAN_*, IFLA_GENEVE_*) and
// if_tunnel.h (IFLA_GRE_*, IFLA_IPTUN_*). WireGuard's device has none: its peers are
// asked for elsewhere, with privilege.
var (
	vxlanAttributes  = tunnelAttributes{id: 1, link: 3, ports: 10, local: []uint16{4, 17}, remote: []uint16{2, 16}}
	geneveAttributes = tunnelAttributes{id: 1, remote: []uint16{2, 7}}
	greAttributes    = tunnelAttributes{link: 1, flags: 3, local: []uint16{6}, remote: []uint16{7}}
	ipAttributes     = tunnelAttributes{link: 1, local: []uint16{2}, remote: []uint16{3}}
)

func attributesOf(kind string) tunnelAttributes {
	switch kind {
	case "vxlan":
		return vxlanAttributes
	case "geneve":
		return geneveAttributes
	case "gre", "gretap", "ip6gre", "ip6gretap":
		return greAttributes
	case "ipip", "sit", "ip6tnl":
		return ipAttributes
	}
	return tunnelAttributes{}
}

// greOptions are what each flag of IFLA_GRE_OFLAGS adds to the header: checksum, key,
// sequence number (gre_calc_hlen, include/net/gre.h).
var greOptions = []uint16{0x8000, 0x2000, 0x1000}

// rawTunnel is a tunnel as a message says it: its lower link by index.
type rawTunnel struct {
	tunnel netstate.Tunnel
	lower  int // zero none
}

// decodeTunnel reads IFLA_INFO_DATA of a tunnel. An address that is all zero is none.
func decodeTunnel(kind string, data []byte) rawTunnel {
	r, at := rawTunnel{tunnel: netstate.Tunnel{Kind: kind}}, attributesOf(kind)
	_ = nlattr.Each(data, func(number uint16, v []byte) {
		switch {
		case number == 0:
		case number == at.id:
			r.tunnel.ID = int(u32(v))
		case number == at.link:
			r.lower = int(u32(v))
		case number == at.flags && len(v) >= 2:
			for _, flag := range greOptions {
				if binary.BigEndian.Uint16(v)&flag != 0 {
					r.tunnel.Options += 4
				}
			}
		case number == at.ports && len(v) >= 4:
			r.tunnel.OnePort = binary.BigEndian.Uint16(v[2:])-binary.BigEndian.Uint16(v) == 1
		case slices.Contains(at.remote, number):
			outer(&r.tunnel.Remote, v)
		case slices.Contains(at.local, number):
			outer(&r.tunnel.Local, v)
		}
	})
	return r
}

func outer(into *netip.Addr, v []byte) {
	if a, ok := netip.AddrFromSlice(v); ok && !a.IsUnspecified() {
		*into = a
	}
}
