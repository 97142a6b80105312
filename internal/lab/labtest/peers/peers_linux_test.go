package peers

import (
	"fmt"
	"math"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

func TestMain(m *testing.M) { os.Exit(floor.Main(m, lab.UML)) }

// rate is what each of the bond's two links is shaped to, within how far a
// result may lie from it.
const (
	rate   = 100 * unit.Mbps
	within = 0.02
)

// payload is what TCP over IPv4 with timestamps carries of a shaper's rate at
// MTU 1500.
func payload(links int) float64 { return float64(links) * float64(rate) * 1448 / 1514 }

// pair is two hosts with a bond of two shaped links between them.
type pair struct{ near, far floor.Space }

func newPair(t *testing.T) pair {
	p := pair{floor.NewSpace(t, "peers-near"), floor.NewSpace(t, "peers-far")}
	policy := netstate.Layer34
	for _, port := range []string{"eth0", "eth1"} {
		floor.Must(t, p.near.Builder.Veth(port, p.far.Builder, port))
	}
	for i, s := range []floor.Space{p.near, p.far} {
		floor.Must(t, s.Builder.Bond("bond0", rtnl.BondSpec{Mode: netstate.BalanceXOR, HashPolicy: &policy, Miimon: 50e6}, []string{"eth0", "eth1"}))
		floor.Must(t, s.Builder.Address("bond0", netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 78, 0, byte(1 + i)}), 24)))
		floor.Must(t, s.Builder.Up("lo"))
		for _, port := range []string{"eth0", "eth1"} {
			floor.Must(t, s.Builder.Shape(port, rate, 256<<10, 50*time.Millisecond))
		}
	}
	for _, s := range []floor.Space{p.near, p.far} {
		h, _ := dial(t, s, "host")
		waitForPorts(t, h)
	}
	return p
}

// waitForPorts waits until a bond's monitor has seen its ports.
func waitForPorts(t *testing.T, h *fleet.Host) {
	t.Helper()
	for begun := time.Now(); ; floor.Pause() {
		reply, err := h.Observe(t.Context())
		floor.Must(t, err)
		up := 0
		for _, l := range reply.Host.Links {
			if l.Port != nil && l.Port.MIIUp && l.Port.Active {
				up++
			}
		}
		if up == 2 {
			return
		}
		if time.Since(begun) > 20*time.Second {
			t.Fatalf("%d of 2 ports are up", up)
		}
	}
}

// serve runs a program in a namespace until the test ends, and waits until
// there is a listener on the port.
func serve(t *testing.T, h *fleet.Host, ns netns.Namespace, port uint16, name string, args ...string) {
	t.Helper()
	said, _ := exec.Command(name, "-v").CombinedOutput()
	line, _, _ := strings.Cut(string(said), "\n")
	t.Log(line)
	cmd := exec.Command(name, args...)
	floor.Must(t, ns.Do(cmd.Start))
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for begun := time.Now(); ; floor.Pause() {
		found, err := ask.Call(t.Context(), h, agentapi.Sockets, agentapi.SocketsRequest{Proto: flow.TCP, Listening: true})
		floor.Must(t, err)
		if slices.Contains(found.Ports(), port) {
			return
		}
		if time.Since(begun) > 20*time.Second {
			t.Fatalf("%s does not listen on %d", name, port)
		}
	}
}

func dial(t *testing.T, s floor.Space, name string) (*fleet.Host, string) {
	t.Helper()
	reach := "netns:" + s.NS.Name
	h, err := fleet.Dial(t.Context(), name, reach, fleet.Config{Version: "test", Unguarded: true})
	floor.Must(t, err)
	t.Cleanup(func() { h.Close() })
	return h, reach
}

// towards opens a campaign from the near host to servers on those ports.
func (p pair) towards(t *testing.T, ports ...uint16) *campaign.Campaign {
	t.Helper()
	h, reach := dial(t, p.near, "near")
	var targets []campaign.Target
	for _, port := range ports {
		targets = append(targets, campaign.Target{Name: fmt.Sprintf("far:%d", port), Listener: measure.Listener{
			At: netip.AddrPortFrom(netip.MustParseAddr("10.78.0.2"), port), BusyFor: 20 * time.Second,
		}})
	}
	f, listeners, err := campaign.Listening(t.Context(), h, reach, "", targets)
	floor.Must(t, err)
	c, err := campaign.Open(t.Context(), campaign.Config{Fabric: f, Fleet: fleet.Config{Version: "test", Unguarded: true}, Listeners: listeners, Tell: tell(t)})
	floor.Must(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

func tell(t *testing.T) func(campaign.Event) {
	return func(e campaign.Event) {
		if e.Failure != nil {
			t.Errorf("%s to %s, %s: %s", e.Failure.From, e.Failure.To, e.Failure.Direction, e.Failure.Error)
		}
	}
}

// near checks a rate against what so many links carry.
func near(t *testing.T, what string, got unit.BitRate, links int) {
	t.Helper()
	ratio := float64(got) / payload(links)
	t.Logf("%s: %v, %.4f of the shapers' payload rate", what, got, ratio)
	if math.Abs(ratio-1) > within {
		t.Errorf("%s: %.4f of what %d links carry, want 1 +- %.2f", what, ratio, links, within)
	}
}

// TestIPerf3Server: against a server that knows nothing of bonds, two streams
// on chosen ports fill both links, every way; and what the record says of them
// is so.
func TestIPerf3Server(t *testing.T) {
	p := newPair(t)
	far, _ := dial(t, p.far, "far")
	serve(t, far, p.far.NS, 5201, "iperf3", "-s")
	c := p.towards(t, 5201)
	floor.Must(t, c.Run(t.Context(), campaign.Matrix{
		Streams: []int{2}, Directions: []flow.Direction{flow.Forward, flow.Reverse}, Ports: "chosen", Duration: time.Second,
	}))
	r := c.Record()
	if len(r.Trials) != 2 {
		t.Fatalf("%d trials: %+v", len(r.Trials), r.Failures)
	}
	forward, reverse := r.Trials[0], r.Trials[1]
	near(t, "forward", forward.Goodput, 2)
	if forward.Tool != "iperf3" || forward.Ports != "chosen" || len(forward.Lanes) != 2 {
		t.Fatalf("tool %s, ports %s, %d lanes", forward.Tool, forward.Ports, len(forward.Lanes))
	}
	if a, b := forward.Lanes[0].EgressLink, forward.Lanes[1].EgressLink; a == b || a == "" || b == "" {
		t.Errorf("streams placed on %q and %q", a, b)
	}
	for _, l := range forward.Links {
		if float64(l.TxPayload) < 0.9*payload(1) {
			t.Errorf("%s of %s sent %v", l.Link, l.Host, l.TxPayload)
		}
	}
	if forward.Lanes[0].TCP.SndMSS != 1448 {
		t.Errorf("evidence of the sender: %+v", forward.Lanes[0].TCP)
	}
	near(t, "reverse", reverse.Goodput, 2)
	for _, trial := range r.Trials {
		for _, wrong := range trial.Check() {
			t.Errorf("%s: %s", trial.Direction, wrong)
		}
	}
}

// TestSeveralServers: two servers in one window, both links full in sum.
func TestSeveralServers(t *testing.T) {
	p := newPair(t)
	far, _ := dial(t, p.far, "far")
	for _, port := range []uint16{5301, 5302} {
		serve(t, far, p.far.NS, port, "iperf3", "-s", "-p", fmt.Sprint(port))
	}
	c := p.towards(t, 5301, 5302)
	floor.Must(t, c.Together(t.Context(), campaign.Matrix{
		Streams: []int{2}, Directions: []flow.Direction{flow.Forward}, Ports: "chosen", Duration: time.Second,
	}))
	r := c.Record()
	if len(r.Trials) != 2 || len(r.Groups) != 1 {
		t.Fatalf("%d trials, %d groups: %+v", len(r.Trials), len(r.Groups), r.Failures)
	}
	near(t, "the sum", r.Groups[0].Goodput, 2)
}

// TestIPerf2: driven on both hosts, every way, its servers' rows in the common
// time are what the links carry; and no program is left behind.
func TestIPerf2(t *testing.T) {
	p := newPair(t)
	text := fmt.Sprintf("linerate: v1\nhosts:\n  near: {reach: \"netns:%s\"}\n  far: {reach: \"netns:%s\"}\n", p.near.NS.Name, p.far.NS.Name)
	f, err := fabric.Parse("peers.yaml", []byte(text))
	floor.Must(t, err)
	c, err := campaign.Open(t.Context(), campaign.Config{Fabric: f, Fleet: fleet.Config{Version: "test", Unguarded: true}, Tell: tell(t)})
	floor.Must(t, err)
	defer c.Close()
	floor.Must(t, c.Run(t.Context(), campaign.Matrix{
		Base: measure.Spec{Tool: "iperf2"}, Streams: []int{8}, Directions: []flow.Direction{flow.Forward}, Ports: "kernel", Duration: time.Second,
	}))
	r := c.Record()
	if len(r.Trials) != 1 {
		t.Fatalf("%d trials: %+v", len(r.Trials), r.Failures)
	}
	trial := r.Trials[0]
	carried := 0
	for _, l := range trial.Links {
		if l.Host == "far" && l.RxPayload > rate/2 {
			carried++
		}
	}
	near(t, "8 streams on the kernel's ports", trial.Goodput, max(carried, 1))
	if trial.Tool != "iperf2" || trial.Claimed == 0 || !strings.Contains(strings.Join(trial.Notes, "\n"), "iperf version 2") {
		t.Errorf("tool %s, claimed %v, notes %q", trial.Tool, trial.Claimed, trial.Notes)
	}
	for _, l := range trial.Lanes { // its sockets are the kernel's to tell of
		if l.TCP.SndMSS == 0 || l.TCP.SegmentsOut == 0 || l.TCP.SegmentsIn == 0 || l.TCP.Samples == 0 || l.RcvBuf == 0 || l.SndBuf == 0 {
			t.Errorf("port %d: no evidence: %+v, buffers %v and %v", l.Sport, l.TCP, l.SndBuf, l.RcvBuf)
		}
	}
	left, err := exec.Command("pgrep", "-x", "iperf").Output()
	if err == nil {
		t.Errorf("left behind: %s", left)
	}
}
