package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	// Words are the values by number; nil is a plain number up to Max.
	Words []string
	Max   int64
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

// Word is a value as the steps spell it. It takes the word, the number, or
// sysfs's "word number".
func (r BondRule) Word(value string) (string, error) {
	first, _, _ := strings.Cut(strings.TrimSpace(value), " ")
	n, err := strconv.ParseInt(first, 10, 64)
	switch {
	case r.Words != nil && slices.Contains(r.Words, first):
		return first, nil
	case r.Words != nil && err == nil && n >= 0 && n < int64(len(r.Words)):
		return r.Words[n], nil
	case r.Words != nil:
		return "", fmt.Errorf("bond option %s: %q is none of %s", r.Name, value, strings.Join(r.Words, ", "))
	case err != nil || n < 0 || n > r.Max:
		return "", fmt.Errorf("bond option %s: %q is no number from 0 to %d", r.Name, value, r.Max)
	}
	return strconv.FormatInt(n, 10), nil
}

// Number is the kernel's number of a value.
func (r BondRule) Number(value string) (int64, error) {
	w, err := r.Word(value)
	if err != nil {
		return 0, err
	}
	if i := slices.Index(r.Words, w); i >= 0 {
		return int64(i), nil
	}
	return strconv.ParseInt(w, 10, 64)
}

// intMax is the bound of bond_intmax_tbl.
const intMax = 1<<31 - 1

// BondOptions is the table of options that a plan can change. Options whose
// value is a link or an address (primary, active_slave, arp_ip_target,
// ns_ip6_target, ad_actor_system) are not in it.
func BondOptions() []BondRule {
	lacp := []netstate.BondMode{netstate.LACP}
	tlb := []netstate.BondMode{netstate.BalanceTLB, netstate.BalanceALB}
	arp := []netstate.BondMode{netstate.BalanceRR, netstate.ActiveBackup, netstate.BalanceXOR, netstate.Broadcast}
	onOff := []string{"off", "on"}
	return []BondRule{
		{Name: "mode", NoSlaves: true, NeedsDown: true, Words: words(netstate.BondModes()), Source: "BOND_OPT_MODE"},
		{Name: "miimon", Max: intMax, Source: "BOND_OPT_MIIMON"},
		{Name: "updelay", Max: intMax, Source: "BOND_OPT_UPDELAY"},
		{Name: "downdelay", Max: intMax, Source: "BOND_OPT_DOWNDELAY"},
		{Name: "peer_notif_delay", Max: 300_000, Source: "BOND_OPT_PEER_NOTIF_DELAY"},
		{Name: "xmit_hash_policy", Words: words(netstate.HashPolicies()), Source: "BOND_OPT_XMIT_HASH"},
		{Name: "min_links", Max: intMax, Source: "BOND_OPT_MINLINKS"},
		{Name: "lacp_rate", NeedsDown: true, Modes: lacp, Words: words(netstate.LACPRates()), Source: "BOND_OPT_LACP_RATE"},
		{Name: "lacp_active", NeedsDown: true, Modes: lacp, Words: onOff, Source: "BOND_OPT_LACP_ACTIVE"},
		{Name: "ad_select", NeedsDown: true, Words: []string{"stable", "bandwidth", "count"}, Source: "BOND_OPT_AD_SELECT"},
		{Name: "ad_actor_sys_prio", Modes: lacp, Max: 65535, Source: "BOND_OPT_AD_ACTOR_SYS_PRIO"},
		{Name: "ad_user_port_key", NeedsDown: true, Modes: lacp, Max: 1023, Source: "BOND_OPT_AD_USER_PORT_KEY"},
		{Name: "coupled_control", NeedsDown: true, Modes: lacp, Words: onOff, Source: "BOND_OPT_COUPLED_CONTROL"},
		{Name: "packets_per_slave", Modes: []netstate.BondMode{netstate.BalanceRR}, Max: 65535, Source: "BOND_OPT_PACKETS_PER_SLAVE"},
		{Name: "tlb_dynamic_lb", NeedsDown: true, Modes: tlb, Max: 1, Source: "BOND_OPT_TLB_DYNAMIC_LB"},
		{Name: "primary_reselect", Words: []string{"always", "better", "failure"}, Source: "BOND_OPT_PRIMARY_RESELECT"},
		{Name: "fail_over_mac", NoSlaves: true, Words: []string{"none", "active", "follow"}, Source: "BOND_OPT_FAIL_OVER_MAC"},
		{Name: "arp_interval", Modes: arp, Max: intMax, Source: "BOND_OPT_ARP_INTERVAL"},
		{Name: "arp_all_targets", Words: []string{"any", "all"}, Source: "BOND_OPT_ARP_ALL_TARGETS"},
		{Name: "arp_missed_max", Modes: arp, Max: 255, Source: "BOND_OPT_MISSED_MAX"},
		{Name: "all_slaves_active", Max: 1, Source: "BOND_OPT_ALL_SLAVES_ACTIVE"},
		{Name: "resend_igmp", Max: 255, Source: "BOND_OPT_RESEND_IGMP"},
		{Name: "num_grat_arp", Max: 255, Source: "BOND_OPT_NUM_PEER_NOTIF"},
		{Name: "lp_interval", Max: intMax, Source: "BOND_OPT_LP_INTERVAL"},
		{Name: "use_carrier", Max: 1, Source: "BOND_OPT_USE_CARRIER"},
	}
}

// BondOptionRule returns the table's line for the named option.
func BondOptionRule(name string) (BondRule, bool) {
	for _, r := range BondOptions() {
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
