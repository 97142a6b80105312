package switchlines

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/switchstate"
)

// ovs is Open vSwitch: ovs-vsctl(8), "Port Commands", and ovs-vswitchd.conf.db(5),
// "Bonding Configuration" and "VLAN Configuration", of 3.1. The lines are a shell's.
func ovs() System {
	return System{
		Name: "ovs", Title: "Open vSwitch", remark: "#",
		Guard: "Open vSwitch has no timer and keeps a change at once: have a console that does not need these ports.",
		ports: "ovs-vsctl show", free: "ovs-vsctl show", settings: "ovs-vsctl list port", check: "ovs-appctl bond/show",
		channel: func(c Channel) []string {
			line := "ovs-vsctl"
			for _, p := range c.Ports {
				line += " -- --if-exists --with-iface del-port " + p.name()
			}
			line += " -- add-bond " + c.ovsBridge() + " " + c.ovsName() + " " + c.names(" ")
			line += c.mode(" lacp=active", " lacp=off")
			line += c.mode(" "+strings.Join(ovsHash, " "), " bond_mode=balance-slb")
			if c.LACP {
				line += " other_config:lacp-time=" + map[bool]string{true: "fast", false: "slow"}[c.Fast]
			}
			line += c.VLANs.ovs()
			if c.jumbo() {
				for _, p := range c.Ports {
					line += " -- set interface " + p.name() + " mtu_request=" + strconv.Itoa(c.MTU)
				}
			}
			return []string{line}
		},
		undo: func(c Channel) []string {
			line := "ovs-vsctl -- --if-exists del-port " + c.ovsName()
			for _, p := range c.Ports {
				line += " -- add-port " + c.ovsBridge() + " " + p.name()
			}
			return []string{line}
		},
		notes: func(c Channel) (notes []string) {
			notes = append(notes, "The line takes the ports out of the bond or bridge that they are in, and the bond takes their place in the same bridge: one transaction.")
			if !c.LACP {
				notes = append(notes, "Open vSwitch spreads by ports only with LACP: set it at the other end too (on a host mode 802.3ad). Without, each MAC address has one link.")
			}
			if c.VLANs.Known && c.VLANs.Untagged && c.VLANs.Native == 0 {
				notes = append(notes, "Where `ovs-vsctl list port` shows a tag for the ports, add it to the line (tag=N).")
			}
			return notes
		},
		Hash: Hash{
			Change: ovsHash,
			Also:   "With that mode LACP must be negotiated. Which link a flow takes is chosen by the first packet, and flows move while bond-rebalance-interval is not 0.",
			Scope:  switchstate.OneChannel, Radius: "The setting is the bond's own.",
			Show: "ovs-vsctl get port BOND bond_mode", Restore: []string{"ovs-vsctl set port BOND bond_mode=OLD"},
		},
	}
}

// ovsHash is a bond's column: `ovs-vsctl set port BOND` takes it.
var ovsHash = []string{"bond_mode=balance-tcp"}

// ovsName is the bond's, which Open vSwitch leaves to people.
func (c Channel) ovsName() string { return cmp.Or(c.Name, "bond"+c.number()) }

// ovsBridge has the shell ask for the bridge that the channel's first port is in.
func (c Channel) ovsBridge() string { return `"$(ovs-vsctl iface-to-br ` + c.Ports[0].name() + `)"` }

// ovs are the columns of a port's VLANs; a port without any carries all frames.
func (v VLANs) ovs() string {
	switch {
	case !v.Known, !v.trunk() && v.Native == 0:
		return ""
	case !v.trunk():
		return " tag=" + v.native()
	case v.Untagged && v.Native > 0:
		return " vlan_mode=native-untagged tag=" + v.native() + " trunks=" + v.list(",")
	case v.Untagged:
		return " trunks=0," + v.list(",")
	}
	return " trunks=" + v.list(",")
}
