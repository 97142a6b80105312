package fabric

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
)

// checkNetwork judges what netplan's keys say together.
func checkNetwork(ps *yamldoc.Collector, at place, n *yamldoc.Node, h Host) {
	c := netChecker{Collector: ps, at: at, net: unwrapped(n), host: h, sections: map[string]string{}}
	h.Network.each(func(section string, d Device) {
		if other, twice := c.sections[d.ID]; twice {
			c.say(fmt.Sprintf("%s is defined under %s already", d.ID, other), "netplan's names must differ", section, d.ID)
			return
		}
		c.sections[d.ID] = section
		c.ids = append(c.ids, d.ID)
	})
	c.defined, c.below = map[string]Ethernet{}, map[string][]string{}
	for _, id := range c.ids {
		if c.sections[id] != "ethernets" {
			c.below[id] = nil
		}
	}
	for _, v := range h.Network.VLANs {
		c.below[v.ID] = []string{v.Link}
	}
	c.names()
	for _, e := range h.Network.Ethernets {
		c.defined[e.ID] = e
		c.ethernet(e)
	}
	owner := map[string]string{}
	for _, b := range h.Network.Bonds {
		c.bond(b, owner)
	}
	for _, b := range h.Network.OVSBonds {
		c.ports("bonds", b.ID, b.Interfaces, owner)
		if len(b.Addresses) > 0 {
			c.say(b.ID+" is a bond of Open vSwitch, which has no addresses", "write them under its bridge", "bonds", b.ID, "addresses")
		}
	}
	for _, b := range h.Network.Bridges {
		c.ports("bridges", b.ID, b.Interfaces, owner)
	}
	for _, v := range h.Network.VLANs {
		c.vlan(v)
	}
}

type netChecker struct {
	*yamldoc.Collector
	at       place
	net      *yamldoc.Node
	host     Host
	sections map[string]string // of each ID
	ids      []string
	defined  map[string]Ethernet // by ID
	below    map[string][]string // what each other definition rides on
}

// interfaces is Host.interfaces.
func (c netChecker) interfaces(id string) ([]string, bool) {
	if e, ok := c.defined[id]; ok {
		return e.names(c.host.Hardware)
	}
	_, ok := c.below[id]
	return []string{id}, ok
}

func (c netChecker) say(what, hint string, path ...any) {
	at := c.at
	for _, step := range path {
		if s, ok := step.(string); ok {
			at = at.key(s)
		}
	}
	c.Collector.At(c.net.Find(path...), string(at)+": "+what, hint)
}

func (c netChecker) ethernet(e Ethernet) {
	if e.SetName != "" && e.Match == nil {
		c.say("set-name needs a match", "netplan renames only devices that match selects", "ethernets", e.ID, "set-name")
	}
	if e.Match == nil {
		return
	}
	if _, err := path.Match(strings.ReplaceAll(e.Match.Name, "[!", "[^"), ""); err != nil {
		c.say(fmt.Sprintf("%q is no glob", e.Match.Name), "", "ethernets", e.ID, "match", "name")
	}
}

// ports checks a bond's or bridge's interfaces and returns the interface
// names; false when the file alone does not tell them all.
func (c netChecker) ports(section, id string, interfaces []string, owner map[string]string) (names []string, all bool) {
	c.below[id], all = interfaces, true
	for i, port := range interfaces {
		if c.sections[port] == "" {
			c.say(fmt.Sprintf("interface %q is not defined%s", port, yamldoc.Nearest(port, c.ids)), "every port is defined under ethernets, if only as "+port+": {}", section, id, "interfaces", i)
			all = false
			continue
		}
		devices, known := c.interfaces(port)
		all = all && known
		if e, is := c.defined[port]; is && e.byAddress() {
			all = false // its name is what the host calls it
		}
		if !known {
			devices = []string{port}
		}
		for _, device := range devices {
			if other := owner[device]; other != "" {
				c.say(fmt.Sprintf("%s is a port of %s already", device, other), "a port belongs to one bond or bridge and is named once", section, id, "interfaces", i)
				all = false
				continue
			}
			owner[device] = id
			names = append(names, device)
		}
	}
	return names, all
}

func (c netChecker) bond(b Bond, owner map[string]string) {
	names, all := c.ports("bonds", b.ID, b.Interfaces, owner)
	c.delays(b)
	if primary := b.Options.Options["primary"]; primary != "" && all && !slices.Contains(names, primary) && !slices.Contains(b.Interfaces, primary) {
		c.say(fmt.Sprintf("primary %s is no port of %s%s", primary, b.ID, yamldoc.Nearest(primary, names)), "", "bonds", b.ID, "parameters", "primary")
	}
}

// delays refuses waits that count in a link monitor's intervals where the file
// has ARP watch instead (_bond_option_delay_set).
func (c netChecker) delays(b Bond) {
	if b.Options.Miimon > 0 || !b.Sets("arp_interval") || b.Options.Options["arp_interval"] == "0" {
		return
	}
	for _, kernel := range []string{"updelay", "downdelay", "peer_notif_delay"} {
		if value := Option(b.Options, kernel); b.Sets(kernel) && value != "0" {
			path := []any{"bonds", b.ID, "parameters"}
			if name, ok := BondParameter(kernel); ok {
				path = append(path, name)
			}
			c.say(fmt.Sprintf("%s of %s is %s, which needs mii-monitor-interval, and arp-interval is set", kernel, b.ID, value), "take one of them out", path...)
		}
	}
}

func (c netChecker) vlan(v VLAN) {
	switch {
	case v.Link == "":
	case c.sections[v.Link] == "":
		c.say(fmt.Sprintf("link %q is not defined%s", v.Link, yamldoc.Nearest(v.Link, c.ids)), yamldoc.Choices(c.ids), "vlans", v.ID, "link")
	case c.loops(v.ID):
		c.say(fmt.Sprintf("%s rides on itself", v.ID), "", "vlans", v.ID, "link")
	default:
		if names, known := c.interfaces(v.Link); known && len(names) > 1 {
			c.say(fmt.Sprintf("link %s stands for %d devices (%s), a VLAN rides on one", v.Link, len(names), strings.Join(names, ", ")), "", "vlans", v.ID, "link")
		}
	}
}

func (c netChecker) loops(id string) bool {
	seen := map[string]bool{}
	var visit func(string) bool
	visit = func(lower string) bool {
		if lower == id && len(seen) > 0 {
			return true
		}
		if seen[lower] {
			return false
		}
		seen[lower] = true
		return slices.ContainsFunc(c.below[lower], visit)
	}
	return visit(id)
}
