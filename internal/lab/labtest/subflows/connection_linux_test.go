package subflows

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/mptcp"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/traffic/engine"
	"github.com/linerate/linerate/internal/traffic/sampling"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/steer/subflow"
	"github.com/linerate/linerate/unit"
)

// The network: two hosts with LACP bonds, a switch between them. The rate is
// what two emulated processors carry on four links with room to spare.
const (
	client, server = "alpha", "beta"
	linkRate       = 40 * unit.Mbps
	warmUp         = 3 * time.Second
	window         = 4500 * time.Millisecond
)

var subnet = netip.MustParsePrefix("10.0.0.0/24")

// least is the share of one link's ceiling that one MPTCP connection must
// reach, by links.
var least = map[int]float64{2: 1.85, 4: 3.6}

// TestOneConnectionUsesEveryLink plans the subflows of a connection, sets them
// up, and measures one TCP and one MPTCP connection side by side; and MPTCP
// before that, which by itself has one subflow and one link.
func TestOneConnectionUsesEveryLink(t *testing.T) {
	for run := range runs(t) {
		for _, links := range []int{2, 4} {
			t.Run(fmt.Sprintf("run %d, %d links", run+1, links), func(t *testing.T) { oneConnection(t, links) })
		}
	}
}

// runs is how often the proof repeats itself (PROVE_RUNS, once).
func runs(t *testing.T) int {
	text := os.Getenv("PROVE_RUNS")
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("PROVE_RUNS=%s: want a number from 1", text)
	}
	return n
}

// up builds the network, which goes when the test does.
func up(t *testing.T, links int) {
	t.Helper()
	hash := netstate.Layer23
	network := lab.Topology{Switch: lab.Switch{Hash: hash, MTU: 1500}, LinkRate: linkRate, Burst: 128 * unit.KiB, Wait: 50 * time.Millisecond}
	for i, name := range []string{client, server} {
		address := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(1 + i)}), subnet.Bits())
		network.Hosts = append(network.Hosts, lab.Host{
			Name: name, Links: links, Addresses: []netip.Prefix{address},
			Bond: &lab.Bond{Mode: netstate.LACP, HashPolicy: &hash},
		})
	}
	down, err := lab.Up(t.Context(), network)
	floor.Must(t, err)
	t.Cleanup(func() {
		if err := down(); err != nil {
			t.Error(err)
		}
	})
}

func oneConnection(t *testing.T, links int) {
	up(t, links)
	plan := planned(t, links)
	tcp, _ := measure(t, plan, false, links)
	bare, _ := measure(t, plan, true, links)
	setUp(t, plan)
	one, subflows := measure(t, plan, true, links)
	ceiling := ceilingOfLink()
	t.Logf("%d links: one TCP connection %.1f, one MPTCP connection %.1f Mbit/s: %.2f of one link (%.1f), %.2f of the TCP connection; MPTCP before the plan was set up %.1f",
		links, mbps(tcp.rate), mbps(one.rate), float64(one.rate)/float64(ceiling), mbps(ceiling), float64(one.rate)/float64(tcp.rate), mbps(bare.rate))
	t.Logf("%d links: sent by each %v Mbit/s, arrived by each %v Mbit/s", links, one.sent, one.arrived)
	checkSubflows(t, plan, subflows)
	if got := float64(one.rate) / float64(ceiling); got < least[links] {
		t.Errorf("%d links: one MPTCP connection carries %.2f of one link, want at least %.2f", links, got, least[links])
	}
	for name, c := range map[string]outcome{"TCP": tcp, "MPTCP without aliases": bare} {
		if got := float64(c.rate) / float64(ceiling); got > 1.02 || got < 0.9 {
			t.Errorf("one connection, %s, carries %.2f of one link's computed ceiling", name, got)
		}
	}
}

// ceilingOfLink is the TCP payload that a shaped link carries: the shaper
// counts from the Ethernet header on; segments carry time stamps.
func ceilingOfLink() unit.BitRate {
	const mtu, headers, ethernet = 1500, 20 + 20 + 12, 14
	return linkRate * (mtu - headers) / (mtu + ethernet)
}

// planned asks steer for the subflows, with what the kernel says of the bonds.
func planned(t *testing.T, links int) subflow.Subflows {
	t.Helper()
	near, far := observed(t, client), observed(t, server)
	sw := observed(t, "switch")
	bundle := func(h netstate.Host, bond string) steer.Spreader {
		b, err := steer.BundleOf(h, bond)
		floor.Must(t, err)
		if len(b.Ports) != links {
			t.Fatalf("%s has %d usable ports, want %d", bond, len(b.Ports), links)
		}
		return b
	}
	mac := func(h netstate.Host) flow.MAC {
		l, _ := h.Link("bond0")
		return l.MAC
	}
	plan, err := subflow.Plan(subflow.SubflowRequest{
		Near: bundle(near, "bond0"), Far: bundle(sw, "to-"+server), Back: bundle(far, "bond0"), BackFar: bundle(sw, "to-"+client),
		Client: subnet.Addr().Next(), Server: subnet.Addr().Next().Next(), Subnet: subnet,
		Frame: flow.Frame{SrcMAC: mac(near), DstMAC: mac(far)},
	})
	floor.Must(t, err)
	if !plan.Even || len(plan.Flows) != links {
		t.Fatalf("no even plan: %+v", plan)
	}
	return plan
}

// observed is a lab host's links as its kernel has them.
func observed(t *testing.T, host string) netstate.Host {
	t.Helper()
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	floor.Must(t, err)
	h := netstate.Host{Name: host, Kernel: netstate.Kernel{OS: "linux", Release: string(release[:len(release)-1])}}
	floor.Must(t, netns.Named(lab.Namespace(host)).Do(func() error {
		handle, err := rtnl.Open()
		if err != nil {
			return err
		}
		defer handle.Close()
		h.Links, err = handle.Links()
		return err
	}))
	return h
}

// setUp gives both hosts what the plan says: addresses, limits, endpoints.
func setUp(t *testing.T, plan subflow.Subflows) {
	t.Helper()
	for _, side := range []struct {
		host  string
		addrs []netip.Addr
		want  netstate.MPTCP
	}{{client, plan.AddNear, plan.Client}, {server, plan.AddFar, plan.Server}} {
		ns := netns.Named(lab.Namespace(side.host))
		b, err := rtnl.OpenBuilder(ns)
		floor.Must(t, err)
		defer b.Close()
		for _, a := range side.addrs {
			floor.Must(t, b.Address("bond0", netip.PrefixFrom(a, subnet.Bits())))
		}
		floor.Must(t, ns.Do(func() error {
			h, err := mptcp.Open()
			if err != nil {
				return err
			}
			defer h.Close()
			errs := []error{h.SetLimits(side.want.Subflows, side.want.AddAddrAccepted)}
			for _, e := range side.want.Endpoints {
				errs = append(errs, h.Add(e))
			}
			return errors.Join(errs...)
		}))
	}
}

// outcome is one connection's rate at the receiver over the window, and those
// of the hosts' ports.
type outcome struct {
	rate          unit.BitRate
	sent, arrived []string
}

// measure runs one connection from the client to the server.
func measure(t *testing.T, plan subflow.Subflows, multipath bool, links int) (outcome, []flow.Tuple) {
	t.Helper()
	source, sink := end(t, client), end(t, server)
	defer source.Close()
	defer sink.Close()
	key := agentapi.Key{1}
	lane := plan.Flows[0].Lane
	ports := make([]string, links)
	for i := range ports {
		ports[i] = lab.Port(i)
	}
	at, err := sink.OpenSink(t.Context(), agentapi.SinkRequest{
		Session: "in", Key: key, Bind: []netip.Addr{lane.Dst}, Peers: []netip.Addr{lane.Src}, Streams: 1, MPTCP: multipath,
		Socket: record.Socket{Congestion: "cubic"}, Links: ports, Lifetime: time.Minute,
	})
	floor.Must(t, err)
	_, err = source.OpenSource(t.Context(), agentapi.SourceRequest{
		Session: "out", Key: key, Streams: []agentapi.Stream{{Lane: lane, Dport: uint16(at.Port), Socket: record.Socket{Congestion: "cubic"}}}, MPTCP: multipath,
		Links: ports, Lifetime: time.Minute,
	})
	floor.Must(t, err)
	_, err = source.Start(t.Context(), agentapi.StartRequest{Session: "out"})
	floor.Must(t, err)
	time.Sleep(warmUp)
	in, out := sample(t, sink, "in"), sample(t, source, "out")
	time.Sleep(window)
	inEnd, outEnd := sample(t, sink, "in"), sample(t, source, "out")
	var flows []flow.Tuple
	if m := outEnd.TCP[0].MPTCP; m != nil {
		flows = m.Subflows
	}
	span := inEnd.At - in.At
	rate := unit.BitRate(float64(inEnd.Bytes[0]-in.Bytes[0]) * 8 / span.Seconds())
	return outcome{
		rate: rate,
		sent: perPort(out, outEnd, func(c netstate.Counters) uint64 { return c.TxBytes }),
		arrived: perPort(in, inEnd, func(c netstate.Counters) uint64 {
			return c.RxBytes
		}),
	}, flows
}

func end(t *testing.T, host string) *engine.Engine {
	t.Helper()
	ns := netns.Named(lab.Namespace(host))
	var handle *rtnl.Handle
	floor.Must(t, ns.Do(func() (err error) {
		handle, err = rtnl.Open()
		return err
	}))
	t.Cleanup(handle.Close)
	return engine.New(engine.Config{Namespace: ns, Host: sampling.Host{Links: func(names []string) ([]agentapi.LinkCount, error) {
		counted, err := handle.Counters(names)
		var out []agentapi.LinkCount
		for _, c := range counted {
			out = append(out, agentapi.LinkCount{Link: c.Link, LinkCounters: c.LinkCounters})
		}
		return out, err
	}}})
}

func sample(t *testing.T, e *engine.Engine, session string) agentapi.Sample {
	t.Helper()
	r, err := e.Sample(t.Context(), agentapi.SampleRequest{Session: session, Since: -1})
	floor.Must(t, err)
	if len(r.Errors) > 0 {
		t.Fatalf("session %s: %v", session, r.Errors)
	}
	return r.Samples[0]
}

// perPort is what each port moved between two samples, in Mbit/s.
func perPort(from, to agentapi.Sample, count func(netstate.Counters) uint64) []string {
	var out []string
	for i, l := range to.Links {
		span := l.At - from.Links[i].At
		out = append(out, fmt.Sprintf("%.1f", float64(count(l.Counters)-count(from.Links[i].Counters))*8/span.Seconds()/1e6))
	}
	return out
}

// checkSubflows compares the kernel's subflows with the plan's.
func checkSubflows(t *testing.T, plan subflow.Subflows, got []flow.Tuple) {
	t.Helper()
	var want, have []string
	for _, f := range plan.Flows {
		want = append(want, f.Lane.String())
	}
	for _, f := range got {
		have = append(have, flow.Lane{Src: f.Src, Dst: f.Dst}.String())
	}
	slices.Sort(want)
	slices.Sort(have)
	if !slices.Equal(want, have) {
		t.Errorf("the connection's subflows are %v, planned were %v", have, want)
	}
}

func mbps(r unit.BitRate) float64 { return float64(r) / float64(unit.Mbps) }
