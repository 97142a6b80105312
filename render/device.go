package render

import (
	"slices"
	"sort"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/flow"
)

// device is one interface with everything that is wanted of it, whichever part
// of the file says so.
type device struct {
	fabric.Device // what netplan says of it; ID is the definition's
	// name is the interface's; "" where only a match tells it.
	name string
	kind kind
	// match is an ethernet definition's, nil for none; setName its new name.
	match   *fabric.Match
	setName string
	// permanent is the device's own address, zero where unknown.
	permanent flow.MAC
	// master is the interface that this one is a port of, "" none.
	master     string
	masterKind kind
	ports      []string // of a bond or bridge, interface names
	options    []option // of a bond, the mode first
	parent     string   // of a VLAN
	tag        int
	parameters *yamldoc.Node // of a bridge
	settings   fabric.LinkSettings
}

// kind is what a device is; other sections of netplan keep their own name.
type kind string

const (
	kindEthernet kind = "ethernet"
	kindBond     kind = "bond"
	kindVLAN     kind = "vlan"
	kindBridge   kind = "bridge"
	kindDummy    kind = "dummy-devices"
)

// option is a bond option by its kernel name, with the key that the fabric
// file has for it.
type option struct{ name, value, key string }

// devices are the host's interfaces, lower ones first. A match that covers
// several known interfaces gives one each; one that covers none known gives a
// device without a name.
func (in Input) devices() []device {
	var all []device
	n := in.Host.Network
	for _, e := range n.Ethernets {
		for _, name := range in.namesOf(e) {
			d := device{Device: e.Device, name: name, kind: kindEthernet, match: e.Match, setName: e.SetName}
			if l, ok := in.State.Link(name); ok && name != "" {
				d.permanent = l.PermanentMAC
			}
			if e.Match != nil && !e.Match.MAC.IsZero() {
				d.permanent = e.Match.MAC
			}
			all = append(all, d)
		}
	}
	for _, o := range n.Others {
		all = append(all, device{Device: o.Device, name: o.ID, kind: kind(o.Section)})
	}
	for _, b := range n.Bonds {
		all = append(all, device{Device: b.Device, name: b.ID, kind: kindBond, ports: in.interfaces(b.Interfaces), options: in.bondOptions(b)})
	}
	for _, v := range n.VLANs {
		parents := in.interfaces([]string{v.Link})
		d := device{Device: v.Device, name: v.ID, kind: kindVLAN, tag: v.Tag, parent: v.Link}
		if len(parents) > 0 {
			d.parent = parents[0]
		}
		all = append(all, d)
	}
	for _, b := range n.Bridges {
		all = append(all, device{Device: b.Device, name: b.ID, kind: kindBridge, ports: in.interfaces(b.Interfaces), parameters: b.Parameters})
	}
	for i := range all {
		all[i].settings = in.Host.Links[all[i].ID]
		all[i].master, all[i].masterKind = in.masterOf(all[i].ID)
	}
	return in.withSourceRules(all)
}

// namesOf are the interfaces that an ethernet definition stands for; one empty
// name where nobody knows.
func (in Input) namesOf(e fabric.Ethernet) []string {
	if e.Match != nil && e.SetName == "" {
		var covered []string
		for _, l := range in.State.Links {
			if e.Covers(l) {
				covered = append(covered, l.Name)
			}
		}
		if len(covered) > 0 {
			sort.Strings(covered)
			return covered
		}
		// The definition's own name is not the interface's.
		if m := e.Match; m.Name == "" && (!m.MAC.IsZero() || len(m.Drivers) > 0) {
			return []string{""}
		}
	}
	if names, ok := in.Host.Interfaces(e.ID); ok {
		return names
	}
	return []string{""}
}

// interfaces are the names behind netplan IDs, in order; without those that
// nobody knows.
func (in Input) interfaces(ids []string) []string {
	var names []string
	for _, id := range ids {
		if e, ok := in.Host.Network.Ethernet(id); ok {
			for _, name := range in.namesOf(e) {
				if name != "" {
					names = append(names, name)
				}
			}
			continue
		}
		names = append(names, id)
	}
	return names
}

// masterOf is the bond or bridge that a definition is a port of.
func (in Input) masterOf(id string) (string, kind) {
	for _, b := range in.Host.Network.Bonds {
		if slices.Contains(b.Interfaces, id) {
			return b.ID, kindBond
		}
	}
	for _, b := range in.Host.Network.Bridges {
		if slices.Contains(b.Interfaces, id) {
			return b.ID, kindBridge
		}
	}
	return "", ""
}

// bondOptions are the options that the file sets, under netplan's name or the
// kernel's, and always the mode, which is balance-rr when left out.
func (in Input) bondOptions(b fabric.Bond) []option {
	beside := in.Host.Bonding[b.ID]
	all := []option{{"mode", b.Options.Mode.String(), "parameters.mode"}}
	if mode := beside["mode"]; mode != "" {
		all[0] = option{"mode", mode, "bonding.mode"}
	}
	for _, name := range b.Set {
		if _, twice := beside[name]; twice || name == "mode" {
			continue
		}
		parameter, _ := fabric.BondParameter(name)
		all = append(all, option{name, fabric.Option(b.Options, name), "parameters." + parameter})
	}
	for _, name := range sortedKeys(beside) {
		if name == "mode" {
			continue
		}
		all = append(all, option{name, beside[name], "bonding." + name})
	}
	return all
}

// option returns a bond's option; false for one that the file does not set.
func (d device) option(name string) (option, bool) {
	for _, o := range d.options {
		if o.name == name {
			return o, true
		}
	}
	return option{}, false
}

// mode is a bond's.
func (d device) mode() string { return d.options[0].value }

// withSourceRules adds the tables and rules by which traffic of a link's own
// addresses leaves by that link: those of the wanted state.
func (in Input) withSourceRules(all []device) []device {
	for i := range all {
		d := &all[i]
		if !slices.Contains(in.Host.SourceRules, d.ID) {
			continue
		}
		d.Routes, d.Rules = slices.Clone(d.Routes), slices.Clone(d.Rules)
		for _, r := range in.State.Rules {
			own := slices.ContainsFunc(d.Addresses, func(a addressPrefix) bool { return r.From.IsValid() && r.From.Contains(a.Addr()) })
			if !own || r.Selectors != "" || r.Action != "" {
				continue
			}
			rule := fabric.Rule{From: r.From, To: r.To, Table: r.Table, Priority: r.Priority}
			if slices.Contains(d.Rules, rule) {
				continue
			}
			d.Rules = append(d.Rules, rule)
			for _, route := range in.State.Routes {
				if route.Table == r.Table && route.Link == d.name && !declared(d.Routes, route) {
					d.Routes = append(d.Routes, asDeclared(route))
				}
			}
		}
	}
	return all
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
