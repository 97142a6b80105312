package measure

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/steer"
)

func wayOf(t rapidOrT, n Network, d flow.Direction, streams int) way {
	all, err := ways(n, Spec{From: "alpha", To: "beta", Direction: d, Streams: streams})
	if err != nil || len(all) != 1 {
		t.Fatalf("ways %v, %v", all, err)
	}
	return all[0]
}

type rapidOrT interface{ Fatalf(string, ...any) }

// spread counts the streams of a way on the sender's links, as place says, and
// on the receiver's, as the switch's declared hash does.
func spread(t rapidOrT, n Network, w way, ports []uint16, policy netstate.HashPolicy) (near, far map[string]int) {
	near, far = make(map[string]int), make(map[string]int)
	below, _, _ := n.Host(w.to).Below(receiverLink(n, w).Name)
	b := steer.Declared(policy, len(below))
	for i, sport := range ports {
		tuple := flow.Tuple{Proto: flow.TCP, Src: w.lane(i).Src, Dst: w.lane(i).Dst, Sport: sport, Dport: 5201}
		near[place(n, w, tuple)]++
		p := b.Place(frame(n, w, tuple))
		if !p.Known {
			t.Fatalf("the switch's choice for %v is unknown: %s", tuple, p.Why)
		}
		far[fmt.Sprint(p.Index)]++
	}
	return near, far
}

func receiverLink(n Network, w way) netstate.Link {
	l, _ := n.Host(w.to).LinkWith(w.lanes[0].Dst)
	return l
}

// even: every link has its share, none two more than another.
func even(counts map[string]int, links, streams int) bool {
	least, most := streams, 0
	for _, n := range counts {
		least, most = min(least, n), max(most, n)
	}
	if len(counts) < links {
		least = 0
	}
	return len(counts) <= links && most-least <= 1
}

func TestChoosePorts(t *testing.T) {
	for _, links := range []int{2, 4} {
		n := networkOf(bonded("alpha", links, 1, 1), bonded("beta", links, 1, 101), "layer3+4")
		for _, d := range []flow.Direction{flow.Forward, flow.Reverse} {
			for _, streams := range []int{1, 2, 3, 4, 8, 16} {
				w := wayOf(t, n, d, streams)
				ports, note, err := choosePorts(n, w, 5201, occupied{})
				if err != nil || note != "" || slices.Contains(ports, 0) {
					t.Fatalf("%d links, %s, %d streams: %v, %q, %v", links, d, streams, ports, note, err)
				}
				near, far := spread(t, n, w, ports, netstate.Layer34)
				if !even(near, links, streams) || !even(far, links, streams) {
					t.Errorf("%d links, %s, %d streams: sender %v, receiver %v", links, d, streams, near, far)
				}
			}
		}
	}
}

// TestPlaceAgrees: without a far side in question, stream i is chosen for link
// i modulo the links, and place says that name.
func TestPlaceAgrees(t *testing.T) {
	for _, links := range []int{2, 3, 4} {
		n := networkOf(bonded("alpha", links, 1, 1), bonded("beta", links, 1, 101), "unknown")
		w := wayOf(t, n, flow.Forward, 3*links)
		ports, _, err := choosePorts(n, w, 5201, occupied{})
		if err != nil {
			t.Fatal(err)
		}
		for i, sport := range ports {
			lane := w.lane(i)
			got := place(n, w, flow.Tuple{Proto: flow.TCP, Src: lane.Src, Dst: lane.Dst, Sport: sport, Dport: 5201})
			if want := fmt.Sprintf("eth%d", i%links); got != want {
				t.Errorf("%d links: stream %d is on %s, chosen for %s", links, i, got, want)
			}
		}
	}
}

// TestChooseForReceiver: one fast link into a bond behind a switch.
func TestChooseForReceiver(t *testing.T) {
	n := networkOf(bonded("alpha", 1, 1, 1), bonded("beta", 2, 1, 101), "layer3+4")
	w := wayOf(t, n, flow.Forward, 4)
	ports, _, err := choosePorts(n, w, 5201, occupied{})
	if err != nil || slices.Contains(ports, 0) {
		t.Fatalf("%v, %v", ports, err)
	}
	if near, far := spread(t, n, w, ports, netstate.Layer34); near["eth0"] != 4 || !even(far, 2, 4) {
		t.Errorf("sender %v, receiver %v", near, far)
	}
}

func TestKernelsChoice(t *testing.T) {
	for _, c := range []struct {
		name string
		n    Network
	}{
		{"no bonds", networkOf(bonded("alpha", 1, 1, 1), bonded("beta", 1, 1, 101), "layer3+4")},
		{"a bond behind an unknown switch", networkOf(bonded("alpha", 1, 1, 1), bonded("beta", 2, 1, 101), "unknown")},
	} {
		ports, note, err := choosePorts(c.n, wayOf(t, c.n, flow.Forward, 3), 5201, occupied{})
		if diff := cmp.Diff([]uint16{0, 0, 0}, ports); err != nil || note != "" || diff != "" {
			t.Errorf("%s: %q, %v (-want +got)\n%s", c.name, note, err, diff)
		}
	}
}

// TestPolicyInTheWay: ports cannot help, and the note says so.
func TestPolicyInTheWay(t *testing.T) {
	a := bonded("alpha", 2, 1, 1)
	a.Links[2].Bond.HashPolicy = netstate.Layer2
	n := networkOf(a, bonded("beta", 2, 1, 101), "unknown")
	w := wayOf(t, n, flow.Forward, 4)
	ports, note, err := choosePorts(n, w, 5201, occupied{})
	if err != nil || note == "" {
		t.Fatalf("note %q, %v", note, err)
	}
	if near, _ := spread(t, n, w, ports, netstate.Layer34); len(near) != 1 {
		t.Errorf("layer2 put the streams on %v", near)
	}
}

// TestUsedPorts: what is in use is not chosen again.
func TestUsedPorts(t *testing.T) {
	n := networkOf(bonded("alpha", 2, 1, 1), bonded("beta", 2, 1, 101), "unknown")
	w := wayOf(t, n, flow.Forward, 4)
	first, _, err := choosePorts(n, w, 5201, occupied{})
	if err != nil {
		t.Fatal(err)
	}
	var used []flow.Tuple
	for i, sport := range first {
		used = append(used, flow.Tuple{Proto: flow.TCP, Src: w.lane(i).Src, Dst: w.lane(i).Dst, Sport: sport, Dport: 5201})
	}
	second, _, err := choosePorts(n, w, 5201, occupied{flows: used})
	if err != nil || slices.ContainsFunc(second, func(p uint16) bool { return slices.Contains(first, p) }) {
		t.Errorf("first %v, then %v, %v", first, second, err)
	}
}

// TestAnyShape: however many links, aliases and streams, the sender's links
// are used evenly over all lanes together, the receiver's as well where it has
// as many, and no port twice.
func TestAnyShape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		links := rapid.SampledFrom([]int{2, 3, 4, 5, 8}).Draw(t, "links")
		aliases := rapid.IntRange(1, 4).Draw(t, "aliases")
		streams := rapid.IntRange(1, 24).Draw(t, "streams")
		hash := rapid.SampledFrom([]string{"unknown", "layer3+4"}).Draw(t, "switch")
		n := networkOf(bonded("alpha", links, aliases, 1), bonded("beta", links, rapid.IntRange(1, aliases).Draw(t, "far aliases"), 101), hash)
		w := wayOf(t, n, rapid.SampledFrom(flow.Both.Ways()).Draw(t, "way"), streams)
		ports, _, err := choosePorts(n, w, 5201, occupied{})
		if err != nil {
			t.Fatalf("%v", err)
		}
		seen := make(map[uint16]bool)
		for _, p := range ports {
			if seen[p] || p < steer.DefaultFirstPort || p > steer.DefaultLastPort {
				t.Fatalf("port %d twice or out of range: %v", p, ports)
			}
			seen[p] = true
		}
		near, far := spread(t, n, w, ports, netstate.Layer34)
		if !even(near, links, streams) || hash == "layer3+4" && len(w.lanes) == 1 && !even(far, links, streams) {
			t.Fatalf("%d links, %d lanes, %d streams: sender %v, receiver %v", links, len(w.lanes), streams, near, far)
		}
	})
}

func TestSwitchHash(t *testing.T) {
	n := networkOf(bonded("alpha", 2, 1, 1), bonded("beta", 2, 1, 101), "")
	w := way{from: "alpha", to: "beta"}
	there := func(hash string, directed bool) fabric.Path {
		return fabric.Path{From: "alpha", To: "beta", SwitchHash: hash, Directed: directed}
	}
	back := func(hash string, directed bool) fabric.Path {
		return fabric.Path{From: "beta", To: "alpha", SwitchHash: hash, Directed: directed}
	}
	for _, c := range []struct {
		name  string
		paths []fabric.Path
		want  string
	}{
		{"none", nil, ""},
		{"unknown", []fabric.Path{there("unknown", false)}, ""},
		{"declared", []fabric.Path{there("layer3+4", false)}, "layer3+4"},
		{"declared the other way round", []fabric.Path{back("layer2+3", false)}, "layer2+3"},
		{"of the way back only", []fabric.Path{back("layer3+4", true)}, ""},
		{"each way its own", []fabric.Path{there("layer2+3", true), back("layer3+4", true)}, "layer2+3"},
		{"the way itself before the way back", []fabric.Path{back("layer2+3", false), there("layer3+4", true)}, "layer3+4"},
		{"a Catalyst's", []fabric.Path{there("catalyst-src-dst-ip", false)}, "catalyst-src-dst-ip"},
		{"another pair", []fabric.Path{{From: "alpha", To: "gamma", SwitchHash: "layer3+4"}}, ""},
	} {
		n.Fabric.Paths = c.paths
		if got := switchHash(n, w); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestPhysical: every port is listed, usable or not, and none twice.
func TestPhysical(t *testing.T) {
	broken := bonded("alpha", 3, 2, 1)
	broken.Links[1].Port.MIIUp = false
	broken.Links[2].Port.AggregatorID = 9
	tagged := bonded("alpha", 2, 1, 1)
	address := tagged.Links[2].Addresses
	tagged.Links[2].Addresses = nil
	tagged.Links = append(tagged.Links, netstate.Link{Name: "lan", Kind: "vlan", Up: true, MTU: 1500, VLAN: &netstate.VLAN{ID: 5, Parent: "bond0"}, Addresses: address})
	beta := bonded("beta", 2, 2, 101)
	for _, c := range []struct {
		name string
		host netstate.Host
		want []string
	}{
		{"a bond with ports that carry nothing, two lanes", broken, []string{"eth0", "eth1", "eth2"}},
		{"a VLAN on a bond", tagged, []string{"eth0", "eth1"}},
		{"a plain link", bonded("alpha", 1, 1, 1), []string{"eth0"}},
	} {
		lanes, err := predict.Lanes(networkOf(c.host, beta, "").Fabric, "alpha", "beta", "")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, physical(c.host, lanes, true)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
		if diff := cmp.Diff([]string{"eth0", "eth1"}, physical(beta, lanes, false)); diff != "" {
			t.Errorf("%s, receiver (-want +got)\n%s", c.name, diff)
		}
	}
}

func TestWays(t *testing.T) {
	n := networkOf(bonded("alpha", 2, 1, 1), bonded("beta", 1, 1, 101), "")
	all, err := ways(n, Spec{From: "alpha", To: "beta", Direction: flow.Both, Streams: 2})
	if err != nil || len(all) != 2 || all[0].from != "alpha" || all[1].from != "beta" || all[1].lanes[0] != all[0].lanes[0].Reverse() || all[1].streams != 2 {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := ways(n, Spec{From: "alpha", To: "gamma", Direction: flow.Forward, Streams: 2}); !errors.Is(err, predict.ErrUnknownHost) {
		t.Errorf("an unknown host: %v", err)
	}
}
