package switchlines

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/switchstate"
)

// junosHeader is what Junos counts beside the packet: Ethernet's header and a tag.
const junosHeader = 18

// junos is Juniper Junos of EX and QFX: the statements enhanced-hash-key and
// aggregated-ether-options of its CLI reference; netlab's lag/junos.j2.
func junos() System {
	return System{
		Name: "junos", Title: "Juniper Junos (EX, QFX)", remark: "#",
		Guard: fmt.Sprintf("The commit rolls back by itself after %d minutes unless it is committed again.", Timer),
		begin: []string{"configure"}, end: []string{fmt.Sprintf("commit confirmed %d", Timer)},
		keep:  []string{"commit", "exit"},
		ports: "show lldp neighbors", free: "show interfaces terse ae*", settings: "show configuration interfaces | display set", check: "run show lacp interfaces",
		mtu: 9216 - junosHeader,
		channel: func(c Channel) []string {
			ae := "ae" + c.number()
			lines := []string{"set chassis aggregated-devices ethernet device-count COUNT"}
			for _, p := range c.Ports {
				lines = append(lines, "delete interfaces "+p.name()+" unit 0")
				if c.jumbo() {
					lines = append(lines, "delete interfaces "+p.name()+" mtu")
				}
				lines = append(lines, "set interfaces "+p.name()+" ether-options 802.3ad "+ae)
			}
			if c.LACP {
				lines = append(lines, "set interfaces "+ae+" aggregated-ether-options lacp active",
					"set interfaces "+ae+" aggregated-ether-options lacp periodic "+map[bool]string{true: "fast", false: "slow"}[c.Fast])
			}
			if c.jumbo() {
				lines = append(lines, "set interfaces "+ae+" mtu 9216")
			}
			return append(lines, c.VLANs.junos(ae)...)
		},
		undo: func(c Channel) (lines []string) {
			for _, p := range c.Ports {
				lines = append(lines, "delete interfaces "+p.name()+" ether-options 802.3ad")
			}
			return append(lines, "delete interfaces ae"+c.number())
		},
		notes: func(c Channel) []string {
			return []string{"A `delete` of what is not there is a warning and no harm. Before 13.2X51 `port-mode` stands for `interface-mode`; MX has `gigether-options`."}
		},
		Hash: Hash{
			Change: []string{"set forwarding-options enhanced-hash-key hash-mode layer2-payload"},
			Also:   "Delete what it shows of no-l4-source-port, no-l4-destination-port, no-ipv4-... and no-ipv6-.... MX: `set forwarding-options hash-key family inet layer-3` and `layer-4`.",
			Scope:  switchstate.WholeSwitch, Radius: "The setting is the whole switch's: it changes every ae of it, and its equal-cost routes (ECMP).",
			Show: "show configuration forwarding-options | display set", Restore: []string{"delete forwarding-options enhanced-hash-key hash-mode", "OLD"},
		},
	}
}

func (v VLANs) junos(ae string) []string {
	unit := "set interfaces " + ae + " unit 0 family ethernet-switching "
	switch {
	case !v.Known:
		return nil
	case v.trunk():
		lines := []string{unit + "interface-mode trunk"}
		for _, id := range v.Tagged {
			lines = append(lines, unit+"vlan members "+strconv.Itoa(id))
		}
		if v.Untagged {
			lines = append(lines, "set interfaces "+ae+" native-vlan-id "+v.native(), unit+"vlan members "+v.native())
		}
		return lines
	}
	return []string{unit + "interface-mode access", unit + "vlan members " + v.native()}
}

// procurve is HPE AOS-S, once ProCurve: ArubaOS-Switch Management and Configuration
// Guide 16.07 and 16.09, "Port trunking".
func procurve() System {
	return System{
		Name: "procurve", Title: "HPE AOS-S (ProCurve)", remark: ";",
		Guard: "AOS-S has no timed rollback of a change: have a console, or let the management path be another one.",
		begin: []string{"configure terminal"}, end: []string{"end"},
		keep:  []string{"write memory"},
		ports: "show lldp info remote-device", free: "show trunks", settings: "show running-config", check: "show lacp",
		mtu: 9198,
		channel: func(c Channel) []string {
			trunk := "trk" + c.number()
			lines := []string{"trunk " + c.names(",") + " " + trunk + " " + c.mode("lacp", "trunk")}
			for _, id := range c.VLANs.Tagged {
				lines = append(lines, "vlan "+strconv.Itoa(id), "   tagged "+trunk, "   exit")
			}
			if c.VLANs.Known && c.VLANs.Untagged {
				lines = append(lines, "vlan "+c.VLANs.native(), "   untagged "+trunk, "   exit")
			}
			return lines
		},
		undo: func(c Channel) []string { return []string{"no trunk " + c.names(",")} },
		wide: func(all []Channel) (lines []string) {
			vlans := make(map[string]bool)
			var order []string
			for _, c := range all {
				if !c.jumbo() || !c.VLANs.Known {
					continue
				}
				ids := strings.Fields(c.VLANs.list(" "))
				if c.VLANs.Untagged {
					ids = append(ids, c.VLANs.native())
				}
				for _, id := range ids {
					if !vlans[id] {
						vlans[id] = true
						order = append(order, id)
					}
				}
			}
			if len(order) > 0 {
				lines = []string{"; Frames: `jumbo` is the VLAN's, on every port of it."}
			}
			for _, id := range order {
				lines = append(lines, "vlan "+id, "   jumbo", "   exit")
			}
			return lines
		},
		notes: func(c Channel) []string {
			notes := []string{"What the VLANs say of single ports is lost when these join the trunk; after the rollback they are in VLAN 1."}
			if c.fast() {
				notes = append(notes, "The LACP rate is not written: how AOS-S sets a fast one is unknown; look it up with `lacp ?` on a port. A slow one works too.")
			}
			return notes
		},
		Hash: Hash{
			Change: []string{"trunk-load-balance L4-based"},
			Also:   "A model that refuses it hashes addresses at most.",
			Scope:  switchstate.WholeSwitch, Radius: "The setting is the whole switch's: it changes every trunk of it, not the host's alone.",
			Show: "show trunks", Restore: []string{"trunk-load-balance OLD (L3-based where it was the default)"},
		},
	}
}

// aoscx is Aruba AOS-CX: its Link Aggregation Guide (hash, lacp rate), "checkpoint
// auto" of its command reference; netlab's lag/arubacx.j2.
func aoscx() System {
	return System{
		Name: "aoscx", Title: "Aruba AOS-CX", remark: "!",
		Guard: fmt.Sprintf("The checkpoint rolls the change back after %d minutes unless it is confirmed.", Timer),
		begin: []string{fmt.Sprintf("checkpoint auto %d", Timer), "configure terminal"}, end: []string{"end"},
		keep:  []string{"checkpoint auto confirm", "write memory"},
		ports: "show lldp neighbor-info", free: "show lacp aggregates", settings: "show running-config", check: "show lacp interfaces",
		mtu: 9198,
		channel: func(c Channel) []string {
			lines := []string{"interface lag " + c.number(), "    no shutdown", "    no routing"}
			v := c.VLANs
			switch {
			case !v.Known:
			case v.trunk():
				allowed := v.list(",")
				if v.Untagged {
					lines = append(lines, "    vlan trunk native "+v.native())
					allowed = v.native() + "," + allowed
				}
				lines = append(lines, "    vlan trunk allowed "+allowed)
			default:
				lines = append(lines, "    vlan access "+v.native())
			}
			if c.LACP {
				lines = append(lines, "    lacp mode active")
			}
			if c.fast() {
				lines = append(lines, "    lacp rate fast")
			}
			for _, line := range aoscxHash {
				lines = append(lines, "    "+line)
			}
			for _, p := range c.Ports {
				lines = append(lines, "interface "+p.name(), "    no shutdown")
				if c.jumbo() {
					lines = append(lines, "    mtu 9198")
				}
				lines = append(lines, "    lag "+c.number())
			}
			return lines
		},
		undo: func(c Channel) (lines []string) {
			for _, p := range c.Ports {
				lines = append(lines, "interface "+p.name(), "    no lag "+c.number())
			}
			return append(lines, "no interface lag "+c.number())
		},
		notes: func(c Channel) []string {
			return []string{"`hash l4-src-dst` is this LAG's alone. On the 8400 it is the whole switch's, and changes every LAG of it: `lacp hash l4-src-dst` in configuration mode.",
				"A pair of switches (VSX): `interface lag " + c.number() + " multi-chassis`, on both."}
		},
		Hash: Hash{
			Change: aoscxHash,
			Also:   "On the 8400: `lacp hash l4-src-dst`, for every LAG of the switch.",
			Scope:  switchstate.OneChannel, Radius: "The setting is the LAG's own; on the 8400 the whole switch's.",
			Show: "show lacp aggregates", Restore: []string{"hash OLD (l3-src-dst where it was the default)"},
		},
	}
}

// aoscxHash is written into a LAG's section.
var aoscxHash = []string{"hash l4-src-dst"}
