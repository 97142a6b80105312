package netstate

import "slices"

// OVSMode is how a bond of Open vSwitch chooses the member that sends: bond_mode of
// its Port, ovs-vswitchd.conf.db(5). "" was not read, or not said: see Runs.
type OVSMode string

// The modes.
const (
	OVSActiveBackup OVSMode = "active-backup"
	OVSBalanceSLB   OVSMode = "balance-slb"
	OVSBalanceTCP   OVSMode = "balance-tcp"
)

// OVSModes lists every mode.
func OVSModes() []OVSMode { return []OVSMode{OVSActiveBackup, OVSBalanceSLB, OVSBalanceTCP} }

// Words of lacp of a Port, ovs-vswitchd.conf.db(5).
const (
	OVSLACPActive  = "active"
	OVSLACPPassive = "passive"
	OVSLACPOff     = "off"
)

// OVSLACPs lists every word of lacp.
func OVSLACPs() []string { return []string{OVSLACPActive, OVSLACPPassive, OVSLACPOff} }

// Kinds of links that Open vSwitch makes: a bridge's own port, as the kernel calls it,
// and a bond, which the kernel does not know.
const (
	KindOVSBridge = "openvswitch"
	KindOVSBond   = "ovs-bond"
)

// OVSBond is a bond of Open vSwitch, a Port of one of its bridges with several
// interfaces. It is no device of the kernel and none of the bonding driver's: it has no
// addresses, and no option of the driver's is one of its.
type OVSBond struct {
	Mode OVSMode `json:"bond_mode,omitempty"`
	// LACP is one of OVSLACPs; "" was not read, or not said, which is off.
	LACP string `json:"lacp,omitempty"`
	// NoPartner: the bond asks for LACP and nobody agrees, so that it sends nothing
	// (choose_output_member, ofproto/bond.c of 3.1).
	NoPartner bool `json:"no_lacp_partner,omitempty"`
	// Ports are the members, in the order that they were named in.
	Ports []string `json:"members"`
	// Active is active-backup's active member; "" unknown.
	Active string `json:"active_member,omitempty"`
	// Disabled are the members that Open vSwitch does not send on.
	Disabled []string `json:"disabled_members,omitempty"`
	// Basis is bond-hash-basis, which the hash starts from.
	Basis uint32 `json:"hash_basis,omitempty"`
	// Buckets is the member of each of the 256 buckets that was listed with its load
	// (`ovs-appctl bond/show`). It moves with the load; nil was not read.
	Buckets map[uint8]string `json:"bucket_members,omitempty"`
}

// Runs is what a bond of which a file says so much runs in: active-backup where it
// says no mode (port_configure_bond, vswitchd/bridge.c of 3.1), LACP off where it says
// none.
func (b OVSBond) Runs() OVSBond {
	if b.Mode == "" {
		b.Mode = OVSActiveBackup
	}
	if b.LACP == "" {
		b.LACP = OVSLACPOff
	}
	return b
}

// Silent is why a bond sends nothing, whatever its members do: no LACP partner, or
// balance-tcp without LACP (choose_output_member, ofproto/bond.c of 3.1); "" it sends.
func (b OVSBond) Silent() string {
	switch {
	case b.NoPartner:
		return "it asks for LACP and no switch agrees, so it sends nothing"
	case b.Mode == OVSBalanceTCP && b.LACP == OVSLACPOff:
		return "balance-tcp sends nothing without LACP: write `openvswitch: {lacp: active}`, and LACP at the switch"
	}
	return ""
}

// Switches reports a bridge, the kernel's or Open vSwitch's.
func (l Link) Switches() bool { return l.Kind == "bridge" || l.Kind == KindOVSBridge }

// working are the members that are up and that Open vSwitch sends on.
func (h Host) working(b *OVSBond) []string {
	var working []string
	for _, name := range b.Ports {
		if p, ok := h.Link(name); ok && p.Up && p.Carrier && !slices.Contains(b.Disabled, name) {
			working = append(working, name)
		}
	}
	return working
}

// StandbyMembers are those of a bond of Open vSwitch that wait for its active member to
// fail; nil in other modes than active-backup, and where the active one is unknown.
func (h Host) StandbyMembers(bond string) []string {
	l, _ := h.Link(bond)
	if l.OVS == nil || l.OVS.Mode != OVSActiveBackup || !slices.Contains(h.working(l.OVS), l.OVS.Active) {
		return nil
	}
	return slices.DeleteFunc(h.working(l.OVS), func(name string) bool { return name == l.OVS.Active })
}

// usableMembers are those of a bond of Open vSwitch that carry traffic, in order.
func (h Host) usableMembers(b *OVSBond) []string {
	usable := h.working(b)
	switch {
	case b.Silent() != "":
		return nil
	case b.Mode == OVSActiveBackup && slices.Contains(usable, b.Active):
		return []string{b.Active}
	}
	return usable
}
