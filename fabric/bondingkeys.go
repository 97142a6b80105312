package fabric

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// kernelRow is a bond option under the kernel's name.
type kernelRow struct {
	name, doc string
	text      scalar[string]
}

// kernelRows are the options that netplan has no word for, or fewer values
// (drivers/net/bonding/bond_options.c, v6.12). The rest come from bondRows.
var kernelRows = []kernelRow{
	{"lacp_active", "whether LACPDUs are sent unasked: on, off", onOff},
	{"ad_actor_sys_prio", "this system's LACP priority", decimal(1, 65535)},
	{"ad_actor_system", "this system's LACP address, 00:00:00:00:00:00 the bond's own", systemMAC},
	{"ad_user_port_key", "the upper ten bits of the ports' LACP key", decimal(0, 1023)},
	{"coupled_control", "whether collecting and distributing begin together: on, off", onOff},
	{"ad_select", "how the aggregator is chosen", word("stable", "bandwidth", "count", "actor_port_prio")},
	{"broadcast_neighbor", "whether ARP and neighbour discovery leave by every port: on, off", onOff},
	{"tlb_dynamic_lb", "balance-tlb and -alb: 1 moves flows by load, 0 hashes", zeroOneText},
	{"peer_notif_delay", "milliseconds between announcements after a failover", decimal(0, 300_000)},
	{"arp_missed_max", "ARP checks that may fail before a port is down", decimal(1, 255)},
	{"ns_ip6_target", "IPv6 addresses to ask for, separated by commas, at most 16", addressesText(netip.Addr.Is6)},
	{"use_carrier", "1 asks the driver for its carrier, 0 asks by ioctl", zeroOneText},
	{"active_slave", "the port that is to be active now", free},
	{"num_unsol_na", "the same as num_grat_arp", decimal(0, 255)},
	{"arp_ip_target", "IPv4 addresses to ask for, separated by commas, at most 16", addressesText(netip.Addr.Is4)},
	{"arp_validate", "which ports' ARP traffic is checked", word("none", "active", "backup", "all", "filter", "filter_active", "filter_backup")},
	{"all_slaves_active", "1 accepts frames on inactive ports", zeroOneText},
	{"lp_interval", "seconds between learning packets", decimal(1, 1<<31-1)},
}

var (
	onOff = scalar[string]{schema: truth.schema, hint: "write on or off", parse: func(s string) (string, error) {
		on, err := parseSwitch(s)
		if on {
			return "on", err
		}
		return "off", err
	}}
	zeroOneText = scalar[string]{schema: either(truth.schema, map[string]any{"enum": []string{"0", "1"}}, map[string]any{"type": "integer", "minimum": 0, "maximum": 1}), hint: "write 0 or 1", parse: func(s string) (string, error) {
		on, err := parseSwitch(s)
		if on {
			return "1", err
		}
		return "0", err
	}}
	systemMAC = scalar[string]{schema: mac.schema, parse: func(s string) (string, error) {
		m, err := flow.ParseMAC(s)
		if err == nil && m[0]&1 != 0 {
			return "", fmt.Errorf("%s is a multicast address", s)
		}
		return m.String(), err
	}}
)

// addressesText is a list of addresses as the kernel has it.
func addressesText(family func(netip.Addr) bool) scalar[string] {
	return scalar[string]{
		schema: map[string]any{"type": "string"},
		parse: func(s string) (string, error) {
			if s == "none" {
				return "", nil
			}
			words := strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
			if len(words) == 0 || len(words) > 16 {
				return "", fmt.Errorf("%q holds %d addresses, the kernel takes 1 to 16", s, len(words))
			}
			for i, w := range words {
				a, err := netip.ParseAddr(w)
				if err != nil || !family(a) {
					return "", fmt.Errorf("%q is no address of the right family", w)
				}
				words[i] = a.String()
			}
			return strings.Join(words, ","), nil
		},
		hint: "separate addresses by commas; none asks nobody",
	}
}

var bondingKeys = object[map[string]string]{
	name: "bonding", doc: "Bond options under their kernel names (/sys/class/net/BOND/bonding).",
	keys: bondingRows(), alias: bondingAliases(),
}

func bondingRows() []key[map[string]string] {
	var rows []key[map[string]string]
	known := map[string]bool{}
	for _, r := range kernelRows {
		rows = append(rows, key[map[string]string]{r.name, r.doc, entry(r.name, r.text)})
		known[r.name] = true
	}
	for _, r := range bondRows {
		if !known[r.kernel] {
			rows = append(rows, key[map[string]string]{r.kernel, "netplan's " + r.key.name + ": " + r.key.doc, entry(r.kernel, r.text)})
		}
	}
	return rows
}

// bondingAliases leads from netplan's names to the kernel's.
func bondingAliases() map[string]string {
	aliases := map[string]string{"peer_notify_delay": "peer_notif_delay", "hash_policy": "xmit_hash_policy"}
	for _, r := range bondRows {
		aliases[r.key.name] = r.kernel
	}
	return aliases
}

// BondingOptions are the kernel names of the bond options that `bonding` takes.
func BondingOptions() []string { return bondingKeys.names() }

// optionModes are the modes whose bonds take an option, by kernel name
// (unsuppmodes of bond_opts, bond_options.c); every mode where it is not here.
var optionModes = map[string][]netstate.BondMode{
	"lacp_rate":         {netstate.LACP},
	"lacp_active":       {netstate.LACP},
	"ad_actor_sys_prio": {netstate.LACP},
	"ad_actor_system":   {netstate.LACP},
	"ad_user_port_key":  {netstate.LACP},
	"coupled_control":   {netstate.LACP},

	"broadcast_neighbor": {netstate.LACP},
	"packets_per_slave":  {netstate.BalanceRR},
	"tlb_dynamic_lb":     {netstate.BalanceTLB, netstate.BalanceALB},
	"arp_interval":       arpModes,
	"arp_missed_max":     arpModes,
	"arp_validate":       arpModes,
	"primary":            activeModes,
	"active_slave":       activeModes,
}

var (
	arpModes    = []netstate.BondMode{netstate.BalanceRR, netstate.ActiveBackup, netstate.BalanceXOR, netstate.Broadcast}
	activeModes = []netstate.BondMode{netstate.ActiveBackup, netstate.BalanceTLB, netstate.BalanceALB}
)

// OptionInMode reports whether a bond of the mode takes an option, by its
// kernel name.
func OptionInMode(kernelName string, mode netstate.BondMode) bool {
	modes, limited := optionModes[kernelName]
	return !limited || slices.Contains(modes, mode)
}

// initialOptions are what the driver makes a bond with, of the options that
// netplan has no word for (bond_check_params and bond_setup, bond_main.c).
var initialOptions = map[string]string{
	"lacp_active": "on", "ad_actor_sys_prio": "65535", "ad_actor_system": "00:00:00:00:00:00", "ad_user_port_key": "0", "coupled_control": "on",
	"broadcast_neighbor": "off", "peer_notif_delay": "0", "arp_missed_max": "2", "use_carrier": "1",
}

// initialOf is InitialOption also of those.
func initialOf(kernelName string) string {
	if v, known := initialOptions[kernelName]; known {
		return v
	}
	return InitialOption(kernelName)
}

// InitialOption is what the driver makes a bond with, by the option's kernel
// name; "" unknown.
func InitialOption(kernelName string) string {
	for _, r := range bondRows {
		if r.kernel == kernelName {
			return r.initial
		}
	}
	return Option(kernelBond(), kernelName)
}

// layBonding lays `bonding` over the bonds of the network, so that a bond's
// Options are all that the file says of it.
func (h *Host) layBonding() {
	for i := range h.Network.Bonds {
		b := &h.Network.Bonds[i]
		for _, kernel := range sortedNames(h.Bonding[b.ID]) {
			if !b.Sets(kernel) {
				b.setKernelOption(kernel, h.Bonding[b.ID][kernel])
			}
		}
	}
}

// setKernelOption sets an option by its kernel name and notes that it is set.
func (b *Bond) setKernelOption(kernelName, value string) {
	if !SetOption(&b.Options, kernelName, value) {
		return
	}
	if !b.Sets(kernelName) {
		b.Set = append(b.Set, kernelName)
	}
}
