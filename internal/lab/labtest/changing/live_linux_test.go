package changing

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// trickle is a TCP connection that something is sent over all the time.
type trickle struct {
	listener net.Listener
	ends     []net.Conn
	last     atomic.Int64 // when bytes last came
	gap      atomic.Int64 // the longest time between two arrivals
}

const tricklePause = 10 * time.Millisecond

// newTrickle sends from a namespace to an address of beta, by its own goroutines,
// which end when close does.
func newTrickle(t *testing.T, from, to string) *trickle {
	t.Helper()
	c := &trickle{}
	floor.Must(t, netns.Named(lab.Namespace("beta")).Do(func() (err error) {
		c.listener, err = net.Listen("tcp", to+":0")
		return err
	}))
	floor.Must(t, netns.Named(from).Do(func() error {
		conn, err := net.DialTimeout("tcp", c.listener.Addr().String(), 10*time.Second)
		c.ends = append(c.ends, conn)
		return err
	}))
	far, err := c.listener.Accept()
	floor.Must(t, err)
	c.ends = append(c.ends, far)
	c.last.Store(time.Now().UnixNano())
	go func(to net.Conn) {
		for chunk := make([]byte, 4096); ; time.Sleep(tricklePause) {
			if _, err := to.Write(chunk); err != nil {
				return
			}
		}
	}(c.ends[0])
	go func(from net.Conn) {
		for buffer := make([]byte, 1<<16); ; {
			if _, err := from.Read(buffer); err != nil {
				return
			}
			now := time.Now().UnixNano()
			if silent := now - c.last.Swap(now); silent > c.gap.Load() {
				c.gap.Store(silent)
			}
		}
	}(far)
	t.Cleanup(func() {
		for _, e := range append(c.ends, nil) {
			if e != nil {
				e.Close()
			}
		}
		c.listener.Close()
	})
	return c
}

// silence is the longest time without bytes since it was last asked.
func (c *trickle) silence() time.Duration {
	now := time.Now().UnixNano()
	return time.Duration(max(c.gap.Swap(0), now-c.last.Load()))
}

// liveChanges: ports that leave and come back, and options that the kernel
// changes live, below a stream that never stops for a second.
func liveChanges(t *testing.T) {
	file := func(ports, parameters string) string {
		one := func(address, ports string) string {
			return "ethernets: {eth0: {}, eth1: {}, eth2: {}}\nbonds:\n  bond0: {interfaces: [" + ports + "], addresses: [" + address +
				"], parameters: {mode: 802.3ad, " + parameters + "}}\n"
		}
		return pairFile(one("10.0.0.1/24", ports), one("10.0.0.2/24", "eth0, eth1, eth2"))
	}
	options := "transmit-hash-policy: layer3+4, mii-monitor-interval: 100, min-links: 1"
	g := newGround(t, threeLinks(t), file("eth0, eth1, eth2", options))
	before := g.both()
	stream := newTrickle(t, lab.Namespace("alpha"), "10.0.0.2")
	var made []outcome
	for _, tt := range []struct{ what, file string }{
		{"policy, min_links and miimon", file("eth0, eth1, eth2", options)},
		{"a port leaves", file("eth0, eth2", options)},
		{"it comes back", file("eth0, eth2, eth1", options)},
		{"another leaves", file("eth2, eth1", options)},
		{"it comes back, and other options", file("eth2, eth1, eth0", "transmit-hash-policy: layer2+3, mii-monitor-interval: 200, min-links: 0")},
	} {
		stream.silence()
		g.write(tt.file)
		made = append(made, g.apply())
		if silent := stream.silence(); silent >= time.Second {
			t.Errorf("%s: nothing came for %v", tt.what, silent.Round(time.Millisecond))
		} else {
			t.Logf("%s: bytes came at least every %v", tt.what, silent.Round(time.Millisecond))
		}
		g.settled()
	}
	for _, o := range slices.Backward(made) {
		g.rollbackAll(o)
	}
	if silent := stream.silence(); silent >= time.Second {
		t.Errorf("the way back: nothing came for %v", silent)
	}
	g.unchanged(before)
}

// threeLinks is the lab's two hosts with a third link each, so that one can go.
func threeLinks(t *testing.T) lab.Topology {
	net := topology(t)
	for i := range net.Hosts {
		net.Hosts[i].Links = 3
	}
	return net
}

// leaseStays: an address that a DHCP client brought is its own: no change
// of the bond below it takes it away, nor its time.
func leaseStays(t *testing.T) {
	net := threeLinks(t)
	net.Hosts[0].Addresses = nil
	file := func(ports, mode, mtu string) string {
		return pairFile("ethernets: {eth0: {}, eth1: {}, eth2: {}}\nbonds:\n  bond0: {interfaces: ["+ports+"], dhcp4: true"+mtu+", parameters: {mode: "+mode+", mii-monitor-interval: 100}}\n",
			"ethernets: {eth0: {}, eth1: {}, eth2: {}}\nbonds:\n  bond0: {interfaces: [eth0, eth1, eth2], addresses: [10.0.0.2/24], parameters: {mode: 802.3ad}}\n")
	}
	g := newGround(t, net, "")
	ip(t, "alpha", "addr add 10.0.0.1/24 dev bond0 valid_lft 600 preferred_lft 600")
	ip(t, "alpha", "route add default via 10.0.0.2 proto dhcp src 10.0.0.1 metric 100")
	before := g.both()
	lease := netip.MustParsePrefix("10.0.0.1/24")
	var made []outcome
	for _, tt := range []struct {
		what, file string
		refused    bool // by the switch, which has an LACP group there
	}{
		{"MTU", file("eth0, eth1, eth2", "802.3ad", ", mtu: 1400"), false},
		{"policy", file("eth0, eth1, eth2", "802.3ad, transmit-hash-policy: layer3+4", ", mtu: 1400"), false},
		{"a port leaves", file("eth1, eth2", "802.3ad, transmit-hash-policy: layer3+4", ""), false},
		{"ports", file("eth1, eth2, eth0", "802.3ad, transmit-hash-policy: layer3+4", ""), false},
		{"mode", file("eth1, eth2, eth0", "balance-xor, transmit-hash-policy: layer2", ""), true},
	} {
		g.write(tt.file)
		if tt.refused {
			g.fails("apply", g.file, "--yes", "--host", "alpha")
		} else {
			made = append(made, g.apply("--host", "alpha"))
		}
		bond := mustLink(t, g.host("alpha"), "bond0")
		if !slices.Contains(bond.Leases, lease) {
			t.Errorf("%s: leases %v, addresses %v", tt.what, bond.Leases, bond.Addresses)
		}
		if left := ip(t, "alpha", "-4 addr show dev bond0"); !strings.Contains(left, "valid_lft 5") && !strings.Contains(left, "valid_lft 4") {
			t.Errorf("%s: the lease's time is another:\n%s", tt.what, left)
		}
		if routes := ip(t, "alpha", "route show default"); !strings.Contains(routes, "proto dhcp src 10.0.0.1 metric 100") {
			t.Errorf("%s: the lease's route is %q", tt.what, routes)
		}
		if !tt.refused {
			g.settled()
		}
	}
	for _, o := range slices.Backward(made) {
		g.rollbackAll(o)
	}
	g.unchanged(before)
}

// sourceRules: with two links, in one subnet and in two, what comes in by
// one also leaves by it.
func sourceRules(t *testing.T) {
	for _, tt := range []struct {
		name, second, far string
	}{
		{"one subnet", "10.0.0.11/24", "10.0.0.2"},
		{"two subnets", "10.2.0.1/24", "10.2.0.2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			alpha := "ethernets:\n  eth0: {addresses: [10.0.0.1/24]}\n  eth1: {addresses: [" + tt.second + "]}\n"
			g := newGround(t, plainPair(), "linerate: v1\nhosts:\n"+hostFile("alpha", alpha, "source_rules: [eth0, eth1]\n")+
				hostFile("beta", "ethernets: {eth0: {addresses: [10.0.0.2/24]}}\n", "")+"paths:\n  - {between: [alpha, beta]}\n")
			ip(t, "alpha", "link set eth1 up")
			ip(t, "alpha", "addr add "+tt.second+" dev eth1")
			if tt.far != "10.0.0.2" { // on a switch of its own
				ip(t, "switch", "link add bridge1 type bridge")
				ip(t, "switch", "link set bridge1 up")
				ip(t, "switch", "link set alpha1 master bridge1")
				ip(t, "switch", "link set beta1 master bridge1 up")
				ip(t, "beta", "link set eth1 up")
				ip(t, "beta", "addr add "+tt.far+"/24 dev eth1")
			}
			for _, h := range []string{"alpha", "beta"} {
				await(t, "its link-local addresses", 10*time.Second, func() bool { return !strings.Contains(ip(t, h, "-6 addr"), "tentative") })
			}
			before := g.both()
			o := g.apply("--host", "alpha")
			g.settled()
			const pings = 10
			for _, w := range []struct{ link, to string }{{"eth0", "10.0.0.1"}, {"eth1", strings.TrimSuffix(tt.second, "/24")}} {
				ip(t, "beta", "neigh flush all")
				was := mustLink(t, g.host("alpha"), w.link).Counters
				in(t, "beta", fmt.Sprintf("ping -c %d -i 0.05 -W 2 %s", pings, w.to))
				now := mustLink(t, g.host("alpha"), w.link).Counters
				if now.RxPackets-was.RxPackets < pings || now.TxPackets-was.TxPackets < pings {
					t.Errorf("%s: %d packets in and %d out by %s, want %d of each", w.to, now.RxPackets-was.RxPackets, now.TxPackets-was.TxPackets, w.link, pings)
				}
			}
			g.rollbackAll(o)
			g.unchanged(before)
		})
	}
}
