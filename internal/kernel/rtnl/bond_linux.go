package rtnl

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/kernel/nlattr"
	"github.com/linerate/linerate/netstate"
)

// Attributes of a bond and of its slaves, include/uapi/linux/if_link.h.
const (
	bondMode            = 1
	bondActiveSlave     = 2
	bondMiimon          = 3
	bondUpDelay         = 4
	bondDownDelay       = 5
	bondPrimary         = 11
	bondHashPolicy      = 14
	bondMinLinks        = 18
	bondPacketsPerSlave = 20
	bondLACPRate        = 21
	bondADInfo          = 23
	bondTLBDynamic      = 27

	adAggregator = 1
	adPorts      = 2
	adActorKey   = 3
	adPartnerKey = 4
	adPartnerMAC = 5

	slaveState        = 1
	slaveMIIStatus    = 2
	slaveFailureCount = 3
	slavePermanentMAC = 4
	slaveQueueID      = 5
	slaveAggregatorID = 6
	slaveActorState   = 7
	slavePartnerState = 8
	slavePriority     = 9
	slaveActorPrio    = 10 // IFLA_BOND_SLAVE_ACTOR_PORT_PRIO

	stateActive = 0 // BOND_STATE_ACTIVE
)

// miiStates are the words of bond_slave_link_status, by BOND_LINK_* number.
var miiStates = [...]string{"up", "going down", "down", "going back"}

// bondOptions is the one table of the options that netstate.Bond has no field
// for: attribute, name in /sys/class/net/BOND/bonding, and how the value is
// written there.
var bondOptions = [...]struct {
	kind  uint16
	name  string
	value func([]byte) string
}{
	{6, "use_carrier", decimal},
	{7, "arp_interval", decimal},
	{8, "arp_ip_target", addressList},
	{9, "arp_validate", word("none", "active", "backup", "all", "filter", "filter_active", "filter_backup")},
	{10, "arp_all_targets", word("any", "all")},
	{12, "primary_reselect", word("always", "better", "failure")},
	{13, "fail_over_mac", word("none", "active", "follow")},
	{15, "resend_igmp", decimal},
	{16, "num_grat_arp", decimal},
	{17, "all_slaves_active", decimal},
	{19, "lp_interval", decimal},
	{22, "ad_select", word("stable", "bandwidth", "count", "actor_port_prio")},
	{24, "ad_actor_sys_prio", decimal},
	{25, "ad_user_port_key", decimal},
	{26, "ad_actor_system", hardwareAddress},
	{28, "peer_notif_delay", decimal},
	{29, "lacp_active", word("off", "on")},
	{30, "arp_missed_max", decimal},
	{31, "ns_ip6_target", addressList},
	{32, "coupled_control", word("off", "on")},
	{33, "broadcast_neighbor", word("off", "on")},
}

// rawBond is a bond as its own message says it: slaves by index.
type rawBond struct {
	bond    netstate.Bond
	active  int
	primary int
}

// decodeBond reads IFLA_INFO_DATA of a bond. What it cannot name is kept in
// Options as "ifla-bond-N".
func decodeBond(data []byte) rawBond {
	r := rawBond{bond: netstate.UnreadBond()}
	b := &r.bond
	b.Ports = []string{}
	err := nlattr.Each(data, func(kind uint16, v []byte) {
		switch kind {
		case bondMode:
			b.Mode = netstate.BondMode(u8(v))
		case bondActiveSlave:
			r.active = int(u32(v))
		case bondPrimary:
			r.primary = int(u32(v))
		case bondMiimon:
			b.Miimon = milliseconds(v)
		case bondUpDelay:
			b.UpDelay = milliseconds(v)
		case bondDownDelay:
			b.DownDelay = milliseconds(v)
		case bondHashPolicy:
			b.HashPolicy = netstate.HashPolicy(u8(v))
		case bondMinLinks:
			b.MinLinks = int(u32(v))
		case bondPacketsPerSlave:
			b.PacketsPerSlave = int(u32(v))
		case bondLACPRate:
			b.LACPRate = netstate.LACPRate(u8(v))
		case bondTLBDynamic:
			b.TLBDynamic = u8(v) != 0
		case bondADInfo:
			b.AD = decodeAggregator(v)
		default:
			name, value := bondOption(kind, v)
			b.Options[name] = value
		}
	})
	if err != nil {
		b.Options["ifla-info-data"] = kept(data)
	}
	return r
}

func bondOption(kind uint16, v []byte) (name, value string) {
	for _, o := range bondOptions {
		if o.kind == kind {
			return o.name, o.value(v)
		}
	}
	return fmt.Sprintf("ifla-bond-%d", kind), kept(v)
}

func decodeAggregator(v []byte) *netstate.Aggregator {
	var ad netstate.Aggregator
	if err := nlattr.Each(v, func(kind uint16, v []byte) {
		switch kind {
		case adAggregator:
			ad.ID = int(u16(v))
		case adPorts:
			ad.Ports = int(u16(v))
		case adActorKey:
			ad.ActorKey = int(u16(v))
		case adPartnerKey:
			ad.PartnerKey = int(u16(v))
		case adPartnerMAC:
			ad.PartnerMAC = mac(v)
		}
	}); err != nil {
		return nil
	}
	return &ad
}

// slave reads IFLA_INFO_SLAVE_DATA of a bond's slave.
func (r *rawLink) slave(data []byte) {
	p := &netstate.BondPort{}
	err := nlattr.Each(data, func(kind uint16, v []byte) {
		switch kind {
		case slaveState:
			p.Active = u8(v) == stateActive
		case slaveMIIStatus:
			n := int(u8(v))
			p.MIIUp = n == 0
			if n < len(miiStates) {
				r.keep("bond_mii_status", miiStates[n])
			}
		case slaveFailureCount:
			p.FailureCount = int(u32(v))
		case slavePermanentMAC:
			// What the link had before it was enslaved: where the driver has
			// no burnt-in address (veth), it is what identifies the link.
			if m := mac(v); r.link.PermanentMAC.IsZero() {
				r.link.PermanentMAC = m
			}
		case slaveQueueID:
			p.QueueID = int(u16(v))
		case slaveAggregatorID:
			p.AggregatorID = int(u16(v))
		case slaveActorState:
			p.ActorState = u8(v)
		case slavePartnerState:
			p.PartnerState = uint8(u16(v))
		case slavePriority:
			p.Priority = int(int32(u32(v)))
		case slaveActorPrio:
			n := int(u16(v))
			p.ActorPriority = &n
		default:
			r.keep(fmt.Sprintf("ifla-bond-slave-%d", kind), kept(v))
		}
	})
	if err != nil {
		r.keep("ifla-info-slave-data", kept(data))
	}
	r.port = p
}

func milliseconds(v []byte) time.Duration { return time.Duration(u32(v)) * time.Millisecond }

// decimal reads a number of whatever width the kernel chose.
func decimal(v []byte) string {
	var n uint64
	switch {
	case len(v) >= 8:
		n = u64(v)
	case len(v) >= 4:
		n = uint64(u32(v))
	case len(v) >= 2:
		n = uint64(u16(v))
	default:
		n = uint64(u8(v))
	}
	return strconv.FormatUint(n, 10)
}

// word reads a number as one of a table's words, or as itself.
func word(table ...string) func([]byte) string {
	return func(v []byte) string {
		n := decimal(v)
		if i, err := strconv.Atoi(n); err == nil && i < len(table) {
			return table[i]
		}
		return n
	}
}

// addressList reads nested addresses; the order is the bond's.
func addressList(v []byte) string {
	var list []string
	_ = nlattr.Each(v, func(_ uint16, v []byte) {
		if a := addr(v); a != (netip.Addr{}) {
			list = append(list, a.String())
		}
	})
	return strings.Join(list, ",")
}

// hardwareAddress keeps the zero address in words: it means that the bond's
// own is used.
func hardwareAddress(v []byte) string {
	if m := mac(v); !m.IsZero() {
		return m.String()
	}
	return "00:00:00:00:00:00"
}
