package switchlines

import (
	"fmt"
	"strconv"

	"github.com/linerate/linerate/internal/evidence/switchstate"
)

// cumulus is NVIDIA Cumulus Linux 5 with NVUE: its documentation's "Bonding - Link
// Aggregation", "System Forwarding" and "NVUE CLI"; netlab's lag/cumulus_nvue.j2.
func cumulus() System {
	return System{
		Name: "cumulus", Title: "Cumulus Linux (NVUE)", remark: "#",
		Guard: fmt.Sprintf("The apply rolls back by itself after %d minutes unless it is confirmed.", Timer),
		end:   []string{fmt.Sprintf("nv config apply --confirm %dm -y", Timer)},
		keep:  []string{"nv config apply --confirm-yes", "nv config save"},
		ports: "nv show interface lldp", free: "nv show interface", settings: "nv config show -o commands", check: "nv show interface",
		mtu: 9216,
		channel: func(c Channel) []string {
			bond := "nv set interface bond" + c.number()
			lines := []string{bond + " bond member " + c.names(",")}
			if !c.LACP {
				lines = append(lines, bond+" bond mode static")
			} else {
				lines = append(lines, bond+" bond mode lacp", bond+" bond lacp-rate "+map[bool]string{true: "fast", false: "slow"}[c.Fast])
			}
			if c.jumbo() {
				lines = append(lines, bond+" link mtu 9216")
			}
			v := c.VLANs
			switch domain := bond + " bridge domain br_default"; {
			case !v.Known:
			case v.trunk():
				lines = append(lines, domain+" vlan "+v.list(","))
				if v.Untagged {
					lines = append(lines, domain+" untagged "+v.native())
				}
			default:
				lines = append(lines, domain+" access "+v.native())
			}
			return lines
		},
		undo: func(c Channel) []string { return []string{"nv unset interface bond" + c.number()} },
		notes: func(c Channel) (notes []string) {
			if c.VLANs.Known {
				notes = append(notes, "The ports must not be in the bridge by themselves: `nv unset interface PORT bridge` first.")
			}
			return notes
		},
		Hash: Hash{
			Change: []string{
				"nv set system forwarding lag-hash ip-protocol on", "nv set system forwarding lag-hash source-ip on", "nv set system forwarding lag-hash destination-ip on",
				"nv set system forwarding lag-hash source-port on", "nv set system forwarding lag-hash destination-port on",
			},
			Also:  "All five are on unless somebody set them off. From 5.15 on the word is `enabled`. What /proc/net/bonding says of the hash is true of the switch's own packets alone.",
			Scope: switchstate.WholeSwitch, Radius: "The setting is the whole switch's: it changes every bond of it, not the host's alone.",
			Show: "nv show system forwarding lag-hash", Restore: []string{"nv config history, then nv config apply OLD: the revision from before"},
		},
	}
}

// sonicMTU is what SONiC gives every port.
const sonicMTU = 9100

// sonic is SONiC: doc/Command-Reference.md of sonic-utilities, "PortChannels", "VLAN"
// and "Switch Hash".
func sonic() System {
	return System{
		Name: "sonic", Title: "SONiC", remark: "#",
		Guard: "SONiC has no timer. Until `config save` the change is lost by `sudo config reload -y`, which interrupts all traffic of the switch.",
		keep:  []string{"sudo config save -y"},
		ports: "show lldp table", free: "show interfaces portchannel", settings: "show runningconfiguration all", check: "show interfaces portchannel",
		channel: func(c Channel) []string {
			name := c.sonicName()
			add := "sudo config portchannel add " + name
			if c.fast() {
				add += " --fast-rate true"
			}
			if !c.LACP {
				add += " --static true"
			}
			lines := []string{add}
			for _, p := range c.Ports {
				lines = append(lines, "sudo config portchannel member add "+name+" "+p.name())
			}
			if c.VLANs.Known {
				for _, id := range c.VLANs.Tagged {
					lines = append(lines, "sudo config vlan member add "+strconv.Itoa(id)+" "+name)
				}
				if c.VLANs.Untagged {
					lines = append(lines, "sudo config vlan member add -u "+c.VLANs.native()+" "+name)
				}
			}
			return lines
		},
		undo: func(c Channel) (lines []string) {
			name := c.sonicName()
			if c.VLANs.Known {
				for _, id := range c.VLANs.Tagged {
					lines = append(lines, "sudo config vlan member del "+strconv.Itoa(id)+" "+name)
				}
				if c.VLANs.Untagged {
					lines = append(lines, "sudo config vlan member del "+c.VLANs.native()+" "+name)
				}
			}
			for _, p := range c.Ports {
				lines = append(lines, "sudo config portchannel member del "+name+" "+p.name())
			}
			return append(lines, "sudo config portchannel del "+name)
		},
		notes: func(c Channel) []string {
			notes := []string{"A port must be in no VLAN and no other channel when it joins. One that is in another channel is left out without a message."}
			if c.fast() {
				notes = append(notes, "The rate can be given only when the channel is made.")
			}
			if !c.LACP {
				notes = append(notes, "A static channel is not in every SONiC: where `config portchannel add --help` has no --static, use LACP on both sides.")
			}
			if c.MTU > sonicMTU {
				notes = append(notes, fmt.Sprintf("No MTU is written: a channel has %d. How your release sets %d is unknown here; look it up with `config interface mtu --help`.", sonicMTU, c.MTU))
			}
			return notes
		},
		Hash: Hash{
			Change: []string{"sudo config switch-hash global lag-hash 'IP_PROTOCOL' 'SRC_IP' 'DST_IP' 'L4_SRC_PORT' 'L4_DST_PORT'"},
			Also:   "First `show switch-hash capabilities`: many platforms say that it cannot be set. What teamd says of its tx_hash is true of the switch's own packets alone.",
			Scope:  switchstate.WholeSwitch, Radius: "The setting is the whole switch's: it changes every port channel of it, not the host's alone.",
			Show: "show switch-hash global", Restore: []string{"sudo config switch-hash global lag-hash OLD, each field in quotes"},
		},
	}
}

// sonicName is the channel's: its tables break with a longer one.
func (c Channel) sonicName() string {
	if c.Number == 0 {
		return "PortChannel" + c.number()
	}
	return fmt.Sprintf("PortChannel%04d", c.Number)
}

// routerHeader is what RouterOS's l2mtu counts beside the packet: a tag on it, and one
// more.
const routerHeader = 8

// routeros is MikroTik RouterOS: its manual's Bonding, "MTU in RouterOS" and
// "Layer2 misconfiguration".
func routeros() System {
	return System{
		Name: "routeros", Title: "MikroTik RouterOS", remark: "#",
		Guard: "Safe mode: press Ctrl+X before. If the session is cut off RouterOS rolls the change back; press Ctrl+X again to keep it.",
		keep:  []string{"Ctrl+X"},
		ports: "/ip neighbor print", free: "/interface bonding print", settings: "/interface bridge export", check: "/interface bonding monitor",
		channel: func(c Channel) (lines []string) {
			for _, p := range c.Ports {
				lines = append(lines, "/interface bridge port remove [find interface="+p.name()+"]")
			}
			if c.jumbo() {
				lines = append(lines, fmt.Sprintf("/interface ethernet set %s l2mtu=%d", c.names(","), c.MTU+routerHeader))
			}
			bond := "/interface bonding add name=" + c.routerName() + " mode=" + c.mode("802.3ad", "balance-xor") + " slaves=" + c.names(",")
			if c.LACP {
				bond += " lacp-rate=" + map[bool]string{true: "1sec", false: "30secs"}[c.Fast]
			}
			for _, word := range routerHash {
				bond += " " + word
			}
			if c.jumbo() {
				bond += fmt.Sprintf(" mtu=%d", c.MTU)
			}
			lines = append(lines, bond)
			port := "/interface bridge port add bridge=BRIDGE interface=" + c.routerName()
			if v := c.VLANs; v.Known && v.Untagged {
				port += " pvid=" + v.native()
			}
			lines = append(lines, port)
			if c.VLANs.Known && c.VLANs.trunk() {
				lines = append(lines, "/interface bridge vlan add bridge=BRIDGE tagged="+c.routerName()+" vlan-ids="+c.VLANs.list(","))
			}
			return lines
		},
		undo: func(c Channel) []string {
			var lines []string
			if c.VLANs.Known && c.VLANs.trunk() {
				lines = append(lines, "# Of an entry that has other ports take the bond alone out of `tagged`.", "/interface bridge vlan remove [find tagged="+c.routerName()+" dynamic=no]")
			}
			lines = append(lines, "/interface bridge port remove [find interface="+c.routerName()+"]", "/interface bonding remove "+c.routerName())
			for _, p := range c.Ports {
				lines = append(lines, "/interface bridge port add bridge=BRIDGE interface="+p.name())
			}
			return lines
		},
		notes: func(c Channel) []string {
			notes := []string{"Where the chip forwards the bond by itself the hash is the chip's: Prestera always takes addresses and ports, 88E6393X, 88E6191X and 88E6190 MAC addresses alone, whatever transmit-hash-policy says."}
			if c.jumbo() {
				notes = append(notes, "The line of l2mtu only for ports whose l2mtu is less (`/interface ethernet print detail`).")
			}
			if c.VLANs.Known && c.VLANs.trunk() {
				notes = append(notes, "A VLAN that has an entry already: `/interface bridge vlan set` with the bond among its `tagged` instead of the `add`.")
			}
			return notes
		},
		Hash: Hash{
			Change: routerHash,
			Also:   "Where the chip forwards the bond by itself the word has no effect: Prestera always takes addresses and ports, 88E6393X, 88E6191X and 88E6190 MAC addresses alone.",
			Scope:  switchstate.OneChannel, Radius: "The setting is the bond's own.",
			Show: "/interface bonding print detail", Restore: []string{"/interface bonding set BOND transmit-hash-policy=OLD"},
		},
	}
}

// routerHash is a bond's option.
var routerHash = []string{"transmit-hash-policy=layer-3-and-4"}

// routerName is the bond's, which RouterOS leaves to people.
func (c Channel) routerName() string {
	return "bond" + c.number()
}
