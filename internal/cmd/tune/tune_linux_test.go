package tune

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/cmd/change"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/history"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/unit"
)

const netplanThere = `# by hand
network:
  version: 2
  ethernets:
    eth0: {addresses: [10.79.0.%]}  # the only one
`

// settledPair is two namespaces on one link, with files of their own, on which
// a run has set the MTU and a sysctl; nothing is measured.
func settledPair(t *testing.T) (*tuneRun, []*fleet.Host) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	script := `set -e; for n in a b; do ip netns del linerate-files-$n 2>/dev/null || true; ip netns add linerate-files-$n; done
ip -n linerate-files-a link add eth0 type veth peer name eth0 netns linerate-files-b
ip -n linerate-files-a addr add 10.79.0.1/24 dev eth0; ip -n linerate-files-b addr add 10.79.0.2/24 dev eth0
for n in a b; do ip -n linerate-files-$n link set lo up; ip -n linerate-files-$n link set eth0 up; done`
	if out, err := exec.Command("sh", "-c", script).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() {
		_ = exec.Command("sh", "-c", "ip netns del linerate-files-a; ip netns del linerate-files-b").Run()
	})
	dir := t.TempDir()
	run := &tuneRun{con: &console.Console{Version: "test", Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}, Getenv: os.Getenv}, path: filepath.Join(dir, "fab.yaml"), roots: map[string]string{}, format: string(render.FormatNetplan)}
	run.flags = opts{persist: true, journal: filepath.Join(dir, "journal"), render: string(render.FormatNetworkd), renderTo: filepath.Join(dir, "tuned")}
	text := "# mine\nlinerate: v1\nhosts:\n"
	var hosts []*fleet.Host
	for i, name := range []string{"a", "b"} {
		digit := string(rune('1' + i))
		text += "  " + name + ":\n    reach: netns:linerate-files-" + name + "\n    network: {version: 2, ethernets: {eth0: {addresses: [10.79.0." + digit + "/24]}}}\n"
		root := filepath.Join(dir, "root-"+name)
		run.roots[name] = root
		if err := os.MkdirAll(root+"/etc/netplan", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(root+"/etc/netplan/01-a.yaml", []byte(strings.Replace(netplanThere, "%", digit+"/24", 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		h, err := fleet.Dial(t.Context(), name, "netns:linerate-files-"+name, fleet.Config{JournalDir: run.flags.journal, Unguarded: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = h.Close() })
		hosts = append(hosts, h)
	}
	if err := os.WriteFile(run.path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var err error
	if run.file, err = fabric.Parse(run.path, []byte(text)); err != nil {
		t.Fatal(err)
	}
	run.options.Path = run.file.Paths[0]
	for _, h := range hosts {
		for _, s := range []plan.Step{
			{Kind: plan.LinkMTU, Link: "eth0", Old: "1500", New: "9000", Disruption: plan.Online},
			{Kind: plan.Sysctl, Key: "net.ipv4.tcp_fin_timeout", Old: "60", New: "30", Disruption: plan.Online},
		} {
			reply, err := ask.Call(t.Context(), h, agentapi.Apply, agentapi.ApplyRequest{Plan: plan.Plan{Steps: []plan.Step{s}}, Group: tunedRun, Title: "tune fab.yaml"})
			if err == nil {
				_, err = ask.Call(t.Context(), h, agentapi.Confirm, agentapi.ConfirmRequest{Journal: reply.Journal})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return run, hosts
}

// TestTunedFiles: the fabric file, the rendered files and the hosts' own files
// have what was kept and nothing else, and one rollback takes settings and
// files back.
func TestTunedFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	run, hosts := settledPair(t)
	out := tuneOutcome{doc: tuned{Group: tunedRun, Settings: []record.Setting{{Host: "a", Kept: true}}}}
	if err := run.writeFiles(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	amended := readText(t, out.doc.Fabric)
	if out.doc.Fabric != strings.TrimSuffix(run.path, ".yaml")+".tuned.yaml" || !strings.HasPrefix(amended, "# mine\n") ||
		strings.Count(amended, "eth0: {mtu: 9000, addresses:") != 2 || strings.Count(amended, "net.ipv4.tcp_fin_timeout") != 2 {
		t.Errorf("%s:\n%s", out.doc.Fabric, amended)
	}
	if len(out.doc.Persisted) != 4 || len(out.doc.Rendered) < 4 || len(out.doc.Unsaid) != 0 {
		t.Errorf("persisted %v, rendered %v, unsaid %v", out.doc.Persisted, out.doc.Rendered, out.doc.Unsaid)
	}
	netplan := run.roots["a"] + "/etc/netplan/01-a.yaml"
	if text := readText(t, netplan); !strings.Contains(text, "eth0: {mtu: 9000, addresses: [10.79.0.1/24]}  # the only one") {
		t.Errorf("netplan:\n%s", text)
	}
	sysctls := readText(t, run.roots["b"]+"/etc/sysctl.d/90-linerate.conf")
	if !strings.Contains(sysctls, "net.ipv4.tcp_fin_timeout = 30") || strings.Contains(sysctls, "profile") {
		t.Errorf("sysctl.d:\n%s", sysctls)
	}
	o := runArgs(t, "rollback", run.path, "--journal", run.flags.journal)
	if o.status != 0 || !strings.Contains(o.stdout, "(6 changes): 4 steps rolled back on 2 hosts") {
		t.Errorf("rollback: %d %s%s", o.status, o.stdout, o.stderr)
	}
	if text := readText(t, netplan); text != strings.Replace(netplanThere, "%", "1/24", 1) {
		t.Errorf("netplan after the rollback:\n%s", text)
	}
	for _, h := range hosts {
		reply, err := h.Observe(t.Context(), "net.ipv4.tcp_fin_timeout")
		if err != nil {
			t.Fatal(err)
		}
		if l, _ := reply.Host.Link("eth0"); l.MTU != 1500 || reply.Host.Sysctls["net.ipv4.tcp_fin_timeout"].Value != "60" {
			t.Errorf("%s after the rollback: MTU %d, %v", h.Name, l.MTU, reply.Host.Sysctls["net.ipv4.tcp_fin_timeout"])
		}
	}
	for _, root := range run.roots {
		if _, err := os.Stat(root + "/etc/sysctl.d/90-linerate.conf"); !os.IsNotExist(err) {
			t.Errorf("sysctl.d is still there: %v", err)
		}
	}
}

// runArgs runs tune, or a command that tells what a tune left behind.
func runArgs(t *testing.T, args ...string) outcome {
	t.Helper()
	var out, errs bytes.Buffer
	con := &console.Console{Version: "test", Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: os.Getenv, Quiet: true, SSH: &fleet.SSH{}}
	return outcome{execute(t.Context(), con, args), out.String(), errs.String()}
}

// execute runs one command line and returns its exit status.
func execute(ctx context.Context, con *console.Console, args []string) int {
	c := &cobra.Command{Use: "linerate", SilenceErrors: true, SilenceUsage: true}
	c.AddCommand(New(con), change.NewRollback(con), change.NewGuard(con), history.New(con))
	c.SetArgs(args)
	return con.Fail(c.ExecuteContext(ctx))
}

// outcome is one finished command.
type outcome struct {
	status         int
	stdout, stderr string
}

// TestMain makes this program the guard of changes that its tests take back.
func TestMain(m *testing.M) {
	if os.Getenv("LINERATE_GUARD") != "" {
		os.Exit(execute(context.Background(), console.System("test"), os.Args[1:]))
	}
	if what := os.Getenv(tuneEnv); what != "" {
		os.Exit(tuneMain(what))
	}
	os.Exit(m.Run())
}

const tunedRun = "20261122T103000.000Z"

func readText(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestTunedFilesWantMore: a file that wants more than the tune set is not
// carried out by --persist; what was kept is said to hold until a reboot.
func TestTunedFilesWantMore(t *testing.T) {
	run, _ := settledPair(t)
	text := strings.Replace(run.file.Text, "10.79.0.1/24]", "10.79.0.1/24, 10.80.0.1/24]", 1)
	var err error
	if run.file, err = fabric.Parse(run.path, []byte(text)); err != nil {
		t.Fatal(err)
	}
	out := tuneOutcome{doc: tuned{Group: tunedRun, Settings: []record.Setting{{Host: "a", Kept: true}}}}
	err = run.writeFiles(t.Context(), &out)
	if err == nil || !strings.Contains(err.Error(), "only until the next reboot: the file wants 1 more step of a") || !strings.Contains(console.HintFor(err), "linerate plan") {
		t.Errorf("%v", err)
	}
	if out.doc.Fabric == "" || len(out.doc.Persisted) > 0 {
		t.Errorf("fabric %q, persisted %v", out.doc.Fabric, out.doc.Persisted)
	}
}

// TestTuneOutcome is the text of an outcome, as a terminal of 80 columns has
// it.
func TestTuneOutcome(t *testing.T) {
	var text bytes.Buffer
	con := &console.Console{Stdout: &text, Stderr: &bytes.Buffer{}, Getenv: os.Getenv}
	file, err := fabric.Parse("fabric.yaml", []byte("linerate: v1\nhosts:\n  rbx: {reach: \"ssh://root@192.0.2.1\", network: {version: 2}}\n  lim: {reach: \"ssh://root@192.0.2.2\", network: {version: 2}}\n  third: {reach: \"ssh://root@192.0.2.3\", network: {version: 2}}\npaths: [{between: [rbx, lim]}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	lane := flow.Lane{Src: netip.MustParseAddr("192.0.2.1"), Dst: netip.MustParseAddr("192.0.2.2")}
	run := &tuneRun{con: con, file: file, path: "fabric.yaml", options: campaign.Tuning{Path: file.Paths[0]}}
	r := record.Record{
		Steps: []record.Step{
			{Change: "layer3+4 on bond1 of rbx and bond1 of lim", Why: "layer2 hashes only MAC addresses; layer3+4 tells flows apart by their ports", Before: 9.9e9, After: 18.2e9, Kept: true, Verdict: "proven: +83.8 %"},
			{Change: "socket buffers up to 32 MiB", Why: "TCP waited", Before: 18.2e9, After: 18.2e9, Verdict: "no gain (+0.1 %)"},
			{Change: "2 streams on chosen source ports instead of 1 stream", Why: "1 stream can use 1 link at most", Before: 18.2e9, After: 19.8e9, Kept: true},
			{Change: "MTU 9000", Why: "headers", Verdict: "could not be applied: rbx: no room"},
		},
		Tuning: &record.Tuning{Group: tunedRun, Windows: 11, Traffic: 31.4, Load: record.TunedLoad{Streams: 2, Ports: "chosen"}, Settings: []record.Setting{
			{Host: "rbx", What: "xmit_hash_policy of bond1", Old: "layer2", New: "layer3+4", Kept: true, Gain: 0.838},
			{Host: "lim", What: "xmit_hash_policy of bond1", Old: "layer2", New: "layer3+4", Kept: true, Gain: 0.838},
			{Host: "rbx", What: "net.ipv4.tcp_rmem", Old: "4096 131072 6291456", New: "4096 131072 33554432", Gain: 0.001, Step: 1},
		}, Left: []string{"channels: 8 on ens2f0 of rbx: traffic stops for seconds (link-down), which needs consent"}},
		Trials: []record.Trial{
			{Phase: record.PhaseBefore, Direction: run.direction(), Goodput: 9.9e9, Ceiling: 19.9e9},
			{Phase: record.PhaseAfter, Direction: run.direction(), Goodput: 19.8e9, Ceiling: 19.9e9, From: "rbx", To: "lim", Streams: 2, Lanes: []record.Lane{
				{Lane: lane, Way: flow.Forward}, {Lane: lane, Way: flow.Forward}, {Lane: lane.Reverse(), Way: flow.Reverse}}},
		},
		Environment: record.Environment{Hosts: []netstate.Host{{Name: "rbx", Links: []netstate.Link{
			{Name: "bond1", Kind: "bond", Up: true, Carrier: true, Addresses: []netip.Prefix{netip.MustParsePrefix("192.0.2.1/24")}, Bond: &netstate.Bond{Mode: netstate.LACP, Ports: []string{"eth1", "eth2"}}},
			{Name: "eth1", Up: true, Carrier: true}, {Name: "eth2", Up: true, Carrier: true},
		}}}},
	}
	out := outcomeOf(r, run)
	out.doc.Fabric = "fabric.tuned.yaml"
	printTuned(con, out)
	const want = `kept          +83.8 %  rbx, lim: xmit_hash_policy of bond1: layer2 -> layer3+4
                    layer2 hashes only MAC addresses; layer3+4 tells flows apart
                    by their ports
advised        +8.8 %  2 streams on chosen source ports instead of 1 stream
                    1 stream can use 1 link at most
not kept: socket buffers up to 32 MiB (no gain (+0.1 %)); MTU 9000 (could not be
          applied: rbx: no room)
not tried: channels: 8 on ens2f0 of rbx: traffic stops for seconds (link-down),
           which needs consent
before 9.90 Gbit/s, after 19.8 Gbit/s, 99.5 % of the ceiling of 19.9 Gbit/s; 11
measurements, 31 s of traffic
with 2 streams on chosen source ports
to find such ports for a program:
  linerate steer pick --host ssh://root@192.0.2.1 --bond bond1 --lane 192.0.2.1,192.0.2.2 --streams 2 --for iperf3
to roll all of it back:
  linerate rollback fabric.yaml --host rbx,lim 20261122T103000.000Z
to make it stay over a reboot:
  linerate apply fabric.tuned.yaml --profiles none --persist always
`
	if text.String() != want {
		t.Errorf("got:\n%s", text.String())
	}
}

// TestStopped: a result below what was asked for says so, why the search ended, what
// limits the result and what to do next; one that is not says nothing of the kind.
func TestStopped(t *testing.T) {
	shaped := &record.Finding{Cause: record.Shaper, Confidence: 0.93, Summary: "Something caps each link at 96.0 Mbit/s.", Remedy: "Ask for the switch's ports."}
	steps := []record.Step{{Change: "MTU 9000"}}
	for _, c := range []struct {
		about  string
		after  unit.BitRate
		target float64
		why    string
		f      *record.Finding
		want   string
	}{
		{"reached", 9.7e9, 0.97, "", shaped, "no setting of the hosts is changed\n"},
		{"windows", 9.6e9, 0.97, "windows", nil, "below the target of 97.0 %: the measurements allowed are used up (--max-windows)\nno setting of the hosts is changed\n"},
		{"a lower target", 9.6e9, 0.9, "windows", shaped, "no setting of the hosts is changed\n"},
		{"a cause", 0.9e9, 0.97, "nothing left to try", shaped, "below the target of 97.0 %: no further setting on these hosts helps\ncause: shaper (93 % sure). Something caps each link at 96.0 Mbit/s.\nnext: Ask for the switch's ports.\nno setting of the hosts is changed\n"},
	} {
		var text bytes.Buffer
		con := &console.Console{Stdout: &text, Stderr: &bytes.Buffer{}, Getenv: os.Getenv}
		printStopped(con, tuneOutcome{steps: steps, target: c.target, doc: tuned{After: c.after, Ceiling: 10e9, Stopped: c.why, Finding: c.f}})
		if text.String() != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.about, text.String(), c.want)
		}
	}
}

// The end of a real run is a screen too, at its target and below one, with what limits
// it and what to do next.
func TestEndOfARecordedTune(t *testing.T) {
	r, err := console.ReadRecord(t.Context(), filepath.Join("..", "..", "..", "record", "testdata", "v1", "tune.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []float64{0.97, 1} {
		var text bytes.Buffer
		con := &console.Console{Stdout: &text, Stderr: &text, Getenv: os.Getenv, Columns: 80}
		run := &tuneRun{con: con, path: "fabric.yaml", options: campaign.Tuning{Path: fabric.Path{From: "alpha", To: "beta"}, Direction: flow.Both, Target: target}}
		out := outcomeOf(r, run)
		out.doc.Fabric = "fabric.tuned.yaml"
		wants := []string{"kept", "% of the ceiling of", "to roll all of it back:\n  linerate rollback fabric.yaml "}
		if target == 1 {
			out.doc.Finding = &record.Finding{Cause: record.LineRate, Confidence: 0.9, Remedy: "more links, or faster ones"}
			wants = append(wants, "below the target of 100.0 %", "cause: line-rate (90 % sure)", "next: more links")
		}
		printTuned(con, out)
		if n := strings.Count(text.String(), "\n"); n > 25 || n < 8 {
			t.Errorf("target %g: %d lines, at most 25:\n%s", target, n, text.String())
		}
		for _, want := range wants {
			if !strings.Contains(text.String(), want) {
				t.Errorf("target %g: %q is not said:\n%s", target, want, text.String())
			}
		}
	}
}

// What a user had (A6): three addresses a host, nothing but more streams helps. The end is
// a screen with the cause and the next step, however much was tried.
func TestEndIsAScreen(t *testing.T) {
	out := tuneOutcome{target: 0.97, doc: tuned{
		From: "192.0.2.11", To: "192.0.2.12", Before: 181e6, After: 543e6, Ceiling: 5.94e9, Measurements: 12, Traffic: 36, Stopped: "nothing left to try",
		Finding: &record.Finding{Cause: record.Shaper, Confidence: 0.93,
			Summary: "Something on the way lets through about 96.0 Mbit/s on each of 3 links, less than the links between 192.0.2.11 and 192.0.2.12 carry: the streams find a queue there (7.8 ms on top of the path's 0.0).",
			Remedy:  "look for a rate limit on the way: `tc qdisc show` on both hosts, the rate of the switch's ports, the provider's contract for about 100 Mbit/s on each of 3 links"},
		Snippet: &snippet{Words: "12 streams on chosen source ports", Command: "linerate steer pick --host ssh://root@192.0.2.11 --bond bond0 --lane 192.0.2.11,192.0.2.12 --streams 12 --for iperf3"},
	}}
	refused := "could not be applied: 192.0.2.11: net.ipv4.tcp_congestion_control: bbr -> cubic: set net.ipv4.tcp_congestion_control to cubic: write sysctl net.ipv4.tcp_congestion_control: operation not permitted"
	for i := range 12 {
		kept := i%2 == 0
		step := record.Step{Change: fmt.Sprintf("change %d of the hosts' settings, which has a name of some length", i), Why: "1 stream can use 1 link at most; ports chosen by the bond's own hash give each of the 3 links its share, and each of them is as fast", Before: 100, After: 120, Kept: kept}
		if !kept {
			step.Verdict = refused
		}
		out.steps = append(out.steps, step)
		for _, host := range []string{"192.0.2.11", "192.0.2.12"} {
			out.doc.Settings = append(out.doc.Settings, record.Setting{Host: host, What: "net.ipv4.tcp_rmem", Old: "4096 131072 6291456", New: "4096 131072 33554432", Step: i, Kept: kept, Gain: 0.2})
		}
		out.doc.Left = append(out.doc.Left, fmt.Sprintf("step %d: traffic stops for seconds (link-down), which needs consent", i))
		out.doc.Snippet.Pairs = append(out.doc.Snippet.Pairs, fmt.Sprintf("1 stream: 10.1.%d.11 to 10.1.%d.12", i, i))
	}
	out.doc.Fabric, out.doc.Rollback = "fabric.tuned.yaml", "linerate rollback fabric.yaml "+tunedRun
	out.notes = []string{"written: fabric.tuned.yaml, the fabric file with these settings"}
	for _, steps := range []int{0, 1, 3, 12} {
		var text bytes.Buffer
		o := out
		o.steps = out.steps[:steps]
		printTuned(&console.Console{Stdout: &text, Stderr: &text, Getenv: os.Getenv}, o)
		if n := strings.Count(text.String(), "\n"); n > mostLines {
			t.Errorf("%d steps: %d lines, more than %d:\n%s", steps, n, mostLines, text.String())
		}
		for _, want := range []string{"cause: shaper (93 % sure)", "next: look for a rate limit", "to roll all of it back:\n", "before 181 Mbit/s, after 543 Mbit/s"} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%d steps: %q is not said:\n%s", steps, want, text.String())
			}
		}
		for line := range strings.Lines(text.String()) { // a command is one line, to be pasted
			if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 80 && !strings.HasPrefix(line, "  linerate ") {
				t.Errorf("%d steps: a line of more than 80 columns: %s", steps, line)
			}
		}
	}
}

// TestSnippetOfInterfaces: streams over interfaces without a bond are told by their
// addresses, and no ports are to be picked.
func TestSnippetOfInterfaces(t *testing.T) {
	run := &tuneRun{options: campaign.Tuning{Direction: flow.Forward}}
	lanes := []record.Lane{}
	for _, pair := range [][2]string{{"10.1.1.11", "10.1.1.12"}, {"10.1.2.11", "10.1.2.12"}, {"10.1.1.11", "10.1.1.12"}} {
		lanes = append(lanes, record.Lane{Lane: flow.Lane{Src: netip.MustParseAddr(pair[0]), Dst: netip.MustParseAddr(pair[1])}, Way: flow.Forward})
	}
	r := record.Record{Trials: []record.Trial{{From: "a", To: "b", Phase: record.PhaseAfter, Direction: flow.Forward, Streams: 3, Lanes: lanes}}}
	got := run.snippetOf(r, r.Trials[0], record.TunedLoad{Streams: 3, Ports: "kernel"})
	want := []string{"2 streams: 10.1.1.11 to 10.1.1.12", "1 stream: 10.1.2.11 to 10.1.2.12"}
	if !slices.Equal(got.Pairs, want) || got.Command != "" || got.Words != "3 streams" {
		t.Errorf("got %+v, want pairs %v", got, want)
	}
}
