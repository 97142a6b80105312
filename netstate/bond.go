package netstate

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/linerate/linerate/flow"
)

// BondMode is IFLA_BOND_MODE (include/uapi/linux/if_bonding.h, BOND_MODE_*).
// Zero is balance-rr, the kernel's default; one that a reader did not find is
// ModeUnread.
type BondMode uint8

// Bonding modes by their kernel numbers.
const (
	BalanceRR    BondMode = 0
	ActiveBackup BondMode = 1
	BalanceXOR   BondMode = 2
	Broadcast    BondMode = 3
	LACP         BondMode = 4
	BalanceTLB   BondMode = 5
	BalanceALB   BondMode = 6
)

// What a reader of a host's state did not find is none of the kernel's numbers:
// no mode, no policy, no rate, so nothing follows from it. JSON leaves it out.
const (
	ModeUnread   BondMode   = 0xff
	PolicyUnread HashPolicy = 0xff
	RateUnread   LACPRate   = 0xff
)

// notRead is the word for it.
const notRead = "not read"

// HashPolicy is IFLA_BOND_XMIT_HASH_POLICY (BOND_XMIT_POLICY_*). Zero is
// layer2, the kernel's default. Settable while the bond is up.
type HashPolicy uint8

// Transmit hash policies by their kernel numbers.
const (
	Layer2     HashPolicy = 0
	Layer34    HashPolicy = 1
	Layer23    HashPolicy = 2
	Encap23    HashPolicy = 3
	Encap34    HashPolicy = 4
	VLANSrcMAC HashPolicy = 5
)

// LACPRate is IFLA_BOND_AD_LACP_RATE: zero is slow (an LACPDU every 30 s).
type LACPRate uint8

// LACP rates by their kernel numbers.
const (
	LACPSlow LACPRate = 0
	LACPFast LACPRate = 1
)

// The one table of each set of kernel words, indexed by kernel number
// (drivers/net/bonding/bond_options.c: bond_mode_tbl, bond_xmit_hashtype_tbl,
// bond_lacp_rate_tbl).
var (
	modeWords   = [...]string{"balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"}
	policyWords = [...]string{"layer2", "layer3+4", "layer2+3", "encap2+3", "encap3+4", "vlan+srcmac"}
	rateWords   = [...]string{"slow", "fast"}
)

// BondModes lists every mode.
func BondModes() []BondMode { return numbers[BondMode](len(modeWords)) }

// HashPolicies lists every transmit hash policy.
func HashPolicies() []HashPolicy { return numbers[HashPolicy](len(policyWords)) }

// LACPRates lists every LACP rate.
func LACPRates() []LACPRate { return numbers[LACPRate](len(rateWords)) }

func numbers[T ~uint8](n int) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = T(i)
	}
	return all
}

func word[T ~uint8](table []string, v T) string {
	if int(v) < len(table) {
		return table[v]
	}
	if v == 0xff {
		return notRead
	}
	return fmt.Sprintf("unknown-%d", v)
}

func number[T ~uint8](table []string, what string, b []byte, v *T) error {
	for i, w := range table {
		if w == string(b) {
			*v = T(i)
			return nil
		}
	}
	if string(b) == notRead {
		*v = 0xff
		return nil
	}
	var n uint8
	if _, err := fmt.Sscanf(string(b), "unknown-%d", &n); err == nil {
		*v = T(n)
		return nil
	}
	return fmt.Errorf("parse %s %q: want one of %v", what, b, table)
}

// String is the kernel's word, or "unknown-N" for a number newer than the table.
func (m BondMode) String() string { return word(modeWords[:], m) }

// MarshalText writes String.
func (m BondMode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (m *BondMode) UnmarshalText(b []byte) error { return number(modeWords[:], "bond mode", b, m) }

// IsZero reports a mode that was not read: JSON leaves it out.
func (m BondMode) IsZero() bool { return m == ModeUnread }

// Hashes reports whether the mode spreads flows by the transmit hash policy
// (bond_xmit_hash is called for xor and 802.3ad; tlb has its own table).
func (m BondMode) Hashes() bool { return m == BalanceXOR || m == LACP }

// String is the kernel's word, or "unknown-N" for a number newer than the table.
func (p HashPolicy) String() string { return word(policyWords[:], p) }

// MarshalText writes String.
func (p HashPolicy) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (p *HashPolicy) UnmarshalText(b []byte) error {
	return number(policyWords[:], "transmit hash policy", b, p)
}

// IsZero reports a policy that was not read: JSON leaves it out.
func (p HashPolicy) IsZero() bool { return p == PolicyUnread }

// IsZero reports a rate that was not read: JSON leaves it out.
func (r LACPRate) IsZero() bool { return r == RateUnread }

// String is the kernel's word.
func (r LACPRate) String() string { return word(rateWords[:], r) }

// MarshalText writes String.
func (r LACPRate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (r *LACPRate) UnmarshalText(b []byte) error { return number(rateWords[:], "LACP rate", b, r) }

// Bond is the bonding driver's state of a bond link.
type Bond struct {
	Mode       BondMode      `json:"mode,omitzero"`
	HashPolicy HashPolicy    `json:"xmit_hash_policy,omitzero"`
	LACPRate   LACPRate      `json:"lacp_rate,omitzero"`
	Miimon     time.Duration `json:"miimon_ns"` // zero: no link monitoring
	UpDelay    time.Duration `json:"updelay_ns,omitempty"`
	DownDelay  time.Duration `json:"downdelay_ns,omitempty"`
	MinLinks   int           `json:"min_links,omitempty"`
	// PacketsPerSlave is balance-rr's; 0 is random, 1 the kernel's default.
	PacketsPerSlave int `json:"packets_per_slave,omitempty"`
	// TLBDynamic is tlb_dynamic_lb of modes tlb and alb.
	TLBDynamic bool `json:"tlb_dynamic_lb,omitempty"`
	// Active is the current active slave of active-backup, tlb and alb.
	Active string `json:"active_slave,omitempty"`
	// Ports are the slaves in enslave order, which is the order the hash
	// counts them in; ifindex order is not.
	Ports []string `json:"slaves"`
	// AD is the active aggregator; nil outside 802.3ad.
	AD *Aggregator `json:"ad_info,omitempty"`
	// NotRead are the other options, as the kernel names them, that were not
	// read: their zero above says nothing. "slaves" are the ports.
	NotRead []string `json:"not_read,omitempty"`
	// Options holds every other option as the kernel names it in
	// /sys/class/net/BOND/bonding, unread but kept.
	Options map[string]string `json:"options,omitempty"`
	// Own is how a host that is not Linux spreads what it sends, in that system's
	// words; nil on Linux. Mode is then the bonding driver's nearest, or not
	// read, and HashPolicy not read.
	Own *OwnRule `json:"own,omitempty"`
}

// OwnRule is a system's own mode and policy, as Kernel.OS calls them: "lacp"
// and "l3,l4" on FreeBSD. Policy is "" where the mode has none.
type OwnRule struct {
	Mode   string `json:"mode"`
	Policy string `json:"policy,omitempty"`
}

// ModeWord is the bond's mode in its system's own word.
func (b Bond) ModeWord() string {
	if b.Own != nil {
		return b.Own.Mode
	}
	return b.Mode.String()
}

// UnreadBond is a bond of which nothing was read yet.
func UnreadBond() Bond {
	return Bond{Mode: ModeUnread, HashPolicy: PolicyUnread, LACPRate: RateUnread, Options: make(map[string]string)}
}

// Unread reports whether an option of NotRead was not read.
func (b *Bond) Unread(option string) bool { return slices.Contains(b.NotRead, option) }

// UnmarshalJSON takes what is left out of mode, policy and rate for not read.
func (b *Bond) UnmarshalJSON(text []byte) error {
	type plain Bond
	read := plain{Mode: ModeUnread, HashPolicy: PolicyUnread, LACPRate: RateUnread}
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	*b = Bond(read)
	return nil
}

// Aggregator is struct ifla_bond_ad_info (include/uapi/linux/if_link.h).
type Aggregator struct {
	ID         int      `json:"aggregator_id"`
	Ports      int      `json:"ports_count"`
	ActorKey   int      `json:"actor_key"`
	PartnerKey int      `json:"partner_key"`
	PartnerMAC flow.MAC `json:"partner_mac"` // zero: no LACP partner answered
}

// Bits of BondPort.ActorState and PartnerState (IEEE 802.1AX 6.4.2.3;
// LACP_STATE_* of include/net/bond_3ad.h).
const (
	LACPActivity     = 1 << 0 // sends by itself; without it only where the other end does
	LACPSync         = 1 << 3
	LACPCollecting   = 1 << 4
	LACPDistributing = 1 << 5
	LACPDefaulted    = 1 << 6
	LACPExpired      = 1 << 7
)

// DefaultActorPriority is a new port's actor_port_prio (bonding's SLAVE_AD_INFO).
const DefaultActorPriority = 255

// BondPort is a slave's own state (IFLA_BOND_SLAVE_*).
type BondPort struct {
	Bond string `json:"bond"`
	// Active is false for a slave in the backup state.
	Active bool `json:"active"`
	// MIIUp is the link state the bond's monitor believes.
	MIIUp        bool `json:"mii_up"`
	FailureCount int  `json:"link_failure_count,omitempty"`
	// AggregatorID is zero outside 802.3ad.
	AggregatorID int `json:"aggregator_id,omitempty"`
	QueueID      int `json:"queue_id,omitempty"`
	// Priority decides which port becomes active (Linux 5.19); zero is the
	// kernel's default.
	Priority int `json:"priority,omitempty"`
	// ActorPriority is the port's in 802.3ad, by which ad_select
	// actor_port_prio chooses an aggregator (Linux 6.18); nil is not told.
	ActorPriority *int `json:"actor_port_priority,omitempty"`
	// Actor and partner port states are the IEEE 802.1AX state bits.
	ActorState   uint8 `json:"actor_state,omitempty"`
	PartnerState uint8 `json:"partner_state,omitempty"`
	// PartnerMAC and PartnerKey are the system and the group that answer LACP
	// on this port; zero: nobody does, or it was not read (it takes
	// CAP_NET_ADMIN).
	PartnerMAC flow.MAC `json:"partner_mac,omitzero"`
	PartnerKey int      `json:"partner_key,omitempty"`
	// ActorChurn and PartnerChurn are the churn machines' words (IEEE 802.1AX
	// 6.4.17): "none", "monitoring", or "churned" where that end does not get
	// in sync; "" outside 802.3ad.
	ActorChurn   string `json:"actor_churn,omitempty"`
	PartnerChurn string `json:"partner_churn,omitempty"`
}

// BothPassive reports a port of 802.3ad at which neither end sends LACP frames by itself;
// false where the states of either were not read.
func (p BondPort) BothPassive() bool {
	return p.ActorState != 0 && p.PartnerState != 0 && (p.ActorState|p.PartnerState)&LACPActivity == 0
}

// UsablePorts returns the slaves of the named bond that carry transmit
// traffic, in the order the transmit hash indexes them: enslave order,
// without ports that are down, in backup state, or outside the active
// aggregator (bond_update_slave_arr, drivers/net/bonding/bond_main.c); the members
// of one of Open vSwitch that it sends on. Nil when the link is unknown or no bond.
func (h Host) UsablePorts(bond string) []string {
	l, ok := h.Link(bond)
	if ok && l.OVS != nil {
		return h.usableMembers(l.OVS)
	}
	if !ok || l.Bond == nil {
		return nil
	}
	var usable []string
	for _, name := range l.Bond.Ports {
		p, ok := h.Link(name)
		if !ok || !p.Up || p.Port == nil {
			continue
		}
		if !p.Port.MIIUp || !p.Port.Active {
			continue
		}
		if l.Bond.Mode == LACP && l.Bond.AD != nil && p.Port.AggregatorID != l.Bond.AD.ID {
			continue
		}
		usable = append(usable, name)
	}
	return usable
}
