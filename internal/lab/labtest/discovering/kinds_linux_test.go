package discovering

// kind is a host as somebody else's program sets one up.
type kind struct {
	name     string
	links    int
	sysctls  map[string]string
	commands []string
	// says are what its file must say, or name in a comment, where the kernel
	// has it.
	says []string
}

// base gives a kind its way out.
var base = []string{"addr add 192.0.2.10/24 dev eth0", "addr add 2001:db8::10/64 dev eth0", "route add default via 192.0.2.1", "-6 route add default via 2001:db8::1"}

// kinds are recorded from what those programs do.
var kinds = []kind{
	{name: "wireguard", links: 2, commands: []string{ // wg-quick(8), add_default
		"addr add 10.200.0.2/24 dev eth1", "route add default dev eth1 table 51820", "-6 route add default dev eth1 table 51820",
		"rule add not fwmark 51820 table 51820", "rule add table main suppress_prefixlength 0",
		"-6 rule add not fwmark 51820 table 51820", "-6 rule add table main suppress_prefixlength 0",
	}, says: []string{"not fwmark 0xca6c", "suppress_prefixlength 0"}},
	{name: "tailscale", links: 1, commands: []string{ // wgengine/router: addIPRules
		"rule add pref 5210 fwmark 0x80000/0xff0000 table main", "rule add pref 5230 fwmark 0x80000/0xff0000 table default",
		"rule add pref 5250 fwmark 0x80000/0xff0000 unreachable", "rule add pref 5270 table 52", "-6 rule add pref 5270 table 52",
	}, says: []string{"priority 5210 from all fwmark 0x80000/0xff0000 table 254", "fwmark 0x80000/0xff0000 unreachable"}},
	{name: "docker", links: 2, sysctls: map[string]string{"net.ipv4.ip_forward": "1"}, commands: []string{
		"link add docker0 type bridge", "addr add 172.17.0.1/16 brd 172.17.255.255 dev docker0", "link set docker0 up",
		"link add br-0a1b2c type bridge", "addr add 172.18.0.1/16 dev br-0a1b2c", "link set br-0a1b2c up",
		"link add veth1234 type veth peer name ceth0", "link set veth1234 master docker0 up", "link set ceth0 up",
	}, says: []string{"docker0 (bridge) with 172.17.0.1/16"}},
	{name: "cilium", links: 2, commands: []string{
		"rule add from all lookup local pref 100", "-6 rule add from all lookup local pref 100", "rule del pref 0", "-6 rule del pref 0",
		"rule add pref 9 fwmark 0x200/0xf00 lookup 2004", "rule add pref 10 fwmark 0xa00/0xf00 lookup 2005", "rule add pref 111 from 10.0.0.7 lookup 7",
		"route add local default dev lo table 2004", "route add default via 192.0.2.1 dev eth0 table 7 proto kernel",
		"link add cilium_host type veth peer name cilium_net", "addr add 10.0.0.1/32 dev cilium_host", "link set cilium_host up", "link set cilium_net up",
		"route add 10.0.0.1 dev cilium_host table 2005 proto kernel scope link", "route add default via 10.0.0.1 dev cilium_host table 2005 proto kernel",
		"route add 10.0.0.0/24 via 10.0.0.1 dev cilium_host proto kernel src 10.0.0.1", "route add 10.0.1.0/24 via 192.0.2.2 dev eth0 proto kernel mtu 1450",
		"link add lxc_health type veth peer name lxc0", "link set lxc_health up", "link set lxc0 up",
	}, says: []string{"priority 9 from all fwmark 0x200/0xf00 table 2004", "made by kernel"}},
	{name: "calico", links: 1, commands: []string{
		"route add blackhole 10.244.1.0/26 proto 80", "route add 10.244.2.0/26 via 192.0.2.2 dev eth0 proto 80 onlink", "route add 10.244.3.0/26 via 192.0.2.3 dev eth0 proto bird",
		"link add cali1a2b type veth peer name cont0", "link set cali1a2b up", "link set cont0 up", "route add 10.244.1.5 dev cali1a2b scope link",
		"-6 route add blackhole fd00:244::/122 dev lo proto 80",
	}, says: []string{"blackhole 10.244.1.0/26", "proto bird"}},
	{name: "vrf", links: 3, commands: []string{
		"link add red type vrf table 10", "link set red up", "link set eth1 master red", "addr add 198.51.100.2/24 dev eth1", "addr add fd00:10::2/64 dev eth1",
		"route add table 10 unreachable default metric 4278198272", "route add 10.9.0.0/16 via 198.51.100.1 dev eth1 table 10", "-6 route add fd00:99::/64 via fd00:10::1 dev eth1 table 10",
	}, says: []string{"ip link eth1 master red"}},
	{name: "policy", links: 3, commands: []string{
		"addr add 198.51.100.2/24 dev eth1", "route add default via 198.51.100.1 table 100", "-6 route add default via 2001:db8::2 table 100",
		"rule add iif eth1 ipproto 6 dport 80 table 100 pref 300", "rule add fwmark 0x10/0xff table 100 pref 299", "rule add from 198.51.100.2 table 100", "rule add fwmark 7 table 100 pref 280",
		"-6 rule add fwmark 7 table 100 pref 280", "rule add oif eth1 table 100 pref 281", "rule add uidrange 100-200 table 100 pref 282", "rule add tos 0x10 table 100 pref 283", "rule add to 10.9.0.0/16 tos 0x8 fwmark 9 table 100 pref 284",
		"rule add not from 10.0.0.0/8 table 100 pref 285", "rule add pref 290 table main suppress_ifgroup 3", "rule add pref 291 from 10.7.0.0/16 blackhole", "rule add pref 292 to 10.8.0.0/16 prohibit", "rule add pref 293 to 10.8.0.0/16 goto 299",
		"rule add pref 294 from 10.11.0.0/16 table 100 protocol zebra", "rule add pref 295 tun_id 7 table 100", "rule add pref 33000 to 10.12.0.0/16 table 100", "-6 rule add pref 296 to fd00:7::/48 table 100", "-6 rule add pref 297 from all table 100",
		"rule add pref 298 sport 1000-2000 ipproto 17 table 100",
	}, says: []string{"from all iif eth1 ", "{from: 0.0.0.0/0, mark: 7, table: 100, priority: 280}", `{from: "::/0", mark: 7, table: 100, priority: 280}`, "uidrange 100-200", "blackhole", "goto 299", "tun_id 7", "suppress_ifgroup 3", "not"}},
	{name: "objects", links: 3, commands: []string{
		"addr add 198.51.100.2/24 dev eth1", "nexthop add id 1 via 192.0.2.1 dev eth0", "nexthop add id 2 via 198.51.100.1 dev eth1", "nexthop add id 10 group 1/2,3", "nexthop add id 11 group 1/2 type resilient buckets 32",
		"nexthop add id 3 via 2001:db8::1 dev eth0", "nexthop add id 4 blackhole", "route add 10.7.0.0/16 nhid 10", "route add 10.8.0.0/16 nhid 1", "route add 10.9.0.0/16 nhid 11", "-6 route add fd00:7::/48 nhid 3", "route add 10.10.0.0/16 nhid 4",
	}, says: []string{"nhid 10", "a nexthop object"}},
	{name: "multipath", links: 3, sysctls: map[string]string{"net.ipv4.fib_multipath_hash_policy": "0"}, commands: []string{
		"addr add 198.51.100.2/24 dev eth1", "addr add fd00:1::2/64 dev eth1", "route add 10.7.0.0/16 nexthop via 192.0.2.1 dev eth0 weight 3 nexthop via 198.51.100.1 dev eth1",
		"-6 route add fd00:7::/48 nexthop via 2001:db8::1 dev eth0 nexthop via fd00:1::1 dev eth1 weight 2", "route add 10.8.0.0/16 mtu 1400 nexthop via 192.0.2.1 dev eth0 nexthop via 198.51.100.1 dev eth1",
		"route add 10.9.0.0/16 nexthop via 203.0.113.1 dev eth0 onlink nexthop via 198.51.100.1 dev eth1", "route append 10.10.0.0/16 via 192.0.2.1", "route append 10.10.0.0/16 via 192.0.2.2",
		"route add 10.12.0.0/16 proto zebra nexthop via 192.0.2.1 nexthop via 192.0.2.2",
	}, says: []string{"weight: 3", "multipath:", "net.ipv4.fib_multipath_hash_policy"}},
	{name: "undelivered", links: 2, commands: []string{
		"route add blackhole 10.7.0.0/16", "route add unreachable 10.8.0.0/16 metric 20", "route add prohibit 10.9.0.0/16 table 100", "route add throw 10.10.0.0/16 table 100",
		"-6 route add blackhole fd00:7::/48", "-6 route add unreachable fd00:8::/48 metric 20", "-6 route add prohibit fd00:9::/48 table 100", "-6 route add throw fd00:a::/48 table 100",
		"route add blackhole default metric 4000",
	}, says: []string{"type: blackhole", "type: unreachable", "type: prohibit", "type: throw"}},
	{name: "lo", links: 2, commands: []string{"addr add 10.255.0.1/32 dev lo", "addr add fd00:ff::1/128 dev lo", "addr add 198.51.100.2/31 dev eth1", "route add 10.255.0.2 proto bird src 10.255.0.1 nexthop via 192.0.2.1 nexthop via 198.51.100.3 dev eth1"},
		says: []string{"10.255.0.1/32", "proto bird"}},
	{name: "filtering", links: 3, commands: []string{
		"link add br0 type bridge vlan_filtering 1", "link set eth1 master br0", "link set eth2 master br0", "link set br0 up", "addr add 198.51.100.2/24 dev br0",
		"link add link br0 name br0.7 type vlan id 7", "addr add 10.7.0.1/24 dev br0.7", "link set br0.7 up",
		"bridge vlan add dev eth1 vid 7", "bridge vlan add dev eth2 vid 7 pvid untagged", "bridge vlan add dev br0 vid 7 self", "bridge fdb add 02:00:00:00:00:77 dev eth1 master static",
	}, says: []string{"br0"}},
	{name: "bonds", links: 4, commands: []string{
		"link add bond0 type bond mode active-backup miimon 100", "link set eth1 down", "link set eth1 master bond0", "link set bond0 up", "addr add 198.51.100.7/24 dev bond0", "route add 10.7.0.0/16 via 198.51.100.1",
		"link add bond1 type bond mode 802.3ad miimon 100 lacp_rate fast", "link set bond1 up", "addr add 203.0.113.7/24 dev bond1",
		"link add bond2 type bond mode balance-xor miimon 100 xmit_hash_policy layer3+4", "link set eth2 down", "link set eth2 master bond2", "link set eth3 down", "link set eth3 master bond2", "link set bond2 up", "link set bond2 mtu 1400", "link set eth3 mtu 1300",
		"link add link bond2 name bond2.9 type vlan id 9", "addr add 10.9.0.1/24 dev bond2.9", "link set bond2.9 up",
	}, says: []string{"bond0"}},
	{name: "mptcp", links: 2, sysctls: map[string]string{"net.mptcp.enabled": "1"}, commands: []string{
		"addr add 198.51.100.2/24 dev eth1", "mptcp limits set subflows 4 add_addr_accepted 3", "mptcp endpoint add 192.0.2.10 dev eth0 subflow", "mptcp endpoint add 198.51.100.2 id 7 signal", "mptcp endpoint add 2001:db8::10 dev eth0 subflow fullmesh",
		"mptcp endpoint add 203.0.113.99 signal", "mptcp endpoint add 198.51.100.2 port 4000 signal",
	}, says: []string{"subflows: 4"}},
	{name: "metrics", links: 2, commands: []string{
		"route add 10.7.0.0/16 via 192.0.2.1 mtu 1300 initcwnd 20 initrwnd 30 advmss 1200", "route add 10.8.0.0/16 via 192.0.2.1 mtu lock 1300", "route add 10.9.0.0/16 via 192.0.2.1 quickack 1", "route add 10.10.0.0/16 via 192.0.2.1 rto_min 50ms congctl reno",
		"-6 route add fd00:7::/48 via 2001:db8::1 mtu 1300 advmss 1200 hoplimit 5", "-6 route add fd00:8::/48 via 2001:db8::1 initcwnd 10", "route add 10.11.0.0/16 via 192.0.2.1 tos 0x10", "route add 10.11.0.0/16 via 192.0.2.2",
		"-6 route add fd00:9::/48 via 2001:db8::1 pref high", "route add 10.12.0.0/16 dev eth0 scope host", "route add 10.13.0.0/16 via inet6 fe80::1 dev eth0", "-6 route add default dev eth1 metric 5",
	}, says: []string{"mtu: 1300", "congestion-window: 20", "its quickack", "its tos"}},
	{name: "leases", links: 2, commands: []string{
		"addr add 198.51.100.2/24 dev eth1 valid_lft 3600 preferred_lft 1800", "route add default via 198.51.100.1 proto dhcp metric 100", "addr add 2001:db8:1::5/64 dev eth1 valid_lft 3600 preferred_lft 1800", "-6 route add default via fe80::1 dev eth1 proto ra metric 100",
	}, says: []string{"dhcp4: true", "leased:"}},
	{name: "odd", links: 3, commands: []string{
		"addr add 10.0.0.1/32 dev eth0", "addr add 10.0.0.1/32 dev eth1", "addr add 10.0.0.1/24 dev eth1", "addr add 10.1.0.1 peer 10.1.0.2 dev eth1", "addr add 10.2.0.1/24 dev eth1 label eth1:web scope link noprefixroute", "addr add 127.0.5.1/32 dev eth1", "addr add 169.254.7.1/16 dev eth1",
		"addr add 10.3.0.1/24 dev eth2", "link set eth2 down", "route add 10.7.0.0/16 dev eth1 src 10.2.0.1", "route add 169.254.169.254 via 192.0.2.1", "route add 10.8.0.0/16 dev lo", "link set eth1 mtu 1400", "link set eth1 alias uplink", "route add 192.0.2.0/24 dev eth0 metric 9",
		"link add link eth0 name q0 type vlan proto 802.1ad id 5", "link add link q0 name q0.6 type vlan id 6", "addr add 10.6.0.1/24 dev q0.6", "link set q0 up", "link set q0.6 up", "link add d0 type dummy", "addr add 10.66.0.1/32 dev d0", "link set d0 up",
	}, says: []string{"10.0.0.1"}},
}
