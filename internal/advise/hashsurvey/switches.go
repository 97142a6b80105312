package hashsurvey

import (
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric/topology"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/evidence/switchstate"
	"github.com/linerate/linerate/netstate"
)

// Asked is a switch that said of itself what it knows, and how it was reached.
type Asked struct {
	Reach string
	State switchstate.Switch
}

// Tied are switches with the ports that lead to the hosts and to each other, by what the
// switches heard by LLDP: an address of a host's link, or the host's name with the link's.
// Ports of which nobody was heard are left out, and so are channels with fewer than two
// that were.
func Tied(hosts []netstate.Host, asked []Asked) []topology.Switch {
	var out []topology.Switch
	for _, a := range asked {
		s := topology.Switch{Name: a.State.Name, Reach: a.Reach}
		for _, n := range a.State.Neighbors {
			p, ok := far(hosts, asked, n)
			if !ok || slices.ContainsFunc(s.Ports, func(o topology.Port) bool { return o.Name == n.Link }) {
				continue
			}
			p.Name = n.Link
			if i := slices.IndexFunc(a.State.Ports, func(o switchstate.Port) bool { return o.Name == n.Link }); i >= 0 && p.Switch != "" {
				p.Speed = a.State.Ports[i].Speed
			}
			s.Ports = append(s.Ports, p)
		}
		for _, c := range a.State.Channels {
			channel := topology.Channel{Name: c.Name}
			if c.Protocol == switchstate.LACP || c.Protocol == switchstate.Static {
				channel.Mode = string(c.Protocol)
			}
			for _, m := range c.Members {
				if slices.ContainsFunc(s.Ports, func(p topology.Port) bool { return p.Name == m.Port }) {
					channel.Members = append(channel.Members, m.Port)
				}
			}
			if len(channel.Members) > 1 {
				s.Channels = append(s.Channels, channel)
			}
		}
		out = append(out, s)
	}
	return out
}

// far is the other end of the cable that a neighbour was heard on.
func far(hosts []netstate.Host, asked []Asked, n netstate.Neighbor) (topology.Port, bool) {
	for _, h := range hosts {
		for _, l := range h.Links {
			if l.Kind != "" && l.Kind != "veth" {
				continue // a bond has its ports' address
			}
			own := !n.MAC.IsZero() && slices.Contains([]flow.MAC{l.MAC, l.PermanentMAC}, n.MAC) && !shared(h, n.MAC)
			if own || sameSystem(h.Name, n.SystemName) && (n.PortDescription == l.Name || n.Port == l.Name) {
				return topology.Port{Host: h.Name, Link: l.Name}, true
			}
		}
	}
	for _, a := range asked {
		if a.State.Name == "" || a.State.Name != n.SystemName {
			continue
		}
		for _, p := range a.State.Ports {
			if p.Name == n.Port || p.Name == n.PortDescription || !n.MAC.IsZero() && p.MAC == n.MAC {
				return topology.Port{Switch: a.State.Name, Port: p.Name}, true
			}
		}
	}
	return topology.Port{}, false
}

// shared reports an address that several links of a host have: a bond gives its ports one.
func shared(h netstate.Host, mac flow.MAC) bool {
	count := 0
	for _, l := range h.Links {
		if (l.Kind == "" || l.Kind == "veth") && (l.PermanentMAC == mac || l.MAC == mac) {
			count++
		}
	}
	return count > 1
}

// sameSystem compares a host's name with the one that LLDP says, which may have a domain.
func sameSystem(host, system string) bool {
	short, _, _ := strings.Cut(system, ".")
	return system != "" && (host == system || host == short)
}
