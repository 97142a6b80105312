// Package device has a host's interfaces, each with everything that its fabric
// file wants of it.
package device

import (
	"maps"
	"net/netip"
	"slices"
	"sort"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/render"
)

// Device is one interface with everything that is wanted of it, whichever part
// of the file says so.
type Device struct {
	fabric.Device // what netplan says of it; ID is the definition's
	// Name is the interface's; "" where only a match tells it.
	Name string
	Kind Kind
	// Match is an ethernet definition's, nil for none; SetName its new name.
	Match   *fabric.Match
	SetName string
	// Permanent is the device's own address, zero where unknown.
	Permanent flow.MAC
	// Master is the interface that this one is a port of, "" none.
	Master     string
	MasterKind Kind
	Ports      []string // of a bond or bridge, interface names
	Options    []Option // of a bond, the mode first
	Parent     string   // of a VLAN
	Tag        int
	Parameters *yamldoc.Node // of a bridge, and of a bond of Open vSwitch
	OVS        netstate.OVSBond
	Settings   fabric.LinkSettings
}

// Kind is what a device is; other sections of netplan keep their own name.
type Kind string

// The kinds that formats know.
const (
	Ethernet Kind = "ethernet"
	Bond     Kind = "bond"
	VLAN     Kind = "vlan"
	Bridge   Kind = "bridge"
	Dummy    Kind = "dummy-devices"

	OVSBond   Kind = "ovs-bond"   // of Open vSwitch
	OVSBridge Kind = "ovs-bridge" // likewise
)

// OVS reports what Open vSwitch makes.
func (k Kind) OVS() bool { return k == OVSBond || k == OVSBridge }

// Option is a bond option by its kernel name, with the key that the fabric
// file has for it.
type Option struct{ Name, Value, Key string }

// All returns the host's interfaces, lower ones first. A match that covers
// several known interfaces gives one each; one that covers none known gives a
// device without a name.
func All(in render.Input) []Device {
	var all []Device
	n := in.Host.Network
	for _, e := range n.Ethernets {
		for _, name := range namesOf(in, e) {
			d := Device{Device: e.Device, Name: name, Kind: Ethernet, Match: e.Match, SetName: e.SetName}
			if l, ok := in.State.Link(name); ok && name != "" {
				d.Permanent = l.PermanentMAC
			}
			if e.Match != nil && !e.Match.MAC.IsZero() {
				d.Permanent = e.Match.MAC
			}
			all = append(all, d)
		}
	}
	for _, o := range n.Others {
		all = append(all, Device{Device: o.Device, Name: o.ID, Kind: Kind(o.Section)})
	}
	for _, b := range n.Bonds {
		all = append(all, Device{Device: b.Device, Name: b.ID, Kind: Bond, Ports: Interfaces(in, b.Interfaces), Options: BondOptions(in, b)})
	}
	for _, b := range n.OVSBonds {
		all = append(all, Device{Device: b.Device, Name: b.ID, Kind: OVSBond, Ports: Interfaces(in, b.Interfaces), Parameters: b.Parameters, OVS: b.Options})
	}
	for _, v := range n.VLANs {
		parents := Interfaces(in, []string{v.Link})
		d := Device{Device: v.Device, Name: v.ID, Kind: VLAN, Tag: v.Tag, Parent: v.Link}
		if len(parents) > 0 {
			d.Parent = parents[0]
		}
		all = append(all, d)
	}
	for _, b := range n.Bridges {
		all = append(all, Device{Device: b.Device, Name: b.ID, Kind: kindOf(b), Ports: Interfaces(in, b.Interfaces), Parameters: b.Parameters})
	}
	for i := range all {
		all[i].Settings = in.Host.Links[all[i].ID]
		all[i].Master, all[i].MasterKind = masterOf(in, all[i].ID)
	}
	return withSourceRules(in, all)
}

// namesOf are the interfaces that an ethernet definition stands for; one empty
// name where nobody knows.
func namesOf(in render.Input, e fabric.Ethernet) []string {
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

// Interfaces returns the names behind netplan IDs, in order; without those that
// nobody knows.
func Interfaces(in render.Input, ids []string) []string {
	var names []string
	for _, id := range ids {
		if e, ok := in.Host.Network.Ethernet(id); ok {
			for _, name := range namesOf(in, e) {
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

func kindOf(b fabric.Bridge) Kind {
	if b.OVS {
		return OVSBridge
	}
	return Bridge
}

// masterOf is the bond or bridge that a definition is a port of.
func masterOf(in render.Input, id string) (string, Kind) {
	for _, b := range in.Host.Network.Bonds {
		if slices.Contains(b.Interfaces, id) {
			return b.ID, Bond
		}
	}
	for _, b := range in.Host.Network.OVSBonds {
		if slices.Contains(b.Interfaces, id) {
			return b.ID, OVSBond
		}
	}
	for _, b := range in.Host.Network.Bridges {
		if slices.Contains(b.Interfaces, id) {
			return b.ID, kindOf(b)
		}
	}
	return "", ""
}

// BondOptions returns the options that the file sets, under netplan's name or the
// kernel's, and always the mode, which is balance-rr when left out; a host that is
// not Linux has its own word.
func BondOptions(in render.Input, b fabric.Bond) []Option {
	beside := in.Host.Bonding[b.ID]
	all := []Option{{"mode", fabric.Option(b.Options, bondopt.Mode), "parameters.mode"}}
	if mode := beside["mode"]; mode != "" {
		all[0] = Option{"mode", mode, "bonding.mode"}
	}
	for _, name := range b.Set {
		if _, twice := beside[name]; twice || name == "mode" {
			continue
		}
		parameter, _ := fabric.BondParameter(name)
		all = append(all, Option{name, fabric.Option(b.Options, name), "parameters." + parameter})
	}
	for _, name := range slices.Sorted(maps.Keys(beside)) {
		if name == "mode" {
			continue
		}
		all = append(all, Option{name, beside[name], "bonding." + name})
	}
	return all
}

// Option returns a bond's option; false for one that the file does not set.
func (d Device) Option(name string) (Option, bool) {
	for _, o := range d.Options {
		if o.Name == name {
			return o, true
		}
	}
	return Option{}, false
}

// Mode is a bond's.
func (d Device) Mode() string { return d.Options[0].Value }

// withSourceRules adds the tables and rules by which traffic of a link's own
// addresses leaves by that link: those of the wanted state.
func withSourceRules(in render.Input, all []Device) []Device {
	for i := range all {
		d := &all[i]
		if !slices.Contains(in.Host.SourceRules, d.ID) {
			continue
		}
		d.Routes, d.Rules = slices.Clone(d.Routes), slices.Clone(d.Rules)
		for _, r := range in.State.Rules {
			own := slices.ContainsFunc(d.Addresses, func(a netip.Prefix) bool { return r.From.IsValid() && r.From.Contains(a.Addr()) })
			if !own || r.Selectors != "" || r.Action != "" {
				continue
			}
			rule := fabric.Rule{From: r.From, To: r.To, Table: r.Table, Priority: r.Priority}
			if slices.Contains(d.Rules, rule) {
				continue
			}
			d.Rules = append(d.Rules, rule)
			for _, route := range in.State.Routes {
				if route.Table == r.Table && route.Link == d.Name && !declared(d.Routes, route) {
					d.Routes = append(d.Routes, asDeclared(route))
				}
			}
		}
	}
	return all
}

// Definitions returns the host's devices, one for each definition, even one that
// matches several interfaces.
func Definitions(in render.Input) []Device {
	var all []Device
	seen := map[string]bool{}
	for _, d := range All(in) {
		if seen[d.ID] {
			continue
		}
		seen[d.ID] = true
		if d.Match != nil && d.SetName == "" || d.Name == "" {
			d.Name = d.ID
		}
		all = append(all, d)
	}
	return all
}

// IsPrimary reports a port that its bond's primary option names, by its ID or
// its interface's name.
func IsPrimary(in render.Input, d Device) bool {
	b, ok := in.Host.Network.Bond(d.Master)
	if !ok {
		return false
	}
	for _, o := range BondOptions(in, b) {
		if o.Name == "primary" && o.Value != "" {
			return o.Value == d.ID || o.Value == d.Name
		}
	}
	return false
}

// Handle tells a device from the others: its name, or where nobody knows it, its
// definition's.
func (d Device) Handle() string {
	if d.Name == "" {
		return d.ID
	}
	return d.Name
}

// Holds reports whether an address is the device's.
func (d Device) Holds(a netip.Addr) bool {
	return slices.ContainsFunc(d.Addresses, func(p netip.Prefix) bool { return p.Addr() == a })
}
