package explaining

import (
	"net/netip"
	"time"

	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
)

// hashKinds are flows that share links while others idle.
func hashKinds() []*kind {
	return []*kind{
		{cause: record.HashImbalance, name: "the kernel's own ports collide", claims: "ports", suit: fewStreams, draw: func(d dice, n network) fault {
			return asks(func(m *campaign.Matrix) { m.Ports = predict.PortsKernel }).with("ports by the kernel")
		}},
		{cause: record.HashImbalance, name: "aliases whose layer2+3 hashes collide", also: []record.Cause{record.SingleLink}, claims: "policy", suit: manyAddresses, draw: func(d dice, n network) fault {
			return policy(network.senders, netstate.Layer23, "bond0").with("layer2+3 at the sender, %d pairs of addresses that it puts on one link", n.aliases)
		}},
		{cause: record.HashImbalance, name: "the switch hashes aliases onto one link", also: []record.Cause{record.SingleLink}, claims: "policy", suit: manyAddresses, draw: func(d dice, n network) fault {
			return switchPolicy(netstate.Layer23).with("layer2+3 at the switch, %d pairs of addresses that it puts on one link", n.aliases)
		}},
	}
}

// fewStreams: as many as links, so that two on one leave another empty.
func fewStreams(d dice, n *network) bool {
	if !isBonded(d, n) {
		return false
	}
	n.streams = len(n.rates)
	return true
}

func manyAddresses(d dice, n *network) bool {
	if !isBonded(d, n) {
		return false
	}
	n.aliases = one(d, 2, 2, 3)
	n.streams = max(n.streams, n.aliases)
	for n.streams%n.aliases != 0 {
		n.streams++
	}
	return true
}

// policy is another transmit hash of hosts' bonds.
func policy(where func(network) []string, p netstate.HashPolicy, bond string) fault {
	set := func(s *stand, p netstate.HashPolicy) {
		for _, host := range where(s.what) {
			s.ip(host, "link set %s type bond xmit_hash_policy %v", bond, p)
		}
	}
	return fault{on: func(s *stand) { set(s, p) }, off: func(s *stand) { set(s, s.what.policy) }}
}

// switchPolicy is another hash of the switch's, toward the receivers; what the
// file says of it stays.
func switchPolicy(p netstate.HashPolicy) fault {
	set := func(s *stand, p netstate.HashPolicy) {
		for _, host := range s.what.receivers() {
			s.ip(mid, "link set to-%s type bond xmit_hash_policy %v", host, p)
		}
	}
	return fault{on: func(s *stand) { set(s, p) }, off: func(s *stand) { set(s, s.what.switchHash) }}
}

// tellingStreams all on one link are no chance any more: of fewer nobody who
// does not see the switch can say whether they could not, or did not, spread.
const tellingStreams = 4

// singleKinds are modes and policies that cannot use more than one link.
func singleKinds() []*kind {
	at := func(p netstate.HashPolicy) *kind {
		return &kind{cause: record.SingleLink, name: p.String() + " at the hosts", claims: "policy", suit: isBonded, draw: func(d dice, n network) fault {
			return policy(network.senders, p, "bond0").with("%v at the sender", p)
		}}
	}
	behind := func(p netstate.HashPolicy) *kind {
		return &kind{cause: record.SingleLink, name: p.String() + " at the switch", claims: "policy", suit: isBonded, draw: func(d dice, n network) fault {
			f := switchPolicy(p).with("%v at the switch", p)
			if n.streams < tellingStreams {
				f.also = []record.Cause{record.HashImbalance}
			}
			return f
		}}
	}
	return []*kind{
		at(netstate.Layer2), at(netstate.Layer23), at(netstate.VLANSrcMAC), behind(netstate.Layer2), behind(netstate.Layer23),
		{cause: record.SingleLink, name: "one stream over a bond", claims: "streams", suit: isBonded, draw: func(d dice, n network) fault {
			return asks(func(m *campaign.Matrix) { m.Streams = []int{1} }).with("one stream")
		}},
		{cause: record.SingleLink, name: "a standby mode", claims: "policy", suit: isBonded, draw: func(d dice, n network) fault {
			return fault{on: (*stand).standBy, off: (*stand).bondAgain}.with("active-backup at both hosts")
		}},
	}
}

// standBy makes the hosts' bonds ones that send by one link at a time, on
// switch ports that are in no group.
func (s *stand) standBy() {
	s.t.Helper()
	for _, host := range hosts {
		s.ip(host, "link del bond0")
		s.ip(mid, "link del to-%s", host)
		var ours []string
		for i := range s.what.rates {
			ours = append(ours, eth(i))
			s.must(s.in(mid).Enslave(end(host, i), "bridge-"+host))
		}
		s.must(s.in(host).Bond("bond0", rtnl.BondSpec{Mode: netstate.ActiveBackup, Miimon: 20 * time.Millisecond}, ours))
		s.finish(host)
		floor.Await(s.t, s.spaces[host], "bond0", 1, patience)
	}
}

func (s *stand) bondAgain() {
	s.t.Helper()
	for _, host := range hosts {
		s.ip(host, "link del bond0")
		for i := range s.what.rates {
			s.ip(mid, "link set %s nomaster", end(host, i))
		}
		s.bond(host)
		s.finish(host)
		s.must(s.in(mid).Enslave("to-"+host, "bridge-"+host))
	}
	s.settle(len(s.what.rates), len(s.what.rates))
}

// finish gives a bond what a bond made anew lacks.
func (s *stand) finish(host string) {
	s.t.Helper()
	s.must(s.in(host).MTU("bond0", s.what.mtu))
	if s.what.singly {
		s.must(s.in(host).Singly("bond0"))
	}
	s.addresses(host)
}

// lacpKinds leave ports outside the active aggregator.
func lacpKinds() []*kind {
	suit := func(d dice, n *network) bool {
		n.mode = netstate.LACP
		return isBonded(d, n)
	}
	ports := func(d dice, n network) (count int, host string) {
		return 1 + d.IntN(len(n.rates)-1), one(d, hosts...)
	}
	return []*kind{
		{cause: record.LACPDown, name: "switch ports down", claims: "ports of bonds", suit: isBonded, draw: func(d dice, n network) fault {
			count, host := ports(d, n)
			return lose(host, count, func(s *stand, port string) { s.must(s.in(mid).Down(port)) }, func(s *stand, port string) { s.must(s.in(mid).Up(port)) }, true).
				with("%d of %d ports to %s down at the switch", count, len(n.rates), host)
		}},
		{cause: record.LACPDown, name: "a host's ports down", claims: "ports of bonds", suit: isBonded, draw: func(d dice, n network) fault {
			count, host := ports(d, n)
			down := func(s *stand, port string) { s.must(s.in(host).Down(eth(index(port)))) }
			up := func(s *stand, port string) { s.must(s.in(host).Up(eth(index(port)))) }
			return lose(host, count, down, up, true).with("%d of %d ports of %s down", count, len(n.rates), host)
		}},
		{cause: record.LACPDown, name: "switch ports in no group", claims: "ports of bonds", suit: suit, draw: func(d dice, n network) fault {
			count, host := ports(d, n)
			out := func(s *stand, port string) {
				s.ip(mid, "link set %s nomaster", port)
				s.must(s.in(mid).Up(port))
			}
			back := func(s *stand, port string) { s.must(s.in(mid).Enslave(port, "to-"+host)) }
			return lose(host, count, out, back, false).with("%d of %d ports to %s in no group at the switch", count, len(n.rates), host)
		}},
		{cause: record.LACPDown, name: "switch ports in another group", claims: "ports of bonds", suit: suit, draw: func(d dice, n network) fault {
			count, host := ports(d, n)
			out := func(s *stand, port string) {
				s.ip(mid, "link add odd-%s type bond mode 802.3ad lacp_rate fast miimon 20", port)
				s.ip(mid, "link set odd-%s up", port)
				s.must(s.in(mid).Enslave(port, "odd-"+port))
			}
			back := func(s *stand, port string) {
				s.ip(mid, "link del odd-%s", port)
				s.must(s.in(mid).Enslave(port, "to-"+host))
			}
			return lose(host, count, out, back, false).with("%d of %d ports to %s in another group at the switch", count, len(n.rates), host)
		}},
	}
}

func index(port string) int { return int(port[len(port)-1] - '0') }

// lose takes the last ports to a host out of use. A port that is down is seen
// at once; one whose partner is another is waited for.
func lose(host string, count int, out, back func(*stand, string), down bool) fault {
	each := func(s *stand, do func(*stand, string)) {
		n := len(s.what.rates)
		for i := n - count; i < n; i++ {
			do(s, end(host, i))
		}
	}
	wait := func(s *stand, want int) {
		floor.Await(s.t, s.spaces[host], "bond0", want, patience)
		floor.Await(s.t, s.spaces[mid], "to-"+host, want, patience)
	}
	return fault{
		on: func(s *stand) {
			each(s, out)
			wait(s, len(s.what.rates)-count)
		},
		off: func(s *stand) {
			each(s, back)
			wait(s, len(s.what.rates))
		},
	}
}

// routeKinds have traffic leave by the wrong link.
func routeKinds() []*kind {
	return []*kind{
		{cause: record.AsymmetricRoute, name: "one subnet without rules", claims: "routes", suit: func(d dice, n *network) bool {
			n.form, n.aliases = twins, 1
			return len(n.rates) > 1
		}, draw: func(d dice, n network) fault {
			return fault{
				on: func(s *stand) {
					for _, host := range s.what.senders() {
						for i := 1; i < len(s.what.rates); i++ {
							s.ip(host, "rule del priority %d", 100+i)
						}
					}
				},
				off: func(s *stand) {
					for _, host := range s.what.senders() {
						for i := 1; i < len(s.what.rates); i++ {
							s.rule(host, i)
						}
					}
				},
			}.with("two links in one subnet, no rule by source at the sender")
		}},
		{cause: record.AsymmetricRoute, name: "a leftover host route", claims: "routes", suit: func(d dice, n *network) bool {
			n.form, n.aliases = apart, 1
			return len(n.rates) > 1
		}, draw: func(d dice, n network) fault {
			each := func(s *stand, word string) {
				for _, host := range s.what.senders() {
					for i := 1; i < len(s.what.rates); i++ {
						s.ip(host, "route %s %v/32 dev eth0 src %v", word, s.address(other(host), i), s.address(host, i))
					}
				}
			}
			return fault{on: func(s *stand) { each(s, "add") }, off: func(s *stand) { each(s, "del") }}.with("host routes lead the other subnets' addresses out of eth0")
		}},
	}
}

// mtuKinds: packets that are too large for something on the way, or smaller
// than they could be.
func mtuKinds() []*kind {
	jumbo := func(d dice, n *network) bool {
		n.mtu, n.singly = one(d, 4000, 9000), true
		return n.possible()
	}
	small := func(d dice, n *network) bool {
		n.singly = false
		n.mtu = max(n.mtu, 1500)
		return float64(n.sum()) <= 120e6
	}
	hole := func(links func(*stand) []string) func(d dice, n network) fault {
		return func(d dice, n network) fault {
			probing := one(d, "0", "0", "1", "2")
			size := one(d, 1500, 1500, 1400, 1460)
			f := sysctls(network.senders, map[string]string{"ipv4.tcp_mtu_probing": probing})
			return fault{
				on: func(s *stand) {
					f.on(s)
					for _, l := range links(s) {
						s.must(s.in(mid).MTU(l, size))
					}
				},
				off: func(s *stand) {
					for _, l := range links(s) {
						s.must(s.in(mid).MTU(l, widest))
					}
					f.off(s)
				},
			}.with("nothing above %d bytes passes the middle, without a word; tcp_mtu_probing %s", size, probing)
		}
	}
	return []*kind{
		{cause: record.MTU, name: "a hole in the trunk", claims: "mtu", suit: jumbo, draw: hole(func(s *stand) []string { return []string{"trunk-near", "trunk-far"} })},
		{cause: record.MTU, name: "a hole at the receiver's switch port", claims: "mtu", suit: func(d dice, n *network) bool { return n.form != bonded && jumbo(d, n) }, draw: hole(func(s *stand) (all []string) {
			for _, host := range s.what.receivers() {
				all = append(all, end(host, 0))
			}
			return all
		})},
		{cause: record.MTU, name: "small segments by a route", claims: "mtu", suit: small, draw: func(d dice, n network) fault {
			mss := int(d.even(100, 190))
			each := func(s *stand, more string) {
				for _, host := range s.what.receivers() {
					for i, l := range s.links(host) {
						s.ip(host, "route change %v dev %s proto kernel scope link src %v %s", netip.PrefixFrom(s.address(host, i), 24).Masked(), l, s.address(host, i), more)
					}
				}
			}
			advmss := "advmss " + itoa(mss)
			return fault{on: func(s *stand) { each(s, advmss) }, off: func(s *stand) { each(s, "") }}.with("advmss %d in the receiver's route", mss)
		}},
		{cause: record.MTU, name: "a tiny MTU at one end", claims: "mtu", suit: small, draw: func(d dice, n network) fault {
			mtu, host := int(d.even(200, 300)), one(d, hosts...)
			set := func(s *stand, mtu int) {
				for _, l := range s.links(host) {
					s.must(s.in(host).MTU(l, mtu))
				}
			}
			return fault{on: func(s *stand) { set(s, mtu) }, off: func(s *stand) { set(s, s.what.mtu) }}.with("MTU %d at %s", mtu, host)
		}},
	}
}

// links are the devices with a host's addresses.
func (s *stand) links(host string) []string {
	if s.what.form == bonded {
		return []string{"bond0"}
	}
	var all []string
	for i := range s.what.rates {
		all = append(all, eth(i))
	}
	return all
}
