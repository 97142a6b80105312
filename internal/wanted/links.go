package wanted

import (
	"slices"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

const (
	// defaultMTU is ETH_DATA_LEN (include/uapi/linux/if_ether.h).
	defaultMTU = 1500
	// defaultMiimon is what the driver sets for modes that need monitoring
	// (BOND_DEFAULT_MIIMON, drivers/net/bonding/bonding_priv.h).
	defaultMiimon = 100 * time.Millisecond
	// leastIPv6MTU is RFC 8200, section 5.
	leastIPv6MTU = 1280
	// dummies is netplan's section of them.
	dummies = "dummy-devices"
	// longestName is a link name's most (IFNAMSIZ less the end).
	longestName = 15
)

// ethernets brings up what the file names.
func (b *builder) ethernets() {
	for _, e := range b.file.Network.Ethernets {
		for _, name := range b.devices[e.ID] {
			b.raise(name, e.Device, network("ethernets", e.ID))
		}
	}
}

// raise brings a declared link up, unless the file wants otherwise.
func (b *builder) raise(name string, d fabric.Device, path []any) {
	mode := d.Activation()
	b.change(name, func(l *netstate.Link) {
		switch mode {
		case "manual":
		case "off":
			l.Up = false
		default:
			l.Up = true
		}
	})
	if mode != "" {
		path = append(slices.Clone(path), "activation-mode")
	}
	b.because(plan.Step{Kind: plan.LinkState, Link: name}, b.at.Line(path...), "the file defines it")
}

// made adds a link that is not there, or checks that what is there is of its
// kind; false when nothing can be done with it.
func (b *builder) made(l netstate.Link, path []any) bool {
	have, there := b.want.Link(l.Name)
	switch {
	case there && have.Kind == "team" && l.Bond != nil:
		b.wrong(path, plan.BeforeBond(l.Name), "%s is there already and is a team of teamd's, which no plan touches", l.Name)
		return false
	case there && have.Kind != l.Kind:
		b.wrong(path, "choose another name, or remove what is there", "%s is there already and is %s", l.Name, kindWords(have))
		return false
	case there && (l.Bond != nil && have.Bond == nil || l.VLAN != nil && have.VLAN == nil):
		b.wrong(path, "look at what inspect says of it", "%s is there already, and its settings could not be read", l.Name)
		return false
	case there:
		return true
	case len(l.Name) > longestName:
		b.wrong(path, "", "%s: a link's name has at most %d bytes", l.Name, longestName)
		return false
	case l.Name == "all", l.Name == "default", l.Name == plan.NoMaster:
		b.wrong(path, "choose another name", "%s: no link can be told by that name (net.ipv4.conf.all, ip link set master none)", l.Name)
		return false
	case l.VLAN != nil && (l.VLAN.ID < 1 || l.VLAN.ID > 4094):
		b.wrong(append(slices.Clone(path), "id"), "", "VLAN ID %d of %s is outside 1 to 4094 (IEEE 802.1Q)", l.VLAN.ID, l.Name)
		return false
	}
	l.Up = true
	b.want.SetLink(l)
	b.because(plan.Step{Kind: plan.LinkPresence, Link: l.Name}, b.at.Line(path...), "the file defines it")
	return true
}

// leaveOVS tells of what Open vSwitch makes, but where files alone are made.
func (b *builder) leaveOVS(format string, args ...any) {
	if !b.request.FromFile {
		b.leave(format, args...)
	}
}

// ovsBonds leaves bonds of Open vSwitch as they are: the kernel does not know them, and
// what it calls so is none of them.
func (b *builder) ovsBonds() {
	for _, d := range b.file.Network.OVSBonds {
		path := network("bonds", d.ID)
		b.devices[d.ID] = nil
		have, there := b.want.Link(d.ID)
		runs := d.Options.Runs()
		if there && have.OVS != nil && have.OVS.Mode == runs.Mode && have.OVS.LACP == runs.LACP {
			continue // as the file has it
		}
		if there && have.OVS == nil && have.Kind != netstate.KindOVSBridge { // --fake-iface of ovs-vsctl(8)
			b.wrong(path, "choose another name, or remove what is there", "%s is %s here, and the file has it as a bond of Open vSwitch", d.ID, kindWords(have))
			continue
		}
		b.leaveOVS("%s is a bond of Open vSwitch, which changes of the kernel's bonds do not reach: `ovs-vsctl set port %s bond_mode=%s lacp=%s` sets it",
			d.ID, d.ID, runs.Mode, runs.LACP)
		for _, id := range d.Interfaces {
			for _, name := range b.devices[id] {
				if l, _ := b.want.Link(name); b.isBond(l.Master) {
					b.wrong(append(slices.Clone(path), "interfaces"), "take it out of "+l.Master+" first: `ip link set "+name+" nomaster`", "%s is a port of the kernel's bond %s, and the file has it in %s of Open vSwitch", name, l.Master, d.ID)
				}
			}
		}
	}
}

func (b *builder) bonds() {
	for _, d := range b.file.Network.Bonds {
		path := network("bonds", d.ID)
		fresh := copied(d.Options)
		fresh.Ports = []string{}
		if !b.made(netstate.Link{Name: d.ID, Kind: "bond", Bond: fresh}, path) {
			continue
		}
		b.raise(d.ID, d.Device, path)
		b.options(d, path)
		b.ports(d, path)
	}
}

// options lays what the file sets over a bond's options.
func (b *builder) options(d fabric.Bond, path []any) {
	have, _ := b.want.Link(d.ID)
	bond := copied(*have.Bond)
	if d.Options.Own != nil {
		return // another system's words, which are its writer's to set
	}
	for _, kernel := range d.Set {
		where := b.optionPath(d.ID, kernel)
		value := fabric.Option(d.Options, kernel)
		o, _ := bondopt.Find(kernel)
		if names := b.devices[value]; o.Kind == bondopt.Port && len(names) == 1 {
			value = names[0]
		}
		if o, twin := bondopt.ByTwin(kernel); twin {
			kernel = o.Name
		}
		if kernel == bondopt.Active {
			bond.Active = value
		} else if !fabric.SetOption(bond, kernel, value) {
			b.wrong(where, "", "%s of %s: %q cannot be set", kernel, d.ID, value)
		}
		b.because(plan.Step{Kind: plan.BondOption, Link: d.ID, Key: kernel}, b.at.Line(where...), "")
	}
	inMode := d
	inMode.Options.Mode = bond.Mode
	for _, kernel := range d.Set {
		if why := inMode.NotInMode(kernel); why != "" {
			b.wrong(b.optionPath(d.ID, kernel), "take it out", "%s of %s", why, d.ID)
		}
	}
	needs := bond.Mode == netstate.LACP || bond.Mode == netstate.BalanceTLB || bond.Mode == netstate.BalanceALB
	arp := bond.Options["arp_interval"]
	switch {
	case bond.Miimon == 0 && needs && b.setsMode(d.ID, bond.Mode):
		bond.Miimon = defaultMiimon
		b.because(plan.Step{Kind: plan.BondOption, Link: d.ID, Key: "miimon"}, b.at.Line(path...), "mode "+bond.Mode.String()+" needs it, and the kernel sets 100 by itself")
	case bond.Miimon == 0 && (arp == "" || arp == "0"):
		b.warn("%s watches no port (miimon 0, no arp_interval): one that dies goes on being used", d.ID)
	}
	b.change(d.ID, func(l *netstate.Link) { l.Bond = bond })
}

// setsMode reports a bond that is made in the mode, or changed to it.
func (b *builder) setsMode(name string, mode netstate.BondMode) bool {
	was, there := b.observed.Link(name)
	return !there || was.Bond == nil || was.Bond.Mode != mode
}

// optionPath is where the file sets a bond's option.
func (b *builder) optionPath(id, kernel string) []any {
	if b.at.Has("bonding", id, kernel) {
		return []any{"bonding", id, kernel}
	}
	name, _ := fabric.BondParameter(kernel)
	return network("bonds", id, "parameters", name)
}

// ports gives a bond the ports that the file lists: those it has keep their
// order, which its hash counts in, and new ones follow in the file's.
func (b *builder) ports(d fabric.Bond, path []any) {
	if d.Interfaces == nil {
		b.fewPorts(d.ID)
		return
	}
	path = append(slices.Clone(path), "interfaces")
	var listed []string
	for i, id := range d.Interfaces {
		names := b.devices[id]
		if len(names) == 0 {
			b.leave("%s has no port from %s, which is not there", d.ID, id)
		}
		for _, name := range names {
			if l, ok := b.want.Link(name); ok && (l.VLAN != nil || l.Bond != nil) && l.Master != d.ID {
				b.wrong(append(slices.Clone(path), i), "", "%s is %s: a bond's ports are devices", name, kindWords(l))
				continue
			}
			listed = append(listed, name)
		}
	}
	have, _ := b.want.Link(d.ID)
	ports := []string{}
	for _, name := range have.Bond.Ports {
		if slices.Contains(listed, name) {
			ports = append(ports, name)
			continue
		}
		b.because(plan.Step{Kind: plan.PortMaster, Link: name}, b.at.Line(path...), "the file does not list it among "+d.ID+"'s ports")
		b.release(name)
	}
	for _, name := range listed {
		if slices.Contains(ports, name) {
			continue
		}
		ports = append(ports, name)
		b.enslave(name, d, path)
	}
	bond := copied(*have.Bond)
	bond.Ports = ports
	if bond.Active != "" && !slices.Contains(ports, bond.Active) {
		bond.Active = ""
	}
	b.change(d.ID, func(l *netstate.Link) { l.Bond = bond })
	for _, name := range ports {
		if p, _ := b.file.Network.Device(b.declared[name]); slices.Contains(have.Bond.Ports, name) && p.Activation() != "" {
			continue // the file has the word on it
		}
		b.change(name, func(l *netstate.Link) { l.Up = true })
	}
	b.fewPorts(d.ID)
}

// fewPorts tells of a bond that carries no more than one link does.
func (b *builder) fewPorts(bond string) {
	l, _ := b.want.Link(bond)
	switch len(l.Bond.Ports) {
	case 0:
		b.warn("%s has no port: it carries nothing until it gets one", bond)
	case 1:
		b.warn("%s has one port, %s: nothing is spread, and no other port replaces it when it fails", bond, l.Bond.Ports[0])
	}
	if n := len(l.Bond.Ports); n > 0 && l.Bond.Mode == netstate.LACP && n < l.Bond.MinLinks {
		b.warn("%s never has carrier: it needs %d ports (min_links) and has %d", bond, l.Bond.MinLinks, n)
	}
}

// enslave makes a link a port of a declared bond, and sees to what it loses by
// that.
func (b *builder) enslave(name string, d fabric.Bond, path []any) {
	l, ok := b.want.Link(name)
	if !ok {
		return
	}
	if l.Master != "" {
		b.leaveMaster(l, d.ID, path)
	}
	for _, upper := range b.want.Links {
		if upper.VLAN != nil && upper.VLAN.Parent == name {
			b.wrong(path, "move the VLAN to "+d.ID+", or name it under absent", "%s carries the VLAN %s and would become a port of %s", name, upper.Name, d.ID)
		}
	}
	l, _ = b.want.Link(name)
	l.Master, l.Port, l.Up = d.ID, &netstate.BondPort{Bond: d.ID}, true
	if l.PermanentMAC.IsZero() {
		l.PermanentMAC = l.MAC
	}
	b.want.SetLink(l)
	b.because(plan.Step{Kind: plan.PortMaster, Link: name}, b.at.Line(path...), "the file lists it among "+d.ID+"'s ports")
}

func (b *builder) leaveMaster(port netstate.Link, to string, path []any) {
	master, ok := b.want.Link(port.Master)
	if !ok || master.Bond == nil {
		b.wrong(path, "take it out of there first", "%s is a port of %s", port.Name, port.Master)
		return
	}
	bond := copied(*master.Bond)
	bond.Ports = slices.DeleteFunc(bond.Ports, func(p string) bool { return p == port.Name })
	master.Bond = bond
	b.want.SetLink(master)
	if len(bond.Ports) == 0 {
		b.warn("%s loses its last port to %s", master.Name, to)
	}
}

// vlans makes the file's VLANs, each after what it rides on.
func (b *builder) vlans() {
	for _, d := range b.lowestFirst() {
		path := network("vlans", d.ID)
		if slices.ContainsFunc(b.file.Network.Bridges, func(o fabric.Bridge) bool { return o.OVS && o.ID == d.Link }) {
			b.leaveOVS("%s is a VLAN on %s, a bridge of Open vSwitch, which makes it: `ovs-vsctl add-br %s %s %d`", d.ID, d.Link, d.ID, d.Link, d.Tag)
			if _, there := b.want.Link(d.ID); there {
				b.raise(d.ID, d.Device, path)
			}
			continue
		}
		problems := len(b.problems)
		parent, ok := b.linkOf(d.Link, append(slices.Clone(path), "link"))
		if !ok {
			if len(b.problems) == problems {
				b.leave("the VLAN %s is not made: %s is not there", d.ID, d.Link)
			}
			continue
		}
		if !b.made(netstate.Link{Name: d.ID, Kind: "vlan", VLAN: &netstate.VLAN{ID: d.Tag, Parent: parent}}, path) {
			continue
		}
		have, _ := b.want.Link(d.ID)
		if have.VLAN.ID != d.Tag || have.VLAN.Parent != parent {
			b.wrong(path, "remove it first (absent), or give the new one another name", "%s is VLAN %d on %s, and a VLAN's number and parent cannot be changed to %d on %s", d.ID, have.VLAN.ID, have.VLAN.Parent, d.Tag, parent)
			continue
		}
		if bond := b.bondOf(parent); bond != "" {
			b.warn("%s takes the frames of VLAN %d that arrive at %s, and %s never sees them: on %s it would have all ports", d.ID, d.Tag, parent, bond, bond)
		}
		b.raise(d.ID, d.Device, path)
	}
}

// lowestFirst is the file's VLANs with those that others ride on before them.
func (b *builder) lowestFirst() []fabric.VLAN {
	var out []fabric.VLAN
	rest := slices.Clone(b.file.Network.VLANs)
	for range len(rest) {
		i := slices.IndexFunc(rest, func(d fabric.VLAN) bool {
			return !slices.ContainsFunc(rest, func(o fabric.VLAN) bool { return o.ID == d.Link })
		})
		if i < 0 {
			break // one rides on itself, which the file's reader refuses
		}
		out, rest = append(out, rest[i]), slices.Delete(rest, i, i+1)
	}
	return append(out, rest...)
}

// bondOf is the bond, the file's or the host's own, that a link is to be a port
// of; "" it is none.
func (b *builder) bondOf(link string) string {
	l, _ := b.want.Link(link)
	if b.isBond(l.Master) {
		return l.Master
	}
	return ""
}

// dummies are made before what may ride on them, or have them as ports.
func (b *builder) dummies() {
	for _, d := range b.file.Network.Others {
		path := network(d.Section, d.ID)
		if d.Section == dummies && b.made(netstate.Link{Name: d.ID, Kind: "dummy"}, path) {
			b.raise(d.ID, d.Device, path)
		}
	}
}

// others are devices that are only used where they are there already.
func (b *builder) others() {
	for _, d := range b.file.Network.Bridges {
		path := network("bridges", d.ID)
		if _, there := b.want.Link(d.ID); !there {
			b.wrong(path, "make it first, by what manages the host's network", "%s is not there, and bridges are not made here", d.ID)
			b.devices[d.ID] = nil
			continue
		}
		b.raise(d.ID, d.Device, path)
	}
	for _, d := range b.file.Network.Others {
		path := network(d.Section, d.ID)
		if d.Section == dummies {
			continue
		}
		if _, there := b.want.Link(d.ID); there {
			b.raise(d.ID, d.Device, path)
			continue
		}
		b.devices[d.ID] = nil
		b.leave("%s (%s) is not there, and is not made here", d.ID, d.Section)
	}
}
