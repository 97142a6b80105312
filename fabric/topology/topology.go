// Package topology is the switches between hosts, as a fabric file declares them:
// what hangs on each port, which ports are one channel, how a switch spreads flows.
// It finds its way from port to port and checks that the cables fit. How fast anything
// goes is predict's to say.
package topology

import (
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// Switch is one declared switch.
type Switch struct {
	Name string
	// Reach is how its counters are read, see ParseReach; "" they are not.
	Reach string
	// Credentials is the file that has what it asks for, beside the fabric file; "" is
	// the environment's word.
	Credentials string
	// System is one of Systems; "" nobody said. On Linux bonding computes the hash,
	// which has no seed.
	System string
	// Balance holds for the channels that say nothing of their own.
	Balance
	// ECMP is how it spreads flows over routes of equal cost. Nil is a switch that
	// does not route: the spanning tree leaves one way.
	ECMP     *Balance
	Ports    []Port    // in file order
	Channels []Channel // in file order
	MLAG     *MLAG     // nil none
}

// Systems are the words for what a switch runs: Linux, and those whose lines linerate
// knows (render/switchlines).
func Systems() []string {
	return []string{"linux", "ios", "nxos", "eos", "junos", "procurve", "aoscx", "cumulus", "sonic", "routeros", "ovs"}
}

// Balance is how flows are spread over several links.
type Balance struct {
	// Hash is one of Words; "" and Unknown: nobody said.
	Hash string
	// Seed is what the hash begins with, as the switch prints it; "" unknown. Two
	// switches with the same hash and seed choose alike.
	Seed string
}

// Port is a port and the other end of its cable: a host's link or a port of another
// switch.
type Port struct {
	Name         string
	Host, Link   string
	Switch, Port string
	Speed        unit.BitRate // zero: as the other end says, or unknown
	Framing      netstate.Framing
}

// Channel is ports that are one link.
type Channel struct {
	Name    string
	Members []string // in the order that the hash counts them
	Mode    string   // one of Modes, "" unknown
	Balance          // "" as the switch's
	// Learned is the hash towards a host, as probes learned it.
	Learned []flow.LearnedHash
}

// Modes are the words for a channel's mode.
func Modes() []string { return []string{"lacp", "static"} }

// MLAG is this switch's half of a pair that hosts see as one switch.
type MLAG struct {
	Peer string // the other half's name
	Link string // the channel or port between the two
	// Spread: what arrives at one half leaves by the ports of both. False is what
	// most do (prefer-local): it leaves by the half's own ports where there are any.
	Spread bool
}

// Network is the switches, with every cable found from both ends. New makes it; it is
// never changed afterwards.
type Network struct {
	Switches []Switch
	Links    []Link
	index    map[string]int    // of switches
	ports    []map[string]Port // by switch: those that the other end alone names too
	out      [][]int           // by switch, the numbers of links that leave it
	hosts    map[Cable]At      // where a host's link hangs
	// channels are by switch and port: those that it lists, and those that the other end
	// of their cables lists, for a channel has two ends.
	channels []map[string]Channel
}

// Link is one direction of a cable between two switches.
type Link struct {
	From, To At
	Rate     unit.BitRate // zero unknown
	Framing  netstate.Framing
	Channel  string // of From's switch; "" none
}

// At is a port of a switch.
type At struct{ Switch, Port string }

// String is "leaf1 swp49".
func (a At) String() string { return a.Switch + " " + a.Port }

// Cable is a host's link.
type Cable struct{ Host, Link string }

// New finds the cables. What does not fit is left out: Check says it.
func New(switches []Switch) *Network {
	n := &Network{Switches: switches, index: map[string]int{}, hosts: map[Cable]At{}}
	for i, s := range switches {
		n.index[s.Name] = i
		ports := make(map[string]Port, len(s.Ports))
		for _, p := range s.Ports {
			ports[p.Name] = p
			if p.Host != "" {
				n.hosts[Cable{p.Host, p.Link}] = At{s.Name, p.Name}
			}
		}
		n.ports = append(n.ports, ports)
	}
	for _, s := range switches {
		for _, p := range s.Ports {
			n.mirror(At{s.Name, p.Name}, p)
		}
	}
	for _, s := range switches {
		of := map[string]Channel{}
		for _, c := range s.Channels {
			for _, m := range c.Members {
				of[m] = c
			}
		}
		n.channels = append(n.channels, of)
	}
	n.otherEnds()
	n.out = make([][]int, len(switches))
	for i, s := range switches {
		for _, name := range n.portNames(i) {
			if l, ok := n.link(At{s.Name, name}); ok {
				n.out[i] = append(n.out[i], len(n.Links))
				n.Links = append(n.Links, l)
			}
		}
	}
	return n
}

// otherEnds gives cables the channel that only one end of them lists.
func (n *Network) otherEnds() {
	for i, s := range n.Switches {
		for _, c := range s.Channels {
			far := map[int][]string{}
			for _, m := range c.Members {
				p := n.ports[i][m]
				if t, known := n.index[p.Switch]; p.Switch != "" && known {
					far[t] = append(far[t], p.Port)
				}
			}
			for t, members := range far {
				for _, m := range members {
					if _, listed := n.channels[t][m]; !listed {
						end := Channel{Name: s.Name + " " + c.Name, Members: members, Mode: c.Mode}
						if oneSided(n.Balance(s.Name, c).Hash) {
							end.Hash = LastHeard
						}
						n.channels[t][m] = end
					}
				}
			}
		}
	}
}

// mirror gives the other end of a port the cable that only this end names.
func (n *Network) mirror(at At, p Port) {
	far, known := n.index[p.Switch]
	if p.Switch == "" || p.Switch == at.Switch || p.Host != "" || !known || p.Port == "" {
		return
	}
	other, listed := n.ports[far][p.Port]
	if listed && (other.Host != "" || other.Switch != "") {
		return
	}
	other.Name, other.Switch, other.Port = p.Port, at.Switch, at.Port
	n.ports[far][p.Port] = other
}

// portNames are a switch's ports: those it lists, then those that others name.
func (n *Network) portNames(i int) []string {
	var names []string
	listed := map[string]bool{}
	for _, p := range n.Switches[i].Ports {
		names, listed[p.Name] = append(names, p.Name), true
	}
	for _, s := range n.Switches {
		for _, p := range s.Ports {
			if _, there := n.ports[i][p.Port]; there && p.Switch == n.Switches[i].Name && !listed[p.Port] {
				names, listed[p.Port] = append(names, p.Port), true
			}
		}
	}
	return names
}

// link is the direction that leaves by a port; false where a host or nothing hangs
// on it.
func (n *Network) link(at At) (Link, bool) {
	i := n.index[at.Switch]
	p := n.ports[i][at.Port]
	far, known := n.index[p.Switch]
	if p.Switch == "" || p.Switch == at.Switch || p.Host != "" || !known {
		return Link{}, false
	}
	other := n.ports[far][p.Port]
	l := Link{From: at, To: At{p.Switch, p.Port}, Rate: p.Speed, Framing: p.Framing}
	if l.Rate == 0 {
		l.Rate = other.Speed
	}
	if l.Framing == "" {
		l.Framing = other.Framing
	}
	if l.Framing == "" {
		l.Framing = netstate.FramingL1
	}
	if c, ok := n.channels[i][at.Port]; ok {
		l.Channel = c.Name
	}
	return l, true
}

// Switch is the switch of that name.
func (n *Network) Switch(name string) (Switch, bool) {
	i, ok := n.index[name]
	if !ok {
		return Switch{}, false
	}
	return n.Switches[i], true
}

// Port is what hangs on a port, also where only the other end says it.
func (n *Network) Port(at At) (Port, bool) {
	i, ok := n.index[at.Switch]
	if !ok {
		return Port{}, false
	}
	p, ok := n.ports[i][at.Port]
	return p, ok
}

// Ports are the names of a switch's ports: those it lists, then those that others name.
func (n *Network) Ports(name string) []string {
	i, ok := n.index[name]
	if !ok {
		return nil
	}
	return n.portNames(i)
}

// SpeedOf is a port's speed by either end's word, of a host's link by what hosts say;
// zero unknown.
func (n *Network) SpeedOf(at At, ofHost func(host, link string) unit.BitRate) unit.BitRate {
	p, _ := n.Port(at)
	switch {
	case p.Speed > 0:
		return p.Speed
	case p.Host != "":
		return ofHost(p.Host, p.Link)
	}
	far, _ := n.Port(At{p.Switch, p.Port})
	return far.Speed
}

// Out are the numbers of the links that leave a switch.
func (n *Network) Out(name string) []int {
	if i, ok := n.index[name]; ok {
		return n.out[i]
	}
	return nil
}

// Where is the switch's port that a host's link hangs on.
func (n *Network) Where(host, link string) (At, bool) {
	at, ok := n.hosts[Cable{host, link}]
	return at, ok
}

// ChannelOf is the channel that a port is a member of.
func (n *Network) ChannelOf(at At) (Channel, bool) {
	i, ok := n.index[at.Switch]
	if !ok {
		return Channel{}, false
	}
	c, ok := n.channels[i][at.Port]
	return c, ok
}

// Balance is how a switch spreads flows over a channel: the channel's own word, else
// the switch's.
func (n *Network) Balance(name string, c Channel) Balance {
	s, _ := n.Switch(name)
	b := c.Balance
	if b.Hash == "" {
		b.Hash = s.Hash
	}
	if b.Seed == "" {
		b.Seed = s.Seed
	}
	return b
}

// Routes is how a switch spreads flows over routes of equal cost: what ecmp says, else
// the switch's own word.
func (n *Network) Routes(name string) Balance {
	s, _ := n.Switch(name)
	if s.ECMP == nil {
		return Balance{}
	}
	b := *s.ECMP
	if b.Hash == "" {
		b.Hash = s.Hash
	}
	if b.Seed == "" {
		b.Seed = s.Seed
	}
	return b
}

// Peer is the other half of a switch's MLAG pair, and whether both halves' ports are
// used by what arrives at one. Either half may say it.
func (n *Network) Peer(name string) (peer string, spread, ok bool) {
	if s, _ := n.Switch(name); s.MLAG != nil {
		return s.MLAG.Peer, s.MLAG.Spread, true
	}
	for _, s := range n.Switches {
		if s.MLAG != nil && s.MLAG.Peer == name {
			return s.Name, s.MLAG.Spread, true
		}
	}
	return "", false, false
}

// SystemTowards is what the switches that a host hangs on run, where it is the same;
// "" unknown.
func (n *Network) SystemTowards(host string) string {
	found, seen := "", false
	for i, s := range n.Switches {
		for _, p := range n.ports[i] {
			if p.Host != host {
				continue
			}
			if seen && s.System != found {
				return ""
			}
			found, seen = s.System, true
		}
	}
	return found
}

// HashTowards is the word for how switches spread flows over a host's links, where all
// channels that lead to it have the same; "" else. A channel of one port spreads
// nothing, unless the other half of its pair has more.
func (n *Network) HashTowards(host string) string {
	found := ""
	for _, s := range n.Switches {
		_, spread, _ := n.Peer(s.Name)
		for _, c := range s.Channels {
			if n.leadsTo(s.Name, c) != host || len(c.Members) < 2 && !spread {
				continue
			}
			word := n.Balance(s.Name, c).Hash
			if word == "" || word == Unknown || found != "" && found != word {
				return ""
			}
			found = word
		}
	}
	return found
}

// SharesOut reports a host of which some switch has several links to choose among, its
// own or its pair's.
func (n *Network) SharesOut(host string) bool {
	count := map[string]int{}
	for cable, at := range n.hosts {
		if cable.Host != host {
			continue
		}
		count[at.Switch]++
		if peer, spread, ok := n.Peer(at.Switch); ok && spread {
			count[peer]++
		}
	}
	for _, links := range count {
		if links > 1 {
			return true
		}
	}
	return false
}

// LearnedOf is what channels' learned hashes say of the ways to a host.
func (n *Network) LearnedOf(host string) []flow.LearnedHash {
	var all []flow.LearnedHash
	for _, s := range n.Switches {
		for _, c := range s.Channels {
			for _, l := range c.Learned {
				if l.To == host {
					all = append(all, l)
				}
			}
		}
	}
	return all
}

// leadsTo is the host that a channel's members lead to; "" none.
func (n *Network) leadsTo(name string, c Channel) string {
	for _, m := range c.Members {
		if p, ok := n.Port(At{name, m}); ok && p.Host != "" {
			return p.Host
		}
	}
	return ""
}
