package steering

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// Settings of the proof. Every policy is checked with PROVE_FLOWS flows, over
// several bonds of random sizes and orders, all drawn from PROVE_SEED.
const (
	envSeed, defaultSeed   = "PROVE_SEED", 1
	envFlows, defaultFlows = "PROVE_FLOWS", 2000

	bondsPerPolicy = 4
)

func setting(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n == 0 {
		t.Fatalf("%s=%q: want a number above zero", name, text)
	}
	return n
}

// TestSteerAgreesWithKernel sends frames of every kind through bonds of every
// policy and looks on which cable each arrives.
func TestSteerAgreesWithKernel(t *testing.T) {
	seed, flows := setting(t, envSeed, defaultSeed), int(setting(t, envFlows, defaultFlows))
	s := newStand(t)
	for _, policy := range netstate.HashPolicies() {
		t.Run(policy.String(), func(t *testing.T) {
			if policy == netstate.VLANSrcMAC && olderThan(t, 5, 12) {
				t.Skipf("kernel %s has no %s: it came with 5.12", release(t), policy)
			}
			r := rand.New(rand.NewPCG(seed, uint64(policy)))
			c := &check{stand: s, policy: policy, r: r, right: map[string]int{}, wrong: map[string]int{}}
			sizes := r.Perm(mostLinks - 1)
			for i := range bondsPerPolicy {
				share := flows*(i+1)/bondsPerPolicy - flows*i/bondsPerPolicy
				t.Run(fmt.Sprintf("%d links", sizes[i]+2), func(t *testing.T) { c.bond(t, sizes[i]+2, share) })
			}
			c.report(t, seed, flows)
		})
	}
}

// olderThan reports a running kernel before that release.
func olderThan(t *testing.T, major, minor int) bool {
	var a, b int
	if _, err := fmt.Sscanf(release(t), "%d.%d", &a, &b); err != nil {
		t.Fatalf("read release %q: %v", release(t), err)
	}
	return a < major || a == major && b < minor
}

// check compares one policy.
type check struct {
	*stand
	policy       netstate.HashPolicy
	r            *rand.Rand
	drawn        int
	right, wrong map[string]int // by kind
}

// bond checks a bond of that many links with so many flows, a quarter each
// through VLAN links with and without priority bits.
func (c *check) bond(t *testing.T, links, flows int) {
	t.Helper()
	var ports []string
	for _, i := range c.r.Perm(mostLinks)[:links] {
		ports = append(ports, port(i))
	}
	b := c.stand.bond(t, rtnl.BondSpec{Mode: netstate.BalanceXOR, HashPolicy: &c.policy}, ports)
	tag, priority := 1+c.r.IntN(4094), uint8(1+c.r.IntN(7))
	floor.Must(t, c.near.Builder.VLAN("tagged", "bond0", tag))
	floor.Must(t, c.near.Builder.PriorityVLAN("urgent", "bond0", tag%4094+1, priority))
	ways := []struct {
		via int
		tci uint16
	}{
		{c.index(t, "bond0"), 0}, {c.index(t, "bond0"), 0},
		{c.index(t, "tagged"), uint16(tag)}, {c.index(t, "urgent"), uint16(tag%4094+1) | uint16(priority)<<13},
	}
	parcels, names := make([]parcel, flows), make([]string, flows)
	for i := range parcels {
		f, name := (generator{c.r}).draw(c.policy, c.drawn)
		way := ways[c.r.IntN(len(ways))]
		if taggedInside(f) {
			way = ways[0] // a second tag outside is misread: not to be known
		}
		c.drawn++
		f.VLAN = way.tci
		wire := (coder{c.r}).frame(f)
		parcels[i], names[i] = parcel{f, wire, way.via}, name
	}
	for i, seen := range c.send(t, parcels, 1) {
		c.compare(t, b, parcels[i], names[i], onlyLink(seen))
	}
}

func (c *check) compare(t *testing.T, b steer.Bundle, p parcel, name, link string) {
	t.Helper()
	want := b.Place(p.frame)
	if want.Known && want.Link == link {
		c.right[name]++
		return
	}
	if c.wrong[name]++; c.wrong[name] <= 3 {
		t.Errorf("%s, %d links: %s: steer says %q (%s), the kernel sent it by %s", name, len(b.Ports), describe(p.frame), want.Link, want.Why, link)
	}
}

func describe(f flow.Frame) string {
	text := fmt.Sprintf("%s, smac %s dmac %s vlan %#x type %#x fragment %t extended %t spi %#x", f.Tuple, f.SrcMAC, f.DstMAC, f.VLAN, f.EtherType, f.Fragment, f.Extended, f.SPI)
	if f.ICMP != nil {
		text += fmt.Sprintf(" icmp %+v", *f.ICMP)
	}
	if f.Inner != nil {
		text += " around (" + describe(*f.Inner) + ")"
	}
	return text
}

func (c *check) report(t *testing.T, seed uint64, flows int) {
	t.Helper()
	right := 0
	for _, k := range kinds {
		right += c.right[k.name]
		if n := c.right[k.name] + c.wrong[k.name]; c.wrong[k.name] > 0 {
			t.Logf("kernel %s: %s: %s: %d of %d flows as predicted", release(t), c.policy, k.name, c.right[k.name], n)
		}
	}
	t.Logf("kernel %s: %s: %d of %d flows as predicted (seed %d)", release(t), c.policy, right, flows, seed)
}
