package tunnel

import "github.com/linerate/linerate/netstate"

// Sight is what a hash over a tunnel's packets still tells apart.
type Sight uint8

const (
	// OneFlow: all flows between the tunnel's two ends look alike.
	OneFlow Sight = iota
	// ByChance: each flow inside lands somewhere, and nobody can choose where.
	ByChance
	// Inside: the hash reads the packets inside.
	Inside
)

// Seen is what a hash with that policy tells apart of a tunnel's packets. Own are
// packets that a host's bond sends for its own sockets; else a switch hashes, or a
// bond what it forwards. Why says it in a clause.
func Seen(t netstate.Tunnel, policy netstate.HashPolicy, own bool) (s Sight, why string) {
	inside := "inside " + t.Title() + " "
	switch {
	case policy == netstate.Encap34 && own:
		// skb->hash of the socket outlives the tunnel: iptunnel_xmit clears what is not
		// of layer 4, wg_reset_packet keeps it (drivers/net/wireguard/queueing.h; tried on 6.1).
		return ByChance, inside + "the socket's own random number still decides"
	case (policy == netstate.Encap34 || policy == netstate.Encap23) && t.Opened():
		return Inside, policy.String() + " reads the packets inside " + t.Title()
	case policy == netstate.Layer34 || policy == netstate.Encap34:
		if t.FlowPorts() {
			return ByChance, inside + "the outer port is the kernel's own hash of each flow, with a secret seed"
		}
	}
	return OneFlow, Alike(t)
}

// Alike says why all flows of a tunnel are one to a hash that reads no more than
// addresses, or no ports that differ.
func Alike(t netstate.Tunnel) string {
	inside := "inside " + t.Title() + " every flow has the tunnel's own addresses"
	switch {
	case t.FlowPorts():
		return inside
	case t.OnePort || t.Kind == "wireguard":
		return inside + " and ports: one outer flow, which no hash splits"
	}
	return inside + " and no ports: one outer flow"
}

// Remedy is what lets a tunnel's flows use several links; policy is that of the bond
// they leave by.
func Remedy(t netstate.Tunnel, policy netstate.HashPolicy) string {
	more := "several tunnels, each between outer addresses of its own, with the flows routed over all of them"
	switch sight, _ := Seen(t, policy, true); {
	case sight == ByChance:
		return "more streams: nobody can choose where each lands, and many land more evenly; or " + more
	case t.FlowPorts():
		return "layer3+4 on the bond: " + t.Title() + "'s outer source port differs for each flow"
	case t.OnePort:
		return "a range of source ports for the tunnel (`srcport 0 0`: the kernel's own), which hashes of ports then tell apart"
	case t.Opened():
		return "encap3+4 on the bond, which reads the packets inside " + t.Title() + " (a switch needs a hash of inner headers of its own), or " + more
	case t.Kind == "wireguard":
		return "several tunnels, each with a port or addresses of its own, with the flows routed over all of them; encap3+4 on the bond spreads what the host itself sends (tried on kernel 6.1), and does nothing at the switch"
	}
	return more
}
