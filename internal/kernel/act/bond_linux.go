package act

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"syscall"

	"github.com/vishvananda/netlink/nl"

	"github.com/linerate/linerate/plan"
)

// bondAttrs is the netlink attribute of every option of plan.BondOptions and
// its size in bytes (enum IFLA_BOND_*, include/uapi/linux/if_link.h;
// bond_policy, drivers/net/bonding/bond_netlink.c, v6.12). The last four are
// newer than the library's list.
var bondAttrs = [...]struct {
	option string
	attr   uint16
	size   int
}{
	{"mode", nl.IFLA_BOND_MODE, 1},
	{"miimon", nl.IFLA_BOND_MIIMON, 4},
	{"updelay", nl.IFLA_BOND_UPDELAY, 4},
	{"downdelay", nl.IFLA_BOND_DOWNDELAY, 4},
	{"xmit_hash_policy", nl.IFLA_BOND_XMIT_HASH_POLICY, 1},
	{"min_links", nl.IFLA_BOND_MIN_LINKS, 4},
	{"lacp_rate", nl.IFLA_BOND_AD_LACP_RATE, 1},
	{"ad_select", nl.IFLA_BOND_AD_SELECT, 1},
	{"ad_actor_sys_prio", nl.IFLA_BOND_AD_ACTOR_SYS_PRIO, 2},
	{"ad_user_port_key", nl.IFLA_BOND_AD_USER_PORT_KEY, 2},
	{"packets_per_slave", nl.IFLA_BOND_PACKETS_PER_SLAVE, 4},
	{"tlb_dynamic_lb", nl.IFLA_BOND_TLB_DYNAMIC_LB, 1},
	{"primary_reselect", nl.IFLA_BOND_PRIMARY_RESELECT, 1},
	{"fail_over_mac", nl.IFLA_BOND_FAIL_OVER_MAC, 1},
	{"arp_interval", nl.IFLA_BOND_ARP_INTERVAL, 4},
	{"arp_all_targets", nl.IFLA_BOND_ARP_ALL_TARGETS, 4},
	{"all_slaves_active", nl.IFLA_BOND_ALL_SLAVES_ACTIVE, 1},
	{"resend_igmp", nl.IFLA_BOND_RESEND_IGMP, 4},
	{"num_grat_arp", nl.IFLA_BOND_NUM_PEER_NOTIF, 1},
	{"lp_interval", nl.IFLA_BOND_LP_INTERVAL, 4},
	{"use_carrier", nl.IFLA_BOND_USE_CARRIER, 1},
	{"peer_notif_delay", 28, 4},
	{"lacp_active", 29, 1},
	{"arp_missed_max", 30, 1},
	{"coupled_control", 32, 1},
}

func bondAttr(l link, option string) (attr uint16, size int, err error) {
	if l.kind != "bond" {
		return 0, 0, fmt.Errorf("link %s is a %q and no bond: %w", l.name, l.kind, errors.ErrUnsupported)
	}
	for _, a := range bondAttrs {
		if a.option == option {
			return a.attr, a.size, nil
		}
	}
	return 0, 0, fmt.Errorf("bond option %q: %w", option, errors.ErrUnsupported)
}

func setBondOption(l link, option, value string) error {
	attr, size, err := bondAttr(l, option)
	if err != nil {
		return err
	}
	if _, known := l.info[attr]; !known {
		// An older kernel takes the attribute and ignores it without a word.
		return fmt.Errorf("this kernel does not report bond option %s: %w", option, fs.ErrNotExist)
	}
	r, _ := plan.BondOptionRule(option)
	n, err := r.Number(value)
	if err != nil {
		return err
	}
	payload := make([]byte, size)
	switch size {
	case 1:
		payload[0] = byte(n)
	case 2:
		binary.NativeEndian.PutUint16(payload, uint16(n))
	default:
		binary.NativeEndian.PutUint32(payload, uint32(n))
	}
	info := nl.NewRtAttr(syscall.IFLA_LINKINFO, nil)
	info.AddRtAttr(nl.IFLA_INFO_KIND, nl.NonZeroTerminated("bond"))
	info.AddRtAttr(nl.IFLA_INFO_DATA, nil).AddRtAttr(int(attr), payload)
	return l.change(info)
}

func readBondOption(l link, option string) (string, error) {
	attr, _, err := bondAttr(l, option)
	if err != nil {
		return "", err
	}
	b, ok := l.info[attr]
	if !ok {
		return "", fmt.Errorf("this kernel does not report bond option %s: %w", option, fs.ErrNotExist)
	}
	r, _ := plan.BondOptionRule(option)
	n := strconv.FormatUint(uint64(number(b)), 10)
	word, err := r.Word(n)
	if err != nil {
		return n, nil // newer than the table: told as it is, and so no plan's Old
	}
	return word, nil
}
