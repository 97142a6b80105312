package observe

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/kernel/procfs"
	"github.com/linerate/linerate/netstate"
)

// vlans reads /proc/net/vlan/config: "lan | 1904 | bond1".
func (c *captured) vlans() {
	for line := range strings.Lines(c.text("proc/net/vlan/config")) {
		f := strings.Split(line, "|")
		if len(f) != 3 {
			continue
		}
		id, err := strconv.Atoi(strings.TrimSpace(f[1]))
		if l := c.find(strings.TrimSpace(f[0])); l != nil && err == nil {
			l.Kind, l.VLAN = "vlan", &netstate.VLAN{ID: id, Parent: strings.TrimSpace(f[2])}
		}
	}
}

// bonds reads each bond from /proc/net/bonding, else from sysfs, and the
// options that only sysfs has. What neither has is said.
func (c *captured) bonds() {
	for i := range c.host.Links {
		l := &c.host.Links[i]
		if l.Kind != "bond" {
			continue
		}
		bond, read := c.sysfsBond(l.Name)
		told, options := c.procBond(l.Name)
		if len(options) > 0 {
			merge(&bond, told, options, read)
			for _, p := range told.Ports {
				c.slave(l.Name, p.Name, p.Port, p.PermanentMAC)
			}
		} else {
			c.slavesFromSysfs(l.Name, bond.Ports)
		}
		c.unread(l.Name, &bond, read)
		l.Bond = &bond
	}
}

// procBond reads /proc/net/bonding/BOND, and which options it tells: none where it
// cannot be read.
func (c *captured) procBond(name string) (procfs.Bonding, []string) {
	text, err := fs.ReadFile(c.tree, "proc/net/bonding/"+name)
	if err != nil {
		return procfs.Bonding{}, nil
	}
	told, options, err := procfs.ParseBondingTold(text)
	c.note(name, err)
	return told, options
}

// merge puts what /proc says of a bond over what sysfs does, which has options
// that /proc leaves out.
func merge(b *netstate.Bond, told procfs.Bonding, options []string, read map[string]bool) {
	for _, option := range options {
		read[option] = true
		if o, known := bondopt.Find(option); known {
			_ = o.Put(b, o.Of(told.Bond)) // it came from there
		} else {
			b.Ports = told.Bond.Ports
		}
	}
	if told.Bond.AD != nil {
		b.AD = told.Bond.AD
	}
	b.Active = told.Bond.Active
	maps.Copy(b.Options, told.Bond.Options)
}

// unreadWords is what an option that was not read is called, and whether it matters
// in a mode, which it does in fewer than take it.
func unreadWords(o bondopt.Option, m netstate.BondMode) (words string, matters bool) {
	switch o.Name {
	case "xmit_hash_policy":
		return "transmit hash policy", m.Hashes() || m == netstate.ModeUnread
	case "lacp_rate":
		return "LACP rate", o.Allows(m)
	case "min_links":
		return o.Name, m == netstate.LACP
	}
	return o.Name, o.Allows(m)
}

// unread keeps which options were not read, of those that a bond's state has a
// field for, and says those that matter.
func (c *captured) unread(name string, b *netstate.Bond, read map[string]bool) {
	var words []string
	note := func(option, what string, matters bool) {
		if read[option] {
			return
		}
		b.NotRead = append(b.NotRead, option)
		if matters {
			words = append(words, what)
		}
	}
	for _, o := range bondopt.Options() {
		if o.Own() {
			what, matters := unreadWords(o, b.Mode)
			note(o.Name, what, matters)
		}
	}
	note("slaves", "ports", true)
	if len(words) > 0 {
		c.host.Missing = append(c.host.Missing, fmt.Sprintf("%s: %s: neither in proc/net/bonding nor in sys/class/net/%s/bonding", name, strings.Join(words, ", "), name))
	}
}

// sysfsBond reads /sys/class/net/BOND/bonding, whose words have their number
// behind them, "802.3ad 4", and whose lists have blanks between. read are the
// options that it found.
func (c *captured) sysfsBond(name string) (b netstate.Bond, read map[string]bool) {
	dir := classNet + name + "/bonding"
	b, read = netstate.UnreadBond(), make(map[string]bool)
	entries, err := fs.ReadDir(c.tree, dir)
	if err != nil {
		return b, read
	}
	var ad netstate.Aggregator
	for _, e := range entries {
		value := c.text(dir + "/" + e.Name())
		if c.sysfsOption(&b, &ad, e.Name(), value) {
			read[e.Name()] = true
		}
	}
	if b.Mode == netstate.LACP && ad.ID != 0 {
		b.AD = &ad
	}
	return b, read
}

// sysfsOption takes one file's text; false where it says nothing.
func (c *captured) sysfsOption(b *netstate.Bond, ad *netstate.Aggregator, name, value string) bool {
	n, err := strconv.Atoi(value)
	switch name {
	case bondopt.Active:
		b.Active = value
		return true
	case "slaves":
		b.Ports = strings.Fields(value)
		return true
	case "ad_aggregator":
		ad.ID = n
	case "ad_num_ports":
		ad.Ports = n
	case "ad_actor_key":
		ad.ActorKey = n
	case "ad_partner_key":
		ad.PartnerKey = n
	case "ad_partner_mac":
		ad.PartnerMAC, _ = flow.ParseMAC(value)
	case "mii_status", "queue_id":
		// States, not options.
	default:
		return option(b, name, value)
	}
	return err == nil
}

// option takes the text of an option's file, also of one newer than the table.
func option(b *netstate.Bond, name, value string) bool {
	o, known := bondopt.Find(name)
	switch {
	case o.Listed():
		value = strings.Join(strings.Fields(value), ",")
	default:
		value, _, _ = strings.Cut(value, " ")
	}
	switch {
	case o.Own():
		return o.Put(b, value) == nil
	case value != "" && known:
		return o.Put(b, value) == nil
	case value != "":
		b.Options[name] = value
	}
	return true
}

// slavesFromSysfs reads /sys/class/net/SLAVE/bonding_slave.
func (c *captured) slavesFromSysfs(bond string, ports []string) {
	for _, name := range ports {
		dir := classNet + name + "/bonding_slave/"
		if c.text(dir+"state") == "" && c.text(dir+"mii_status") == "" {
			c.host.Missing = append(c.host.Missing, fmt.Sprintf("%s: the state of its slave %s: not in sys/class/net/%s/bonding_slave", bond, name, name))
			if l := c.find(name); l != nil {
				l.Master = bond
			}
			continue
		}
		port := netstate.BondPort{
			Active:       c.text(dir+"state") == "active",
			MIIUp:        c.text(dir+"mii_status") == "up",
			FailureCount: int(c.number(dir + "link_failure_count")),
			AggregatorID: int(c.number(dir + "ad_aggregator_id")),
			ActorState:   uint8(c.number(dir + "ad_actor_oper_port_state")),
			PartnerState: uint8(c.number(dir + "ad_partner_oper_port_state")),
		}
		for _, o := range bondopt.Ports() {
			_ = o.PutPort(&port, c.text(dir+o.Name))
		}
		permanent, _ := flow.ParseMAC(c.text(dir + "perm_hwaddr"))
		c.slave(bond, name, port, permanent)
	}
}

func (c *captured) slave(bond, name string, port netstate.BondPort, permanent flow.MAC) {
	l := c.find(name)
	if l == nil {
		if line := bond + ": its slave " + name + " has no entry in sys/class/net"; !slices.Contains(c.host.Missing, line) {
			c.host.Missing = append(c.host.Missing, line)
		}
		return
	}
	port.Bond = bond
	l.Master, l.Port = bond, &port
	if l.PermanentMAC.IsZero() {
		l.PermanentMAC = permanent
	}
}
