package states

import (
	"slices"
	"strconv"
	"time"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

func primaryModes(m netstate.BondMode) bool {
	return m == netstate.ActiveBackup || m == netstate.BalanceTLB || m == netstate.BalanceALB
}

// hidden takes out what is not told, or not taken, in the bond's new mode.
func hidden(b *netstate.Bond) {
	for _, r := range bondopt.Options() {
		if !r.Allows(b.Mode) {
			delete(b.Options, r.Name)
		}
	}
}

// options draws the options of a bond; safe leaves those out with which its far
// end would lose it, or that it takes only while it is down.
func (d *drawing) options(l *netstate.Link, safe bool) {
	b := l.Bond
	if b.Options == nil {
		b.Options = make(map[string]string)
	}
	d.monitoring(l.Name, b)
	for _, r := range bondopt.Options() {
		_, told := b.Options[r.Name]
		skip := !r.Allows(b.Mode) || safe && (r.NeedsDown || r.NoPorts) || !d.chance(0.4)
		if skip || monitors[r.Name] || !told && !r.Hidden && r.Kind == bondopt.Number && !r.Own() {
			continue
		}
		d.option(b, r)
	}
}

// monitors are the options of link monitoring, which are drawn together.
var monitors = map[string]bool{"mode": true, "miimon": true, "updelay": true, "downdelay": true, "peer_notif_delay": true, "arp_interval": true,
	"arp_ip_target": true, "ns_ip6_target": true, "arp_validate": true, "active_slave": true}

// monitoring draws how a bond finds out that a link is dead: by carrier, or by
// asking the switch.
func (d *drawing) monitoring(name string, b *netstate.Bond) {
	rule, _ := bondopt.Find("arp_interval")
	b.Miimon = pick(d, 50*time.Millisecond, 100*time.Millisecond, 200*time.Millisecond)
	b.UpDelay, b.DownDelay = b.Miimon*time.Duration(d.IntN(3)), b.Miimon*time.Duration(d.IntN(3))
	set := func(key, value string) {
		if _, told := b.Options[key]; told {
			b.Options[key] = value
		}
	}
	set("peer_notif_delay", strconv.FormatInt((b.Miimon*time.Duration(d.IntN(3))).Milliseconds(), 10))
	set("arp_interval", "0")
	set("arp_validate", "none")
	b.Options["arp_ip_target"] = pick(d, plan.NoValue, farAddr(name).String(), farAddr(name).String()+",10.9.9.9")
	if _, newer := b.Options["arp_missed_max"]; newer {
		b.Options["ns_ip6_target"] = pick(d, plan.NoValue, "fd50::2", "fd50::2,fd50::3")
	}
	if !rule.Allows(b.Mode) || !d.chance(0.2) {
		return
	}
	b.Miimon, b.UpDelay, b.DownDelay = 0, 0, 0
	set("peer_notif_delay", "0")
	set("arp_interval", pick(d, "200", "500"))
	b.Options["arp_ip_target"] = farAddr(name).String()
	b.Options["ns_ip6_target"] = plan.NoValue
	if _, newer := b.Options["arp_missed_max"]; !newer {
		delete(b.Options, "ns_ip6_target")
	}
	if b.Mode == netstate.ActiveBackup {
		set("arp_validate", pick(d, "none", "active", "backup", "all", "filter"))
	}
}

// option draws one value.
func (d *drawing) option(b *netstate.Bond, r bondopt.Option) {
	switch r.Name {
	case "xmit_hash_policy":
		b.HashPolicy = pick(d, netstate.HashPolicies()...)
	case "lacp_rate":
		b.LACPRate = pick(d, netstate.LACPRates()...)
	case "min_links":
		b.MinLinks = d.IntN(len(b.Ports) + 1)
	case "packets_per_slave":
		b.PacketsPerSlave = d.IntN(10)
	case "tlb_dynamic_lb":
		b.TLBDynamic = d.chance(0.5)
	case "primary":
		b.Options[r.Name] = pick(d, append(slices.Clone(b.Ports), plan.NoValue)...)
	case "ad_actor_system":
		b.Options[r.Name] = pick(d, "00:00:00:00:00:00", "02:00:00:00:ad:01", "02:00:00:00:ad:02")
	case "ad_select":
		b.Options[r.Name] = pick(d, "stable", "bandwidth", "count")
	default:
		if r.Words != nil {
			b.Options[r.Name] = pick(d, r.Words...)
			return
		}
		b.Options[r.Name] = strconv.FormatInt(r.Min+d.Int64N(min(r.Max, 200)-r.Min+1), 10)
	}
}
