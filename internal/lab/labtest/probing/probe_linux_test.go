package probing

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/hashsurvey"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/run/probe"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/steer/recognise"
	"github.com/linerate/linerate/unit"
)

// The lab's names for the switch and its bonds.
const (
	nearHost, farHost = "near", "far"
	switchSpace       = "linerate-switch"
)

// proof is how often it is repeated with other addresses and ports, in
// `make prove-probe`; zero asks for a sample.
func proof(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv("PROVE_RUNS"))
	if err != nil {
		return 0
	}
	return n
}

// TestFindsEvenSets probes through a switch whose policy it is not told, and
// sends real streams of the set it gets. A sample is once, between as many
// links as are drawn, with the draw as seed.
func TestFindsEvenSets(t *testing.T) {
	counts := [][2]int{{2, 3}, {3, 4}, {2, 2}}
	repeats, seed := proof(t), uint64(0)
	if repeats == 0 {
		seed = floor.Draw(t)
		repeats, counts = 1, counts[seed%3:][:1]
	}
	for _, links := range counts {
		t.Run(fmt.Sprintf("%d and %d links", links[0], links[1]), func(t *testing.T) {
			for run := range repeats {
				random := rand.New(rand.NewPCG(seed+uint64(run), uint64(links[0]*10+links[1])))
				n := build(t, random, links)
				for _, policy := range []netstate.HashPolicy{netstate.Layer23, netstate.Layer34} {
					n.setSwitch(t, policy)
					n.findEvenSet(t, policy, random.Uint64())
				}
				n.down(t)
			}
		})
	}
}

// network is two hosts on the lab's switch.
type network struct {
	near, far *fleet.Host
	a, b      netstate.Host
	links     [2]int
	down      func(t *testing.T)
}

// build makes the hosts, each with an LACP bond and five addresses.
func build(t *testing.T, random *rand.Rand, links [2]int) network {
	t.Helper()
	hash := netstate.Layer34
	host := func(name string, links int) lab.Host {
		h := lab.Host{Name: name, Links: links, Bond: &lab.Bond{Mode: netstate.LACP, HashPolicy: &hash}}
		base := 1
		if name == farHost {
			base = 128
		}
		for _, i := range random.Perm(120)[:5] {
			h.Addresses = append(h.Addresses, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(base + i)}), 24))
		}
		return h
	}
	down, err := lab.Up(t.Context(), lab.Topology{
		Hosts: []lab.Host{host(nearHost, links[0]), host(farHost, links[1])}, Switch: lab.Switch{Hash: netstate.Layer2, MTU: 1500},
	})
	floor.Must(t, err)
	n := network{links: links}
	n.near, n.a = reach(t, nearHost)
	n.far, n.b = reach(t, farHost)
	n.down = func(t *testing.T) {
		t.Helper()
		n.near.Close()
		n.far.Close()
		floor.Must(t, down())
	}
	return n
}

func reach(t *testing.T, name string) (*fleet.Host, netstate.Host) {
	t.Helper()
	h, err := fleet.Dial(t.Context(), name, "netns:"+lab.Namespace(name), fleet.Config{Version: "test", Unguarded: true})
	floor.Must(t, err)
	reply, err := h.Observe(t.Context())
	floor.Must(t, err)
	reply.Host.Name = name
	return h, reply.Host
}

// setSwitch gives the switch's bonds another policy, while they are up.
func (n network) setSwitch(t *testing.T, p netstate.HashPolicy) {
	t.Helper()
	floor.Must(t, netns.Named(switchSpace).DoWithSysfs(func() error {
		for _, host := range []string{nearHost, farHost} {
			if err := os.WriteFile("/sys/class/net/to-"+host+"/bonding/xmit_hash_policy", []byte(p.String()), 0o644); err != nil {
				return err
			}
		}
		return nil
	}))
}

// probe runs a probe over the first lanes, all for zero.
func (n network) probe(t *testing.T, lanes int, seed uint64, progress func(probe.Look)) hashsurvey.Report {
	t.Helper()
	all, err := probe.Lanes(n.a, n.b, "")
	floor.Must(t, err)
	if lanes > 0 {
		all = all[:lanes]
	}
	report, err := probe.Run(t.Context(), probe.Config{
		A: probe.End{At: n.near, Host: n.a}, B: probe.End{At: n.far, Host: n.b}, Lanes: all, Seed: seed, Progress: progress,
	})
	floor.Must(t, err)
	return report
}

func (n network) findEvenSet(t *testing.T, policy netstate.HashPolicy, seed uint64) {
	t.Helper()
	begun := time.Now()
	report := n.probe(t, 0, seed, func(l probe.Look) {
		if l.Repeats > 0 || l.Problem != "" {
			t.Logf("  probe %d, %s: %v, %d repeats %s", l.Number, l.Frame.Tuple, l.Links, l.Repeats, l.Problem)
		}
	})
	if missing := n.outOfReach(t, policy); len(missing) > 0 {
		said := strings.Join(report.Reasons(), "; ")
		t.Logf("switch %s, links %d and %d: no pair of addresses leads to %v, and after %d probes the report says: %s", policy, n.links[0], n.links[1], missing, report.Probes, said)
		if report.Even || !strings.Contains(said, "linerate steer addresses") {
			t.Errorf("%v cannot be reached, and the report says even %v: %s", missing, report.Even, said)
		}
		return
	}
	t.Logf("switch %s, links %d and %d: even set of %d streams in %d probes (limit %d); %d probes in all, %.1f s", policy, n.links[0], n.links[1],
		len(report.Streams), report.Found, report.Limit, report.Probes, time.Since(begun).Seconds())
	if !report.Even || report.Found > report.Limit {
		t.Errorf("switch %s: even %v in %d probes, limit %d: %s %+v", policy, report.Even, report.Found, report.Limit, report.Why, report.Sides)
	}
	for _, side := range report.Sides {
		if side.Side.Out() {
			continue
		}
		var words []string
		for _, g := range side.Guesses[:min(3, len(side.Guesses))] {
			words = append(words, fmt.Sprintf("%s %.2f", g.Policy, g.Confidence))
		}
		t.Logf("  %s: %v on %v, looks like %s", side.Side, side.Seen, side.Links, strings.Join(words, ", "))
		if len(side.Links) > 1 && !slices.ContainsFunc(side.Guesses, func(g recognise.Guess) bool { return g.Policy == policy.String() && g.Contradicted == 0 }) {
			t.Errorf("%s: %s is not among the guesses: %+v", side.Side, policy, side.Guesses)
		}
	}
	n.sendSet(t, report)
}

// outOfReach counts, by the switch's true rule, the links that no pair of
// addresses leads to: with layer2+3 and few addresses that may happen.
func (n network) outOfReach(t *testing.T, policy netstate.HashPolicy) (missing []string) {
	t.Helper()
	if policy != netstate.Layer23 {
		return nil
	}
	lanes, err := probe.Lanes(n.a, n.b, "")
	floor.Must(t, err)
	near, _ := n.a.Link("bond0")
	far, _ := n.b.Link("bond0")
	for _, side := range []hashsurvey.Side{hashsurvey.FarIn, hashsurvey.NearIn} {
		links := n.links[0]
		if side.Far() {
			links = n.links[1]
		}
		reached := make(map[uint32]bool)
		for _, l := range lanes {
			f := flow.Frame{Tuple: flow.Tuple{Proto: flow.TCP, Src: l.Src, Dst: l.Dst}, SrcMAC: near.MAC, DstMAC: far.MAC}
			hash, known, why := steer.Hasher{Policy: policy}.Hash(side.On(f))
			if !known {
				t.Fatal(why)
			}
			reached[hash%uint32(links)] = true
		}
		if len(reached) < links {
			missing = append(missing, fmt.Sprintf("%d of the %d links of %s", links-len(reached), links, side))
		}
	}
	return missing
}

// sendSet sends the same amount down every stream of the set at once, and
// holds the counters of all four sides against it.
func (n network) sendSet(t *testing.T, report hashsurvey.Report) {
	t.Helper()
	const each = 4 * unit.MiB
	var bind, peers []netip.Addr
	source := agentapi.SourceRequest{Session: "set-out", Links: report.Sides[hashsurvey.NearOut].Links, Lifetime: time.Minute}
	for _, s := range report.Streams {
		if !slices.Contains(bind, s.Dst) {
			bind = append(bind, s.Dst)
		}
		peers = append(peers, s.Src)
		st := agentapi.Stream{Sport: s.Sport, Dport: s.Dport}
		st.Src, st.Dst = s.Src, s.Dst
		source.Streams = append(source.Streams, st)
	}
	_, err := ask.Call(t.Context(), n.far, agentapi.OpenSink, agentapi.SinkRequest{
		Session: "set-in", Bind: bind, Peers: peers, Port: int(report.Streams[0].Dport), Streams: len(source.Streams), Links: report.Sides[hashsurvey.FarIn].Links, Lifetime: time.Minute,
	})
	floor.Must(t, err)
	_, err = ask.Call(t.Context(), n.near, agentapi.OpenSource, source)
	floor.Must(t, err)
	defer ask.Call(t.Context(), n.far, agentapi.Finish, agentapi.SessionRequest{Session: "set-in"})
	defer ask.Call(t.Context(), n.near, agentapi.Finish, agentapi.SessionRequest{Session: "set-out"})
	a0, b0 := n.sample(t, n.near, "set-out"), n.sample(t, n.far, "set-in")
	_, err = ask.Call(t.Context(), n.near, agentapi.Start, agentapi.StartRequest{Session: "set-out", Limit: each})
	floor.Must(t, err)
	a1, b1 := a0, b0
	for deadline := time.Now().Add(20 * time.Second); ; floor.Pause() {
		b1 = n.sample(t, n.far, "set-in")
		var got uint64
		for _, x := range b1.Bytes {
			got += x
		}
		if got == uint64(each)*uint64(len(source.Streams)) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes arrived", got)
		}
	}
	floor.Pause()
	a1, b1 = n.sample(t, n.near, "set-out"), n.sample(t, n.far, "set-in")
	for _, side := range report.Sides {
		moved := moved(side.Side, a0, a1, b0, b1)
		want, tolerance := make([]float64, len(side.Links)), 0.02
		for i, s := range report.Streams {
			at := slices.Index(side.Links, s.Links[side.Side])
			if at < 0 {
				t.Errorf("%s: stream %d has no link", side.Side, i)
				continue
			}
			if side.Side.Back() { // its acknowledgements, as its TCP counts them
				want[at] += float64(b1.TCP[i].AllSegmentsOut - b0.TCP[i].AllSegmentsOut)
				tolerance = 0.1
			} else {
				want[at]++
			}
		}
		for i := range want {
			share, planned := moved[i]/total(moved), want[i]/total(want)
			if share < planned*(1-tolerance) || share > planned*(1+tolerance) {
				t.Errorf("%s: links carried %.0f, planned %v of %d streams (%.0f)", side.Side, moved, side.PerLink, len(report.Streams), want)
				break
			}
		}
	}
}

func total(of []float64) (sum float64) {
	for _, v := range of {
		sum += v
	}
	return sum
}

func (n network) sample(t *testing.T, h *fleet.Host, session string) agentapi.Sample {
	t.Helper()
	r, err := ask.Call(t.Context(), h, agentapi.ReadSamples, agentapi.SampleRequest{Session: session, Since: -1})
	floor.Must(t, err)
	return r.Samples[0]
}

// moved is what each link of a side carried: bytes of data, packets of
// answers.
func moved(side hashsurvey.Side, a0, a1, b0, b1 agentapi.Sample) []float64 {
	before, after := a0, a1
	if side.Far() {
		before, after = b0, b1
	}
	out := make([]float64, len(after.Links))
	for i := range after.Links {
		was, now := before.Links[i].Counters, after.Links[i].Counters
		switch side {
		case hashsurvey.NearOut:
			out[i] = float64(now.TxBytes - was.TxBytes)
		case hashsurvey.FarIn:
			out[i] = float64(now.RxBytes - was.RxBytes)
		case hashsurvey.FarOut:
			out[i] = float64(now.TxPackets - was.TxPackets)
		case hashsurvey.NearIn:
			out[i] = float64(now.RxPackets - was.RxPackets)
		}
	}
	return out
}
