// Package overlay reads the tunnels that a fabric file declares, in netplan's words.
package overlay

import (
	"net/netip"
	"strconv"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/netstate"
)

// tunnelModes are the kernel's kinds of netplan's modes (doc/netplan-yaml.md,
// tunnels). vti and vti6 are not among them: what IPsec adds is its cipher's matter.
var tunnelModes = map[string]string{
	"vxlan": "vxlan", "wireguard": "wireguard", "gre": "gre", "gretap": "gretap", "ip6gre": "ip6gre", "ip6gretap": "ip6gretap",
	"ipip": "ipip", "sit": "sit", "isatap": "sit", "ipip6": "ip6tnl", "ip6ip6": "ip6tnl",
}

// greKey is the header's part for a key (RFC 2890).
const greKey = 4

// Tunnel is a device of netplan's tunnels by its keys; ok false for a mode that is not
// known. What it does not say, or says in words that are no number or address, stays
// zero. The names of a definition's links are the caller's.
func Tunnel(keys []yamldoc.Pair, links func(id string) ([]string, bool)) (t netstate.Tunnel, ok bool) {
	for _, p := range keys {
		if p.Value == nil {
			continue
		}
		text := p.Value.Text
		switch p.Key {
		case "mode":
			t.Kind, ok = tunnelModes[text]
		case "id":
			t.ID, _ = strconv.Atoi(text)
		case "link":
			t.Lower = text
			if names, known := links(text); known && len(names) > 0 {
				t.Lower = names[0]
			}
		case "local":
			t.Local, _ = netip.ParseAddr(text)
		case "remote":
			t.Remote, _ = netip.ParseAddr(text)
		case "key", "keys":
			t.Options = greKey
		case "port-range":
			t.OnePort = onePort(p.Value)
		case "peers":
			t.Remote = endpoint(p.Value)
		}
	}
	if t.Kind == "wireguard" {
		t.Options = 0 // its keys are others
	}
	return t, ok
}

// onePort reports a range of source ports whose end, which the kernel leaves out, is
// the next one (udp_flow_src_port).
func onePort(n *yamldoc.Node) bool {
	if len(n.Items) != 2 {
		return false
	}
	low, errLow := strconv.Atoi(n.Items[0].Text)
	high, errHigh := strconv.Atoi(n.Items[1].Text)
	return errLow == nil && errHigh == nil && high-low == 1
}

// endpoint is the address of the first of WireGuard's peers that has one; zero none,
// or a name.
func endpoint(peers *yamldoc.Node) netip.Addr {
	for _, peer := range peers.Items {
		if n := peer.Find("endpoint"); n != nil {
			if to, err := netip.ParseAddrPort(n.Text); err == nil {
				return to.Addr()
			}
		}
	}
	return netip.Addr{}
}

// wireGuardMTU is what a device gets that says none, whatever lies below (wg_setup,
// drivers/net/wireguard/device.c).
const wireGuardMTU = 1420

const ethernetMTU = 1500

// MTU is the MTU that a tunnel takes: its lower link's less what the tunnel
// adds. VXLAN takes Ethernet's where it names no link (vxlan_dev_configure,
// drivers/net/vxlan/vxlan_core.c), others that of the link by which they send
// (ip_tunnel_bind_dev, net/ipv4/ip_tunnel.c); zero while unknown.
func MTU(h netstate.Host, t netstate.Tunnel) int {
	if t.Kind == "wireguard" {
		return wireGuardMTU
	}
	lower, ok := h.Link(t.Lower)
	if !ok && t.Kind == "vxlan" {
		return ethernetMTU
	}
	if !ok {
		lower, ok = h.LinkWith(t.Local)
	}
	if !ok {
		lower.MTU = ethernetMTU
	}
	if lower.MTU == 0 {
		return 0
	}
	return max(lower.MTU-t.Headroom(), 1) // no room is not unknown
}
