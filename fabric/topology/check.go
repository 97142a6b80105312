package topology

import (
	"fmt"
	"slices"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/unit"
)

// Fault is something about the switches that does not fit.
type Fault struct {
	// Path leads to it below the file's key switches.
	Path       []any
	What, Hint string
}

// Facts are what the hosts say of their links.
type Facts struct {
	Hosts []string
	// Links are a host's, by name; nil where its network is not declared, and any
	// may be there.
	Links func(host string) []string
	// Speed is a link's declared speed; zero unknown.
	Speed func(host, link string) unit.BitRate
}

// Check finds cables and channels that do not fit.
func (n *Network) Check(f Facts) []Fault {
	c := checker{Network: n, facts: f, cables: map[string]string{}}
	for i := range n.Switches {
		c.one(&n.Switches[i])
	}
	return c.faults
}

type checker struct {
	*Network
	facts  Facts
	cables map[string]string // by an end, the port that has it
	faults []Fault
}

func (c *checker) say(what, hint string, path ...any) {
	at := ""
	for _, step := range path {
		if s, ok := step.(string); ok {
			at += "." + s
		}
	}
	c.faults = append(c.faults, Fault{Path: path, What: "switches" + at + ": " + what, Hint: hint})
}

func (c *checker) one(s *Switch) {
	if slices.Contains(c.facts.Hosts, s.Name) {
		c.say("is the name of a host too", "give the switch a name of its own", s.Name)
	}
	for _, p := range s.Ports {
		c.port(s, p)
	}
	owner := map[string]string{}
	for _, channel := range s.Channels {
		c.channel(s, channel, owner)
	}
	if s.MLAG != nil {
		c.mlag(s)
	}
	c.parallel(s)
}

func (c *checker) port(s *Switch, p Port) {
	path := []any{s.Name, "ports", p.Name}
	switch {
	case p.Host == "" && p.Switch == "":
		return // nothing hangs on it, or the other end says what
	case p.Host != "" && p.Switch != "":
		c.say(fmt.Sprintf("leads to host %s and to switch %s", p.Host, p.Switch), "a port has one cable: write host and link, or switch and port", path...)
		return
	case p.Host != "":
		c.toHost(s, p, path)
	default:
		c.toSwitch(s, p, path)
	}
}

func (c *checker) toHost(s *Switch, p Port, path []any) {
	if !slices.Contains(c.facts.Hosts, p.Host) {
		c.say(fmt.Sprintf("host %q is not under hosts%s", p.Host, yamldoc.Nearest(p.Host, c.facts.Hosts)), yamldoc.Choices(c.facts.Hosts), append(path, "host")...)
		return
	}
	if p.Link == "" {
		c.say("says no link of host "+p.Host, "write link: and the interface's name", path...)
		return
	}
	if links := c.facts.Links(p.Host); links != nil && !slices.Contains(links, p.Link) {
		c.say(fmt.Sprintf("no ethernet of %s is %s%s", p.Host, p.Link, yamldoc.Nearest(p.Link, links)), yamldoc.Choices(links), append(path, "link")...)
		return
	}
	c.taken(p.Host+" "+p.Link, At{s.Name, p.Name}, append(path, "link"))
	if speed := c.facts.Speed(p.Host, p.Link); p.Speed > 0 && speed > 0 && p.Speed != speed {
		c.say(fmt.Sprintf("speed is %s, but %s of %s has %s", p.Speed, p.Link, p.Host, speed), "both ends of a cable have one speed: correct one, or leave this one out", append(path, "speed")...)
	}
}

func (c *checker) toSwitch(s *Switch, p Port, path []any) {
	var names []string
	for _, other := range c.Switches {
		names = append(names, other.Name)
	}
	switch _, known := c.index[p.Switch]; {
	case !known:
		c.say(fmt.Sprintf("switch %q is not under switches%s", p.Switch, yamldoc.Nearest(p.Switch, names)), yamldoc.Choices(names), append(path, "switch")...)
		return
	case p.Switch == s.Name:
		c.say("leads to its own switch", "name the switch at the other end", append(path, "switch")...)
		return
	case p.Port == "":
		c.say("says no port of switch "+p.Switch, "write port: and the other end's name", path...)
		return
	}
	far := At{p.Switch, p.Port}
	other, _ := c.Port(far)
	if other.Host != "" || other.Switch != "" && (other.Switch != s.Name || other.Port != p.Name) {
		to := other.Host + " " + other.Link
		if other.Switch != "" {
			to = At{other.Switch, other.Port}.String()
		}
		c.say(fmt.Sprintf("leads to %s, whose own cable leads to %s", far, to), "a port has one cable: correct one of the two", append(path, "port")...)
		return
	}
	if p.Speed > 0 && other.Speed > 0 && p.Speed != other.Speed {
		c.say(fmt.Sprintf("speed is %s, but %s has %s", p.Speed, far, other.Speed), "both ends of a cable have one speed: correct one, or leave it out", append(path, "speed")...)
	}
}

// taken notes which port has a host's link.
func (c *checker) taken(end string, by At, path []any) {
	if first, twice := c.cables[end]; twice {
		c.say(fmt.Sprintf("%s hangs on %s already", end, first), "a link has one cable: correct one of the two", path...)
		return
	}
	c.cables[end] = by.String()
}

func (c *checker) channel(s *Switch, ch Channel, owner map[string]string) {
	path := []any{s.Name, "channels", ch.Name}
	ports := c.portNames(c.index[s.Name])
	if ch.Members != nil && len(ch.Members) == 0 {
		c.say("has no members", "write members: [PORT, PORT]", path...)
	}
	var first unit.BitRate
	firstPort, end := "", ""
	for i, m := range ch.Members {
		at := append(slices.Clone(path), "members", i)
		if !slices.Contains(ports, m) {
			c.say(fmt.Sprintf("member %q is no port of %s%s", m, s.Name, yamldoc.Nearest(m, ports)), yamldoc.Choices(ports), at...)
			continue
		}
		if other := owner[m]; other != "" {
			c.say(fmt.Sprintf("%s is a member of %s already", m, other), "a port belongs to one channel and is named once", at...)
			continue
		}
		owner[m] = ch.Name
		if speed := c.SpeedOf(At{s.Name, m}, c.facts.Speed); speed > 0 {
			if first > 0 && speed != first {
				c.say(fmt.Sprintf("%s has %s and %s has %s", firstPort, first, m, speed), "the members of a channel have one speed: correct it, or take one out", at...)
			}
			if first == 0 {
				first, firstPort = speed, m
			}
		}
		p, _ := c.Port(At{s.Name, m})
		to := c.device(p)
		if end != "" && to != "" && to != end {
			c.say(fmt.Sprintf("its members lead to %s and %s", end, to), "a channel leads to one host or switch, or to both halves of an MLAG pair", at...)
		}
		if end == "" {
			end = to
		}
	}
	for i, l := range ch.Learned {
		if l.To != "" && end != "host "+l.To {
			c.say(fmt.Sprintf("learned of the way to %s, where the channel does not lead", l.To), "put it under the channel that leads to that host", append(path, "learned", i, "to")...)
		}
	}
}

// device is what hangs on a port, the halves of an MLAG pair as one.
func (c *checker) device(p Port) string {
	switch {
	case p.Host != "":
		return "host " + p.Host
	case p.Switch == "":
		return ""
	}
	if peer, _, paired := c.Peer(p.Switch); paired {
		return "switch " + min(p.Switch, peer)
	}
	return "switch " + p.Switch
}

func (c *checker) mlag(s *Switch) {
	m := s.MLAG
	path := []any{s.Name, "mlag"}
	other, known := c.Switch(m.Peer)
	switch {
	case !known || m.Peer == s.Name:
		var names []string
		for _, o := range c.Switches {
			if o.Name != s.Name {
				names = append(names, o.Name)
			}
		}
		c.say(fmt.Sprintf("peer %q is no other switch%s", m.Peer, yamldoc.Nearest(m.Peer, names)), yamldoc.Choices(names), append(path, "peer")...)
		return
	case other.MLAG != nil && other.MLAG.Peer != s.Name:
		c.say(fmt.Sprintf("peer %s has %s for its own peer", m.Peer, other.MLAG.Peer), "an MLAG pair is two switches that name each other, or one that names the other", append(path, "peer")...)
	case other.MLAG != nil && other.MLAG.Spread != m.Spread:
		c.say(fmt.Sprintf("prefer_local is not what %s has", m.Peer), "write it the same at both, or at one alone", path...)
	}
	members := []string{m.Link}
	for _, ch := range s.Channels {
		if ch.Name == m.Link {
			members = ch.Members
		}
	}
	for _, name := range members {
		if p, ok := c.Port(At{s.Name, name}); !ok || p.Switch != m.Peer {
			c.say(fmt.Sprintf("link %s does not lead to %s", m.Link, m.Peer), "name the channel or port whose cables are between the two", append(path, "link")...)
			return
		}
	}
}

// parallel refuses cables to one switch of which it is not said what they are
// together: a channel, routes of equal cost, or one that the spanning tree blocks.
func (c *checker) parallel(s *Switch) {
	if s.ECMP != nil {
		return
	}
	first, listed := map[string]string{}, map[string]bool{}
	for _, p := range s.Ports {
		listed[p.Name] = true
	}
	for _, n := range c.out[c.index[s.Name]] {
		l := c.Links[n]
		if !listed[l.From.Port] {
			continue // the other end says it
		}
		way := l.Channel
		if way == "" {
			way = l.From.Port
		}
		if other, twice := first[l.To.Switch]; twice && other != way {
			c.say(fmt.Sprintf("%s and %s both lead to %s, and are not one channel", other, way, l.To.Switch),
				"put them into one channel, or write ecmp: {hash: layer3+4} if the switch routes", s.Name)
			return
		}
		first[l.To.Switch] = way
	}
}
