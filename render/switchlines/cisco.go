package switchlines

import (
	"fmt"
	"strconv"

	"github.com/linerate/linerate/internal/evidence/switchstate"
)

// iosMTU is the most that `system mtu` takes.
const iosMTU = 9198

// ios is Cisco IOS and IOS-XE: Catalyst switches' configuration guides, "Configuring
// EtherChannels" and "Configuration Rollback Confirmed Change"; netlab's lag/ios.j2.
func ios() System {
	return System{
		Name: "ios", Title: "Cisco IOS and IOS-XE", remark: "!",
		Guard: fmt.Sprintf("The timer rolls the change back after %d minutes. It needs `archive` with a `path`; without one type `reload in 10` and `configure terminal`.", Timer),
		begin: []string{fmt.Sprintf("configure terminal revert timer %d", Timer)}, end: []string{"end"},
		keep:  []string{"configure confirm", "write memory"},
		ports: "show lldp neighbors", free: "show etherchannel summary", settings: "show running-config", check: "show etherchannel summary",
		mtu: iosMTU,
		channel: func(c Channel) (lines []string) {
			for _, p := range c.Ports {
				lines = append(lines, "interface "+p.name())
				lines = append(lines, c.VLANs.switchport(" ")...)
				lines = append(lines, " channel-group "+c.number()+" mode "+c.mode("active", "on"))
				if c.fast() {
					lines = append(lines, " lacp rate fast")
				}
			}
			lines = append(lines, "interface Port-channel"+c.number())
			return append(lines, c.VLANs.switchport(" ")...)
		},
		undo: func(c Channel) []string {
			return c.ungroup("interface Port-channel"+c.number(), "lacp rate fast")
		},
		wide: func(all []Channel) []string {
			most := 0
			for _, c := range all {
				most = max(most, c.MTU)
			}
			if most <= usualMTU {
				return nil
			}
			return []string{
				"! Frames: the size is every port's of the switch. Only where `show system mtu`",
				"! prints less. 4500 and 6500: `mtu` on the ports instead; 2960, 3560 and 3750:",
				"! `system mtu jumbo`, and a reload.",
				"system mtu " + strconv.Itoa(min(most, iosMTU)),
			}
		},
		notes: func(c Channel) (notes []string) {
			if c.fast() {
				notes = append(notes, "Where `lacp rate` is refused the model has no fast rate: leave the line out, a slow one works too.")
			}
			if c.VLANs.Known && c.VLANs.trunk() {
				notes = append(notes, "Catalyst 3560 and 3750 want `switchport trunk encapsulation dot1q` before `switchport mode trunk`.")
			}
			return notes
		},
		Hash: Hash{
			Change: []string{"port-channel load-balance src-dst-mixed-ip-port"},
			Also:   "A model without that word: `src-dst-port`; Catalyst 2960, 3560 and 3750 hash no ports: `src-dst-ip`.",
			Scope:  switchstate.WholeSwitch, Radius: wholeSwitch,
			Show: "show etherchannel load-balance", Restore: []string{"port-channel load-balance OLD"},
		},
	}
}

// wholeSwitch is the usual radius of a hash's change.
const wholeSwitch = "The setting is the whole switch's: it changes every port channel of it, not the host's alone."

// nxos is Cisco NX-OS: Nexus 9000 Interfaces Configuration Guide 10.6(x), "Configuring
// Port Channels", and its checkpoints.
func nxos() System {
	return System{
		Name: "nxos", Title: "Cisco NX-OS", remark: "!",
		Guard: "NX-OS has no timer. If the change cuts you off, from the console: rollback running-config checkpoint linerate",
		begin: []string{"checkpoint linerate", "configure terminal"}, end: []string{"end"},
		keep:  []string{"copy running-config startup-config", "no checkpoint linerate"},
		ports: "show lldp neighbors", free: "show port-channel summary", settings: "show running-config interface", check: "show port-channel summary",
		mtu: 9216,
		channel: func(c Channel) (lines []string) {
			own := c.VLANs.switchport("  ")
			if c.jumbo() {
				own = append(own, "  mtu 9216")
			}
			if c.LACP {
				lines = append(lines, "feature lacp")
			}
			for _, p := range c.Ports {
				lines = append(lines, "interface "+p.name())
				lines = append(lines, own...)
				if c.fast() {
					lines = append(lines, "  lacp rate fast")
				}
				lines = append(lines, "  channel-group "+c.number()+" mode "+c.mode("active", "on"))
			}
			lines = append(lines, "interface port-channel"+c.number())
			return append(lines, own...)
		},
		undo: func(c Channel) []string {
			return c.ungroup("interface port-channel"+c.number(), "lacp rate fast")
		},
		notes: func(c Channel) (notes []string) {
			if c.jumbo() {
				notes = append(notes, "Nexus 5000 and 6000 take no `mtu` on such ports: there it is a policy of type network-qos.")
			}
			if c.LACP {
				notes = append(notes, "A host that boots over the network needs `no lacp suspend-individual` on the port-channel while that is shut.")
			}
			return notes
		},
		Hash: Hash{
			Change: []string{"port-channel load-balance src-dst ip-l4port"},
			Also:   "Nexus 5000 and 6000: `port-channel load-balance ethernet source-dest-port`. Nexus 7000 takes `module N` behind it, for one module.",
			Scope:  switchstate.WholeSwitch, Radius: wholeSwitch,
			Show: "show port-channel load-balance", Restore: []string{"port-channel load-balance OLD"},
		},
	}
}

// eos is Arista EOS: its manual's "Port Channels and LACP" and "Configure Session";
// netlab's lag/eos.j2.
func eos() System {
	return System{
		Name: "eos", Title: "Arista EOS", remark: "!",
		Guard: fmt.Sprintf("The session rolls back by itself after %d minutes unless it is committed again.", Timer),
		begin: []string{"configure session linerate"}, end: []string{fmt.Sprintf("commit timer 00:%02d:00", Timer)},
		keep:  []string{"configure session linerate commit", "write memory"},
		ports: "show lldp neighbors", free: "show port-channel summary", settings: "show running-config interfaces", check: "show port-channel summary",
		mtu: 9214,
		channel: func(c Channel) (lines []string) {
			for _, p := range c.Ports {
				lines = append(lines, "interface "+p.name(), "   channel-group "+c.number()+" mode "+c.mode("active", "on"))
				if c.fast() {
					lines = append(lines, "   lacp timer fast")
				}
			}
			lines = append(lines, "interface Port-Channel"+c.number())
			return append(lines, c.VLANs.switchport("   ")...)
		},
		undo: func(c Channel) []string {
			return c.ungroup("interface Port-Channel"+c.number(), "lacp timer fast")
		},
		notes: func(c Channel) (notes []string) {
			if c.fast() {
				notes = append(notes, "Older releases say `lacp rate fast`.")
			}
			if c.jumbo() {
				notes = append(notes, "No MTU is written: on EOS it limits routed packets, switched frames pass.")
			}
			return notes
		},
		Hash: Hash{
			Change: []string{"port-channel load-balance trident fields ip source-ip destination-ip source-port destination-port"},
			Also:   "That is for Trident and Tomahawk (7050, 7060, 7300). Jericho (7280, 7500) hashes ports unless a profile says otherwise: `show load-balance profile`.",
			Scope:  switchstate.WholeSwitch, Radius: wholeSwitch,
			Show: "show running-config | include load-balance", Restore: []string{"OLD, or where nothing was printed:", "no port-channel load-balance trident fields ip"},
		},
	}
}

// switchport are the lines of a port's VLANs as the three have them.
func (v VLANs) switchport(indent string) []string {
	switch {
	case !v.Known:
		return nil
	case v.trunk():
		lines := []string{indent + "switchport mode trunk"}
		allowed := v.list(",")
		if v.Untagged {
			lines = append(lines, indent+"switchport trunk native vlan "+v.native())
			allowed = v.native() + "," + allowed
		}
		return append(lines, indent+"switchport trunk allowed vlan "+allowed)
	}
	return []string{indent + "switchport mode access", indent + "switchport access vlan " + v.native()}
}

// ungroup takes the ports out, then the channel away: the other way round IOS leaves
// the ports shut. Rate is the line that asked for LACP every second.
func (c Channel) ungroup(channel, rate string) (lines []string) {
	for _, p := range c.Ports {
		lines = append(lines, "interface "+p.name(), " no channel-group")
		if c.fast() {
			lines = append(lines, " no "+rate)
		}
	}
	return append(lines, "no "+channel)
}
