package root

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/linerate/linerate/internal/agent/nats/natsagent"
	"github.com/linerate/linerate/internal/agent/nats/testcluster"
	"github.com/linerate/linerate/internal/host/apply/testjournal"
	"github.com/linerate/linerate/internal/metrics"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// A real Prometheus reads a real server, three real agents between which two runs
// were measured, and a host with a bond; then everything that the dashboard and
// the alerts ask for is there.
func TestMetricsByPrometheus(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	program, err := exec.LookPath("prometheus")
	if err != nil {
		t.Skip("no prometheus here: make deps-metrics")
	}
	fabric := triangle(t)
	f := newServed(t)
	for _, name := range []string{"a", "b", "c"} {
		f.agent(t, name)
	}
	creds := f.enroll(t, "measure", "eve")
	for range 2 {
		waitForEnd(t, startWatched(t, "measure", fabric, "--streams", "1", "--directions", "forward", "--duration", "300ms", "--ping-count", "3",
			"--no-loaded-latency", "--wait=30s", "--nats", f.url, "--creds", creds, "--nats-ca", filepath.Join(f.state, "ca.pem")))
	}
	bonds, err := metrics.Listen(t.Context(), "127.0.0.1:0", nil, metrics.Agent(metrics.AgentConfig{
		Host: "db1", Counts: func() natsagent.Counts { return natsagent.Counts{Connected: true} },
		Observe: func(context.Context) (netstate.Host, error) { return bondOfTwo(), nil },
		Every:   time.Second,
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer bonds.Close()
	p := startPrometheus(t, program, append(f.told, bonds.Addr().String()))
	p.await(t, `count(up == 1) == 5`)
	p.await(t, `linerate_path_usual_bytes_per_second > 10e6`) // two runs over 100 Mbit/s
	for _, e := range expressions(t) {
		if rule, ok := strings.CutPrefix(e, "alert "); ok {
			p.ask(t, rule) // fires or not: TestAlerts
		} else {
			p.await(t, e)
		}
	}
	t.Logf("%d expressions asked", len(expressions(t)))
	if n := p.ask(t, `linerate_fleet_host_info`); n != 3 {
		t.Errorf("%d hosts", n)
	}
}

// served is a server of its own, and what is told of it.
type served struct {
	state, url string
	web        string   // its page
	told       []string // addresses of metrics
}

var (
	servedAt = regexp.MustCompile(`nats=(tls://\S+)`)
	pageAt   = regexp.MustCompile(`msg="web page" url=(\S+)`)
	toldAt   = regexp.MustCompile(`url=http://(\S+)/metrics`)
)

func newServed(t *testing.T) *served {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &served{state: filepath.Join(t.TempDir(), "serve")}
	address := free.Addr().String()
	free.Close()
	p := startWatched(t, "serve", "--state", f.state, "--listen", address, "--metrics", "127.0.0.1:0", "--web", "127.0.0.1:0", "--store", filepath.Join(t.TempDir(), "history.db"))
	f.web = awaitWord(t, p, pageAt)
	f.told = append(f.told, awaitWord(t, p, toldAt))
	f.url = awaitWord(t, p, servedAt)
	awaitWord(t, p, regexp.MustCompile(`(ready for tokens)`))
	return f
}

// enroll makes somebody by a token, and returns their credentials.
func (f *served) enroll(t *testing.T, role, name string) string {
	t.Helper()
	who := "--user"
	if role == "agent" {
		who = "--host"
	}
	token, err := exec.Command("linerate", "serve", "token", "--state", f.state, "--role", role, who, name, "--nats", f.url).Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c := exec.Command("linerate", "enroll", "--dir", dir, "-")
	c.Stdin = strings.NewReader(string(token))
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	all, err := filepath.Glob(filepath.Join(dir, "*.creds"))
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	return all[0]
}

// agent starts one, and returns the directory of its journal and audit log.
func (f *served) agent(t *testing.T, name string) string {
	t.Helper()
	dir := testjournal.Dir(t)
	p := startWatched(t, "agent", "--nats", f.url, "--creds", f.enroll(t, "agent", name), "--nats-ca", filepath.Join(f.state, "ca.pem"), "--netns", "linerate-bus-"+name,
		"--audit-log", dir+"/audit.log", "--journal", dir, "--metrics", "127.0.0.1:0")
	f.told = append(f.told, awaitWord(t, p, toldAt))
	return dir
}

func awaitWord(t *testing.T, p *watched, word *regexp.Regexp) string {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if m := word.FindStringSubmatch(p.errs.String()); m != nil {
			return m[1]
		}
	}
	t.Fatalf("never said %v:\n%s", word, p.errs.String())
	return ""
}

func waitForEnd(t *testing.T, p *watched) {
	t.Helper()
	if err := p.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, p.errs.String())
	}
}

func bondOfTwo() netstate.Host {
	h := netstate.Host{Links: []netstate.Link{{Name: "bond0", Kind: "bond", Up: true, Carrier: true, Bond: &netstate.Bond{
		Mode: netstate.LACP, Ports: []string{"eth0", "eth1"}, AD: &netstate.Aggregator{ID: 1},
	}}}}
	for i, name := range h.Links[0].Bond.Ports {
		h.Links = append(h.Links, netstate.Link{
			Name: name, Up: true, Carrier: true, Speed: unit.Gbps, Master: "bond0", Port: &netstate.BondPort{Bond: "bond0", Active: true, MIIUp: true, AggregatorID: 1},
			Counters: netstate.Counters{TxBytes: uint64(time.Now().UnixMilli()) * uint64(i+1)},
		})
	}
	return h
}

// prometheus is a real one, that reads every second.
type promServer struct {
	url string
	log *testcluster.Text
}

func startPrometheus(t *testing.T, program string, targets []string) promServer {
	t.Helper()
	rules, err := filepath.Abs("../../../deploy/prometheus/linerate-alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text := "global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [" + rules + "]\nscrape_configs: [{job_name: linerate, static_configs: [{targets: [" + strings.Join(targets, ", ") + "]}]}]\n"
	if err := os.WriteFile(filepath.Join(dir, "p.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	p := promServer{"http://" + address, &testcluster.Text{}}
	c := exec.Command(program, "--config.file", filepath.Join(dir, "p.yaml"), "--storage.tsdb.path", filepath.Join(dir, "data"), "--web.listen-address", address)
	c.Stderr = p.log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill() // it may have ended
		_ = c.Wait()
	})
	return p
}

// query asks; ok is false while there is no answer.
func (p promServer) query(expr string) (results int, ok bool, text string) {
	resp, err := http.Get(p.url + "/api/v1/query?query=" + url.QueryEscape(expr))
	if err != nil {
		return 0, false, err.Error()
	}
	defer resp.Body.Close()
	var answer struct {
		Status, Error string
		Data          struct{ Result []json.RawMessage }
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return 0, false, err.Error()
	}
	return len(answer.Data.Result), answer.Status == "success", answer.Error
}

func (p promServer) ask(t *testing.T, expr string) int {
	t.Helper()
	n, ok, text := p.query(expr)
	if !ok {
		t.Errorf("%s: %s", expr, text)
	}
	return n
}

func (p promServer) await(t *testing.T, expr string) {
	t.Helper()
	for end := time.Now().Add(40 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if n, ok, _ := p.query(expr); ok && n > 0 {
			return
		}
	}
	_, _, text := p.query(expr)
	t.Fatalf("never so: %s %s\n%s", expr, text, p.log.String())
}

// expressions are all that the dashboard asks for, and the alerts', marked.
func expressions(t *testing.T) (all []string) {
	t.Helper()
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	text, err := os.ReadFile("../../../deploy/prometheus/dashboard.json")
	if err == nil {
		err = json.Unmarshal(text, &dashboard)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			all = append(all, target.Expr)
		}
	}
	var rules struct {
		Groups []struct{ Rules []struct{ Expr string } }
	}
	text, err = os.ReadFile("../../../deploy/prometheus/linerate-alerts.yaml")
	if err == nil {
		err = yaml.Unmarshal(text, &rules)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			all = append(all, "alert "+r.Expr)
		}
	}
	if len(all) < 20 {
		t.Fatal(fmt.Sprint("only ", len(all)))
	}
	return all
}

// TestAlerts: each fires when it should and not before, by Prometheus's own
// judge of rules.
func TestAlerts(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	program, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("no promtool here: make deps-metrics")
	}
	c := exec.Command(program, "test", "rules", "linerate-alerts-test.yaml")
	c.Dir = "../../../deploy/prometheus"
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	text, err := os.ReadFile("../../../deploy/prometheus/linerate-alerts-test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := os.ReadFile("../../../deploy/prometheus/linerate-alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)- alert: (\w+)`).FindAllStringSubmatch(string(rules), -1) {
		if !strings.Contains(string(text), "alertname: "+m[1]) {
			t.Errorf("no test of %s", m[1])
		}
	}
}
