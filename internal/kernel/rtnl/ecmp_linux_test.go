package rtnl

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/steer"
)

// randomIn is a random address of a prefix.
func randomIn(r *rand.Rand, p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for i := p.Bits() / 8; i < len(b); i++ {
		mask := byte(0xff)
		if i == p.Bits()/8 {
			mask >>= p.Bits() % 8
		}
		b[i] |= byte(r.Uint32()) & mask
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}

// randomFlow is a flow that this host may send: TCP, UDP or an ICMP echo, one
// in eight from the address of a leg.
func randomFlow(r *rand.Rand, ipv6 bool, legs int) flow.Frame {
	f := flow.Frame{Tuple: flow.Tuple{Proto: flow.TCP, Src: randomIn(r, ownPrefix[ipv6]), Dst: randomIn(r, farPrefix[ipv6]),
		Sport: uint16(r.IntN(65535) + 1), Dport: uint16(r.IntN(65535) + 1)}}
	if r.IntN(8) == 0 {
		f.Src = legAddress(ipv6, r.IntN(legs), 1)
	}
	switch r.IntN(4) {
	case 0:
		f.Proto = flow.UDP
	case 1:
		f.Proto, f.ICMP = flow.ICMP, &flow.ICMPHeader{Type: 8}
		if ipv6 {
			f.Proto, f.ICMP = flow.ICMPv6, &flow.ICMPHeader{Type: 128}
		}
		// The kernel keeps type and code where other flows have the port.
		f.Sport, f.Dport = 0, uint16(f.ICMP.Type)<<8
	}
	return f
}

// inNamespaceWithLegs is inNewNamespace with legs of these weights.
func inNamespaceWithLegs(t *testing.T, weights []int, fn func() error) {
	t.Helper()
	inNewNamespace(t, func() error {
		if err := legs(weights); err != nil {
			return err
		}
		return fn()
	})
}

func noSeed() bool {
	_, err := os.Stat(sysctlFile(seedKey))
	return err != nil
}

// answerable is f as the kernel's answer holds for it. It makes up a packet for
// an IPv4 question (inet_rtm_getroute_build_skb) and hashes that as if it were
// forwarded: under the policy of fields that is not what a socket's flow gets,
// and with ports no ICMP message's. TestKernelECMPPackets has the truth.
func answerable(r *rand.Rand, m steer.Multipath, f flow.Frame) flow.Frame {
	if f.Src.Is6() {
		return f
	}
	switch m.Policy {
	case steer.MultipathL4:
		if f.Proto == flow.ICMP {
			f.Proto, f.ICMP, f.Sport = flow.UDP, nil, 1
		}
	case steer.MultipathFields:
		f.Forwarded, f.Src = true, randomIn(r, ownPrefix[false])
	}
	return f
}

// compare places random flows and asks the kernel about the same.
func compare(r *rand.Rand, m steer.Multipath, ipv6 bool, legs, count int) (equal int, err error) {
	h, err := Open()
	if err != nil {
		return 0, err
	}
	defer h.Close()
	frames := make([]flow.Frame, count)
	tuples := make([]flow.Tuple, count)
	for i := range frames {
		frames[i] = answerable(r, m, randomFlow(r, ipv6, legs))
		tuples[i] = frames[i].Tuple
	}
	routes, err := h.RoutesFor(tuples)
	if err != nil {
		return 0, err
	}
	for i, f := range frames {
		p := m.Place(f)
		if routes[i].Err != nil {
			return equal, routes[i].Err
		}
		if p.Known && p.Link == routes[i].Link {
			equal++
		} else if err == nil {
			err = fmt.Errorf("first of the others: %s: placed %+v, the kernel says %+v", f.Tuple, p, routes[i])
		}
	}
	return equal, err
}

// TestKernelECMP holds the computed next hop of 2,000 random flows against the
// kernel's own answer, for every policy, several seeds and both families.
func TestKernelECMP(t *testing.T) {
	weights := []int{1, 2, 3}
	inNamespaceWithLegs(t, weights, func() error {
		if noSeed() {
			t.Skipf("this kernel has no %s: nothing can be computed, only asked", seedKey)
		}
		const count = 2000
		r := rand.New(rand.NewPCG(1, 2))
		for _, tt := range []struct {
			policy steer.MultipathPolicy
			fields steer.HashFields
		}{{policy: steer.MultipathL3}, {policy: steer.MultipathL4}, {policy: steer.MultipathInner},
			{steer.MultipathFields, 0x7}, {steer.MultipathFields, 0x37}, {steer.MultipathFields, 0x10}, {steer.MultipathFields, 0x2a}, {steer.MultipathFields, 0xfc0}} {
			for _, seed := range []uint32{1, 12345, 777, 4294967295} {
				if err := setHash(tt.policy, tt.fields, seed); err != nil {
					return err
				}
				for _, ipv6 := range []bool{false, true} {
					m, err := observedRoute(ipv6)
					if err != nil {
						return err
					}
					equal, err := compare(r, m, ipv6, len(weights), count)
					name := fmt.Sprintf("ECMP %s policy %d", familyName(ipv6), tt.policy)
					if tt.fields != 0 {
						name += fmt.Sprintf(" fields %#x", uint16(tt.fields))
					}
					t.Logf("%s seed %d weights 1:2:3: %d of %d", name, seed, equal, count)
					if equal != count || err != nil {
						t.Errorf("%s seed %d: %v", name, seed, err)
					}
				}
			}
		}
		return nil
	})
}

// A leg that is down is left out, and the bounds of the others move.
func TestKernelECMPDeadLeg(t *testing.T) {
	inNamespaceWithLegs(t, []int{3, 1, 2}, func() error {
		if noSeed() {
			t.Skipf("this kernel has no %s", seedKey)
		}
		if err := setHash(steer.MultipathL4, 0, 99); err != nil {
			return err
		}
		l, err := netlink.LinkByName("leg0")
		if err != nil {
			return err
		}
		if err := netlink.LinkSetDown(l); err != nil {
			return err
		}
		r := rand.New(rand.NewPCG(3, 4))
		for _, ipv6 := range []bool{false, true} {
			m, err := observedRoute(ipv6)
			if err != nil {
				return err
			}
			if len(m.Hops) != 2 || m.Hops[0].Link != "leg1" {
				t.Errorf("%s: live next hops %+v", familyName(ipv6), m.Hops)
			}
			equal := 0
			for range 500 {
				f := answerable(r, m, randomFlow(r, ipv6, 3))
				f.Src = randomIn(r, ownPrefix[ipv6])
				h, err := Open()
				if err != nil {
					return err
				}
				route, err := h.RouteFor(f.Tuple)
				h.Close()
				if err != nil {
					return err
				}
				if p := m.Place(f); p.Known && p.Link == route.Link {
					equal++
				}
			}
			t.Logf("ECMP %s with a dead leg: %d of 500", familyName(ipv6), equal)
			if equal != 500 {
				t.Errorf("%s: %d of 500", familyName(ipv6), equal)
			}
		}
		return nil
	})
}

// With the key that the kernel draws at boot nothing is computed, and the
// kernel answers: the same each time, over all legs, and each with its leg's
// gateway. Its neighbour entry is there too.
func TestKernelECMPOracle(t *testing.T) {
	weights := []int{1, 2, 3}
	inNamespaceWithLegs(t, weights, func() error {
		if err := setHash(steer.MultipathL4, 0, 0); err != nil {
			return err
		}
		h, err := Open()
		if err != nil {
			return err
		}
		defer h.Close()
		neighbours, err := h.Neighbours()
		if err != nil {
			return err
		}
		r := rand.New(rand.NewPCG(5, 6))
		for _, ipv6 := range []bool{false, true} {
			m, err := observedRoute(ipv6)
			if err != nil {
				return err
			}
			seen := map[string]int{}
			for range 300 {
				f := randomFlow(r, ipv6, len(weights))
				f.Src = randomIn(r, ownPrefix[ipv6])
				if p := m.Place(f); p.Known || !strings.Contains(p.Why, "ask the kernel") {
					t.Fatalf("placed with an unknown key: %+v", p)
				}
				first, err := h.RouteFor(f.Tuple)
				if err != nil {
					return err
				}
				again, err := h.RouteFor(f.Tuple)
				leg, _ := strconv.Atoi(strings.TrimPrefix(first.Link, "leg"))
				if err != nil || first != again || first.Gateway != legAddress(ipv6, leg, 2) || first.Src != f.Src || first.Table != 254 || first.Local {
					t.Fatalf("%s: %+v, then %+v, %v", f.Tuple, first, again, err)
				}
				want := Neighbour{Addr: first.Gateway, Link: first.Link, MAC: flow.MAC{2, 0, 0, 0, 9, byte(leg)}, State: NeighbourPermanent}
				if !slices.Contains(neighbours, want) {
					t.Fatalf("no %+v in %+v", want, neighbours)
				}
				seen[first.Link]++
			}
			if len(seen) != len(weights) {
				t.Errorf("%s: legs used: %v", familyName(ipv6), seen)
			}
			t.Logf("oracle %s, key random: %v", familyName(ipv6), seen)
		}
		return refusals(h)
	})
}

// refusals are flows that have no route.
func refusals(h *Handle) error {
	addr := netip.MustParseAddr
	own := flow.Tuple{Proto: flow.TCP, Src: addr("172.16.0.1"), Dst: addr("172.16.0.9"), Dport: 1}
	if r, err := h.RouteFor(own); err != nil || !r.Local || r.Link != "lo" {
		return fmt.Errorf("to an own address: %+v, %w", r, err)
	}
	for name, tt := range map[string]struct {
		t    flow.Tuple
		want error
	}{
		"unrouted":         {flow.Tuple{Proto: flow.TCP, Dst: addr("9.9.9.9")}, syscall.ENETUNREACH},
		"unknown protocol": {flow.Tuple{Proto: 50, Dst: addr("100.64.0.1")}, errors.ErrUnsupported},
		"two families":     {flow.Tuple{Proto: flow.TCP, Src: addr("::1"), Dst: addr("100.64.0.1")}, errAddresses},
		"nowhere":          {flow.Tuple{}, errAddresses},
	} {
		if r, err := h.RouteFor(tt.t); !errors.Is(err, tt.want) {
			return fmt.Errorf("%s: %+v, %w", name, r, err)
		}
	}
	return nil
}
