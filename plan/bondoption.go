package plan

import (
	"fmt"
	"slices"

	"github.com/linerate/linerate/netstate"
)

// BondRule says when the bonding driver lets one option be changed. Source:
// the option table of drivers/net/bonding/bond_options.c (struct bond_option,
// v6.1), tried option by option and mode by mode against a running kernel.
type BondRule struct {
	// Name is the option's in /sys/class/net/BOND/bonding.
	Name string
	// NoSlaves is BOND_OPTFLAG_NOSLAVES (ENOTEMPTY), NeedsDown
	// BOND_OPTFLAG_IFDOWN (EBUSY). Neither: changed while traffic flows.
	NoSlaves  bool
	NeedsDown bool
	// Modes are the modes whose bonds take the option (EACCES in others);
	// nil is every mode.
	Modes []netstate.BondMode
	// Value is what a value is; "" is one of Words or a number.
	Value BondValue
	// Words are the values by number; nil is a plain number from Min to Max.
	Words    []string
	Min, Max int64
	// Default is what a bond is made with (bond_check_params, v6.1).
	Default string
	// Since is the first kernel release that has the option; "" is older than
	// any that matters.
	Since string
	// Hidden is told only of a bond in one of Modes, though every bond keeps it.
	Hidden bool
	// Source is the kernel's entry.
	Source string
}

// Disruption is what traffic feels when the option changes on a bond that is
// up and has slaves.
func (r BondRule) Disruption() Disruption {
	switch {
	case r.NoSlaves:
		return Recreate
	case r.NeedsDown:
		return BondDown
	}
	return Online
}

// Allows reports whether a bond of mode m takes the option.
func (r BondRule) Allows(m netstate.BondMode) bool {
	return r.Modes == nil || slices.Contains(r.Modes, m)
}

// intMax is the bound of bond_intmax_tbl.
const intMax = 1<<31 - 1

// BondOptions is the table of options that a plan can change, in an order in
// which they can be set.
func BondOptions() []BondRule { return slices.Clone(bondOptions) }

var bondOptions = makeBondOptions()

func makeBondOptions() []BondRule {
	lacp := []netstate.BondMode{netstate.LACP}
	tlb := []netstate.BondMode{netstate.BalanceTLB, netstate.BalanceALB}
	one := []netstate.BondMode{netstate.ActiveBackup, netstate.BalanceTLB, netstate.BalanceALB} // one active port
	arp := []netstate.BondMode{netstate.BalanceRR, netstate.ActiveBackup, netstate.BalanceXOR, netstate.Broadcast}
	onOff := []string{"off", "on"}
	return []BondRule{
		{Name: "mode", NoSlaves: true, NeedsDown: true, Words: words(netstate.BondModes()), Default: "balance-rr", Source: "BOND_OPT_MODE"},
		{Name: "miimon", Max: intMax, Default: "0", Source: "BOND_OPT_MIIMON"},
		{Name: "updelay", Max: intMax, Default: "0", Source: "BOND_OPT_UPDELAY"},
		{Name: "downdelay", Max: intMax, Default: "0", Source: "BOND_OPT_DOWNDELAY"},
		{Name: "peer_notif_delay", Max: 300_000, Default: "0", Since: "5.3", Source: "BOND_OPT_PEER_NOTIF_DELAY"},
		{Name: "xmit_hash_policy", Words: words(netstate.HashPolicies()), Default: "layer2", Source: "BOND_OPT_XMIT_HASH"},
		{Name: "min_links", Max: intMax, Default: "0", Source: "BOND_OPT_MINLINKS"},
		{Name: "lacp_rate", NeedsDown: true, Modes: lacp, Words: words(netstate.LACPRates()), Default: "slow", Source: "BOND_OPT_LACP_RATE"},
		{Name: "lacp_active", NeedsDown: true, Modes: lacp, Words: onOff, Default: "on", Since: "5.15", Source: "BOND_OPT_LACP_ACTIVE"},
		{Name: "ad_select", NeedsDown: true, Words: []string{"stable", "bandwidth", "count", "actor_port_prio"}, Default: "stable", Source: "BOND_OPT_AD_SELECT"},
		{Name: "ad_actor_sys_prio", Modes: lacp, Min: 1, Max: 65535, Default: "65535", Hidden: true, Source: "BOND_OPT_AD_ACTOR_SYS_PRIO"},
		{Name: "ad_actor_system", Modes: lacp, Value: MACValue, Default: "00:00:00:00:00:00", Hidden: true, Source: "BOND_OPT_AD_ACTOR_SYSTEM"},
		{Name: "ad_user_port_key", NeedsDown: true, Modes: lacp, Max: 1023, Default: "0", Hidden: true, Source: "BOND_OPT_AD_USER_PORT_KEY"},
		{Name: "coupled_control", NeedsDown: true, Modes: lacp, Words: onOff, Default: "on", Since: "6.9", Source: "BOND_OPT_COUPLED_CONTROL"},
		{Name: "broadcast_neighbor", Modes: lacp, Words: onOff, Default: "off", Since: "6.17", Source: "BOND_OPT_BROADCAST_NEIGH"},
		{Name: "packets_per_slave", Modes: []netstate.BondMode{netstate.BalanceRR}, Max: 65535, Default: "1", Source: "BOND_OPT_PACKETS_PER_SLAVE"},
		{Name: "tlb_dynamic_lb", NeedsDown: true, Modes: tlb, Max: 1, Default: "1", Source: "BOND_OPT_TLB_DYNAMIC_LB"},
		{Name: "primary_reselect", Words: []string{"always", "better", "failure"}, Default: "always", Source: "BOND_OPT_PRIMARY_RESELECT"},
		{Name: "fail_over_mac", NoSlaves: true, Words: []string{"none", "active", "follow"}, Default: "none", Source: "BOND_OPT_FAIL_OVER_MAC"},
		{Name: "arp_ip_target", Value: IPv4List, Default: NoValue, Source: "BOND_OPT_ARP_TARGETS"},
		{Name: "ns_ip6_target", Value: IPv6List, Default: NoValue, Since: "5.18", Source: "BOND_OPT_NS_TARGETS"},
		{Name: "arp_interval", Modes: arp, Max: intMax, Default: "0", Source: "BOND_OPT_ARP_INTERVAL"},
		{Name: "arp_validate", Modes: arp, Words: []string{"none", "active", "backup", "all", "filter", "filter_active", "filter_backup"}, Default: "none", Source: "BOND_OPT_ARP_VALIDATE"},
		{Name: "arp_all_targets", Words: []string{"any", "all"}, Default: "any", Source: "BOND_OPT_ARP_ALL_TARGETS"},
		{Name: "arp_missed_max", Modes: arp, Min: 1, Max: 255, Default: "2", Since: "5.17", Source: "BOND_OPT_MISSED_MAX"},
		{Name: "all_slaves_active", Max: 1, Default: "0", Source: "BOND_OPT_ALL_SLAVES_ACTIVE"},
		{Name: "resend_igmp", Max: 255, Default: "1", Source: "BOND_OPT_RESEND_IGMP"},
		{Name: "num_grat_arp", Max: 255, Default: "1", Source: "BOND_OPT_NUM_PEER_NOTIF"},
		{Name: "lp_interval", Min: 1, Max: intMax, Default: "1", Source: "BOND_OPT_LP_INTERVAL"},
		{Name: "use_carrier", Max: 1, Default: "1", Source: "BOND_OPT_USE_CARRIER"},
		{Name: optionPrimary, Modes: one, Value: PortValue, Default: NoValue, Source: "BOND_OPT_PRIMARY"},
		{Name: optionActive, Modes: one, Value: PortValue, Default: NoValue, Source: "BOND_OPT_ACTIVE_SLAVE"},
	}
}

// The options whose value is a port: set when the port is in.
const (
	optionPrimary = "primary"
	optionActive  = "active_slave"
)

// BondOptionRule returns the table's line for one option.
func BondOptionRule(name string) (BondRule, bool) {
	for _, r := range bondOptions {
		if r.Name == name {
			return r, true
		}
	}
	return BondRule{}, false
}

func words[T fmt.Stringer](all []T) []string {
	out := make([]string, len(all))
	for i, v := range all {
		out[i] = v.String()
	}
	return out
}
