package discovering

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// drawn is a host in the making.
type drawn struct {
	*rand.Rand
	links    int
	names    []string // of devices that may have addresses and routes
	commands []string
	four     []string // links with a neighbour 10.LINK.0.9
	six      []string
	sysctls  map[string]string
	can      func(kind string) bool
}

func (d *drawn) do(format string, args ...any) {
	d.commands = append(d.commands, fmt.Sprintf(format, args...))
}

func (d *drawn) chance(percent int) bool { return d.IntN(100) < percent }

func pick[T any](d *drawn, all ...T) T { return all[d.IntN(len(all))] }

// draw is a host with a part of all that hosts have; can reports a kind of link
// that the kernel makes.
func draw(seed, number uint64, can func(kind string) bool) *drawn {
	d := &drawn{Rand: rand.New(rand.NewPCG(seed, number)), sysctls: map[string]string{}, can: can}
	d.links = 2 + d.IntN(4)
	for i := range d.links {
		d.names = append(d.names, fmt.Sprintf("eth%d", i))
	}
	if d.chance(40) && can("bond") {
		d.bonds()
	}
	if d.chance(40) && can("vlan") {
		d.vlans()
	}
	if d.chance(40) {
		d.others()
	}
	d.addresses()
	for range d.IntN(10) {
		d.route()
	}
	for range d.IntN(7) {
		d.rule()
	}
	for _, part := range []func(){d.objects, d.multipath, d.mptcp, d.settings} {
		if d.chance(35) {
			part()
		}
	}
	return d
}

// take is a device that nothing rides on yet.
func (d *drawn) take() string {
	i := d.IntN(len(d.names))
	name := d.names[i]
	d.names = append(d.names[:i:i], d.names[i+1:]...)
	return name
}

func (d *drawn) bonds() {
	for b := range 1 + d.IntN(2) {
		name := fmt.Sprintf("bond%d", b)
		mode := pick(d, "balance-rr", "active-backup", "balance-xor xmit_hash_policy layer3+4", "broadcast", "802.3ad lacp_rate fast", "balance-tlb", "balance-alb")
		d.do("link add %s type bond mode %s miimon %d", name, mode, pick(d, 100, 50))
		for range d.IntN(3) {
			if len(d.names) < 2 {
				break
			}
			port := d.take()
			d.do("link set %s down", port)
			d.do("link set %s master %s", port, name)
		}
		d.do("link set %s up", name)
		if d.chance(30) {
			d.do("link set %s mtu 1400", name)
		}
		d.names = append(d.names, name)
	}
}

func (d *drawn) vlans() {
	for i := range 1 + d.IntN(2) {
		under := pick(d, d.names...)
		name := fmt.Sprintf("v%d", i)
		d.do("link add link %s name %s type vlan %s id %d", under, name, pick(d, "", "", "", "proto 802.1ad"), 1+d.IntN(4094))
		d.do("link set %s up", name)
		d.names = append(d.names, name)
	}
}

// others are bridges, VRFs, dummies, a link that is down.
func (d *drawn) others() {
	for i := range 1 + d.IntN(3) {
		switch kind := d.IntN(6); {
		case kind == 0 && d.can("bridge"):
			d.do("link add br%d type bridge vlan_filtering %d", i, d.IntN(2))
			if len(d.names) > 2 {
				d.do("link set %s master br%d", d.take(), i)
			}
			d.do("link set br%d up", i)
			d.names = append(d.names, fmt.Sprintf("br%d", i))
		case kind == 1 && d.can("vrf"):
			d.do("link add vrf%d type vrf table %d", i, 10+i)
			d.do("link set vrf%d up", i)
			d.do("link set %s master vrf%d", pick(d, d.names...), i)
		case kind == 2 && d.can("dummy"):
			d.do("link add dm%d type dummy", i)
			d.do("link set dm%d up", i)
			d.names = append(d.names, fmt.Sprintf("dm%d", i))
		case kind == 3:
			d.do("link set %s down", d.take())
			d.names = append(d.names, "eth0")
		case kind == 4:
			d.do("link set %s mtu %d", pick(d, d.names...), pick(d, 1400, 9000, 1300))
		case d.can("macvlan"):
			d.do("link add mv%d link %s type macvlan mode bridge", i, pick(d, d.names...))
			d.do("link set mv%d up", i)
			d.names = append(d.names, fmt.Sprintf("mv%d", i))
		}
	}
}

// addresses are given to most devices, each with networks of its own and now and
// then one that others have, too.
func (d *drawn) addresses() {
	for i, name := range d.names {
		if i == 0 || d.chance(75) {
			d.do("addr add 10.%d.0.%d/24 dev %s", i, 1+d.IntN(3), name)
			d.four = append(d.four, fmt.Sprintf("10.%d.0.9 dev %s", i, name))
		}
		if d.chance(50) {
			d.do("addr add fd00:%x::%x/64 dev %s", i, 1+d.IntN(3), name)
			d.six = append(d.six, fmt.Sprintf("fd00:%x::9 dev %s", i, name))
		}
		if d.chance(35) {
			d.do("addr add %s dev %s", pick(d, fmt.Sprintf("10.%d.0.77/24", i), fmt.Sprintf("10.%d.1.1/16", i), "192.0.2.1/32", "192.0.2.2/32", fmt.Sprintf("10.2%02d.0.1 peer 10.2%02d.0.2", i, i),
				fmt.Sprintf("10.1%02d.0.5/24 valid_lft 7200 preferred_lft 3600", i), fmt.Sprintf("169.254.9.%d/16", i+1), "127.0.9.1/32", "fd00:77::1/128", fmt.Sprintf("10.1%02d.1.5/24 label %s:x", i, name), fmt.Sprintf("10.1%02d.2.5/24 noprefixroute", i)), name)
		}
	}
	if d.chance(30) {
		d.do("addr add 10.255.0.1/32 dev lo")
		d.do("addr add fd00:ff::1/128 dev lo")
	}
}

func (d *drawn) neighbour() (via, family string, six bool) {
	if six = d.chance(40) && len(d.six) > 0; six {
		return pick(d, d.six...), "-6 ", true
	}
	if len(d.four) == 0 {
		return "10.0.0.9 dev eth0", "", false
	}
	return pick(d, d.four...), "", false
}

func (d *drawn) target(six bool) string {
	if six {
		return pick(d, "default", fmt.Sprintf("2001:db8:%x::/48", d.IntN(6)), "2001:db8:ffff::7/128")
	}
	return pick(d, "default", fmt.Sprintf("10.%d.0.0/16", 100+d.IntN(6)), "198.51.100.7/32", "169.254.169.254/32")
}

func (d *drawn) route() {
	via, family, six := d.neighbour()
	line := family + "route " + pick(d, "add", "add", "append") + " "
	table := pick(d, "", "", "", "table 100", "table 2004", "table 51820", "table 10")
	metric := pick(d, "", "", "metric 50", "metric 7")
	protocol := pick(d, "", "", "proto static", "proto bird", "proto zebra", "proto kernel", "proto dhcp", "proto ra", "proto 42")
	more := pick(d, "", "", "", "mtu 1300", "initcwnd 20", "initrwnd 30 advmss 1200", "mtu lock 1300", "quickack 1", "hoplimit 9", "congctl reno")
	if !six && d.chance(10) {
		more += " tos 0x10"
	}
	target := d.target(six)
	switch d.IntN(7) {
	case 0:
		d.do("%s%s %s %s %s %s", line, pick(d, "blackhole", "unreachable", "prohibit", "throw"), target, table, metric, protocol)
	case 1:
		_, dev, _ := strings.Cut(via, " ")
		d.do("%s%s %s %s %s %s %s", line, target, dev, table, metric, protocol, more)
	case 2:
		_, dev, _ := strings.Cut(via, " ")
		d.do("%s%s via %s %s onlink %s %s %s %s", line, target, map[bool]string{true: "2001:db8:aa::1", false: "203.0.113.1"}[six], dev, table, metric, protocol, more)
	default:
		d.do("%s%s via %s %s %s %s %s", line, target, via, table, metric, protocol, more)
	}
}

func (d *drawn) rule() {
	family, from, to := "", "10.2.0.0/24", "10.100.0.0/16"
	if d.chance(40) {
		family, from, to = "-6 ", "fd00:2::/64", "2001:db8:1::/48"
	}
	words := []string{}
	if d.chance(15) {
		words = append(words, "not")
	}
	if d.chance(45) {
		words = append(words, "from "+from)
	}
	if d.chance(35) {
		words = append(words, "to "+to)
	}
	if d.chance(50) {
		words = append(words, pick(d, "fwmark 0x20", "fwmark 0x80000/0xff0000", "iif eth0", "oif eth1", "ipproto 6 dport 80", "uidrange 0-99", "tos 0x10", "fwmark 7 tos 0x10", "iif lo", "sport 100-200 ipproto 17", "tun_id 5"))
	}
	action := "table " + pick(d, "main", "default", "100", "2004", "51820", "52", "10")
	switch d.IntN(10) {
	case 0:
		action += pick(d, " suppress_prefixlength 0", " suppress_ifgroup 2")
	case 1:
		action = pick(d, "blackhole", "unreachable", "prohibit", "goto 32766")
	}
	protocol := pick(d, "", "", "", "protocol static", "protocol bird", "protocol kernel", "protocol 42")
	d.do("%srule add pref %d %s %s %s", family, pick(d, 9, 100, 5210, 5270, 32764, 32765, 33000)+d.IntN(2), strings.Join(words, " "), action, protocol)
}

func (d *drawn) objects() {
	via, family, _ := d.neighbour()
	d.do("nexthop add id 1 via %s", via)
	d.do("nexthop add id 2 via %s", via)
	d.do("nexthop add id 10 group 1,%d/2", pick(d, 3, 1))
	d.do("%sroute add %s nhid %d", family, map[string]string{"": "10.90.0.0/16", "-6 ": "fd00:90::/48"}[family], pick(d, 1, 10))
}

func (d *drawn) multipath() {
	if d.chance(60) {
		d.sysctls["net.ipv4.fib_multipath_hash_policy"] = pick(d, "0", "1")
	}
	for i, all := range [][]string{d.four, d.six} {
		if len(all) < 2 {
			continue
		}
		d.do("%sroute add %s %s %s nexthop via %s weight %d nexthop via %s", []string{"", "-6 "}[i], []string{"10.91.0.0/16", "fd00:91::/48"}[i], pick(d, "", "table 100", "metric 70"), pick(d, "", "", "proto bird", "mtu 1350"), all[0], 1+d.IntN(3), all[1])
	}
}

func (d *drawn) mptcp() {
	d.sysctls["net.mptcp.enabled"] = pick(d, "1", "1", "0")
	d.do("mptcp limits set subflows %d add_addr_accepted %d", d.IntN(8), d.IntN(8))
	for i, name := range d.names {
		if d.chance(60) {
			d.do("mptcp endpoint add 10.%d.0.%d %s %s", i, 1+d.IntN(3), pick(d, "", "dev "+name), pick(d, "subflow", "signal", "subflow backup", "subflow fullmesh", "signal port 4000"))
		}
	}
}

// settings are a person's own.
func (d *drawn) settings() {
	for key, values := range map[string][]string{
		"net.ipv4.ip_forward": {"1"}, "net.ipv4.conf.all.rp_filter": {"2", "1"}, "net.ipv4.conf.all.promote_secondaries": {"1"}, "net.ipv6.conf.all.forwarding": {"1"},
		"net.ipv4.tcp_rmem": {"4096 87380 8388608"}, "net.ipv4.conf.default.arp_announce": {"2"}, "net.ipv6.conf.default.accept_ra": {"0"}, "net.ipv4.fib_multipath_use_neigh": {"1"},
	} {
		if d.chance(30) {
			d.sysctls[key] = values[d.IntN(len(values))]
		}
	}
}
