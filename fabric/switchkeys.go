package fabric

import (
	"strings"

	"github.com/linerate/linerate/fabric/topology"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// switchesReader takes the switches by name; or for predict --buy how many there are: 0
// (the hosts are cabled to each other), 1, or 2.
var switchesReader = reader[Fabric]{
	schema: func(w *schemaWriter) map[string]any {
		return either(integer(0, 2).schema, onDevice(switchKeys, func(*Fabric, string) *topology.Switch { return nil }).schema(w))
	},
	read: func(d *decoder, at place, n *yamldoc.Node, into *Fabric) {
		if n.Kind != yamldoc.MappingNode {
			if v, ok := integer(0, 2).decode(d, at, n); ok {
				into.Switches = &v
			}
			return
		}
		var all []*topology.Switch
		onDevice(switchKeys, func(_ *Fabric, name string) *topology.Switch {
			all = append(all, &topology.Switch{Name: name})
			return all[len(all)-1]
		}).read(d, at, n, into)
		switches := make([]topology.Switch, len(all))
		for i, s := range all {
			switches[i] = *s
		}
		into.Topology = topology.New(switches)
	},
}

// onDevice is named where names are a switch's own, which may hold a slash.
func onDevice[T, V any](o object[V], add func(into *T, name string) *V) reader[T] {
	return reader[T]{
		schema: named("", o, add).schema,
		read: func(d *decoder, at place, n *yamldoc.Node, into *T) {
			if !d.want(at, n, yamldoc.MappingNode) {
				return
			}
			for _, p := range n.Pairs {
				if why := BadName(strings.ReplaceAll(p.Key, "/", ".")); why != "" {
					d.Add(p.Line, p.Column, at.of(yamldoc.Quote(p.Key))+" "+why, "")
					continue
				}
				o.decode(d, at.key(p.Key), p.Value, add(into, p.Key))
			}
		},
	}
}

// balanceKeys are how flows are spread over links.
func balanceKeys() []key[topology.Balance] {
	return []key[topology.Balance]{
		{"hash", "what spreads flows over the links: a transmit hash policy, or what the switch calls it; unknown", one(switchHash, func(b *topology.Balance) *string { return &b.Hash })},
		{"seed", "what the hash begins with, as the switch prints it: switches with one hash and one seed choose alike", one(free, func(b *topology.Balance) *string { return &b.Seed })},
	}
}

var switchReach = scalar[string]{
	schema: pattern(`^(snmp|gnmi|ssh)://.+$`), hint: "write snmp://HOST, gnmi://USER@HOST:PORT or ssh://USER@HOST",
	parse: func(s string) (string, error) { _, err := topology.ParseReach(s); return s, err },
}

var switchKeys = object[topology.Switch]{
	name: "switch", doc: "One switch: what hangs on its ports, and how it spreads flows.",
	keys: append([]key[topology.Switch]{
		{"reach", "how its counters are read: snmp://HOST, gnmi://HOST, or ssh://USER@HOST with `show` commands; left out: they are not read", one(switchReach, func(s *topology.Switch) *string { return &s.Reach })},
		{"credentials", "the file with what it asks for (community, or user and passwords), beside this one", one(free, func(s *topology.Switch) *string { return &s.Credentials })},
		{"system", "what it runs: linux for a Linux host that switches (bonding computes its hash), else whose lines a remedy is given in", one(word(topology.Systems()...), func(s *topology.Switch) *string { return &s.System })},
		{"ecmp", "how it spreads flows over routes of equal cost; left out: it does not route, and the spanning tree leaves one way", reader[topology.Switch]{
			schema: sub(ecmpKeys, func(*topology.Switch) *topology.Balance { return nil }).schema,
			read: func(d *decoder, at place, n *yamldoc.Node, into *topology.Switch) {
				into.ECMP = &topology.Balance{}
				ecmpKeys.decode(d, at, n, into.ECMP)
			},
		}},
		{"ports", "its ports by name", onDevice(switchPortKeys, func(s *topology.Switch, name string) *topology.Port {
			s.Ports = append(s.Ports, topology.Port{Name: name})
			return &s.Ports[len(s.Ports)-1]
		})},
		{"channels", "its port channels by name", onDevice(switchChannelKeys, func(s *topology.Switch, name string) *topology.Channel {
			s.Channels = append(s.Channels, topology.Channel{Name: name})
			return &s.Channels[len(s.Channels)-1]
		})},
		{"mlag", "the pair that it is half of (MLAG, vPC, VSX)", reader[topology.Switch]{
			schema: sub(mlagKeys, func(*topology.Switch) *topology.MLAG { return nil }).schema,
			read: func(d *decoder, at place, n *yamldoc.Node, into *topology.Switch) {
				into.MLAG = &topology.MLAG{}
				mlagKeys.decode(d, at, n, into.MLAG)
			},
		}},
	}, lifted(balanceKeys(), func(s *topology.Switch) *topology.Balance { return &s.Balance })...),
	alias: map[string]string{"interfaces": "ports", "lags": "channels", "trunks": "channels", "port_channels": "channels", "uplinks": "ports", "vpc": "mlag", "vsx": "mlag", "switch_hash": "hash", "os": "system"},
}

var ecmpKeys = object[topology.Balance]{
	name: "ecmp", doc: "How a switch spreads flows over routes of equal cost.",
	keys: balanceKeys(),
}

var switchPortKeys = object[topology.Port]{
	name: "switch_port", doc: "One port: the host's link or the other switch's port that hangs on it. Of a cable between switches one end is enough.",
	keys: []key[topology.Port]{
		{"host", "the host at the other end", one(free, func(p *topology.Port) *string { return &p.Host })},
		{"link", "that host's link, by interface name", one(free, func(p *topology.Port) *string { return &p.Link })},
		{"switch", "the switch at the other end", one(free, func(p *topology.Port) *string { return &p.Switch })},
		{"port", "that switch's port", one(free, func(p *topology.Port) *string { return &p.Port })},
		{"speed", "line rate each direction; left out: as the other end says", one(rate, func(p *topology.Port) *unit.BitRate { return &p.Speed })},
		{"framing", "which bytes the speed counts, as of a host's link", one(framing, func(p *topology.Port) *netstate.Framing { return &p.Framing })},
	},
	alias: map[string]string{"interface": "link", "peer": "switch", "rate": "speed"},
}

var switchChannelKeys = object[topology.Channel]{
	name: "channel", doc: "Ports of a switch that are one link: a port channel, LAG or trunk.",
	keys: append([]key[topology.Channel]{
		{"members", "its ports, in the order that the hash counts them", many(free, func(c *topology.Channel) *[]string { return &c.Members })},
		{"mode", "lacp or static", one(word(topology.Modes()...), func(c *topology.Channel) *string { return &c.Mode })},
		{"learned", "what probes learned of the hash towards a host; it counts before hash", list(learnedKeys, func(c *topology.Channel) *[]flow.LearnedHash { return &c.Learned })},
	}, lifted(balanceKeys(), func(c *topology.Channel) *topology.Balance { return &c.Balance })...),
	required: []string{"members"},
	alias:    map[string]string{"ports": "members", "interfaces": "members", "load-balance": "hash", "switch_hash": "hash"},
}

var mlagKeys = object[topology.MLAG]{
	name: "mlag", doc: "Two switches that hosts see as one.",
	keys: []key[topology.MLAG]{
		{"peer", "the other half", one(free, func(m *topology.MLAG) *string { return &m.Peer })},
		{"link", "the channel or port between the halves", one(free, func(m *topology.MLAG) *string { return &m.Link })},
		{"prefer_local", "what arrives at one half leaves by the half's own ports where there are any; left out: true", reader[topology.MLAG]{
			schema: func(*schemaWriter) map[string]any { return truth.schema },
			read: func(d *decoder, at place, n *yamldoc.Node, into *topology.MLAG) {
				if v, ok := truth.decode(d, at, n); ok {
					into.Spread = !v
				}
			},
		}},
	},
	required: []string{"peer", "link"},
	alias:    map[string]string{"peer_link": "link", "peer-link": "link", "prefer-local": "prefer_local"},
}

// checkSwitches judges whether the switches' cables fit, and that no path says a
// switch's hash once more, and otherwise.
func checkSwitches(ps *yamldoc.Collector, root *yamldoc.Node, f Fabric) {
	if f.Topology == nil {
		return
	}
	facts := topology.Facts{Links: f.linksOf, Speed: func(host, link string) unit.BitRate {
		h, _ := f.Host(host)
		return h.Hardware.Links[link].Speed
	}}
	for _, h := range f.Hosts {
		facts.Hosts = append(facts.Hosts, h.Name)
	}
	for _, fault := range f.Topology.Check(facts) {
		ps.At(root.Get("switches").Find(fault.Path...), fault.What, fault.Hint)
	}
	for i, p := range f.Paths {
		for _, end := range []string{p.To, p.From} {
			if hash := f.Topology.HashTowards(end); p.SwitchHash != "" && hash != "" && hash != p.SwitchHash {
				ps.At(root.Get("paths").Find(i, "switch_hash"), string(place("paths").item(i).key("switch_hash"))+": the channels under switches that lead to "+end+" have "+hash, "a switch's hash is said in one place: leave switch_hash out")
				break
			}
		}
	}
}

// linksOf are the interface names of a host's network; nil where the file alone does
// not tell them all.
func (f Fabric) linksOf(host string) []string {
	h, _ := f.Host(host)
	var names []string
	for _, e := range h.Network.Ethernets {
		if e.Match != nil {
			return nil
		}
		names = append(names, e.ID)
	}
	return names
}
