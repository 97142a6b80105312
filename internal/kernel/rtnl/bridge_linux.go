package rtnl

import (
	"fmt"

	"github.com/linerate/linerate/internal/kernel/nlattr"
)

// bridgeOptions is the one table of a bridge's settings: attribute
// (IFLA_BR_*, include/uapi/linux/if_link.h), name in
// /sys/class/net/BRIDGE/bridge, and how the value is written there. What a
// bridge reports beside its settings (identifiers, timers) is not in it.
var bridgeOptions = [...]struct {
	kind  uint16
	name  string
	value func([]byte) string
}{
	{1, "forward_delay", decimal},
	{2, "hello_time", decimal},
	{3, "max_age", decimal},
	{4, "ageing_time", decimal},
	{5, "stp_state", decimal},
	{6, "priority", decimal},
	{7, "vlan_filtering", decimal},
	{8, "vlan_protocol", protocolHex},
	{9, "group_fwd_mask", func(v []byte) string { return fmt.Sprintf("%#x", u16(v)) }},
	{20, "group_addr", hardwareAddress},
	{22, "multicast_router", decimal},
	{23, "multicast_snooping", decimal},
	{24, "multicast_query_use_ifaddr", decimal},
	{25, "multicast_querier", decimal},
	{27, "hash_max", decimal},
	{36, "nf_call_iptables", decimal},
	{37, "nf_call_ip6tables", decimal},
	{38, "nf_call_arptables", decimal},
	{39, "default_pvid", decimal},
	{41, "vlan_stats_enabled", decimal},
	{42, "multicast_stats_enabled", decimal},
	{43, "multicast_igmp_version", decimal},
	{44, "multicast_mld_version", decimal},
	{45, "vlan_stats_per_port", decimal},
}

// bridgeLast is the newest attribute that the header of 6.18 knows; what is
// beyond is kept by number.
const bridgeLast = 50

// protocolHex reads an EtherType in network byte order: "0x8100".
func protocolHex(v []byte) string {
	if len(v) < 2 {
		return ""
	}
	return fmt.Sprintf("0x%02x%02x", v[0], v[1])
}

// decodeBridge reads IFLA_INFO_DATA of a bridge.
func decodeBridge(data []byte) map[string]string {
	options := make(map[string]string)
	err := nlattr.Each(data, func(kind uint16, v []byte) {
		for _, o := range bridgeOptions {
			if o.kind == kind {
				options[o.name] = o.value(v)
				return
			}
		}
		if kind > bridgeLast {
			options[fmt.Sprintf("ifla-br-%d", kind)] = kept(v)
		}
	})
	if err != nil {
		options["ifla-info-data"] = kept(data)
	}
	return options
}
