package observe

import (
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/linerate/linerate/flow"
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
// options that only sysfs has.
func (c *captured) bonds() {
	for i := range c.host.Links {
		l := &c.host.Links[i]
		if l.Kind != "bond" {
			continue
		}
		bond := c.sysfsBond(l.Name)
		text, err := fs.ReadFile(c.tree, "proc/net/bonding/"+l.Name)
		if err != nil {
			c.slavesFromSysfs(l.Name, bond.Ports)
			l.Bond = &bond
			continue
		}
		told, err := procfs.ParseBonding(text)
		if err != nil {
			c.note(l.Name, err)
			c.slavesFromSysfs(l.Name, bond.Ports)
			l.Bond = &bond
			continue
		}
		l.Bond = merged(told.Bond, bond)
		for _, p := range told.Ports {
			c.slave(l.Name, p.Name, p.Port, p.PermanentMAC)
		}
	}
}

// merged adds to what /proc says of a bond what only sysfs does.
func merged(told, files netstate.Bond) *netstate.Bond {
	told.PacketsPerSlave, told.TLBDynamic = files.PacketsPerSlave, files.TLBDynamic
	if told.AD == nil {
		told.AD = files.AD
	}
	if told.Options == nil {
		told.Options = make(map[string]string)
	}
	for key, value := range files.Options {
		if _, known := told.Options[key]; !known {
			told.Options[key] = value
		}
	}
	return &told
}

// sysfsBond reads /sys/class/net/BOND/bonding, whose words have their number
// behind them: "802.3ad 4".
func (c *captured) sysfsBond(name string) netstate.Bond {
	dir := classNet + name + "/bonding"
	b := netstate.Bond{Options: make(map[string]string)}
	entries, err := fs.ReadDir(c.tree, dir)
	if err != nil {
		return b
	}
	var ad netstate.Aggregator
	for _, e := range entries {
		value := c.text(dir + "/" + e.Name())
		word, _, _ := strings.Cut(value, " ")
		n, _ := strconv.Atoi(word)
		switch e.Name() {
		case "mode":
			_ = b.Mode.UnmarshalText([]byte(word))
		case "xmit_hash_policy":
			_ = b.HashPolicy.UnmarshalText([]byte(word))
		case "lacp_rate":
			_ = b.LACPRate.UnmarshalText([]byte(word))
		case "miimon":
			b.Miimon = time.Duration(n) * time.Millisecond
		case "updelay":
			b.UpDelay = time.Duration(n) * time.Millisecond
		case "downdelay":
			b.DownDelay = time.Duration(n) * time.Millisecond
		case "min_links":
			b.MinLinks = n
		case "packets_per_slave":
			b.PacketsPerSlave = n
		case "tlb_dynamic_lb":
			b.TLBDynamic = n != 0
		case "active_slave":
			b.Active = value
		case "slaves":
			b.Ports = strings.Fields(value)
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
			if word != "" {
				b.Options[e.Name()] = word
			}
		}
	}
	if b.Mode == netstate.LACP && ad.ID != 0 {
		b.AD = &ad
	}
	return b
}

// slavesFromSysfs reads /sys/class/net/SLAVE/bonding_slave.
func (c *captured) slavesFromSysfs(bond string, ports []string) {
	for _, name := range ports {
		dir := classNet + name + "/bonding_slave/"
		port := netstate.BondPort{
			Active:       c.text(dir+"state") == "active",
			MIIUp:        c.text(dir+"mii_status") == "up",
			FailureCount: int(c.number(dir + "link_failure_count")),
			AggregatorID: int(c.number(dir + "ad_aggregator_id")),
			QueueID:      int(c.number(dir + "queue_id")),
			ActorState:   uint8(c.number(dir + "ad_actor_oper_port_state")),
			PartnerState: uint8(c.number(dir + "ad_partner_oper_port_state")),
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
