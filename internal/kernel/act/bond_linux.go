package act

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"syscall"

	"github.com/vishvananda/netlink/nl"

	"github.com/linerate/linerate/internal/kernel/nlattr"
	"github.com/linerate/linerate/plan"
)

// form is how an option's value travels.
type form int

const (
	asNumber  form = iota // of the option's table, size bytes
	asLink                // an ifindex
	asIPv4s               // nested addresses
	asIPv6s               // nested addresses
	asAddress             // a hardware address
)

// bondAttrs is the netlink attribute of every bond option and how its value is
// encoded (enum IFLA_BOND_*, include/uapi/linux/if_link.h; bond_policy,
// drivers/net/bonding/bond_netlink.c, v6.12). Those from 28 on are newer than
// the library's list. quiet options are not reported while they are empty, or
// in other modes than 802.3ad (bond_fill_info).
var bondAttrs = [...]bondAttr{
	{option: "mode", attr: nl.IFLA_BOND_MODE, size: 1},
	{option: "miimon", attr: nl.IFLA_BOND_MIIMON, size: 4},
	{option: "updelay", attr: nl.IFLA_BOND_UPDELAY, size: 4},
	{option: "downdelay", attr: nl.IFLA_BOND_DOWNDELAY, size: 4},
	{option: "xmit_hash_policy", attr: nl.IFLA_BOND_XMIT_HASH_POLICY, size: 1},
	{option: "min_links", attr: nl.IFLA_BOND_MIN_LINKS, size: 4},
	{option: "lacp_rate", attr: nl.IFLA_BOND_AD_LACP_RATE, size: 1},
	{option: "ad_select", attr: nl.IFLA_BOND_AD_SELECT, size: 1},
	{option: "ad_actor_sys_prio", attr: nl.IFLA_BOND_AD_ACTOR_SYS_PRIO, size: 2, quiet: true},
	{option: "ad_user_port_key", attr: nl.IFLA_BOND_AD_USER_PORT_KEY, size: 2, quiet: true},
	{option: "ad_actor_system", attr: nl.IFLA_BOND_AD_ACTOR_SYSTEM, form: asAddress, quiet: true},
	{option: "packets_per_slave", attr: nl.IFLA_BOND_PACKETS_PER_SLAVE, size: 4},
	{option: "tlb_dynamic_lb", attr: nl.IFLA_BOND_TLB_DYNAMIC_LB, size: 1},
	{option: "primary", attr: nl.IFLA_BOND_PRIMARY, form: asLink, quiet: true},
	{option: "primary_reselect", attr: nl.IFLA_BOND_PRIMARY_RESELECT, size: 1},
	{option: "active_slave", attr: nl.IFLA_BOND_ACTIVE_SLAVE, form: asLink, quiet: true},
	{option: "fail_over_mac", attr: nl.IFLA_BOND_FAIL_OVER_MAC, size: 1},
	{option: "arp_interval", attr: nl.IFLA_BOND_ARP_INTERVAL, size: 4},
	{option: "arp_ip_target", attr: nl.IFLA_BOND_ARP_IP_TARGET, form: asIPv4s, quiet: true},
	{option: "arp_validate", attr: nl.IFLA_BOND_ARP_VALIDATE, size: 4},
	{option: "arp_all_targets", attr: nl.IFLA_BOND_ARP_ALL_TARGETS, size: 4},
	{option: "all_slaves_active", attr: nl.IFLA_BOND_ALL_SLAVES_ACTIVE, size: 1},
	{option: "resend_igmp", attr: nl.IFLA_BOND_RESEND_IGMP, size: 4},
	{option: "num_grat_arp", attr: nl.IFLA_BOND_NUM_PEER_NOTIF, size: 1},
	{option: "lp_interval", attr: nl.IFLA_BOND_LP_INTERVAL, size: 4},
	{option: "use_carrier", attr: nl.IFLA_BOND_USE_CARRIER, size: 1},
	{option: "peer_notif_delay", attr: 28, size: 4},
	{option: "lacp_active", attr: 29, size: 1},
	{option: "arp_missed_max", attr: 30, size: 1},
	{option: "ns_ip6_target", attr: 31, form: asIPv6s, quiet: true},
	{option: "coupled_control", attr: 32, size: 1},
	{option: "broadcast_neighbor", attr: 33, size: 1},
}

type bondAttr struct {
	option string
	attr   uint16
	size   int
	form   form
	quiet  bool
}

func bondAttrOf(l link, option string) (bondAttr, error) {
	if l.kind != "bond" {
		return bondAttr{}, fmt.Errorf("link %s is a %q and no bond: %w", l.name, l.kind, errors.ErrUnsupported)
	}
	for _, a := range bondAttrs {
		if a.option == option {
			return a, nil
		}
	}
	return bondAttr{}, fmt.Errorf("bond option %q: %w", option, errors.ErrUnsupported)
}

// lacks is the error of an option that this kernel does not have.
func lacks(option string) error {
	return fmt.Errorf("this kernel does not report bond option %s: %w", option, fs.ErrNotExist)
}

func setBondOption(l link, option, value string) error {
	a, err := bondAttrOf(l, option)
	if err != nil {
		return err
	}
	if _, known := l.info[a.attr]; !known && !a.quiet {
		// An older kernel takes the attribute and ignores it without a word.
		return setBySysfs(l, option, value)
	}
	payload, err := a.encode(l, value)
	if err != nil {
		return err
	}
	attr := nlattr.Encode(a.attr, payload)
	if a.form == asIPv4s || a.form == asIPv6s {
		attr = nest(a.attr, payload)
	}
	err = l.change(nest(syscall.IFLA_LINKINFO,
		nlattr.Encode(nl.IFLA_INFO_KIND, []byte("bond")), nest(nl.IFLA_INFO_DATA, attr)))
	if err != nil || !a.quiet || len(payload) == 0 {
		return err
	}
	if a.form != asIPv6s {
		return nil
	}
	// The one quiet option that some kernels lack, and ignore.
	now, err := findLink(l.name)
	if err == nil && now.info[a.attr] == nil {
		err = lacks(option)
	}
	return err
}

// encode is the attribute's value; of a list, the nested attributes.
func (a bondAttr) encode(l link, value string) ([]byte, error) {
	switch a.form {
	case asLink:
		return encodePort(l, a.option, value)
	case asIPv4s, asIPv6s:
		return encodeTargets(a, value)
	case asAddress:
		return encodeHardware(value)
	}
	r, known := plan.BondOptionRule(a.option)
	if !known {
		return nil, fmt.Errorf("bond option %q: %w", a.option, errors.ErrUnsupported)
	}
	n, err := r.Number(value)
	if err != nil {
		return nil, err
	}
	payload := make([]byte, a.size)
	switch a.size {
	case 1:
		payload[0] = byte(n)
	case 2:
		binary.NativeEndian.PutUint16(payload, uint16(n))
	default:
		binary.NativeEndian.PutUint32(payload, uint32(n))
	}
	return payload, nil
}

func readBondOption(l link, option string) (string, error) {
	a, err := bondAttrOf(l, option)
	if err != nil {
		return "", err
	}
	b, known := l.info[a.attr]
	switch {
	case a.form == asLink:
		return decodePort(b)
	case a.form == asIPv4s || a.form == asIPv6s:
		return decodeTargets(b), nil
	case !known && a.quiet:
		// Told in 802.3ad only, where it is effective.
		return "", &modeError{option}
	case !known:
		return readBySysfs(l, option)
	case a.form == asAddress:
		return decodeHardware(b), nil
	}
	n := strconv.FormatUint(uint64(number(b)), 10)
	r, _ := plan.BondOptionRule(option)
	word, err := r.Word(n)
	if err != nil {
		return n, nil // newer than the table: told as it is, and so no plan's Old
	}
	return word, nil
}

// modeError is an option that the kernel keeps and does not tell in the bond's
// present mode. It is fs.ErrNotExist.
type modeError struct{ option string }

func (e *modeError) Error() string {
	return fmt.Sprintf("bond option %s is told in mode 802.3ad only, to who has CAP_NET_ADMIN", e.option)
}

func (*modeError) Is(target error) bool { return target == fs.ErrNotExist }
