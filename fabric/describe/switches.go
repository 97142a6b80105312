package describe

import (
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/topology"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/netstate"
)

// switchesOf are the switches that the paths cross, as the file has them; nil none.
func switchesOf(paths []fabric.Path) *yamldoc.Node {
	for _, p := range paths {
		if n := fabric.NetworkOf(p); n != nil {
			return describeSwitches(n)
		}
	}
	return nil
}

func describeSwitches(net *topology.Network) *yamldoc.Node {
	all := mapping(false)
	for _, s := range net.Switches {
		n := mapping(false)
		word(n, "reach", s.Reach)
		word(n, "credentials", s.Credentials)
		word(n, "system", s.System)
		balance(n, s.Balance)
		if s.ECMP != nil {
			e := mapping(true)
			balance(e, *s.ECMP)
			n.Set("ecmp", e)
		}
		ports := mapping(false)
		for _, p := range s.Ports {
			ports.Set(p.Name, describePort(p))
		}
		n.Set("ports", yamldoc.Filled(ports))
		channels := mapping(false)
		for _, c := range s.Channels {
			channel := mapping(true)
			members := &yamldoc.Node{Kind: yamldoc.SequenceNode, Flow: true}
			for _, m := range c.Members {
				members.Items = append(members.Items, yamldoc.Text(m))
			}
			channel.Set("members", members)
			word(channel, "mode", c.Mode)
			balance(channel, c.Balance)
			channel.Set("learned", Learned(c.Learned))
			channels.Set(c.Name, channel)
		}
		n.Set("channels", yamldoc.Filled(channels))
		if m := s.MLAG; m != nil {
			pair := mapping(true)
			word(pair, "peer", m.Peer)
			word(pair, "link", m.Link)
			if m.Spread {
				pair.Set("prefer_local", yamldoc.Text("false"))
			}
			n.Set("mlag", pair)
		}
		all.Set(s.Name, n)
	}
	return yamldoc.Filled(all)
}

func describePort(p topology.Port) *yamldoc.Node {
	n := mapping(true)
	word(n, "host", p.Host)
	word(n, "link", p.Link)
	word(n, "switch", p.Switch)
	word(n, "port", p.Port)
	n.Set("speed", rateText(p.Speed))
	if p.Framing == netstate.FramingL2 {
		word(n, "framing", "l2")
	}
	return n
}

func balance(n *yamldoc.Node, b topology.Balance) {
	word(n, "hash", b.Hash)
	word(n, "seed", b.Seed)
}

func mapping(flow bool) *yamldoc.Node {
	return &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: flow}
}

// word sets a key that has a value.
func word(n *yamldoc.Node, key, value string) {
	if value != "" {
		n.Set(key, yamldoc.Text(value))
	}
}
