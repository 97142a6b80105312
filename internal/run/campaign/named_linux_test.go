package campaign

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	diagnosehost "github.com/linerate/linerate/diagnose/host"
	"github.com/linerate/linerate/diagnose/trial/decided"
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/kernel/feature"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
)

// namedHosts are two hosts in namespaces, joined by veth cables of these names
// that are shaped to 100 Mbit/s, with addresses 10.1.N.1 and 10.1.N.2 on the
// Nth. Commands are ip's, for host 1 with "@" for its own number and "%" for
// the other's. It returns how to reach them.
func namedHosts(t *testing.T, cables []string, commands ...string) [2]string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	if err := feature.Need(feature.TBF); err != nil {
		t.Skip(err)
	}
	var spaces, reach [2]string
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	for i := range spaces {
		spaces[i] = fmt.Sprintf("linerate-named-%d", i+1)
		reach[i] = "netns:" + spaces[i]
		_ = netns.Delete(spaces[i]) // of a test that was killed
		if _, err := netns.Create(spaces[i]); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = netns.Delete(spaces[i]) })
		run("ip", "-n", spaces[i], "link", "set", "lo", "up")
	}
	for n, cable := range cables {
		run("ip", "-n", spaces[0], "link", "add", cable, "type", "veth", "peer", "name", cable, "netns", spaces[1])
		for i, space := range spaces {
			run("ip", "-n", space, "addr", "add", fmt.Sprintf("10.1.%d.%d/24", n+1, i+1), "dev", cable)
			run("ip", "-n", space, "link", "set", cable, "up")
			run("tc", "-n", space, "qdisc", "add", "dev", cable, "root", "tbf", "rate", "100mbit", "burst", "256k", "latency", "20ms")
		}
	}
	for _, command := range commands {
		for i, space := range spaces {
			text := strings.NewReplacer("@", fmt.Sprint(i+1), "%", fmt.Sprint(2-i)).Replace(command)
			run(append([]string{"ip", "netns", "exec", space}, strings.Fields(text)...)...)
		}
	}
	return reach
}

// namedRun measures one stream and four, forward, on the hosts of a file.
func namedRun(t *testing.T, text string) (*Campaign, []string) {
	t.Helper()
	f, err := fabric.Parse("named.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var notes []string
	c, err := Open(t.Context(), Config{Fabric: f, Fleet: fleet.Config{Version: "test", JournalDir: t.TempDir(), Unguarded: true}, Pings: measure.Pings{Count: 3}, Tell: func(e Event) {
		if e.Kind == Noted {
			notes = append(notes, e.Note)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.CheckRoutes(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Latency(t.Context()); err != nil {
		t.Fatal(err)
	}
	m := Matrix{Streams: []int{1, 4}, Directions: []flow.Direction{flow.Forward}, Duration: 700 * time.Millisecond}
	if err := c.Run(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	return c, notes
}

// used are the links of a record's trials, each once, as "a ens1".
func used(r record.Record) []string {
	var out []string
	for _, t := range r.Trials {
		for _, l := range t.Links {
			if at := l.Host + " " + l.Link; !slices.Contains(out, at) {
				out = append(out, at)
			}
		}
	}
	slices.Sort(out)
	return out
}

// sentFrom are the addresses that a record's trials sent from.
func sentFrom(r record.Record) []string {
	var out []string
	for _, t := range r.Trials {
		for _, l := range t.Lanes {
			if at := l.Src.String(); !slices.Contains(out, at) {
				out = append(out, at)
			}
		}
	}
	slices.Sort(out)
	return out
}

const ecmp = "sysctl -qw net.ipv4.fib_multipath_hash_policy=1"

// TestKernelA1LoopbackIsNoLink: hosts with an address on lo that two links lead
// to, as BGP on the host and ECMP servers have it. What is sent to it is counted
// on those links; lo is none of them, and its MTU is nobody's advice.
func TestKernelA1LoopbackIsNoLink(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	const own = "ip addr add 10.9.0.@/32 dev lo"
	for _, tt := range []struct {
		name     string
		commands []string
		network  string // of host @
		from     []string
	}{
		{"hosts named by the command", []string{own, "ip route add 10.9.0.%/32 nexthop via 10.1.1.% dev ens1 nexthop via 10.1.2.% dev ens2"}, "", []string{"10.1.1.1", "10.1.2.1", "10.9.0.1"}},
		{"a route with a source", []string{own, "ip route add 10.9.0.%/32 src 10.9.0.@ nexthop via 10.1.1.% dev ens1 nexthop via 10.1.2.% dev ens2"}, "", []string{"10.1.1.1", "10.1.2.1", "10.9.0.1"}},
		{"a nexthop object", []string{own, "ip nexthop add id 1 via 10.1.1.% dev ens1", "ip nexthop add id 2 via 10.1.2.% dev ens2", "ip nexthop add id 3 group 1/2", "ip route add 10.9.0.%/32 nhid 3"}, "", []string{"10.1.1.1", "10.1.2.1", "10.9.0.1"}},
		{"links without addresses", []string{own, "ip addr flush dev ens1", "ip addr flush dev ens2", "ip route add 10.9.0.%/32 nexthop dev ens1 nexthop dev ens2"}, "", []string{"10.9.0.1"}},
		{"the file does not name the address", []string{own, "ip route add 10.9.0.%/32 nexthop via 10.1.1.% dev ens1 nexthop via 10.1.2.% dev ens2"},
			", network: {ethernets: {ens1: {addresses: [10.1.1.@/24]}, ens2: {addresses: [10.1.2.@/24]}}}", []string{"10.1.1.1", "10.1.2.1"}},
		{"the file names the address", []string{own, "ip route add 10.9.0.%/32 nexthop via 10.1.1.% dev ens1 nexthop via 10.1.2.% dev ens2"},
			", network: {ethernets: {lo: {addresses: [10.9.0.@/32]}, ens1: {}, ens2: {}}}", []string{"10.1.1.1", "10.1.2.1", "10.9.0.1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reach := namedHosts(t, []string{"ens1", "ens2"}, append([]string{ecmp}, tt.commands...)...)
			text := "linerate: v1\nhosts:\n"
			for i, name := range []string{"a", "b"} {
				text += fmt.Sprintf("  %s: {reach: %q%s}\n", name, reach[i], strings.ReplaceAll(tt.network, "@", fmt.Sprint(i+1)))
			}
			c, _ := namedRun(t, text)
			r := c.Record()
			if len(r.Failures) > 0 {
				t.Errorf("failed: %+v", r.Failures)
			}
			if got, want := used(r), []string{"a ens1", "a ens2", "b ens1", "b ens2"}; !slices.Equal(got, want) {
				t.Errorf("counted links %v, want %v", got, want)
			}
			if got := sentFrom(r); !slices.Equal(got, tt.from) {
				t.Errorf("sent from %v, want %v", got, tt.from)
			}
			for _, l := range r.Latency {
				if l.PathMTU != 1500 {
					t.Errorf("%s to %s: packets of %d bytes pass, want 1500", l.From, l.To, l.PathMTU)
				}
			}
			for _, trial := range r.Trials {
				f := trial.Finding
				if said := f.Summary + f.Remedy; f.Cause == record.MTU || strings.Contains(said, " lo ") || strings.Contains(said, "6553") {
					t.Errorf("%d streams: %s: %s\n%s", trial.Streams, f.Cause, f.Summary, f.Remedy)
				}
			}
			if _, err := predict.Predict(c.State(), predict.Traffic{From: "a", To: "b", Direction: flow.Forward, Streams: 4}); err != nil {
				t.Error(err)
			}
			for _, p := range diagnosehost.Pairs(c.State(), nil) {
				if strings.Contains(p.What, "lo of") {
					t.Errorf("between the hosts: %s", p.What)
				}
			}
		})
	}
}

// TestKernelA2OnlyWhatIsNamed: the file names two links and not the one that
// the hosts are managed over; or names all three.
func TestKernelA2OnlyWhatIsNamed(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	for _, tt := range []struct {
		name, file string // of host @
		from       []string
		note       string
	}{
		{"mgmt0 is not in the file", "network: {ethernets: {ens1: {addresses: [10.1.1.@/24]}, ens2: {addresses: [10.1.2.@/24]}}}", []string{"10.1.1.1", "10.1.2.1"}, ""},
		{"mgmt0 is in the file", "network: {ethernets: {ens1: {addresses: [10.1.1.@/24]}, ens2: {addresses: [10.1.2.@/24]}, mgmt0: {mtu: 1500, addresses: [10.1.3.@/24]}}}",
			[]string{"10.1.1.1", "10.1.2.1"}, "a, b: mgmt0 is left out: the default route leaves by it; `use:` includes it"},
		{"no file names anything", "", []string{"10.1.1.1", "10.1.2.1"}, "a, b: mgmt0 is left out: the default route leaves by it; `use:` includes it"},
		{"use names it", "use: [ens1, mgmt0]", []string{"10.1.1.1", "10.1.3.1"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reach := namedHosts(t, []string{"ens1", "ens2", "mgmt0"}, "ip route add default via 10.1.3.% dev mgmt0")
			text := "linerate: v1\nhosts:\n"
			for i, name := range []string{"a", "b"} {
				text += fmt.Sprintf("  %s: {reach: %q, %s}\n", name, reach[i], strings.ReplaceAll(tt.file, "@", fmt.Sprint(i+1)))
			}
			c, notes := namedRun(t, text)
			if got := sentFrom(c.Record()); !slices.Equal(got, tt.from) {
				t.Errorf("sent from %v, want %v", got, tt.from)
			}
			if got := strings.Join(notes, "\n"); got != tt.note {
				t.Errorf("it says %q, want %q", got, tt.note)
			}
			p, err := predict.Predict(c.State(), predict.Traffic{From: "a", To: "b", Direction: flow.Forward, Streams: 4})
			if err != nil {
				t.Fatal(err)
			}
			links := map[string]bool{}
			for _, l := range p.Links {
				links[l.Host+" "+l.Link] = true
			}
			if got := used(c.Record()); len(links) != len(got) || slices.ContainsFunc(got, func(at string) bool { return !links[at] }) {
				t.Errorf("measured over %v, predicted over %v", got, links)
			}
		})
	}
}

// TestKernelA2NothingElseJoinsThem: hosts that only the management joins are not
// measured over it, and the error says how to.
func TestKernelA2NothingElseJoinsThem(t *testing.T) {
	reach := namedHosts(t, []string{"ens1", "mgmt0"}, "ip route add default via 10.1.2.% dev mgmt0", "ip addr del 10.1.1.@/24 dev ens1", "ip addr add 10.55.@.1/24 dev ens1")
	f, err := fabric.Parse("named.yaml", []byte(fmt.Sprintf("linerate: v1\nhosts:\n  a: {reach: %q}\n  b: {reach: %q}\npaths: [{between: [a, b]}]\n", reach[0], reach[1])))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Open(t.Context(), Config{Fabric: f, Fleet: fleet.Config{Version: "test", JournalDir: t.TempDir(), Unguarded: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = predict.Lanes(c.State(), "a", "b", "")
	if err == nil || !strings.Contains(err.Error(), "a, b: mgmt0 is left out") || !strings.Contains(err.Error(), "`use:` includes it") {
		t.Errorf("%v", err)
	}
	if lanes, err := predict.Lanes(predict.Fabric{Hosts: c.State().Hosts}, "a", "b", "ipv6"); err == nil {
		t.Errorf("IPv6 lanes %v", lanes)
	}
}

// TestKernelA2DevicePairsWhatItReaches: bound to a device, streams go between
// addresses that it joins, also where it is the one that is left out.
func TestKernelA2DevicePairsWhatItReaches(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	reach := namedHosts(t, []string{"ens1", "ens2", "mgmt0"}, "ip route add default via 10.1.3.% dev mgmt0", "ip addr add 10.9.0.@/32 dev lo", "ip route add 10.9.0.%/32 via 10.1.2.% dev ens2")
	f, err := fabric.Parse("named.yaml", []byte(fmt.Sprintf("linerate: v1\nhosts:\n  a: {reach: %q}\n  b: {reach: %q}\n", reach[0], reach[1])))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Open(t.Context(), Config{Fabric: f, Fleet: fleet.Config{Version: "test", JournalDir: t.TempDir(), Unguarded: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for device, want := range map[string][]string{"ens1": {"10.1.1."}, "ens2": {"10.1.2.", "10.9.0."}, "mgmt0": {"10.1.3."}} {
		for _, d := range []flow.Direction{flow.Forward, flow.Reverse, flow.Both} {
			spec := measure.Spec{From: "a", To: "b", Direction: d, Streams: 2, Socket: record.Socket{Device: device}, Duration: 300 * time.Millisecond, Once: true}
			trial, err := c.trial(t.Context(), spec)
			if err != nil {
				t.Errorf("%s %s: %v", device, d, err)
				continue
			}
			for _, l := range trial.Lanes {
				if !slices.ContainsFunc(want, func(net string) bool {
					return strings.HasPrefix(l.Src.String(), net) && strings.HasPrefix(l.Dst.String(), net)
				}) {
					t.Errorf("%s %s: a stream from %s to %s", device, d, l.Src, l.Dst)
				}
			}
			for _, l := range trial.Links {
				if l.Link != device {
					t.Errorf("%s %s: counted %s of %s", device, d, l.Link, l.Host)
				}
			}
		}
	}
	_, err = c.trial(t.Context(), measure.Spec{From: "a", To: "b", Direction: flow.Forward, Streams: 1, Socket: record.Socket{Device: "ens9"}, Duration: 300 * time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), "ens9 leads to no address") {
		t.Errorf("ens9: %v", err)
	}
}

// TestKernelA5bProbeStaysOnTheLink: a trial of one stream on two separate links
// is probed with four on the same one; what is capped stays a shaper.
func TestKernelA5bProbeStaysOnTheLink(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	reach := namedHosts(t, []string{"ens1", "ens2"})
	f, err := fabric.Parse("named.yaml", []byte(fmt.Sprintf("linerate: v1\nhosts:\n  a: {reach: %q}\n  b: {reach: %q}\n", reach[0], reach[1])))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Open(t.Context(), Config{Fabric: f, Fleet: fleet.Config{Version: "test", JournalDir: t.TempDir(), Unguarded: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	trial, err := c.trial(t.Context(), measure.Spec{From: "a", To: "b", Direction: flow.Forward, Streams: 1, Duration: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	d := record.Decision{Probe: record.ProbeStreams, Value: 2, Between: []record.Cause{record.Shaper, record.SenderCPU, record.Congestion}}
	made, err := c.Probe(t.Context(), trial, Probes(trial, d))
	if err != nil || len(made) != 2 {
		t.Fatalf("%d probes: %v", len(made), err)
	}
	for _, m := range made {
		for _, l := range m.Lanes {
			if l.Src != trial.Lanes[0].Src {
				t.Errorf("%d streams: one is sent from %s, the trial's was from %s", m.Streams, l.Src, trial.Lanes[0].Src)
			}
		}
	}
	finding := record.Finding{Cause: record.Shaper, Confidence: 0.5, Decide: d, Also: []record.Alternative{{Cause: record.Congestion, Confidence: 0.3}}}
	got := decided.By(c.State(), finding, trial, made)
	if got.Cause != record.Shaper || strings.Contains(got.Summary, "limit of its own") {
		t.Errorf("%s (%.2f): %s", got.Cause, got.Confidence, got.Summary)
	}
}

// TestKernelA2SubflowsStayOnWhatIsUsed: an MPTCP endpoint on a link that is left
// out would carry traffic over it; the trial is refused, and says what to do.
func TestKernelA2SubflowsStayOnWhatIsUsed(t *testing.T) {
	if err := feature.Need(feature.MPTCP); err != nil {
		t.Skip(err)
	}
	reach := namedHosts(t, []string{"ens1", "mgmt0"}, "ip route add default via 10.1.2.% dev mgmt0", "ip mptcp limits set subflows 2 add_addr_accepted 2", "ip mptcp endpoint add 10.1.2.@ dev mgmt0 id 3 signal subflow")
	for use, refused := range map[string]bool{"": true, ", use: [ens1, mgmt0]": false} {
		f, err := fabric.Parse("named.yaml", []byte(fmt.Sprintf("linerate: v1\nhosts:\n  a: {reach: %q%s}\n  b: {reach: %q%s}\n", reach[0], use, reach[1], use)))
		if err != nil {
			t.Fatal(err)
		}
		c, err := Open(t.Context(), Config{Fabric: f, Fleet: fleet.Config{Version: "test", JournalDir: t.TempDir(), Unguarded: true}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, err = c.trial(t.Context(), measure.Spec{From: "a", To: "b", Direction: flow.Forward, Streams: 1, Protocol: "mptcp", Duration: 300 * time.Millisecond, Once: true})
		if errors.Is(err, ErrSubflow) != refused || !refused && err != nil {
			t.Errorf("%q: %v", use, err)
		}
	}
}
