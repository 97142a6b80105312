package wanted

import (
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// removable are the kinds of link that a plan makes and deletes.
var removable = []string{"bond", "vlan", "dummy"}

// remove takes the links that the file wants absent, and what hangs on them,
// out of the wanted host.
func (b *builder) remove() {
	for i, name := range b.file.Absent {
		path := []any{"absent", i}
		l, there := b.observed.Link(name)
		if !there {
			continue
		}
		if !slices.Contains(removable, l.Kind) {
			b.wrong(path, "only bonds, VLANs and dummies are deleted", "%s is %s and cannot be deleted", name, kindWords(l))
			continue
		}
		for _, upper := range b.observed.Links {
			if upper.VLAN != nil && upper.VLAN.Parent == name && !slices.Contains(b.file.Absent, upper.Name) {
				b.wrong(path, "name it under absent too", "%s carries the VLAN %s, which would go with it", name, upper.Name)
			}
		}
		for _, a := range l.Addresses {
			if !a.Addr().IsLinkLocalUnicast() {
				b.warn("%s goes, and its address %s with it", name, a)
			}
		}
		b.want.Absent = append(b.want.Absent, name)
		b.want.Links = slices.DeleteFunc(b.want.Links, func(l netstate.Link) bool { return l.Name == name })
		b.want.Routes = slices.DeleteFunc(b.want.Routes, func(r netstate.Route) bool { return uses(r, name) })
		for _, port := range slices.Clone(b.want.Links) {
			if port.Master == name {
				b.release(port.Name)
			}
		}
		b.because(plan.Step{Kind: plan.LinkPresence, Link: name}, b.at.Line(path...), "the file wants it absent")
	}
}

// uses reports a route over the link.
func uses(r netstate.Route, link string) bool {
	return r.Link == link || slices.ContainsFunc(r.Hops, func(h netstate.NextHop) bool { return h.Link == link })
}

// find settles which observed links every ethernet definition stands for, and
// the names of those that can be made.
func (b *builder) find() {
	for _, e := range b.file.Network.Ethernets {
		var names []string
		for _, l := range b.observed.Links {
			if b.covers(e, l) {
				names = append(names, l.Name)
			}
		}
		names = netstate.InNaturalOrder(names)
		path := network("ethernets", e.ID)
		switch {
		case len(names) == 0 && e.Match == nil && !e.Optional():
			b.wrong(path, "name the interface as the host does, or mark it optional: true", "no link %s was observed%s", e.ID, b.nearestLink(e.ID))
		case len(names) == 0 && e.Match != nil && b.request.FromFile:
		case len(names) == 0 && e.Match != nil && !e.Optional():
			b.wrong(append(path, "match"), "", "match %s covers no observed link", e.Match)
		case len(names) == 0:
			b.leave("%s is not there (optional)", e.ID)
		case len(names) > 1 && e.SetName != "":
			b.wrong(append(path, "set-name"), "", "match %s covers %s, one name cannot be given to all", e.Match, strings.Join(names, ", "))
		case e.SetName != "" && names[0] != e.SetName:
			b.leave("%s keeps its name: it becomes %s when the files are read at boot", names[0], e.SetName)
		}
		b.define(e.ID, path, names...)
	}
	for _, d := range b.file.Network.Bonds {
		b.define(d.ID, network("bonds", d.ID), d.ID)
	}
	for _, d := range b.file.Network.OVSBonds {
		b.define(d.ID, network("bonds", d.ID), d.ID)
	}
	for _, d := range b.file.Network.VLANs {
		b.define(d.ID, network("vlans", d.ID), d.ID)
	}
	for _, d := range b.file.Network.Bridges {
		b.define(d.ID, network("bridges", d.ID), d.ID)
	}
	for _, d := range b.file.Network.Others {
		b.define(d.ID, network(d.Section, d.ID), d.ID)
	}
}

// covers is netplan's match on an observed link: links that netplan makes
// itself, and lo, are named, never matched.
func (b *builder) covers(e fabric.Ethernet, l netstate.Link) bool {
	if e.Match != nil && (netstate.IsTunnel(l.Kind) || slices.Contains([]string{"loopback", "bond", "vlan", "bridge", netstate.KindOVSBridge}, l.Kind)) {
		return false
	}
	return e.Covers(l)
}

func (b *builder) define(id string, path []any, names ...string) {
	for _, name := range names {
		if other := b.declared[name]; other != "" {
			b.wrong(path, "", "%s is %s's already", name, other)
			return
		}
		b.declared[name] = id
	}
	b.devices[id] = names
}

// linkOf is the one link behind an ID. A definition without any was told of
// already, or is optional.
func (b *builder) linkOf(id string, path []any) (string, bool) {
	names, known := b.devices[id]
	if !known && len(b.devices) == 0 {
		if _, there := b.want.Link(id); there {
			return id, true // the file declares no network
		}
	}
	switch {
	case !known:
		b.wrong(path, "", "no link %s was observed%s", id, b.nearestLink(id))
	case len(names) > 1:
		b.wrong(path, "", "%s stands for %s, one device is needed", id, strings.Join(names, ", "))
	}
	if len(names) != 1 {
		return "", false
	}
	_, there := b.want.Link(names[0])
	return names[0], there
}

func kindWords(l netstate.Link) string {
	switch l.Kind {
	case "":
		return "a physical device"
	case "loopback":
		return "the loopback"
	}
	return "a " + l.Kind
}
