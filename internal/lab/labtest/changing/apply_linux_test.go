package changing

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/root"
	"github.com/linerate/linerate/internal/host/apply/testjournal"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/netstate"
)

// ground is a lab with two hosts, their fabric file and their journals.
type ground struct {
	t       *testing.T
	journal string
	file    string
}

func newGround(t *testing.T, net lab.Topology, fabric string) ground {
	t.Helper()
	down, err := lab.Up(t.Context(), net)
	floor.Must(t, err)
	t.Cleanup(func() {
		if err := down(); err != nil {
			t.Error(err)
		}
	})
	g := ground{t: t, journal: testjournal.Dir(t), file: filepath.Join(t.TempDir(), "fabric.yaml")}
	floor.Must(t, os.WriteFile(g.file, []byte(fabric), 0o600))
	return g
}

// run is one command line, as in a shell without a terminal.
func (g ground) run(args ...string) (status int, stdout, stderr string) {
	g.t.Helper()
	status, stdout, stderr = program(append(args, "--journal", g.journal)...)
	g.t.Logf("$ linerate %s\n%s%sexit status %d", strings.Join(args, " "), stdout, stderr, status)
	return status, stdout, stderr
}

// program runs the program as a shell without a terminal does.
func program(args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	app := &console.Console{Version: "test", Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }}
	status = root.Run(app, args)
	return status, out.String(), errs.String()
}

// must is run that has to end with a status.
func (g ground) must(want int, args ...string) string {
	g.t.Helper()
	status, out, _ := g.run(args...)
	if status != want {
		g.t.Fatalf("linerate %s: exit status %d, want %d", strings.Join(args, " "), status, want)
	}
	return out
}

type hostState = netstate.Host

func mustLink(t *testing.T, h hostState, name string) netstate.Link {
	t.Helper()
	l, ok := h.Link(name)
	if !ok {
		t.Fatalf("%s is not there", name)
	}
	return l
}

// host is a lab host as it is now, without what changes by itself.
func (g ground) host(name string) netstate.Host {
	g.t.Helper()
	h, err := fleet.Dial(g.t.Context(), name, "netns:"+lab.Namespace(name), fleet.Config{Version: "test"})
	floor.Must(g.t, err)
	defer h.Close()
	reply, err := h.Observe(g.t.Context())
	floor.Must(g.t, err)
	return reply.Host
}

// unsettled are the fields that change by themselves.
var unsettled = cmp.Options{
	cmpopts.EquateEmpty(),
	cmpopts.EquateComparable(netstate.Route{}.Dst, netstate.Route{}.Gateway),
	cmpopts.IgnoreFields(netstate.Link{}, "Counters", "Qdiscs", "Extra", "Port", "Device"),
	cmpopts.IgnoreFields(netstate.Bond{}, "AD", "Active"),
	cmpopts.IgnoreFields(netstate.Host{}, "Missing", "Softnet", "Protocols"),
}

// unchanged says that hosts are what they were, once the kernel has given links
// that came up their own addresses again.
func (g ground) unchanged(before map[string]hostState) {
	g.t.Helper()
	for name, was := range before {
		diff := ""
		for begun := time.Now(); time.Since(begun) < 10*time.Second; floor.Pause() {
			if diff = cmp.Diff(was, g.host(name), unsettled); diff == "" {
				break
			}
		}
		if diff != "" {
			g.t.Errorf("%s is not what it was (-before +after):\n%s", name, diff)
		}
	}
}

func (g ground) both() map[string]hostState {
	return map[string]hostState{"alpha": g.host("alpha"), "beta": g.host("beta")}
}

// twoBonds is the lab's two hosts; parameters and MTU are the bonds' wanted
// ones.
func twoBonds(parameters string, mtu string) string {
	host := func(name, address string) string {
		return "  " + name + ":\n    reach: netns:" + lab.Namespace(name) + `
    network:
      version: 2
      ethernets: {eth0: {}, eth1: {}}
      bonds:
        bond0: {interfaces: [eth0, eth1], addresses: [` + address + `]` + mtu + `, parameters: {` + parameters + `}}
    hardware: {links: {eth0: {speed: 250M, framing: l2}, eth1: {speed: 250M, framing: l2}}}
    profiles: []
`
	}
	return "linerate: v1\nhosts:\n" + host("alpha", "10.0.0.1/24") + host("beta", "10.0.0.2/24") +
		"paths:\n  - {between: [alpha, beta], rtt: 9ms}\n"
}

func topology(t *testing.T) lab.Topology {
	t.Helper()
	s, ok := lab.Named("two-links")
	if !ok {
		t.Fatal("no scenario two-links")
	}
	return s.Net
}

// outcome is what the tests read of `apply --json`.
type outcome struct {
	Hosts []struct {
		Host    string `json:"host"`
		Journal string `json:"journal"`
		State   string `json:"state"`
	} `json:"hosts"`
	Proofs []struct {
		Proof   string `json:"proof"`
		What    string `json:"what"`
		Verdict string `json:"verdict"`
		Detail  string `json:"detail"`
	} `json:"proofs"`
	Confirmed bool `json:"confirmed"`
}

func (g ground) apply(args ...string) outcome {
	g.t.Helper()
	var o outcome
	floor.Must(g.t, json.Unmarshal([]byte(g.must(0, append([]string{"apply", g.file, "--yes", "--json"}, args...)...)), &o))
	return o
}

// bothEndsChangeAsOne: policy and MTU on both hosts, proven, confirmed; the
// plan is empty then, and rollback finds the old state.
func bothEndsChangeAsOne(t *testing.T) {
	g := newGround(t, topology(t), twoBonds("mode: 802.3ad, transmit-hash-policy: layer3+4, mii-monitor-interval: 100, min-links: 1", ", mtu: 9000"))
	before := g.both()
	g.must(2, "apply", g.file) // nobody to ask
	g.unchanged(before)
	o := g.apply()
	if !o.Confirmed {
		t.Errorf("not confirmed: %+v", o)
	}
	seen := map[string]int{}
	for _, p := range o.Proofs {
		if p.Verdict == "held" {
			seen[p.Proof]++
		}
	}
	for proof, want := range map[string]int{"state": 2, "partner": 2, "reach": 2, "mtu": 2, "traffic": 1} {
		if seen[proof] != want {
			t.Errorf("proof %s held %d times, want %d: %+v", proof, seen[proof], want, o.Proofs)
		}
	}
	for name, h := range g.both() {
		bond, _ := h.Link("bond0")
		if bond.Bond.HashPolicy != netstate.Layer34 || bond.MTU != 9000 || bond.Bond.MinLinks != 1 {
			t.Errorf("%s: %s, MTU %d, min_links %d", name, bond.Bond.HashPolicy, bond.MTU, bond.Bond.MinLinks)
		}
	}
	var empty struct {
		Plans []struct {
			Steps []any `json:"steps"`
		} `json:"plans"`
	}
	floor.Must(t, json.Unmarshal([]byte(g.must(0, "plan", g.file, "--json")), &empty))
	for _, p := range empty.Plans {
		if len(p.Steps) > 0 {
			t.Errorf("a second plan has steps: %v", p.Steps)
		}
	}
	for _, h := range o.Hosts {
		g.must(0, "rollback", h.Journal, "--host", "netns:"+lab.Namespace(h.Host))
	}
	g.unchanged(before)
}

// jumboThatDoesNotPass: the switch in the middle drops large frames, so the
// MTU is put back on both hosts.
func jumboThatDoesNotPass(t *testing.T) {
	net := topology(t)
	net.Switch.MTU = 1500
	g := newGround(t, net, twoBonds("mode: 802.3ad", ", mtu: 9000"))
	before := g.both()
	if _, errs := g.fails("apply", g.file, "--yes"); !strings.Contains(errs, "packets of 9000 bytes do not pass") {
		t.Errorf("the reason is missing in:\n%s", errs)
	}
	g.unchanged(before)
}

// fails is a change that is rolled back.
func (g ground) fails(args ...string) (stdout, stderr string) {
	g.t.Helper()
	status, out, errs := g.run(args...)
	if status != 4 {
		g.t.Fatalf("linerate %s: exit status %d, want 4", strings.Join(args, " "), status)
	}
	return out, errs
}

// nobodyConfirms: a change that is left alone is taken back by the hosts,
// and one that is confirmed in time stays.
func nobodyConfirms(t *testing.T) {
	g := newGround(t, topology(t), twoBonds("mode: 802.3ad, transmit-hash-policy: layer2+3", ""))
	before := g.both()
	kept := g.apply("--no-confirm", "--deadline", "30s", "--host", "alpha")
	g.must(3, "apply", g.file, "--yes", "--host", "alpha") // one is pending
	g.must(0, "confirm", "--host", "netns:"+lab.Namespace("alpha"))
	left := g.apply("--no-confirm", "--deadline", "15s", "--host", "beta")
	if kept.Confirmed || left.Confirmed {
		t.Errorf("confirmed though told not to: %+v %+v", kept, left)
	}
	policy := func(name string) netstate.HashPolicy {
		bond, _ := g.host(name).Link("bond0")
		return bond.Bond.HashPolicy
	}
	if policy("beta") != netstate.Layer23 {
		t.Errorf("beta has %s before its deadline", policy("beta"))
	}
	for begun := time.Now(); policy("beta") != netstate.Layer2; floor.Pause() {
		if time.Since(begun) > 40*time.Second {
			t.Fatal("beta was not put back")
		}
	}
	if policy("alpha") != netstate.Layer23 {
		t.Errorf("alpha was confirmed and has %s", policy("alpha"))
	}
	g.must(0, "rollback", kept.Hosts[0].Journal, "--host", "netns:"+lab.Namespace("alpha"))
	g.unchanged(before)
}
