package steering

import (
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

var fourPorts = []string{port(2), port(0), port(3), port(1)}

// parcels are frames of every kind to send by the bond.
func (s *stand) parcels(t *testing.T, r *rand.Rand, policy netstate.HashPolicy, n int) []parcel {
	t.Helper()
	via := s.index(t, "bond0")
	all := make([]parcel, n)
	for i := range all {
		f, _ := (generator{r}).draw(policy, i)
		all[i] = parcel{f, (coder{r}).frame(f), via}
	}
	return all
}

// agree sends frames of every kind and compares where each goes.
func (s *stand) agree(t *testing.T, r *rand.Rand, b steer.Bundle, n int) {
	t.Helper()
	parcels := s.parcels(t, r, b.Policy, n)
	wrong := 0
	for i, seen := range s.send(t, parcels, 1) {
		want, got := b.Place(parcels[i].frame), onlyLink(seen)
		if !want.Known || want.Link != got {
			if wrong++; wrong <= 3 {
				t.Errorf("%s: steer says %q (%s), the kernel sent it by %s", describe(parcels[i].frame), want.Link, want.Why, got)
			}
		}
	}
	t.Logf("kernel %s: %s, %d usable links: %d of %d flows as predicted", release(t), b.Mode, len(b.Ports), n-wrong, n)
}

func (s *stand) random(t *testing.T) *rand.Rand {
	return rand.New(rand.NewPCG(setting(t, envSeed, defaultSeed), uint64(len(t.Name()))))
}

// A port that goes renumbers those behind it, and comes back to its place.
func TestPortGoesDownAndUp(t *testing.T) {
	s := newStand(t)
	ports := []string{port(4), port(1), port(6), port(0), port(3)}
	for _, policy := range []netstate.HashPolicy{netstate.Layer34, netstate.Layer23} {
		t.Run(policy.String(), func(t *testing.T) {
			r := s.random(t)
			s.agree(t, r, s.bond(t, rtnl.BondSpec{Mode: netstate.BalanceXOR, HashPolicy: &policy}, ports), 240)
			for _, step := range []struct {
				name string
				down func() error
				up   func() error
			}{
				{"its cable", func() error { return s.far.Builder.Down(end(6)) }, func() error { return s.far.Builder.Up(end(6)) }},
				{"the port itself", func() error { return s.near.Builder.Down(port(6)) }, func() error { return s.near.Builder.Up(port(6)) }},
			} {
				floor.Must(t, step.down())
				s.agree(t, r, s.await(t, slices.Delete(slices.Clone(ports), 2, 3)), 240)
				floor.Must(t, step.up())
				s.agree(t, r, s.await(t, ports), 240)
			}
		})
	}
}

// Ports whose partner is another system are in another aggregator, and only
// the active one sends.
func TestOneAggregatorSends(t *testing.T) {
	s := newStand(t)
	fast, policy := netstate.LACPRate(netstate.LACPFast), netstate.Layer34
	lacp := rtnl.BondSpec{Mode: netstate.LACP, HashPolicy: &policy, LACPRate: &fast, Miimon: 20e6, WidestAggregator: true}
	t.Cleanup(func() { _ = s.near.Builder.Delete("bond0") })
	floor.Must(t, s.far.Builder.Bond("most", lacp, []string{end(2), end(0), end(3)}))
	floor.Must(t, s.far.Builder.Bond("other", lacp, []string{end(1)}))
	floor.Must(t, s.near.Builder.Bond("bond0", lacp, []string{port(1), port(3), port(0), port(2)}))
	s.agree(t, s.random(t), s.await(t, []string{port(3), port(0), port(2)}), 480)
}

// Static balance-tlb and balance-alb go by the hash, and leave to the active
// port what they do not balance.
func TestStaticLoadBalancing(t *testing.T) {
	s := newStand(t)
	static, policy := false, netstate.Layer34
	for _, mode := range []netstate.BondMode{netstate.BalanceTLB, netstate.BalanceALB} {
		t.Run(mode.String(), func(t *testing.T) {
			b := s.bond(t, rtnl.BondSpec{Mode: mode, HashPolicy: &policy, TLBDynamic: &static}, fourPorts)
			r := s.random(t)
			parcels := s.parcels(t, r, policy, 480)
			wrong, sure := 0, 0
			for i := range parcels {
				f := &parcels[i].frame
				switch i % 10 { // what has rules of its own, and is drawn too seldom
				case 0:
					f.DstMAC = flow.MAC{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
				case 3:
					f.DstMAC = flow.MAC{0x33, 0x33, 0, 0, 0, 1}
				case 5:
					if f.Src.Is6() {
						f.Src = netip.IPv6Unspecified()
					}
				case 7:
					if f.Dst.Is4() {
						f.Dst = netip.AddrFrom4([4]byte{255, 255, 255, 255})
					}
				default:
					continue
				}
				parcels[i].wire = (coder{r}).frame(*f)
			}
			for i, seen := range s.send(t, parcels, 1) {
				want, got := b.Place(parcels[i].frame), onlyLink(seen)
				if !want.Known && parcels[i].frame.EtherType == etherARP {
					continue // goes by the receive table
				}
				sure++
				if want.Link != got {
					if wrong++; wrong <= 3 {
						t.Errorf("%s: steer says %q (%s), the kernel sent it by %s", describe(parcels[i].frame), want.Link, want.Why, got)
					}
				}
			}
			t.Logf("kernel %s: %s: %d of %d flows as predicted", release(t), mode, sure-wrong, sure)
		})
	}
}

// Dynamic balance-tlb is unknown for flows and sure for what it leaves alone.
func TestModesWithoutHash(t *testing.T) {
	s := newStand(t)
	for _, mode := range []netstate.BondMode{netstate.ActiveBackup, netstate.Broadcast, netstate.BalanceTLB} {
		t.Run(mode.String(), func(t *testing.T) {
			want := fourPorts
			spec := rtnl.BondSpec{Mode: mode, Miimon: 20e6}
			if mode == netstate.ActiveBackup {
				want = fourPorts[:1]
			}
			t.Cleanup(func() { _ = s.near.Builder.Delete("bond0") })
			floor.Must(t, s.near.Builder.Bond("bond0", spec, fourPorts))
			b := s.await(t, want)
			parcels, copies := s.parcels(t, s.random(t), b.Policy, 96), 1
			if mode == netstate.Broadcast {
				copies = len(fourPorts)
			}
			for i, seen := range s.send(t, parcels, copies) {
				p := b.Place(parcels[i].frame)
				switch {
				case mode == netstate.Broadcast:
					if !p.Known || p.Index != -1 || len(seen) != len(fourPorts) {
						t.Errorf("%s: %+v, arrived on %v", describe(parcels[i].frame), p, seen)
					}
				case p.Known && p.Link != onlyLink(seen):
					t.Errorf("%s: steer says %q, the kernel sent it by %v", describe(parcels[i].frame), p.Link, seen)
				case !p.Known && mode != netstate.BalanceTLB:
					t.Errorf("%s: unknown: %s", describe(parcels[i].frame), p.Why)
				}
			}
		})
	}
}

// roundRobinShares is the share of all packets that balance-rr sends on each
// port, given which can send: the turn of one that cannot is taken by the next
// that can (bond_get_slave_by_id).
func roundRobinShares(usable []bool) []float64 {
	shares := make([]float64, len(usable))
	for turn := range usable {
		port := turn
		for !usable[port] {
			port = (port + 1) % len(usable)
		}
		shares[port] += 1 / float64(len(usable))
	}
	return shares
}

// The turn of a port that is down falls to the next, which carries double.
func TestRoundRobinShares(t *testing.T) {
	s := newStand(t)
	const frames = 640
	for _, tt := range []struct {
		name      string
		perSlave  int
		tolerance float64 // of a share, in frames
	}{
		{"in turn", 1, 16}, {"five at a time", 5, 40}, {"at random", 0, 4 * math.Sqrt(frames)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := s.bond(t, rtnl.BondSpec{Mode: netstate.BalanceRR, PacketsPerSlave: &tt.perSlave}, fourPorts)
			if b.PacketsPerSlave != tt.perSlave {
				t.Errorf("packets_per_slave %d, want %d", b.PacketsPerSlave, tt.perSlave)
			}
			for _, down := range []int{-1, 1, 3} {
				usable := []bool{true, true, true, true}
				want := slices.Clone(fourPorts)
				if down >= 0 {
					usable[down] = false
					want = slices.Delete(want, down, down+1)
					floor.Must(t, s.near.Builder.Down(fourPorts[down]))
				}
				s.await(t, want)
				counts := map[string]float64{}
				for _, seen := range s.send(t, s.parcels(t, s.random(t), b.Policy, frames), 1) {
					counts[onlyLink(seen)]++
				}
				for i, share := range roundRobinShares(usable) {
					if got := counts[fourPorts[i]]; math.Abs(got-share*frames) > tt.tolerance {
						t.Errorf("port %d down: %s carried %.0f of %d frames, want %.0f", down, fourPorts[i], got, frames, share*frames)
					}
				}
				if down >= 0 {
					floor.Must(t, s.near.Builder.Up(fourPorts[down]))
				}
			}
		})
	}
}
