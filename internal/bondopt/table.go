package bondopt

import "github.com/linerate/linerate/netstate"

// Most is the bound of bond_intmax_tbl.
const Most = 1<<31 - 1

// optionRows is the table of a bond's options: one row each, in an order in which
// they can be set. The rules are those of bond_opts (struct bond_option,
// drivers/net/bonding/bond_options.c), tried option by option and mode by mode
// on running kernels; the attributes are enum IFLA_BOND_* (include/uapi/linux/
// if_link.h; bond_policy, bond_netlink.c); the defaults are bond_check_params
// and bond_setup's.
//
// The formats are netplan 1.1 (doc/netplan-yaml.md), systemd.netdev(5) of
// systemd 252 with the keys of 256, libnm 1.42 (nm-setting-bond.c) with those of
// 1.44, nmstate 2.2 (rust/src/lib/ifaces/bond.rs), ifenslave 2.13 (setup_bond),
// ifupdown2 3.0.0 (addons/bond.py), what does the same in teamd.conf(5) of libteam
// 1.32, and Talos 1.14 (BondConfig, types/network/bond.go; Older: machine.network's).
func optionRows() []Option {
	type in = map[Format]Saying
	lacp := []netstate.BondMode{netstate.LACP}
	tlb := []netstate.BondMode{netstate.BalanceTLB, netstate.BalanceALB}
	one := []netstate.BondMode{netstate.ActiveBackup, netstate.BalanceTLB, netstate.BalanceALB} // one active port
	arp := []netstate.BondMode{netstate.BalanceRR, netstate.ActiveBackup, netstate.BalanceXOR, netstate.Broadcast}
	onOff, falseTrue := []string{"off", "on"}, []string{"false", "true"}
	return []Option{
		{Name: "mode", Attr: 1, Size: 1, Words: words(netstate.BondModes()), Default: "balance-rr", NoPorts: true, NeedsDown: true, Source: "BOND_OPT_MODE",
			Doc: "bonding mode, balance-rr when left out", Proc: "Bonding Mode", field: func(b *netstate.Bond) any { return &b.Mode },
			In: in{Netplan: {Name: "mode"}, Networkd: {Name: "Mode"}, Keyfile: {}, Nmstate: {}, Ifenslave: {}, Ifupdown2: {Downs: true}, Teamd: {Name: "runner.name", Words: []string{"roundrobin", "activebackup", "loadbalance", "broadcast", "lacp", "", ""}}, Talos: {Name: "bondMode", Older: []string{"mode"}}}},
		{Name: "miimon", Attr: 3, Size: 4, Unit: Milliseconds, Max: Most, Default: "0", Source: "BOND_OPT_MIIMON",
			Doc: "link monitoring interval in milliseconds; 0 watches nothing", Proc: "MII Polling Interval (ms)", field: func(b *netstate.Bond) any { return &b.Miimon },
			In: in{Netplan: {Name: "mii-monitor-interval"}, Networkd: {Name: "MIIMonitorSec"}, Keyfile: {}, Nmstate: {}, Ifenslave: {}, Ifupdown2: {}, Talos: {}}},
		{Name: "updelay", Attr: 4, Size: 4, Unit: Milliseconds, Max: Most, Default: "0", Source: "BOND_OPT_UPDELAY",
			Doc: "wait before a port is used, in milliseconds", Proc: "Up Delay (ms)", field: func(b *netstate.Bond) any { return &b.UpDelay },
			In: in{Netplan: {Name: "up-delay"}, Networkd: {Name: "UpDelaySec"}, Keyfile: {}, Nmstate: {}, Ifenslave: {}, Ifupdown2: {}, Teamd: {Name: "delay_up"}, Talos: {}}},
		{Name: "downdelay", Attr: 5, Size: 4, Unit: Milliseconds, Max: Most, Default: "0", Source: "BOND_OPT_DOWNDELAY",
			Doc: "wait before a port is given up, in milliseconds", Proc: "Down Delay (ms)", field: func(b *netstate.Bond) any { return &b.DownDelay },
			In: in{Netplan: {Name: "down-delay"}, Networkd: {Name: "DownDelaySec"}, Keyfile: {}, Nmstate: {}, Ifenslave: {}, Ifupdown2: {}, Teamd: {Name: "delay_down"}, Talos: {}}},
		{Name: "peer_notif_delay", Attr: 28, Size: 4, Unit: Milliseconds, Max: 300_000, Default: "0", Since: "5.3", Source: "BOND_OPT_PEER_NOTIF_DELAY",
			Doc: "milliseconds between announcements after a failover", Proc: "Peer Notification Delay (ms)",
			In: in{Networkd: {Name: "PeerNotifyDelaySec", Since: "256"}, Keyfile: {}, Iproute2: {Name: "peer_notify_delay"}, Teamd: {Name: "notify_peers.interval", Modes: one}, Talos: {Name: "peerNotifDelay", Older: []string{"peerNotifyDelay"}}}},
		{Name: "xmit_hash_policy", Attr: 14, Size: 1, Words: words(netstate.HashPolicies()), Default: "layer2", Source: "BOND_OPT_XMIT_HASH",
			Doc: "which headers choose a flow's port, layer2 when left out", Proc: "Transmit Hash Policy", field: func(b *netstate.Bond) any { return &b.HashPolicy },
			In: in{Netplan: {Name: "transmit-hash-policy", Lacks: []string{"vlan+srcmac"}, Lenient: true}, Networkd: {Name: "TransmitHashPolicy", Lacks: []string{"vlan+srcmac"}}, Keyfile: {}, Nmstate: {}, Ifenslave: {}, Ifupdown2: {Downs: true}, Talos: {Name: "xmitHashPolicy"}}},
		{Name: "min_links", Attr: 18, Size: 4, Max: Most, Default: "0", Source: "BOND_OPT_MINLINKS",
			Doc: "ports that must be up for the bond to be", Proc: "Min links", field: func(b *netstate.Bond) any { return &b.MinLinks },
			In: in{Netplan: {Name: "min-links"}, Networkd: {Name: "MinLinks"}, Keyfile: {}, Nmstate: {}, Ifupdown2: {Downs: true}, Teamd: {Name: "runner.min_ports", Modes: lacp}, Talos: {Name: "minLinks"}}},
		{Name: LACPRate, Attr: 21, Size: 1, Words: words(netstate.LACPRates()), Default: "slow", Modes: lacp, NeedsDown: true, Source: "BOND_OPT_LACP_RATE",
			Doc: "how often the partner sends LACPDUs, slow when left out", Proc: "LACP rate", field: func(b *netstate.Bond) any { return &b.LACPRate },
			In: in{Netplan: {Name: "lacp-rate"}, Networkd: {Name: "LACPTransmitRate"}, Keyfile: {}, Nmstate: {}, Ifenslave: {}, Ifupdown2: {Downs: true}, Teamd: {Name: "runner.fast_rate", Words: falseTrue}, Talos: {Name: "lacpRate"}}},
		{Name: "lacp_active", Attr: 29, Size: 1, Words: onOff, Default: "on", Modes: lacp, NeedsDown: true, Since: "5.15", Source: "BOND_OPT_LACP_ACTIVE",
			Doc: "whether LACPDUs are sent unasked", Proc: "LACP active",
			In: in{Keyfile: {Since: "1.44"}, Teamd: {Name: "runner.active", Words: falseTrue}, Talos: {Name: "adLACPActive"}}},
		{Name: "lacp_strict", Attr: 34, Size: 1, Words: onOff, Default: "off", Modes: lacp, Since: "7.2", Stable: []string{"6.18.40", "7.1.5"}, Source: "BOND_OPT_LACP_STRICT",
			Doc: "whether the bond has carrier only while a port collects and distributes"},
		{Name: "ad_select", Attr: 22, Size: 1, Words: []string{"stable", "bandwidth", "count", "actor_port_prio"}, Default: "stable", NeedsDown: true, Source: "BOND_OPT_AD_SELECT",
			Doc: "how the aggregator is chosen", Proc: "Aggregator selection policy (ad_select)",
			In: in{Netplan: {Name: "ad-select", Lacks: []string{"actor_port_prio"}}, Networkd: {Name: "AdSelect", Lacks: []string{"actor_port_prio"}}, Keyfile: {}, Nmstate: {Lacks: []string{"actor_port_prio"}}, Ifenslave: {}, Teamd: {Name: "runner.agg_select_policy", Words: []string{"", "bandwidth", "count", ""}, Modes: lacp}, Talos: {Name: "adSelect"}}},
		{Name: "ad_actor_sys_prio", Attr: 24, Size: 2, Min: 1, Max: 65535, Default: "65535", Modes: lacp, Hidden: true, Source: "BOND_OPT_AD_ACTOR_SYS_PRIO",
			Doc: "this system's LACP priority", Proc: "System priority",
			In: in{Networkd: {Name: "AdActorSystemPriority"}, Keyfile: {}, Nmstate: {}, Ifupdown2: {Older: []string{"ad_sys_priority"}}, Teamd: {Name: "runner.sys_prio"}, Talos: {Name: "adActorSysPrio", ZeroUnsaid: true}}},
		{Name: "ad_actor_system", Attr: 26, Kind: MAC, Default: "00:00:00:00:00:00", Modes: lacp, Hidden: true, Source: "BOND_OPT_AD_ACTOR_SYSTEM",
			Doc: "this system's LACP address, 00:00:00:00:00:00 the bond's own",
			In:  in{Networkd: {Name: "AdActorSystem"}, Keyfile: {}, Nmstate: {}, Ifupdown2: {Older: []string{"ad_sys_mac_addr"}}, Talos: {Name: "adActorSystem"}}},
		{Name: "ad_user_port_key", Attr: 25, Size: 2, Max: 1023, Default: "0", Modes: lacp, Hidden: true, NeedsDown: true, Source: "BOND_OPT_AD_USER_PORT_KEY",
			Doc: "the upper ten bits of the ports' LACP key",
			In:  in{Networkd: {Name: "AdUserPortKey"}, Keyfile: {}, Nmstate: {}, Talos: {Name: "adUserPortKey"}}},
		{Name: "coupled_control", Attr: 32, Size: 1, Words: onOff, Default: "on", Modes: lacp, NeedsDown: true, Since: "6.9", Stable: []string{"6.1.176"}, Source: "BOND_OPT_COUPLED_CONTROL",
			Doc: "whether collecting and distributing begin together"},
		{Name: "broadcast_neighbor", Attr: 33, Size: 1, Words: onOff, Default: "off", Modes: lacp, Since: "6.17", Source: "BOND_OPT_BROADCAST_NEIGH",
			Doc: "whether ARP and neighbour discovery leave by every port"},
		{Name: "packets_per_slave", Attr: 20, Size: 4, Max: 65535, Default: "1", Modes: []netstate.BondMode{netstate.BalanceRR}, Source: "BOND_OPT_PACKETS_PER_SLAVE",
			Doc: "balance-rr: packets to a port before the next; 0 is random", field: func(b *netstate.Bond) any { return &b.PacketsPerSlave },
			In: in{Netplan: {Name: "packets-per-member", Older: []string{"packets-per-slave"}, ZeroUnsaid: true}, Networkd: {Name: "PacketsPerSlave"}, Keyfile: {}, Nmstate: {}, Ifenslave: {}, Talos: {Name: "packetsPerSlave", ZeroUnsaid: true}}},
		{Name: "tlb_dynamic_lb", Attr: 27, Size: 1, Max: 1, Default: "1", Modes: tlb, NeedsDown: true, Source: "BOND_OPT_TLB_DYNAMIC_LB",
			Doc: "balance-tlb and -alb: 1 moves flows by load, 0 hashes", field: func(b *netstate.Bond) any { return &b.TLBDynamic },
			In: in{Networkd: {Name: "DynamicTransmitLoadBalancing"}, Keyfile: {}, Nmstate: {}, Ifenslave: {}, Talos: {Name: "tlbLogicalLb", Older: []string{"tlbDynamicLb"}}}},
		{Name: "primary_reselect", Attr: 12, Size: 1, Words: []string{"always", "better", "failure"}, Default: "always", Source: "BOND_OPT_PRIMARY_RESELECT",
			Doc: "when the primary takes over again",
			In:  in{Netplan: {Name: "primary-reselect-policy"}, Networkd: {Name: "PrimaryReselectPolicy"}, Keyfile: {}, Nmstate: {}, Ifenslave: {}, Ifupdown2: {}, Talos: {Name: "primaryReselect"}}},
		{Name: "fail_over_mac", Attr: 13, Size: 1, Words: []string{"none", "active", "follow"}, Default: "none", NoPorts: true, Source: "BOND_OPT_FAIL_OVER_MAC",
			Doc: "which MAC the bond has in active-backup",
			In:  in{Netplan: {Name: "fail-over-mac-policy"}, Networkd: {Name: "FailOverMACPolicy"}, Keyfile: {}, Nmstate: {}, Ifenslave: {}, Teamd: {Name: "runner.hwaddr_policy", Words: []string{"same_all", "by_active", "only_active"}, Modes: []netstate.BondMode{netstate.ActiveBackup}}, Talos: {Name: "failOverMac"}}},
		{Name: "arp_ip_target", Attr: 8, Kind: IPv4List, Default: None, Source: "BOND_OPT_ARP_TARGETS",
			Doc: "addresses to ask for by ARP, at most 16", Proc: "ARP IP target/s (n.n.n.n form)",
			In: in{Netplan: {Name: "arp-ip-targets"}, Networkd: {Name: "ARPIPTargets"}, Keyfile: {Modes: arp}, Nmstate: {}, Ifenslave: {}, Teamd: {Name: "target_host"}, Talos: {Name: "arpIpTargets", Older: []string{"arpIPTarget"}}}},
		{Name: "ns_ip6_target", Attr: 31, Kind: IPv6List, Default: None, Since: "5.18", Source: "BOND_OPT_NS_TARGETS",
			Doc: "addresses to ask for by neighbour discovery, at most 16", Proc: "NS IPv6 target/s (xx",
			In: in{Keyfile: {Since: "1.44", Modes: arp}, Talos: {Name: "nsIp6Targets"}}},
		{Name: "arp_interval", Attr: 7, Size: 4, Unit: Milliseconds, Max: Most, Default: "0", Modes: arp, Source: "BOND_OPT_ARP_INTERVAL",
			Doc: "ARP monitoring interval in milliseconds", Proc: "ARP Polling Interval (ms)",
			In: in{Netplan: {Name: "arp-interval"}, Networkd: {Name: "ARPIntervalSec"}, Keyfile: {}, Nmstate: {}, Ifenslave: {}, Teamd: {Name: "interval"}, Talos: {Name: "arpInterval"}}},
		{Name: "arp_validate", Attr: 9, Size: 4, Words: []string{"none", "active", "backup", "all", "filter", "filter_active", "filter_backup"}, Default: "none", Modes: arp, Source: "BOND_OPT_ARP_VALIDATE",
			Doc: "which ports' ARP traffic is checked",
			In: in{Netplan: {Name: "arp-validate", Lacks: []string{"filter", "filter_active", "filter_backup"}},
				Networkd: {Name: "ARPValidate", Lacks: []string{"filter", "filter_active", "filter_backup"}}, Keyfile: {}, Nmstate: {}, Ifenslave: {},
				Talos: {Name: "arpValidate", Words: []string{"none", "active", "backup", "all", "filter", "filter-active", "filter-backup"}}}},
		{Name: "arp_all_targets", Attr: 10, Size: 4, Words: []string{"any", "all"}, Default: "any", Source: "BOND_OPT_ARP_ALL_TARGETS",
			Doc: "whether any or all targets must answer",
			In:  in{Netplan: {Name: "arp-all-targets"}, Networkd: {Name: "ARPAllTargets"}, Keyfile: {}, Nmstate: {}, Talos: {Name: "arpAllTargets"}}},
		{Name: "arp_missed_max", Attr: 30, Size: 1, Min: 1, Max: 255, Default: "2", Modes: arp, Since: "5.17", Source: "BOND_OPT_MISSED_MAX",
			Doc: "ARP checks that may fail before a port is down", Proc: "ARP Missed Max",
			In: in{Networkd: {Name: "ARPMissedMax", Since: "256"}, Keyfile: {Since: "1.44"}, Nmstate: {}, Teamd: {Name: "missed_max"}, Talos: {Name: "missedMax", ZeroUnsaid: true}}},
		{Name: "all_slaves_active", Attr: 17, Size: 1, Max: 1, Default: "0", Source: "BOND_OPT_ALL_SLAVES_ACTIVE",
			Doc: "whether inactive ports accept frames",
			In:  in{Netplan: {Name: "all-members-active", Older: []string{"all-slaves-active"}}, Networkd: {Name: "AllSlavesActive"}, Keyfile: {}, Nmstate: {Words: []string{"dropped", "delivered"}}, Talos: {Name: "allSlavesActive"}}},
		{Name: "resend_igmp", Attr: 15, Size: 4, Max: 255, Default: "1", Source: "BOND_OPT_RESEND_IGMP",
			Doc: "IGMP reports after a failover",
			In:  in{Netplan: {Name: "resend-igmp", ZeroUnsaid: true}, Networkd: {Name: "ResendIGMP"}, Keyfile: {}, Nmstate: {}, Teamd: {Name: "mcast_rejoin.count", Modes: one}, Talos: {Name: "resendIGMP", Older: []string{"resendIgmp"}, ZeroUnsaid: true}}},
		{Name: "num_grat_arp", Twin: "num_unsol_na", Attr: 16, Size: 1, Max: 255, Default: "1", Source: "BOND_OPT_NUM_PEER_NOTIF",
			Doc: "announcements after a failover",
			In:  in{Netplan: {Name: "gratuitous-arp", Older: []string{"gratuitious-arp"}, ZeroUnsaid: true}, Networkd: {Name: "GratuitousARP"}, Keyfile: {}, Nmstate: {}, Ifenslave: {}, Ifupdown2: {}, Teamd: {Name: "notify_peers.count", Modes: one}, Talos: {Name: "numPeerNotif", ZeroUnsaid: true}}},
		{Name: "lp_interval", Attr: 19, Size: 4, Unit: Seconds, Min: 1, Max: Most, Default: "1", Source: "BOND_OPT_LP_INTERVAL",
			Doc: "seconds between learning packets",
			In:  in{Netplan: {Name: "learn-packet-interval"}, Networkd: {Name: "LearnPacketIntervalSec"}, Keyfile: {}, Nmstate: {}, Talos: {Name: "lpInterval", ZeroUnsaid: true}}},
		{Name: "use_carrier", Attr: 6, Size: 1, Max: 1, Default: "1", Gone: map[string]string{"0": "6.18"}, Source: "BOND_OPT_USE_CARRIER",
			Doc: "1 asks the driver for its carrier; 0 asks by ioctl, until Linux 6.17",
			In:  in{Keyfile: {}, Nmstate: {}, Ifenslave: {}, Ifupdown2: {}, Talos: {Name: "useCarrier"}}},
		{Name: Primary, Attr: 11, Kind: Port, Default: None, Modes: one, Source: "BOND_OPT_PRIMARY",
			Doc: "the preferred port", Proc: "Primary Slave",
			In: in{Netplan: {Name: "primary"}, Keyfile: {}, Nmstate: {}, Ifenslave: {}, Ifupdown2: {}, Talos: {}}},
		{Name: Active, Attr: 2, Kind: Port, Default: None, Modes: one, Source: "BOND_OPT_ACTIVE_SLAVE",
			Doc: "the port that is to be active now",
			In:  in{Keyfile: {}, Ifenslave: {}}},
	}
}

// portRows is the table of the options of a bond's port: IFLA_BOND_SLAVE_*. The
// formats are those of optionRows; ifcfg is NetworkManager's reader of it.
func portRows() []Option {
	type in = map[Format]Saying
	one := []netstate.BondMode{netstate.ActiveBackup, netstate.BalanceTLB, netstate.BalanceALB}
	return []Option{
		{Name: "prio", Key: "port_prio", Attr: 9, Size: 4, Min: -1 << 31, Max: Most, Default: "0", Modes: one, Since: "5.19", Source: "BOND_OPT_PRIO",
			Doc: "priority among a bond's ports, the highest becomes active", port: func(p *netstate.BondPort) any { return &p.Priority },
			In: in{Keyfile: {Since: "1.44"}, Ifcfg: {Name: "BOND_PORT_PRIO", Since: "1.44"}, Nmstate: {Name: "priority"}, Teamd: {}}},
		{Name: QueueID, Key: QueueID, Attr: 5, Size: 2, Max: 65535, Default: "0", Source: "BOND_OPT_QUEUE_ID",
			Doc: "the transmit queue of its bond whose frames a bond's port gets, from 1; 0 none", port: func(p *netstate.BondPort) any { return &p.QueueID },
			In: in{Keyfile: {Name: "queue-id", Since: "1.34"}, Ifcfg: {Name: "BOND_PORT_QUEUE_ID", Since: "1.34"}, Nmstate: {Name: "queue-id"}, Teamd: {}}},
		{Name: "actor_port_prio", Key: "actor_port_prio", Attr: 10, Size: 2, Max: 65535, Default: "255", Modes: []netstate.BondMode{netstate.LACP}, Since: "6.18", Stable: []string{"6.1.176", "6.12.95"}, Source: "BOND_OPT_ACTOR_PORT_PRIO",
			Doc: "priority of a bond's port in 802.3ad, by which ad_select actor_port_prio chooses", port: func(p *netstate.BondPort) any { return &p.ActorPriority }},
	}
}
