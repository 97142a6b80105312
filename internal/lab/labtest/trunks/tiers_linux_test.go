package trunks

import (
	"fmt"
	"math"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// What the leaves and spines are cabled with: hosts faster than a leaf's uplinks, and these
// than what a spine has to each half of the pair.
const (
	edge   = 72 * unit.Mbps
	uplink = 30 * unit.Mbps // a little more than two of the links down: TCP fills no two queues in a row alike
	down   = 12 * unit.Mbps
	slow   = 6 * unit.Mbps // f's own link
)

// pause is a bucket of 0.3 s of a rate, but of a full segment at the least: what a lab's
// kernel that waits for a processor for so long makes up for.
func pause(rate unit.BitRate) unit.Bytes {
	return max(16*unit.KiB, unit.Bytes(float64(rate)/8*0.3))
}

// clos is a leaf with hosts a, b and f, two spines, and a pair of leaves that speak LACP as
// one switch to a host with a bond, and have host c at the first of them. All switches
// route, and spread flows by the kernel's multipath hash.
type clos struct {
	t      *testing.T
	spaces map[string]floor.Space
}

// cable joins two spaces; each end sends at the rate, and flows share it fairly: TCP alone
// takes longer to do so than a test has.
func (s *clos) cable(a, link, b, port string, rate unit.BitRate) {
	s.t.Helper()
	floor.Must(s.t, s.spaces[a].Builder.Veth(link, s.spaces[b].Builder, port))
	for end, name := range map[string]string{a: link, b: port} {
		floor.Must(s.t, s.spaces[end].Builder.Shape(name, rate, pause(rate), 3*queue))
		s.fair(end, name)
		floor.Must(s.t, s.spaces[end].Builder.Up(name))
	}
}

// fair puts a queue for each flow below a shaper. A full one marks packets (ECN) and drops
// none: with a few packets in flight for each of many flows TCP learns of a loss by a
// timeout alone, and links idle until then.
func (s *clos) fair(space, link string) {
	s.t.Helper()
	out, err := exec.Command("tc", "-n", s.spaces[space].NS.Name, "qdisc", "add", "dev", link, "parent", "1:1", "fq_codel", "target", "100ms", "interval", "1s", "limit", "1000", "ecn").CombinedOutput()
	if err != nil {
		s.t.Fatalf("fair %s %s: %v: %s", space, link, err, out)
	}
}

// do carries out lines of "SPACE: ARGUMENTS OF ip", or "SPACE: KEY=VALUE" for a sysctl.
func (s *clos) do(script string) {
	s.t.Helper()
	for line := range strings.Lines(script) {
		name, words, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			continue
		}
		ns := s.spaces[name].NS.Name
		c := exec.Command("ip", append([]string{"-n", ns}, strings.Fields(words)...)...)
		if !strings.Contains(words, " ") {
			c = exec.Command("ip", "netns", "exec", ns, "sysctl", "-qw", words)
		}
		if out, err := c.CombinedOutput(); err != nil {
			s.t.Fatalf("%s: %v: %s", strings.TrimSpace(line), err, out)
		}
	}
}

func newClos(t *testing.T) *clos {
	t.Helper()
	s := &clos{t: t, spaces: map[string]floor.Space{}}
	for _, name := range []string{"a", "b", "f", "c", "store", "leaf0", "leaf1", "leaf2", "spine0", "spine1"} {
		s.spaces[name] = floor.NewSpace(t, "tiers-"+name)
		floor.Must(t, s.spaces[name].Builder.Up("lo"))
	}
	for n, h := range []struct {
		name, leaf string
		rate       unit.BitRate
	}{{"a", "leaf0", edge}, {"b", "leaf0", edge}, {"f", "leaf0", slow}, {"c", "leaf1", edge}} {
		s.cable(h.name, "eth0", h.leaf, "p"+h.name, h.rate)
		s.do(fmt.Sprintf("%[1]s: addr add 10.50.%[2]d.1/24 dev eth0\n%[3]s: addr add 10.50.%[2]d.254/24 dev p%[1]s\n%[1]s: route add default via 10.50.%[2]d.254 rto_min 2s", h.name, n+1, h.leaf))
	}
	for n, leaf := range []string{"leaf0", "leaf1", "leaf2"} {
		for i := range 2 {
			rate := down
			if n == 0 {
				rate = uplink
			}
			s.cable(leaf, fmt.Sprintf("u%d", i), fmt.Sprintf("spine%d", i), fmt.Sprintf("d%d", n), rate)
			s.do(fmt.Sprintf("%[1]s: addr add 10.51.%[2]d%[3]d.1/24 dev u%[3]d\nspine%[3]d: addr add 10.51.%[2]d%[3]d.2/24 dev d%[4]d", leaf, n+1, i, n))
		}
	}
	s.cable("leaf1", "peer", "leaf2", "peer", edge)
	for i, leaf := range []string{"leaf1", "leaf2"} {
		s.cable("store", fmt.Sprintf("eth%d", i), leaf, "ps", edge)
		// Both halves answer with one system and one address, and know the host's address
		// from each other, as pairs do.
		s.do(fmt.Sprintf(`%[1]s: link add po10 address 02:00:00:00:50:fe type bond mode 802.3ad miimon 50 lacp_rate fast ad_actor_system 02:00:00:00:50:01
			%[1]s: link set ps down
			%[1]s: link set ps master po10
			%[1]s: link set po10 up
			%[1]s: addr add 10.50.10.254/24 dev po10
			%[1]s: neigh add 10.50.10.1 lladdr 02:00:00:00:50:10 dev po10 nud permanent`, leaf))
	}
	s.do(`store: link add bond0 address 02:00:00:00:50:10 type bond mode 802.3ad miimon 50 lacp_rate fast xmit_hash_policy layer3+4
		store: link set eth0 down
		store: link set eth0 master bond0
		store: link set eth1 down
		store: link set eth1 master bond0
		store: link set bond0 up
		store: addr add 10.50.10.1/24 dev bond0
		store: route add default via 10.50.10.254 rto_min 2s
		leaf0: route add 10.50.0.0/16 nexthop via 10.51.10.2 nexthop via 10.51.11.2
		leaf1: route add 10.50.0.0/16 nexthop via 10.51.20.2 nexthop via 10.51.21.2
		leaf2: route add 10.50.0.0/16 nexthop via 10.51.30.2 nexthop via 10.51.31.2`)
	for i := range 2 {
		s.do(fmt.Sprintf(`spine%[1]d: route add 10.50.0.0/16 via 10.51.1%[1]d.1
			spine%[1]d: route add 10.50.4.0/24 via 10.51.2%[1]d.1
			spine%[1]d: route add 10.50.10.0/24 nexthop via 10.51.2%[1]d.1 nexthop via 10.51.3%[1]d.1`, i))
	}
	// Nothing is lost, so what a machine that stands still has time out is not sent again.
	for _, host := range []string{"a", "b", "f", "c", "store"} {
		s.do(host + ": net.ipv4.tcp_ecn=1\n" + host + ": net.ipv4.tcp_early_retrans=0")
	}
	for _, sw := range []string{"leaf0", "leaf1", "leaf2", "spine0", "spine1"} {
		s.do(sw + ": net.ipv4.ip_forward=1\n" + sw + ": net.ipv4.fib_multipath_hash_policy=1")
	}
	floor.Await(t, s.spaces["store"], "bond0", 2, 30*time.Second)
	return s
}

// open is whoever measures, of a file that says the spines' seed and which pairs.
func (s *clos) open(spines string, pairs ...string) *campaign.Campaign {
	s.t.Helper()
	reach := func(name string) string { return "netns:" + s.spaces[name].NS.Name }
	f, err := fabric.Parse("tiers.yaml", []byte(fmt.Sprintf(`linerate: v1
hosts:
  a: {reach: %[1]s, hardware: {links: {eth0: {speed: %[6]s, framing: l2}}}}
  b: {reach: %[2]s, hardware: {links: {eth0: {speed: %[6]s, framing: l2}}}}
  f: {reach: %[3]s, hardware: {links: {eth0: {speed: %[7]s, framing: l2}}}}
  c: {reach: %[4]s, hardware: {links: {eth0: {speed: %[6]s, framing: l2}}}}
  store: {reach: %[5]s, hardware: {links: {eth0: {speed: %[6]s, framing: l2}, eth1: {speed: %[6]s, framing: l2}}}}
switches:
  leaf0:
    system: linux
    ecmp: {hash: layer3+4, seed: first}
    ports:
      pa: {host: a, link: eth0}
      pb: {host: b, link: eth0}
      pf: {host: f, link: eth0}
      u0: {switch: spine0, port: d0, speed: %[8]s, framing: l2}
      u1: {switch: spine1, port: d0, speed: %[8]s, framing: l2}
  leaf1:
    system: linux
    ecmp: {hash: layer3+4, seed: first}
    ports:
      ps: {host: store, link: eth0}
      pc: {host: c, link: eth0}
      u0: {switch: spine0, port: d1, speed: %[9]s, framing: l2}
      u1: {switch: spine1, port: d1, speed: %[9]s, framing: l2}
      peer: {switch: leaf2, port: peer, speed: %[6]s, framing: l2}
    channels: {po10: {members: [ps], mode: lacp}}
    mlag: {peer: leaf2, link: peer}
  leaf2:
    system: linux
    ecmp: {hash: layer3+4, seed: first}
    ports:
      ps: {host: store, link: eth1}
      u0: {switch: spine0, port: d2, speed: %[9]s, framing: l2}
      u1: {switch: spine1, port: d2, speed: %[9]s, framing: l2}
    channels: {po10: {members: [ps], mode: lacp}}
  spine0: {system: linux, ecmp: {hash: layer3+4, seed: %[10]s}}
  spine1: {system: linux, ecmp: {hash: layer3+4, seed: %[10]s}}
paths:
%[11]s`, reach("a"), reach("b"), reach("f"), reach("c"), reach("store"), word(edge), word(slow), word(uplink), word(down), spines, "  - {between: ["+strings.Join(pairs, "]}\n  - {between: [")+"]}\n")))
	floor.Must(s.t, err)
	c, err := campaign.Open(s.t.Context(), campaign.Config{Fabric: f, Fleet: fleet.Config{Version: "test", JournalDir: s.t.TempDir(), Unguarded: true}, BackEnd: "test"})
	floor.Must(s.t, err)
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

func word(r unit.BitRate) string {
	text, _ := r.MarshalText()
	return string(text)
}

// port is a link by which a space sends.
type port struct {
	space, link string
	rate        unit.BitRate
}

// inner are the links between spines and pair, by the way that is measured.
var inner = map[flow.Direction][]port{
	flow.Forward: {{"spine0", "d1", down}, {"spine0", "d2", down}, {"spine1", "d1", down}, {"spine1", "d2", down}},
	flow.Reverse: {{"leaf1", "u0", down}, {"leaf1", "u1", down}, {"leaf2", "u0", down}, {"leaf2", "u1", down}},
}

// reading is what each link had sent at a time.
type reading struct {
	at   time.Time
	sent []float64
}

// watch reads what links send until it is stopped.
func (s *clos) watch(links []port) (stop func() []reading) {
	s.t.Helper()
	handles := make([]*rtnl.Handle, len(links))
	for i, l := range links {
		floor.Must(s.t, s.spaces[l.space].NS.Do(func() (err error) {
			handles[i], err = rtnl.Open()
			return err
		}))
	}
	over, done := make(chan struct{}), make(chan []reading)
	go func() {
		var all []reading
		for {
			r := reading{at: time.Now(), sent: make([]float64, len(links))}
			for i, l := range links {
				if c, err := handles[i].Counters([]string{l.link}); err == nil {
					r.sent[i] = float64(c[0].Counters.TxBytes)
				}
			}
			all = append(all, r)
			select {
			case <-over:
				for _, h := range handles {
					h.Close()
				}
				done <- all
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	return func() []reading { close(over); return <-done }
}

// loads are the links' over the part that carried most of what was read, as long as the
// shortest of the trials' windows, each of its rate: when a window began is known to the
// time that connections took to be made.
func loads(links []port, all []reading, trials []record.Trial) []float64 {
	length := math.Inf(1)
	for _, r := range trials {
		length = min(length, r.Window)
	}
	out, most := make([]float64, len(links)), 0.0
	for i, a := range all {
		at := slices.IndexFunc(all[i:], func(b reading) bool { return b.at.Sub(a.at).Seconds() >= length })
		if at < 0 {
			break
		}
		b, sum := all[i+at], 0.0
		load := make([]float64, len(links))
		for l := range links {
			load[l] = 8 * (b.sent[l] - a.sent[l]) / b.at.Sub(a.at).Seconds() / float64(links[l].rate)
			sum += load[l]
		}
		if sum > most {
			out, most = load, sum
		}
	}
	return out
}

// within fails the test where a rate is not the predicted one.
func (s *clos) within(what string, got, want unit.BitRate, apart float64) {
	s.t.Helper()
	s.t.Logf("%s: %v, predicted %v (%+.1f %%)", what, got, want, 100*(float64(got/want)-1))
	if math.Abs(float64(got/want)-1) > apart {
		s.t.Errorf("%s: %v, predicted %v", what, got, want)
	}
}

const (
	// apart is what a result may be from the prediction, apartOfThree one of several pairs:
	// which share of a link each of two has is chance, and after a pause it is whose
	// streams fill it again first.
	apart, apartOfThree = 0.05, 0.10
	// tierStreams are enough for one pair to fill all links, whatever its ports.
	tierStreams = 24
	// sharedStreams are each pair's of several: which links its streams have is chance, and
	// of 24 streams the share of one pair is 4.6 % of itself from the mean (standard
	// deviation, by drawing them), of 96 it is 1.4 %.
	sharedStreams = 96
)

const (
	// leastFull is how full each link that is used must be: what fills one less the machine
	// disturbed, and it is measured again. So is what fills one by as much more than its
	// rate: a shaper that makes up for a pause.
	leastFull = 0.97
	tries     = 5
	// unused is what a link carries beside flows: answers of neighbours.
	unused = 0.02
)

// steady measures until the links that are used are full, and none made up for a pause;
// it returns the trials of the time that was nearest to it, and the links' loads.
func (s *clos) steady(c *campaign.Campaign, links []port, run func() error) (best []record.Trial, load []float64) {
	s.t.Helper()
	most := 0.0
	for try := 0; try < tries && most < leastFull; try++ {
		before := len(c.Record().Trials)
		stop := s.watch(links)
		err := run()
		all := stop()
		floor.Must(s.t, err)
		trials := c.Record().Trials[before:]
		if len(trials) == 0 {
			s.t.Fatalf("not measured: %+v", c.Record().Failures)
		}
		on, full := loads(links, all, trials), math.Inf(1)
		for _, r := range trials {
			again := uint64(0)
			for _, l := range r.Lanes {
				again += l.Retransmits
			}
			s.t.Logf("%s to %s: %v, %d packets sent again", r.From, r.To, r.Goodput, again)
		}
		for _, l := range on {
			if l > unused {
				full = min(full, l, 2-l)
			}
		}
		s.t.Logf("try %d: links carried %.3f of their rate", try+1, on)
		if full > most {
			best, load, most = trials, on, full
		}
	}
	return best, load
}

// alone measures one pair one way, and compares it with what is predicted.
func (s *clos) alone(c *campaign.Campaign, d flow.Direction) (predict.Prediction, []float64) {
	s.t.Helper()
	trials, load := s.steady(c, inner[d], func() error {
		return c.Run(s.t.Context(), campaign.Matrix{Streams: []int{tierStreams}, Directions: []flow.Direction{d}, Ports: "kernel", Duration: window})
	})
	got := trials[0]
	traffic := predict.Between(got.From, got.To, d, tierStreams)
	traffic.Ports = predict.PortsKernel
	want, err := predict.Predict(c.State(), traffic)
	floor.Must(s.t, err)
	s.within(fmt.Sprintf("%s to %s, %s", got.From, got.To, d), got.Goodput, want.Rate, apart)
	s.t.Logf("  %s: %s: %s", want.Limit, want.Limits[0].Where, want.Limits[0].Why)
	return want, load
}

// TestTiers: a leaf, two spines and a pair of leaves with a bonded host. Where both tiers
// hash alike half of the second tier's links idle, which is predicted and measured; with
// another hash at the spines all are used; and pairs at once have the max-min shares that
// the uplinks leave them.
func TestTiers(t *testing.T) {
	s := newClos(t)
	payload := unit.BitRate(1448.0 / 1514)
	c := s.open("first", "a, store")
	want, load := s.alone(c, flow.Forward)
	if math.Abs(float64(want.Rate/(2*down*payload)-1)) > 0.01 || !strings.Contains(want.Limits[0].Why, "polarisation") {
		t.Errorf("predicted %v, %+v; want two of four links", want.Rate, want.Limits[0])
	}
	for spine := range 2 {
		if pair := load[2*spine : 2*spine+2]; min(pair[0], pair[1]) > unused {
			t.Errorf("spine%d filled %.3f of its links to the pair", spine, pair)
		}
	}
	// A bond's hash is another than a route's: the other direction has all links.
	if want, _ = s.alone(c, flow.Reverse); want.Rate < 3.9*down*payload {
		t.Errorf("predicted %v; want four links", want.Rate)
	}
	// The same kernel with the same key, but one that hashes by other fields.
	for _, spine := range []string{"spine0", "spine1"} {
		s.do(spine + ": net.ipv4.fib_multipath_hash_fields=0x33\n" + spine + ": net.ipv4.fib_multipath_hash_policy=3")
	}
	if want, load = s.alone(s.open("second", "a, store"), flow.Forward); want.Rate < 3.9*down*payload || slices.Min(load) < unused {
		t.Errorf("predicted %v, on links %.3f; want four links", want.Rate, load)
	}
	c = s.open("second", "a, store", "b, store", "f, c")
	trials, _ := s.steady(c, append(slices.Clone(inner[flow.Forward]), port{"f", "eth0", slow}), func() error {
		return c.Together(t.Context(), campaign.Matrix{Streams: []int{sharedStreams}, Directions: []flow.Direction{flow.Forward}, Ports: "kernel", Duration: 2 * window})
	})
	rows, err := predict.Together(c.State(), predict.EveryPair(c.State(), fabric.Measure{}, flow.Forward, sharedStreams))
	floor.Must(t, err)
	if len(trials) != len(rows) || len(rows) != 3 {
		t.Fatalf("%d trials, %d rows: %+v", len(trials), len(rows), c.Record().Failures)
	}
	var sum, wanted unit.BitRate
	for _, r := range rows {
		for _, got := range trials {
			if got.From == r.From && got.To == r.To {
				s.within(fmt.Sprintf("%s to %s of three pairs", r.From, r.To), got.Goodput, r.Together, apartOfThree)
				if r.To == "store" {
					sum, wanted = sum+got.Goodput, wanted+r.Together
				}
				t.Logf("  %s: %s", r.TogetherWhere, r.TogetherWhy)
			}
		}
	}
	s.within("both to store", sum, wanted, apart)
}
