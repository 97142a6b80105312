package root

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/results"
	"github.com/linerate/linerate/internal/agent/nats/testcluster"
	"github.com/linerate/linerate/internal/agent/nats/wire"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// triangle is three hosts in namespaces, each joined with both others, that are
// reached over NATS.
func triangle(t *testing.T) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	names := []string{"a", "b", "c"}
	builders := make(map[string]*rtnl.Builder)
	for _, name := range names {
		space := "linerate-bus-" + name
		_ = netns.Delete(space) // of a test that was killed
		ns, err := netns.Create(space)
		must(err)
		t.Cleanup(func() { _ = netns.Delete(space) })
		b, err := rtnl.OpenBuilder(ns)
		must(err)
		t.Cleanup(b.Close)
		must(b.Up("lo"))
		builders[name] = b
	}
	text := "linerate: v1\nhosts:\n"
	for i, name := range names {
		before, after := names[(i+2)%3], names[(i+1)%3]
		must(builders[name].Veth("to-"+after, builders[after], "to-"+name))
		text += fmt.Sprintf("  %s: {reach: \"nats:%s\", network: {version: 2, ethernets: {to-%s: {addresses: [10.79.%d.1/24]}, to-%s: {addresses: [10.79.%d.2/24]}}}, hardware: {links: {to-%s: {speed: 100M, framing: l2}, to-%s: {speed: 100M, framing: l2}}}}\n",
			name, name, after, i, before, (i+2)%3, after, before)
	}
	for i, name := range names {
		for end, link := range map[int]string{1: names[(i+1)%3], 2: names[(i+2)%3]} {
			subnet := i
			if end == 2 {
				subnet = (i + 2) % 3
			}
			must(builders[name].Up("to-" + link))
			must(builders[name].Address("to-"+link, netip.MustParsePrefix(fmt.Sprintf("10.79.%d.%d/24", subnet, end))))
			must(builders[name].Shape("to-"+link, 100*unit.Mbps, 256*unit.KiB, 20*time.Millisecond))
		}
	}
	return file(t, "triangle.yaml", text+"paths:\n  - {between: [a, b]}\n  - {between: [b, c]}\n  - {between: [c, a]}\n")
}

// watched is a linerate of its own, whose words are read while it runs.
type watched struct {
	*exec.Cmd
	out, errs testcluster.Text
}

func startWatched(t *testing.T, args ...string) *watched {
	t.Helper()
	p := &watched{Cmd: exec.Command("linerate", args...)}
	p.Stdout, p.Stderr = &p.out, &p.errs
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Process.Kill() // it may have ended
		_ = p.Wait()
	})
	return p
}

// onCluster is a cluster, the agents of the triangle as processes, and the
// flags with which a controller is somebody on it.
type onCluster struct {
	cluster *testcluster.Cluster
	fabric  string
	who     link.Config
	agents  map[string]*watched
}

func newOnCluster(t *testing.T) *onCluster {
	t.Helper()
	o := &onCluster{fabric: triangle(t), cluster: testcluster.StartCluster(t), agents: make(map[string]*watched)}
	o.who = o.cluster.As(t, "eve", wire.Measure)
	for _, name := range []string{"a", "b", "c"} {
		o.agent(t, name, o.cluster.As(t, name, wire.Agent))
	}
	time.Sleep(time.Second)
	return o
}

func (o *onCluster) agent(t *testing.T, name string, as link.Config) {
	t.Helper()
	dir := t.TempDir()
	o.agents[name] = startWatched(t, "agent", "--nats", as.URL, "--creds", as.Creds, "--nats-ca", as.CA, "--netns", "linerate-bus-"+name, "--audit-log", dir+"/audit.log", "--journal", dir, "--most", "measure")
	o.agents[name].Args = append(o.agents[name].Args, as.Creds)
}

// again starts an agent that was killed.
func (o *onCluster) again(t *testing.T, name string) {
	t.Helper()
	old := o.agents[name].Args
	o.agent(t, name, link.Config{URL: o.who.URL, CA: o.who.CA, Creds: old[len(old)-1]})
}

// A proof's matrix is longer, so that what dies does so in the middle of it.
func streams() string {
	if os.Getenv("PROVE_RUN") != "" {
		return "1,2,4"
	}
	return "1"
}

// inMatrix is three pairs, two directions, each stream count.
func inMatrix() int { return 6 * (strings.Count(streams(), ",") + 1) }

func (o *onCluster) measure(t *testing.T, more ...string) *watched {
	t.Helper()
	return startWatched(t, append([]string{"measure", o.fabric, "--streams", streams(), "--directions", "forward,reverse", "--duration", "300ms", "--ping-count", "3", "--json",
		"--no-loaded-latency", "--wait=30s", "--nats", o.who.URL, "--creds", o.who.Creds, "--nats-ca", o.who.CA}, more...)...)
}

// kept is the run as it is on NATS.
func (o *onCluster) kept(t *testing.T, run string) record.Record {
	t.Helper()
	keeper, err := results.Keeper(testcluster.Connect(t, o.who), run, nil)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := keeper.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// await waits until a run has so many trials on NATS, and returns its name.
func (o *onCluster) await(t *testing.T, p *watched, trials int) string {
	t.Helper()
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		m := keptAs.FindStringSubmatch(p.errs.String())
		if m != nil && strings.Count(p.errs.String(), "Mbit/s") >= trials {
			return m[1]
		}
	}
	t.Fatalf("no trial was kept:\n%s", p.errs.String())
	return ""
}

var keptAs = regexp.MustCompile(`--resume nats:(\S+) goes on`)

// whole checks that a run has each trial of the matrix once, on NATS and in
// the record that the controller printed.
func (o *onCluster) whole(t *testing.T, p *watched, run string) {
	t.Helper()
	var printed record.Record
	if err := json.Unmarshal([]byte(p.out.String()), &printed); err != nil {
		t.Fatalf("%v\n%s", err, p.errs.String())
	}
	t.Logf("in a row: %d trials printed, %d on NATS", len(printed.Trials), len(o.kept(t, run).Trials))
	for where, rec := range map[string]record.Record{"printed": printed, "on NATS": o.kept(t, run)} {
		count := make(map[string]int)
		for _, trial := range rec.Trials {
			count[fmt.Sprint(trial.From, trial.To, trial.Direction, trial.Streams)]++
		}
		if len(rec.Trials) != inMatrix() || len(count) != inMatrix() || len(rec.Failures) > 0 {
			t.Errorf("%s: %d trials, %d different ones, failures %v; want %d\n%s", where, len(rec.Trials), len(count), rec.Failures, inMatrix(), p.errs.String())
		}
	}
}

// A matrix over a cluster of three real servers, of which one is killed; then
// the controller; then an agent. No trial is lost, none is there twice.
func TestMeasureOverCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	t.Parallel()
	o := newOnCluster(t)
	list := startWatched(t, "serve", "hosts", "--json", "--nats", o.who.URL, "--creds", o.who.Creds, "--nats-ca", o.who.CA)
	var hosts struct {
		Hosts []struct {
			Name string    `json:"name"`
			Most wire.Role `json:"most"`
		} `json:"hosts"`
	}
	if err := list.Wait(); err != nil || json.Unmarshal([]byte(list.out.String()), &hosts) != nil || len(hosts.Hosts) != 3 || hosts.Hosts[2].Name != "c" || hosts.Hosts[2].Most != wire.Measure {
		t.Errorf("hosts: %v\n%s%s", err, list.out.String(), list.errs.String())
	}
	proof := os.Getenv("PROVE_RUN") != ""
	for i := range testcluster.Members {
		if !proof {
			break // it is killed with the controller, below
		}
		t.Run(fmt.Sprintf("server %d is killed", i), func(t *testing.T) {
			p := o.measure(t)
			run := o.await(t, p, 2)
			o.cluster.Kill(t, i)
			if err := p.Wait(); err != nil {
				t.Fatalf("%v\n%s", err, p.errs.String())
			}
			o.whole(t, p, run)
			o.cluster.Run(t, i)
			time.Sleep(2 * time.Second)
		})
	}
	t.Run("the controller is killed", func(t *testing.T) {
		p := o.measure(t)
		if !proof {
			o.await(t, p, 1)
			o.cluster.Kill(t, 0)
		}
		run := o.await(t, p, 3)
		_ = p.Process.Kill()
		_ = p.Wait()
		there := len(o.kept(t, run).Trials)
		if there < 2 || there >= inMatrix() {
			t.Fatalf("%d of %d trials were kept", there, inMatrix())
		}
		rest := o.measure(t, "--resume", "nats:"+run)
		if err := rest.Wait(); err != nil {
			t.Fatalf("%v\n%s", err, rest.errs.String())
		}
		if want := fmt.Sprintf("%d of %d trials are there already", there, inMatrix()); !strings.Contains(rest.errs.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, rest.errs.String())
		}
		o.whole(t, rest, run)
		if !proof {
			o.cluster.Run(t, 0)
		}
	})
	t.Run("an agent is killed and comes back", func(t *testing.T) {
		p := o.measure(t)
		run := o.await(t, p, 1)
		_ = o.agents["c"].Process.Signal(syscall.SIGKILL)
		_ = o.agents["c"].Wait()
		time.Sleep(500 * time.Millisecond)
		o.again(t, "c")
		if err := p.Wait(); err != nil {
			t.Fatalf("%v\n%s", err, p.errs.String())
		}
		if !strings.Contains(p.errs.String(), "unreachable") {
			t.Logf("no trial met the agent while it was gone:\n%s", p.errs.String())
		}
		o.whole(t, p, run)
	})
	t.Run("every run into a history", o.intoHistory)
}

// intoHistory keeps what is on NATS in a store, for somebody who may only look.
func (o *onCluster) intoHistory(t *testing.T) {
	watcher := o.cluster.As(t, "bob", wire.Watch)
	db := filepath.Join(t.TempDir(), "history.db")
	for _, said := range []string{"at first", "once more"} {
		p := startWatched(t, "history", "add", "nats:all", "--store", db, "--nats", watcher.URL, "--creds", watcher.Creds, "--nats-ca", watcher.CA)
		if err := p.Wait(); err != nil || !strings.Contains(p.out.String(), "nats:eve/") {
			t.Fatalf("%s: %v\n%s%s", said, err, p.out.String(), p.errs.String())
		}
	}
	p := startWatched(t, "history", "--from", "a", "--to", "b", "--store", db, "--json")
	var doc struct{ Lines []struct{ Points []any } }
	if err := p.Wait(); err != nil || json.Unmarshal([]byte(p.out.String()), &doc) != nil || len(doc.Lines) == 0 || len(doc.Lines[0].Points) < 2 {
		t.Errorf("%v\n%s%s", err, p.out.String(), p.errs.String())
	}
}
