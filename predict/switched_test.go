package predict

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/topology"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/testfabric"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
	"pgregory.net/rapid"
)

// share is the payload of a link between switches, and of a host's: 1500 of MTU, no tag.
const share1500 = 1448.0 / 1538

// hung is a host on a switch's port.
func hung(port, host, link string) topology.Port {
	return topology.Port{Name: port, Host: host, Link: link}
}

func cabled(port, to, toPort string, speed unit.BitRate) topology.Port {
	return topology.Port{Name: port, Switch: to, Port: toPort, Speed: speed}
}

func by(hash, seed string) topology.Balance { return topology.Balance{Hash: hash, Seed: seed} }

// behindSwitches is hosts and switches, and every pair's path through them.
func behindSwitches(hosts []netstate.Host, switches ...topology.Switch) Fabric {
	f := Fabric{Hosts: map[string]netstate.Host{}}
	net := topology.New(switches)
	for i, h := range hosts {
		f.Hosts[h.Name] = h
		for _, o := range hosts[i+1:] {
			f.Paths = append(f.Paths, fabric.Path{From: h.Name, To: o.Name, Switches: net, Declared: true})
		}
	}
	return f
}

func plainHosts(n int, speed unit.BitRate) (all []netstate.Host) {
	for i := range n {
		all = append(all, testfabric.Plain(fmt.Sprintf("h%d", i), speed, 1500, fmt.Sprintf("10.0.0.%d/24", i+1)))
	}
	return all
}

// trunk is two switches with a channel of 10G links between them, and pairs of hosts of
// 25G at its ends.
func trunk(pairs, links int, b topology.Balance, system string) Fabric {
	left, right := topology.Switch{Name: "left", System: system}, topology.Switch{Name: "right", System: system}
	for i := range pairs {
		left.Ports = append(left.Ports, hung(fmt.Sprintf("p%d", i), fmt.Sprintf("h%d", 2*i), "ens3"))
		right.Ports = append(right.Ports, hung(fmt.Sprintf("p%d", i), fmt.Sprintf("h%d", 2*i+1), "ens3"))
	}
	lc, rc := topology.Channel{Name: "po1", Balance: b}, topology.Channel{Name: "po1", Balance: b}
	for i := range links {
		name := fmt.Sprintf("t%d", i)
		left.Ports = append(left.Ports, cabled(name, "right", name, 10e9))
		lc.Members, rc.Members = append(lc.Members, name), append(rc.Members, name)
	}
	left.Channels, right.Channels = []topology.Channel{lc}, []topology.Channel{rc}
	return behindSwitches(plainHosts(2*pairs, 25e9), left, right)
}

// TestTrunk: what a trunk of two links of 10G leaves two hosts of 25G, by the hash.
func TestTrunk(t *testing.T) {
	link := 10e9 * share1500
	for _, c := range []struct {
		name      string
		balance   topology.Balance
		streams   int
		rate, low float64 // low 0: certain
		limit     record.Cause
		why       string
	}{
		{"MAC addresses: one link", by("layer2", ""), 8, link, 0, record.SingleLink, "layer2 puts all flows between two hosts on one link"},
		{"as a maker calls it", by("src-mac", ""), 8, link, 0, record.SingleLink, "src-mac puts all flows between two hosts on one link"},
		{"guests below Open vSwitch, by MAC", by("balance-slb", ""), 8, link, 0, record.SingleLink, "balance-slb puts all flows between two hosts on one link"},
		{"guests below Open vSwitch, by flow", by("balance-tcp", "1"), 2, 1.5 * link, link, record.HashImbalance, "by chance"},
		{"one stream", by("layer3+4", ""), 1, link, 0, record.SingleLink, ""},
		// Two of two flows meet on one link half of the time: (2 + 1)/2 links.
		{"ports: two by chance", by("layer3+4", "1"), 2, 1.5 * link, link, record.HashImbalance, "by chance"},
		{"nobody said", by("", ""), 2, 1.5 * link, link, record.HashImbalance, "by chance"},
	} {
		p, err := Predict(trunk(1, 2, c.balance, ""), Traffic{From: "h0", To: "h1", Direction: flow.Forward, Streams: c.streams})
		if err != nil {
			t.Fatal(c.name, err)
		}
		if !near(p.Rate, c.rate, 1e-6) || p.Limit != c.limit {
			t.Errorf("%s: %v, %s; want %v, %s", c.name, p.Rate, p.Limit, unit.BitRate(c.rate), c.limit)
		}
		if c.low > 0 && !near(p.RateLow, c.low, 1e-6) {
			t.Errorf("%s: at least %v; want %v", c.name, p.RateLow, unit.BitRate(c.low))
		}
		if c.low > 0 && !near(p.RateHigh, 2*link, 1e-6) {
			t.Errorf("%s: at most %v; want both links, as luck may have it", c.name, p.RateHigh)
		}
		l := p.Limits[0]
		if !strings.HasPrefix(l.Where, "switch left: t0, t1") || !strings.Contains(l.Why, c.why) || !strings.Contains(l.Why, "right") {
			t.Errorf("%s: %s: %s", c.name, l.Where, l.Why)
		}
		if !near(p.Ceiling, 2*link, 1e-6) {
			t.Errorf("%s: ceiling %v; want both links' %v", c.name, p.Ceiling, unit.BitRate(2*link))
		}
	}
	one := trunk(1, 1, by("", ""), "")
	p, err := Predict(one, Traffic{From: "h1", To: "h0", Direction: flow.Forward, Streams: 4})
	if err != nil || !near(p.Rate, link, 1e-6) || p.Limit != record.LineRate || p.Limits[0].Where != "switch right: t0" {
		t.Errorf("one link between: %v, %s, %+v, %v", p.Rate, p.Limit, p.Limits[0], err)
	}
}

// TestTrunkTogether: pairs share the trunk, and it is named with the switch and ports.
func TestTrunkTogether(t *testing.T) {
	link := 10e9 * share1500
	f := trunk(4, 2, by("layer3+4", "1"), "")
	var all []Traffic
	for i := range 4 {
		all = append(all, Traffic{From: fmt.Sprintf("h%d", 2*i), To: fmt.Sprintf("h%d", 2*i+1), Direction: flow.Forward, Streams: 8})
	}
	rows, err := Together(f, all)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if !near(r.Together, link/2, 1e-6) || r.TogetherWhere != "switch left: t0, t1, sending" || !strings.Contains(r.TogetherWhy, "4 pairs share their 20") {
			t.Errorf("%s: %v, %s: %s; want a quarter of two links", r.From, r.Together, r.TogetherWhere, r.TogetherWhy)
		}
	}
}

// leafSpine is four leaves, two spines and eight hosts of 10G, two a leaf; each leaf has
// one link of that speed to each spine.
func leafSpine(up unit.BitRate, spines int, leaf topology.Balance, hosts ...netstate.Host) Fabric {
	var all []topology.Switch
	if hosts == nil {
		hosts = plainHosts(8, 10e9)
	}
	for i := range 4 {
		s := topology.Switch{Name: fmt.Sprintf("leaf%d", i), ECMP: &leaf, Ports: []topology.Port{
			hung("p0", fmt.Sprintf("h%d", 2*i), "ens3"), hung("p1", fmt.Sprintf("h%d", 2*i+1), "ens3")}}
		for n := range spines {
			s.Ports = append(s.Ports, cabled(fmt.Sprintf("up%d", n), fmt.Sprintf("spine%d", n), fmt.Sprintf("down%d", i), up))
		}
		all = append(all, s)
	}
	for n := range spines {
		all = append(all, topology.Switch{Name: fmt.Sprintf("spine%d", n)})
	}
	return behindSwitches(hosts, all...)
}

// TestLeafSpine: four leaves, two spines, eight hosts, against max-min by hand.
func TestLeafSpine(t *testing.T) {
	link := 10e9 * share1500
	streams := func(from, to string) Traffic {
		return Traffic{From: from, To: to, Direction: flow.Forward, Streams: 64}
	}
	for _, c := range []struct {
		name string
		f    Fabric
		all  []Traffic
		want []float64
	}{
		{"uplinks as fast as the hosts: nothing lost", leafSpine(10e9, 2, by("layer3+4", "1")),
			[]Traffic{streams("h0", "h2"), streams("h1", "h3")}, []float64{link, link}},
		// Both hosts of leaf0 send to leaf1 over 2 x 5G.
		{"uplinks of half the speed", leafSpine(5e9, 2, by("layer3+4", "1")),
			[]Traffic{streams("h0", "h2"), streams("h1", "h3")}, []float64{link / 2, link / 2}},
		// On one leaf nothing crosses an uplink.
		{"on one leaf", leafSpine(1e9, 2, by("layer3+4", "1")), []Traffic{streams("h0", "h1")}, []float64{link}},
		// h0 and h1 share leaf0's 2 x 2.5G; what leaf2's h4 sends to h3 meets h1 at leaf1's
		// downlinks: 5G for three pairs, 1.67 each; none binds elsewhere.
		{"three into one leaf", leafSpine(2.5e9, 2, by("layer3+4", "1")),
			[]Traffic{streams("h0", "h2"), streams("h1", "h3"), streams("h4", "h3")}, []float64{link / 6, link / 6, link / 6}},
		// leaf0 sends two pairs, leaf1 takes in one of them: 2.5 each, and h4 to h6 has its
		// own uplinks: all of 5.
		{"two leave a leaf, another pair elsewhere", leafSpine(2.5e9, 2, by("layer3+4", "1")),
			[]Traffic{streams("h0", "h2"), streams("h1", "h5"), streams("h4", "h6")}, []float64{link / 4, link / 4, link / 2}},
		{"a switch that does not route has one way", withoutECMP(leafSpine(5e9, 2, by("layer3+4", "1"))),
			[]Traffic{streams("h0", "h2"), streams("h1", "h3")}, []float64{link / 4, link / 4}},
	} {
		rows, err := Together(c.f, c.all)
		if err != nil {
			t.Fatal(c.name, err)
		}
		for i, r := range rows {
			if !near(r.Together, c.want[i], 1e-2) {
				t.Errorf("%s: %s to %s: %v, %s %s; want %v", c.name, r.From, r.To, r.Together, r.TogetherWhere, r.TogetherWhy, unit.BitRate(c.want[i]))
			}
		}
	}
	p, err := Predict(withoutECMP(leafSpine(5e9, 2, by("layer3+4", "1"))), streams("h0", "h2"))
	if err != nil || p.Limit != record.SingleLink || !strings.Contains(p.Limits[0].Why, "spanning tree") {
		t.Errorf("without ecmp: %s, %+v, %v", p.Limit, p.Limits[0], err)
	}
}

func withoutECMP(f Fabric) Fabric {
	switches := fabric.NetworkOf(f.Paths[0]).Switches
	for i := range switches {
		switches[i].ECMP = nil
	}
	net := topology.New(switches)
	for i := range f.Paths {
		f.Paths[i].Switches = net
	}
	return f
}

// clos is a leaf, two middle switches with two links each to two tops, and a far leaf: a
// choice of two at each of two tiers.
func clos(leaf, middle topology.Balance) Fabric {
	const up = 5e9
	all := []topology.Switch{
		{Name: "leaf", ECMP: &leaf, Ports: []topology.Port{hung("p0", "h0", "ens3"),
			cabled("u0", "mid0", "d", up), cabled("u1", "mid1", "d", up)}},
		{Name: "far", Ports: []topology.Port{hung("p0", "h1", "ens3")}},
	}
	for m := range 2 {
		s := topology.Switch{Name: fmt.Sprintf("mid%d", m), ECMP: &middle}
		for n := range 2 {
			s.Ports = append(s.Ports, cabled(fmt.Sprintf("u%d", n), fmt.Sprintf("top%d", n), fmt.Sprintf("d%d", m), up/2))
		}
		all = append(all, s)
	}
	for n := range 2 {
		all = append(all, topology.Switch{Name: fmt.Sprintf("top%d", n), Ports: []topology.Port{cabled("u", "far", fmt.Sprintf("d%d", n), 2*up)}})
	}
	return behindSwitches(plainHosts(2, 25e9), all...)
}

// TestPolarisation: two tiers that hash alike use half of the second's links.
func TestPolarisation(t *testing.T) {
	whole := 10e9 * share1500
	many := Traffic{From: "h0", To: "h1", Direction: flow.Forward, Streams: 256, Ports: PortsKernel}
	alike, err := Predict(clos(by("layer3+4", "7"), by("layer3+4", "7")), many)
	if err != nil {
		t.Fatal(err)
	}
	// Each middle switch has 2 x 2.5G, and all that comes to it has one value.
	if !near(alike.Rate, whole/2, 0.01) || alike.Limit != record.HashImbalance && alike.Limit != record.SingleLink ||
		!strings.Contains(alike.Limits[0].Why, "polarisation") {
		t.Errorf("the same seed: %v, %s: %s; want half of %v", alike.Rate, alike.Limit, alike.Limits[0].Why, unit.BitRate(whole))
	}
	other, err := Predict(clos(by("layer3+4", "7"), by("layer3+4", "8")), many)
	if err != nil || other.Rate < unit.BitRate(0.85*whole) {
		t.Errorf("seeds that differ: %v, %v; want nearly %v", other.Rate, err, unit.BitRate(whole))
	}
	open, err := Predict(clos(by("layer3+4", ""), by("layer3+4", "")), many)
	if err != nil || open.Rate < unit.BitRate(0.85*whole) || open.RateLow > unit.BitRate(0.51*whole) || !strings.Contains(open.RangeWhy, "seed") {
		t.Errorf("nobody said the seeds: %v, at least %v (%s), %v; want down to the half", open.Rate, open.RateLow, open.RangeWhy, err)
	}
}

// pair is two leaves as an MLAG pair with a bonded host of 2 x 10G on both, a spine, and
// a host of 25G behind it.
func pair(spread bool, hash topology.Balance) Fabric {
	bonded := testfabric.Bond{Name: "store", Addrs: []string{"10.0.0.100/24"}, Ports: 2, Speed: 10e9, Mode: netstate.LACP,
		Policy: netstate.Layer34, Mtu: 1500, Kernel: "6.1"}.Host()
	leaf := func(name string, n int) topology.Switch {
		return topology.Switch{Name: name, Balance: hash, Ports: []topology.Port{
			hung("p0", "store", fmt.Sprintf("store%d", n)), hung("p1", fmt.Sprintf("h%d", n), "ens3"),
			cabled("peer", map[string]string{"leaf0": "leaf1", "leaf1": "leaf0"}[name], "peer", 10e9),
		}, Channels: []topology.Channel{{Name: "po10", Members: []string{"p0"}}}}
	}
	a, b := leaf("leaf0", 0), leaf("leaf1", 1)
	a.MLAG = &topology.MLAG{Peer: "leaf1", Link: "peer", Spread: spread}
	return behindSwitches(append(plainHosts(2, 25e9), bonded), a, b)
}

// TestMLAG: what arrives at one half of a pair leaves by its own port, unless the pair
// spreads it.
func TestMLAG(t *testing.T) {
	link := 10e9 * share1500
	to := Traffic{From: "h0", To: "store", Direction: flow.Forward, Streams: 64}
	local, err := Predict(pair(false, by("layer3+4", "1")), to)
	if err != nil || !near(local.Rate, link, 1e-6) {
		t.Errorf("prefer-local: %v, %v; want one link's %v", local.Rate, err, unit.BitRate(link))
	}
	spread, err := Predict(pair(true, by("layer3+4", "1")), to)
	if err != nil || spread.Rate < unit.BitRate(1.8*link) {
		t.Errorf("without: %v, %v; want nearly both links", spread.Rate, err)
	}
	// From both halves at once each has its own port.
	rows, err := Together(pair(false, by("layer3+4", "1")), []Traffic{to, {From: "h1", To: "store", Direction: flow.Forward, Streams: 64}})
	if err != nil || !near(rows[0].Together, link, 1e-6) || !near(rows[1].Together, link, 1e-6) {
		t.Errorf("both halves: %+v, %v", rows, err)
	}
	back, err := Predict(pair(false, by("layer3+4", "1")), Traffic{From: "store", To: "h0", Direction: flow.Forward, Streams: 2})
	// One stream leaves by the other half and crosses the peer link.
	if err != nil || !near(back.Rate, 2*link, 1e-6) {
		t.Errorf("back: %v, %v; want both links'", back.Rate, err)
	}
}

// TestLinuxSwitch: bonding's own hash is computed, and its tiers see one value.
func TestLinuxSwitch(t *testing.T) {
	f := trunk(3, 2, by("layer2", ""), "linux")
	macs := [][2]byte{{1, 2}, {1, 3}, {1, 1}}
	link := 10e9 * share1500
	var all []Traffic
	for i, m := range macs {
		for side, last := range m {
			name := fmt.Sprintf("h%d", 2*i+side)
			h := f.Hosts[name]
			h.Links[0].MAC = flow.MAC{2, 0, 0, 0, byte(i), last}
			f.Hosts[name] = h
		}
		all = append(all, Traffic{From: fmt.Sprintf("h%d", 2*i), To: fmt.Sprintf("h%d", 2*i+1), Direction: flow.Forward, Streams: 4})
	}
	rows, err := Together(f, all)
	if err != nil {
		t.Fatal(err)
	}
	// The last bytes' XOR with the protocol's 8 is odd for the first alone... bond_eth_hash:
	// the first has a link to itself, the others share one.
	for i, want := range []float64{link, link / 2, link / 2} {
		if !near(rows[i].Together, want, 1e-6) {
			t.Errorf("pair %d: %v, %s: %s; want %v", i, rows[i].Together, rows[i].TogetherWhere, rows[i].TogetherWhy, unit.BitRate(want))
		}
	}
}

// TestSwitchesHold: no link carries more than its rate, whatever the fabric; and with a
// perfect hash another spine takes nothing from a pair alone, nor from the least of many.
func TestSwitchesHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		up := unit.BitRate(rapid.IntRange(1, 12).Draw(t, "up")) * 1e9
		spines := rapid.IntRange(1, 4).Draw(t, "spines")
		var all []Traffic
		for range rapid.IntRange(1, 4).Draw(t, "pairs") {
			from := rapid.IntRange(0, 7).Draw(t, "from")
			to := (from + rapid.IntRange(1, 7).Draw(t, "to")) % 8
			all = append(all, Traffic{From: fmt.Sprintf("h%d", from), To: fmt.Sprintf("h%d", to), Direction: flow.Forward, Streams: 32, ChosenOnly: true, Ports: PortsKernel})
		}
		least := func(n int) (alone, together float64) {
			f := leafSpine(up, n, by("layer3+4", "1"))
			rows, err := Together(f, all)
			if err != nil {
				t.Fatal(err)
			}
			alone, together = math.Inf(1), math.Inf(1)
			sent := map[string]float64{}
			for i, r := range rows {
				alone, together = min(alone, float64(r.Rate)), min(together, float64(r.Together))
				a, b := fabric.NetworkOf(f.Paths[0]), all[i]
				from, _ := a.Where(b.From, "ens3")
				to, _ := a.Where(b.To, "ens3")
				if from.Switch != to.Switch {
					sent[from.Switch+" up"] += float64(r.Together) / share1500
					sent[to.Switch+" down"] += float64(r.Together) / share1500
				}
				sent[b.From+" out"] += float64(r.Together) / share1500 * float64(n) * float64(up) / 10e9
				sent[b.To+" in"] += float64(r.Together) / share1500 * float64(n) * float64(up) / 10e9
			}
			for at, load := range sent {
				if load > float64(n)*float64(up)*(1+1e-9) {
					t.Fatalf("%s carries %v of %v", at, unit.BitRate(load), up*unit.BitRate(n))
				}
			}
			return alone, together
		}
		alone, together := least(spines)
		more, moreTogether := least(spines + 1)
		if more < alone*0.97 || moreTogether < together*0.97 {
			t.Fatalf("with %d spines %v alone, %v together; with one more %v, %v", spines, alone, together, more, moreTogether)
		}
	})
}
