package fabric

import (
	"net/netip"
	"slices"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// Network is a host's netplan, version 2. The zero Network declares nothing.
type Network struct {
	// Source is the mapping under netplan's "network" key as the user wrote
	// it, comments included, with the indentation that the file gave it taken
	// off. It is what is rendered; the other fields say what it means.
	Source    string
	Renderer  string // "networkd", "NetworkManager"; "" netplan's default
	Ethernets []Ethernet
	Bonds     []Bond    // the kernel's
	OVSBonds  []OVSBond // Open vSwitch's, which netplan has among its bonds
	VLANs     []VLAN
	Bridges   []Bridge
	// Others are devices of sections that linerate does not model, such as
	// dummy-devices or wifis.
	Others []Other
	// Unread are the network's own keys that nothing here reads.
	Unread []yamldoc.Pair
}

// Device is what netplan says of any kind of device.
type Device struct {
	// ID is netplan's name of the definition: the interface's own name, unless
	// the definition has a match.
	ID        string
	MTU       int      // zero: not said
	MAC       flow.MAC // zero: not said
	Addresses []netip.Prefix
	// Labels are those of Addresses that have one.
	Labels map[netip.Prefix]string
	Routes []Route
	Rules  []Rule
	// Unread are netplan keys that are kept as they were written (dhcp4, nameservers,
	// optional, ...), in file order, for the renderers.
	Unread []yamldoc.Pair
}

// Ethernet is a physical device, or a group of them with a match.
type Ethernet struct {
	Device
	// Match is nil for a device that is named by its ID.
	Match   *Match
	SetName string
}

// Match selects devices; all that is set must hold. Name and drivers are
// globs, as fnmatch(3) takes them.
type Match struct {
	Name    string
	MAC     flow.MAC
	Drivers []string
}

// Bond is a bond and the definitions its ports come from.
type Bond struct {
	Device
	// Interfaces are the definitions of its ports, in order. Nil is not said: a
	// bond that is there keeps those it has. Empty, it has none.
	Interfaces []string
	// Options are the kernel's options, the kernel's defaults where the file is
	// silent; ports are not filled in.
	Options netstate.Bond
	// Set lists the options that the file sets, by kernel name in file order.
	Set []string
}

// VLAN is an 802.1Q device on another definition.
type VLAN struct {
	Device
	Tag  int
	Link string // the parent's netplan ID
}

// Bridge is a bridge and the definitions its ports come from.
type Bridge struct {
	Device
	Interfaces []string
	Parameters *yamldoc.Node // unread; nil none
	OVS        bool          // Open vSwitch's
}

// Other is a device of a section that linerate does not model.
type Other struct {
	Device
	Section string // "dummy-devices", "wifis", ...
}

// Route is a netplan route. Zero numbers are not said.
type Route struct {
	To     netip.Prefix
	Via    netip.Addr // the interface's own address means directly reachable
	From   netip.Addr
	OnLink bool
	Metric int
	Table  int
	Type   string // "unicast" when left out
	Scope  string
	MTU    int
	// Unread are the window and segment size keys.
	Unread []yamldoc.Pair
}

// Rule is a netplan routing-policy entry. Zero is not said.
type Rule struct {
	From     netip.Prefix
	To       netip.Prefix
	Table    int
	Priority int
	Mark     int
	TOS      int
}

// IsZero reports a network that declares nothing.
func (n Network) IsZero() bool {
	return len(n.Ethernets)+len(n.Bonds)+len(n.OVSBonds)+len(n.VLANs)+len(n.Bridges)+len(n.Others) == 0
}

// Devices lists what every definition says whatever its kind, in the order
// ethernets, bonds, vlans, bridges, others.
func (n Network) Devices() []Device {
	var all []Device
	n.each(func(_ string, d Device) { all = append(all, d) })
	return all
}

// each visits every definition with the section it stands in.
func (n Network) each(visit func(section string, d Device)) {
	for _, d := range n.Ethernets {
		visit("ethernets", d.Device)
	}
	for _, d := range n.Bonds {
		visit("bonds", d.Device)
	}
	for _, d := range n.OVSBonds {
		visit("bonds", d.Device)
	}
	for _, d := range n.VLANs {
		visit("vlans", d.Device)
	}
	for _, d := range n.Bridges {
		visit("bridges", d.Device)
	}
	for _, d := range n.Others {
		visit(d.Section, d.Device)
	}
}

// Device returns the definition with the ID.
func (n Network) Device(id string) (Device, bool) { return withID(n.Devices(), id) }

// Ethernet returns the ethernet definition with the ID.
func (n Network) Ethernet(id string) (Ethernet, bool) { return withID(n.Ethernets, id) }

// Bond returns the bond with the ID.
func (n Network) Bond(id string) (Bond, bool) { return withID(n.Bonds, id) }

func withID[D interface{ id() string }](all []D, id string) (found D, ok bool) {
	for i := range all {
		if all[i].id() == id {
			return all[i], true
		}
	}
	return found, false
}

func (d Device) id() string { return d.ID }

// Sets reports whether the file itself sets the option with the kernel's name.
func (b Bond) Sets(kernelName string) bool { return slices.Contains(b.Set, kernelName) }
