package fabric

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/bondopt"
)

// offloadName is what a feature of ethtool -K may be called.
var offloadName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

// checkSettings judges what a host's settings name.
func checkSettings(ps *yamldoc.Collector, at place, n *yamldoc.Node, h Host) {
	c := settingsChecker{Collector: ps, at: at, node: n, host: h}
	for _, d := range h.Network.Devices() {
		c.ids = append(c.ids, d.ID)
	}
	for _, bond := range SortedNames(h.Bonding) {
		c.bonding(bond)
	}
	for _, id := range SortedNames(h.Links) {
		c.known(id, "links", id)
		for _, name := range SortedNames(h.Links[id].Offloads) {
			if !offloadName.MatchString(name) {
				c.say(fmt.Sprintf("%q is no offload's name", name), "write it as ethtool -k does: gro, tso, rx-gro-hw", "links", id, "offloads", name)
			}
		}
		l := h.Links[id]
		for _, o := range bondopt.Ports() {
			if l.Port[o.Name] != "" && len(c.ids) > 0 && !c.port(id) {
				c.say(id+" is no bond's port", "", "links", id, o.Key)
			}
		}
	}
	for _, d := range h.Leased {
		c.known(d.ID, "leased", d.ID)
	}
	for i, name := range h.Use {
		c.usable(name, i)
	}
	for i, r := range h.Multipath {
		for j, hop := range r.Hops {
			c.known(hop.Link, "multipath", i, "hops", j, "dev")
		}
	}
	for i, id := range h.SourceRules {
		c.known(id, "source_rules", i)
		if c.port(id) {
			c.say(id+" is a bond's port and has no addresses of its own", "name the bond", "source_rules", i)
		}
	}
	if h.MPTCP != nil {
		for i, e := range h.MPTCP.Endpoints {
			c.known(e.Link, "mptcp", "endpoints", i, "dev")
		}
	}
	for i, name := range h.Absent {
		if slices.Contains(c.ids, name) {
			c.say(fmt.Sprintf("%s is declared in the network", name), "take it out of the one or of the other", "absent", i)
		}
	}
	for _, b := range h.Network.Bonds {
		c.modes(b)
	}
}

type settingsChecker struct {
	*yamldoc.Collector
	at   place
	node *yamldoc.Node
	host Host
	ids  []string
}

func (c settingsChecker) say(what, hint string, path ...any) {
	at := c.at
	for _, step := range path {
		switch s := step.(type) {
		case string:
			at = at.key(s)
		case int:
			at = at.item(s)
		}
	}
	c.Collector.At(c.node.Find(path...), string(at)+": "+what, hint)
}

// known complains of a device that the network does not define. Any may be
// there while the file has no network: the host is observed.
func (c settingsChecker) known(id string, path ...any) {
	if id == "" || len(c.ids) == 0 || slices.Contains(c.ids, id) {
		return
	}
	c.say(fmt.Sprintf("device %q is not defined%s", id, yamldoc.Nearest(id, c.ids)), "define it in the network, if only as ethernets: {"+id+": {}}", path...)
}

// usable complains of a link to use that the file does not name, and of lo.
func (c settingsChecker) usable(name string, i int) {
	known := slices.Concat(c.ids, SortedNames(c.host.Hardware.Links))
	for _, e := range c.host.Network.Ethernets {
		if names, ok := e.names(c.host.Hardware); ok {
			known = append(known, names...)
		}
	}
	switch {
	case name == "lo":
		c.say("lo is no link: its addresses are reached by the links that lead there", "name those", "use", i)
	case len(c.ids) > 0 && !slices.Contains(known, name):
		c.say(fmt.Sprintf("link %q is not named in the file%s", name, yamldoc.Nearest(name, known)), yamldoc.Choices(known), "use", i)
	}
}

// port reports a definition whose devices a bond takes.
func (c settingsChecker) port(id string) bool {
	return slices.ContainsFunc(c.host.Network.Bonds, func(b Bond) bool { return slices.Contains(b.Interfaces, id) })
}

func (c settingsChecker) bonding(id string) {
	b, ok := c.host.Network.Bond(id)
	if !ok && len(c.ids) > 0 {
		var bonds []string
		for _, b := range c.host.Network.Bonds {
			bonds = append(bonds, b.ID)
		}
		c.say(fmt.Sprintf("%q is no bond of the network%s", id, yamldoc.Nearest(id, bonds)), yamldoc.Choices(bonds), "bonding", id)
		return
	}
	net := unwrapped(c.node.Find("network"))
	parameters := net.Get("bonds").Get(id).Get("parameters")
	for _, kernel := range SortedNames(c.host.Bonding[id]) {
		value := c.host.Bonding[id][kernel]
		if name, said := parameterOf(parameters, kernel); said && Option(b.Options, kernel) != value {
			c.say(fmt.Sprintf("%s is %s here, and %s under network.bonds.%s.parameters is %s", kernel, value, name, id, Option(b.Options, kernel)), "say it once", "bonding", id, kernel)
		}
	}
}

// parameterOf is netplan's name of an option that the parameters set.
func parameterOf(parameters *yamldoc.Node, kernel string) (string, bool) {
	_, said, ok := netplanParameter(kernel)
	for _, name := range append([]string{said.Name}, said.Older...) {
		if ok && parameters.Get(name) != nil {
			return name, true
		}
	}
	return "", false
}

// modes complains of options that a bond of this mode does not take. Those of
// netplan's own parameters are let pass here: netplan takes them, and a file
// that some host has should be read; who would set them refuses them.
func (c settingsChecker) modes(b Bond) {
	for _, kernel := range SortedNames(c.host.Bonding[b.ID]) {
		if why := b.NotInMode(kernel); why != "" {
			o, _ := bondopt.Find(kernel)
			c.say(why, "it is for "+o.ModeWords(), "bonding", b.ID, kernel)
		}
	}
}

// NotInMode says why a bond of its mode does not take an option that the file
// sets, by kernel name; "" where it does, or where the option is as the driver
// makes it anyway.
func (b Bond) NotInMode(kernelName string) string {
	mode, value := b.Options.Mode, Option(b.Options, kernelName)
	if OptionInMode(kernelName, mode) || value == InitialOption(kernelName) || value == "" {
		return ""
	}
	return fmt.Sprintf("%s is not for mode %s", kernelName, mode)
}
