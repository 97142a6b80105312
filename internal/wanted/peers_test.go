package wanted_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/wanted"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// freePorts is a host with three ports that nobody uses.
func freePorts() netstate.Host {
	h := bare(netstate.Host{Name: "h", Kernel: netstate.Kernel{OS: "linux", Release: "6.18.2"}, Links: []netstate.Link{{Name: "eth1"}, {Name: "eth2"}, {Name: "eth3"}}})
	for i := range h.Links {
		h.Links[i].Up, h.Links[i].Carrier = true, true
	}
	defaults(&h)
	return h
}

// TestPeersCases are the statements that the kernel, nmstate or netplan refuse, and
// neighbours that they take, each by what was tried. Words is the error's or the
// note's; none for a plan without either.
func TestPeersCases(t *testing.T) {
	for _, c := range []struct {
		name, text string
		refused    bool
		words      string
	}{
		{"both miimon and arp (nmstate refuses)", "B parameters: {mode: active-backup, mii-monitor-interval: 100, arp-interval: 100, arp-ip-targets: [192.0.2.251]}}}}", true, "bond99 miimon: miimon and arp_interval exclude each other (bond_option_miimon_set)"},
		{"fail_over_mac active + macaddress (nmstate refuses)", "B parameters: {mode: active-backup, fail-over-mac-policy: active}, macaddress: '02:ff:ff:ff:ff:00'}}}", true, "macaddress of bond99: with fail_over_mac active its address is its active port's (bond_set_mac_address)"},
		{"dhcp4 on a port (nmstate refuses)", "network: {ethernets: {eth1: {dhcp4: true}, eth2: {}}, bonds: {bond99: {interfaces: [eth1, eth2], parameters: {mode: balance-rr}}}}", true, "eth1 is a port of bond99, and a port asks for no lease"},
		{"static address on a port", "network: {ethernets: {eth1: {addresses: [192.0.2.5/24]}, eth2: {}}, bonds: {bond99: {interfaces: [eth1, eth2], parameters: {mode: balance-rr}}}}", true, "eth1 is a port of bond99, and a port's addresses are not used"},
		{"no mode (nmstate refuses; documented default)", "B parameters: {}}}}", false, "bond99 watches no port (miimon 0, no arp_interval): one that dies goes on being used"},
		{"arp_interval in 802.3ad (kernel EACCES)", "B parameters: {mode: 802.3ad, arp-interval: 100, arp-ip-targets: [192.0.2.251]}}}}", true, "arp_interval is not for mode 802.3ad of bond99"},
		{"arp_interval in balance-tlb", "B parameters: {mode: balance-tlb, arp-interval: 100, arp-ip-targets: [192.0.2.251]}}}}", true, "arp_interval is not for mode balance-tlb of bond99"},
		{"arp_validate in balance-alb", "B parameters: {mode: balance-alb, arp-validate: active}}}}", true, "arp_validate is not for mode balance-alb of bond99"},
		{"primary in balance-rr", "B parameters: {mode: balance-rr, primary: eth1}}}}", true, "primary is not for mode balance-rr of bond99"},
		{"primary not a port", "B parameters: {mode: active-backup, primary: eth9}}}}", true, "primary eth9 is no port of bond99 (nearest: eth1)"},
		{"lacp_rate in balance-xor", "B parameters: {mode: balance-xor, lacp-rate: fast}}}}", true, "lacp_rate is not for mode balance-xor of bond99"},
		{"min_links 3 of 2 ports in 802.3ad", "B parameters: {mode: 802.3ad, min-links: 3, mii-monitor-interval: 100}}}}", false, "bond99 never has carrier: it needs 3 ports (min_links) and has 2"},
		{"updelay without miimon", "B parameters: {mode: balance-rr, up-delay: 200}}}}", true, "bond99 updelay: it needs miimon (_bond_option_delay_set)"},
		{"updelay not a multiple of miimon (kernel rounds down)", "B parameters: {mode: balance-rr, up-delay: 250, mii-monitor-interval: 100}}}}", true, "bond99 updelay: 250 ms is no multiple of miimon, 100 ms: the kernel would round it"},
		{"tlb_dynamic_lb in balance-rr", "B parameters: {mode: balance-rr}}}}\nbonding: {bond99: {tlb_dynamic_lb: 0}}", true, "tlb_dynamic_lb is not for mode balance-rr"},
		{"packets_per_slave in active-backup", "B parameters: {mode: active-backup, packets-per-member: 3}}}}", true, "packets_per_slave is not for mode active-backup of bond99"},
		{"packets_per_slave 65536", "B parameters: {mode: balance-rr, packets-per-member: 65536}}}}", true, "65536 is not from 0 to 65535"},
		{"arp_interval without targets", "B parameters: {mode: active-backup, arp-interval: 100}}}}", true, "bond99 arp_interval: no arp_ip_target and no ns_ip6_target to ask: every port would count as down (bond_option_arp_interval_set)"},
		{"num_grat_arp 256", "B parameters: {mode: active-backup, gratuitous-arp: 256}}}}", true, "256 is not from 0 to 255"},
		{"num_grat_arp 300 by kernel name", "B parameters: {mode: active-backup}}}}\nbonding: {bond99: {num_grat_arp: 300}}", true, "300 is not from 0 to 255"},
		{"resend_igmp 256", "B parameters: {mode: active-backup, resend-igmp: 256}}}}", true, "256 is not from 0 to 255"},
		{"lp_interval 0", "B parameters: {mode: balance-tlb, learn-packet-interval: 0}}}}", true, "bond99: bond option lp_interval: \"0\" is no number from 1 to 2147483647"},
		{"arp_missed_max 0", "B parameters: {mode: active-backup}}}}\nbonding: {bond99: {arp_missed_max: 0}}", true, "0 is not from 1 to 255"},
		{"arp_missed_max in 802.3ad", "B parameters: {mode: 802.3ad}}}}\nbonding: {bond99: {arp_missed_max: 3}}", true, "arp_missed_max is not for mode 802.3ad"},
		{"ad_user_port_key 1024", "B parameters: {mode: 802.3ad}}}}\nbonding: {bond99: {ad_user_port_key: 1024}}", true, "1024 is not from 0 to 1023"},
		{"ad_actor_sys_prio 0", "B parameters: {mode: 802.3ad}}}}\nbonding: {bond99: {ad_actor_sys_prio: 0}}", true, "0 is not from 1 to 65535"},
		{"ad_actor_sys_prio in balance-rr", "B parameters: {mode: balance-rr}}}}\nbonding: {bond99: {ad_actor_sys_prio: 7}}", true, "ad_actor_sys_prio is not for mode balance-rr"},
		{"port in two bonds", "network: {ethernets: {eth1: {}, eth2: {}, eth3: {}}, bonds: {bond98: {interfaces: [eth1, eth2]}, bond99: {interfaces: [eth2, eth3]}}}", true, "eth2 is a port of bond98 already"},
		{"bond as a bond's port", "network: {ethernets: {eth1: {}, eth2: {}, eth3: {}}, bonds: {bond98: {interfaces: [eth1, eth2]}, bond99: {interfaces: [bond98, eth3]}}}", true, "bond98 is a bond: a bond's ports are devices"},
		{"vlan id 4095", "B parameters: {mode: balance-rr}}}, vlans: {v: {id: 4095, link: bond99}}}", true, "4095 is not from 0 to 4094"},
		{"VLAN 0", "B parameters: {mode: balance-rr}}}, vlans: {v: {id: 0, link: bond99}}}", true, "VLAN ID 0 of v is outside 1 to 4094 (IEEE 802.1Q)"},
		{"vlan MTU above base", "B parameters: {mode: balance-rr}}}, vlans: {v: {id: 5, link: bond99, mtu: 9000}}}", true, "v is to have MTU 9000, more than the 1500 of bond99, which it rides on"},
		{"MTU 60", "B parameters: {mode: balance-rr}, mtu: 60}}}", true, "bond99 mtu: 60 is outside the 68 to 65535 of such a link"},
		{"bond name of 16 letters", "network: {ethernets: {eth1: {}, eth2: {}}, bonds: {abcdefghijklmnop: {interfaces: [eth1, eth2], parameters: {mode: balance-rr}}}}", true, "abcdefghijklmnop: a link's name has at most 15 bytes"},
		{"17 arp targets", "B parameters: {mode: active-backup, arp-interval: 100, arp-ip-targets: [192.0.2.1, 192.0.2.2, 192.0.2.3, 192.0.2.4, 192.0.2.5, 192.0.2.6, 192.0.2.7, 192.0.2.8, 192.0.2.9, 192.0.2.10, 192.0.2.11, 192.0.2.12, 192.0.2.13, 192.0.2.14, 192.0.2.15, 192.0.2.16, 192.0.2.17]}}}}", true, "has 17 addresses, the kernel takes 16"},
		{"ns_ip6_target multicast", "B parameters: {mode: active-backup}}}}\nbonding: {bond99: {ns_ip6_target: 'ff02::1', arp_interval: 100}}", true, "bond99: bond option ns_ip6_target: ff02::1 cannot be asked (bond_is_ip_target_ok)"},
		{"arp target 0.0.0.0", "B parameters: {mode: active-backup, arp-interval: 100, arp-ip-targets: [0.0.0.0]}}}}", true, "bond99: bond option arp_ip_target: 0.0.0.0 cannot be asked (bond_is_ip_target_ok)"},
		{"use_carrier 0 (kernel 6.18 takes 1 only)", "B parameters: {mode: balance-rr}}}}\nbonding: {bond99: {use_carrier: 0}}", true, "bond99 use_carrier: kernel 6.18.2 takes no 0: Linux 6.18 removed it"},
		{"lacp_strict (new option)", "B parameters: {mode: 802.3ad}}}}\nbonding: {bond99: {lacp_strict: true}}", true, "bond99 lacp_strict: kernel 6.18.2 has no such option: it came with Linux 7.2, and with later stable releases of older ones (6.18.40, 7.1.5)"},
		{"actor_port_prio of a port", "B parameters: {mode: 802.3ad}}}}\nbonding: {bond99: {ad_select: actor_port_prio}}\nlinks: {eth1: {actor_port_prio: 100}}", false, ""},
		{"port_prio in 802.3ad", "B parameters: {mode: 802.3ad}}}}\nlinks: {eth1: {port_prio: 100}}", false, "eth1 port prio: 100 has no meaning in mode 802.3ad (BOND_OPT_PRIO)"},
		{"ad_select in balance-rr (kernel takes it)", "B parameters: {mode: balance-rr, ad-select: count}}}}", false, "bond99 watches no port (miimon 0, no arp_interval): one that dies goes on being used"},
		{"xmit_hash in active-backup (kernel takes it)", "B parameters: {mode: active-backup, transmit-hash-policy: layer3+4}}}}", false, "bond99 watches no port (miimon 0, no arp_interval): one that dies goes on being used"},
		{"coupled_control in balance-rr", "B parameters: {mode: balance-rr}}}}\nbonding: {bond99: {coupled_control: false}}", true, "coupled_control is not for mode balance-rr"},
		{"broadcast_neighbor in active-backup", "B parameters: {mode: active-backup}}}}\nbonding: {bond99: {broadcast_neighbor: true}}", true, "broadcast_neighbor is not for mode active-backup"},
		{"peer_notif_delay 50 with miimon 100 (kernel rounds down)", "B parameters: {mode: active-backup, mii-monitor-interval: 100}}}}\nbonding: {bond99: {peer_notif_delay: 50}}", true, "bond99 peer_notif_delay: 50 ms is no multiple of miimon, 100 ms: the kernel would round it"},
		{"fail_over_mac active in balance-xor", "B parameters: {mode: balance-xor, fail-over-mac-policy: active}}}}", false, "bond99 watches no port (miimon 0, no arp_interval): one that dies goes on being used"},
		{"duplicate address on two links", "network: {ethernets: {eth1: {addresses: [192.0.2.5/24]}, eth2: {addresses: [192.0.2.5/24]}}}", true, "address 192.0.2.5 of eth2 of h is eth1 of h's already"},
		{"multicast MAC", "B parameters: {mode: balance-rr}, macaddress: '01:00:5e:00:00:01'}}}", true, "01:00:5e:00:00:01 is a group's address, and no device's (is_valid_ether_addr)"},
		{"address is the network's", "network: {ethernets: {eth1: {addresses: [192.0.2.0/24]}, eth2: {}}}", true, "192.0.2.0/24 of eth1: it is its network's own (RFC 1122, 3.2.1.3)"},
		{"two defaults same metric", "network: {ethernets: {eth1: {addresses: [192.0.2.5/24], routes: [{to: default, via: 192.0.2.1}]}, eth2: {addresses: [198.51.100.5/24], routes: [{to: default, via: 198.51.100.1}]}}}", true, "the file has a route to 0.0.0.0/0 via 192.0.2.1 dev eth1 already"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(c.text, "B ", "network: {ethernets: {eth1: {}, eth2: {}}, bonds: {bond99: {interfaces: [eth1, eth2], ", 1)
			f, err := fabric.Parse("f.yaml", []byte("linerate: v1\nhosts: {h: {profiles: [], "+strings.ReplaceAll(text, "\n", ", ")+"}}\n"))
			var state wanted.State
			var steps plan.Plan
			if err == nil {
				state, err = wanted.Of(wanted.Request{Fabric: f, Host: "h", Observed: freePorts()})
			}
			if err == nil {
				steps, err = plan.Between(freePorts(), state.Host)
			}
			notes := slices.Concat(state.Warnings, state.Left, steps.Left)
			if c.refused != (err != nil) {
				t.Fatalf("refused: %v; notes %q", err, notes)
			}
			if err != nil {
				notes = []string{err.Error()}
			}
			if c.words == "" && len(notes) > 0 {
				t.Errorf("it says %q", notes)
			}
			said(t, append(notes, ""), c.words)
		})
	}
}
