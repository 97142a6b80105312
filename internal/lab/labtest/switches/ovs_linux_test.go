package switches

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/lab/labtest/openvswitch"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

const (
	trunkRate = 8 * unit.Mbps
	hostRate  = 40 * unit.Mbps
	queue     = 50 * time.Millisecond
	streams   = 8
)

// stand is two hosts at two Open vSwitches with a trunk of two links by LACP, each switch
// with snmpd; the left one's namespace reaches both.
func stand(t *testing.T) (left, right *openvswitch.Switch, hosts [2]floor.Space, fabric string) {
	t.Helper()
	l, r := floor.NewSpace(t, "ovs-left"), floor.NewSpace(t, "ovs-right")
	a, b := floor.NewSpace(t, "ovs-a"), floor.NewSpace(t, "ovs-b")
	for i, h := range []struct{ host, sw floor.Space }{{a, l}, {b, r}} {
		floor.Must(t, h.host.Builder.Veth("eth0", h.sw.Builder, "p0"))
		for _, up := range []string{"lo", "eth0"} {
			floor.Must(t, h.host.Builder.Up(up))
		}
		floor.Must(t, h.host.Builder.Address("eth0", netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 78, 0, byte(i + 1)}), 24)))
		floor.Must(t, h.host.Builder.Shape("eth0", hostRate, floor.Bucket(hostRate), queue))
		floor.Must(t, h.sw.Builder.Up("p0"))
	}
	for _, link := range []string{"t0", "t1"} {
		floor.Must(t, l.Builder.Veth(link, r.Builder, link))
	}
	floor.Must(t, l.Builder.Veth("mgmt", r.Builder, "mgmt"))
	for i, sw := range []floor.Space{l, r} {
		for _, link := range []string{"t0", "t1", "mgmt"} {
			floor.Must(t, sw.Builder.Up(link))
		}
		floor.Must(t, sw.Builder.Address("mgmt", netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(i + 1)}), 24)))
	}
	left, right = openvswitch.New(t, l), openvswitch.New(t, r)
	for _, s := range []*openvswitch.Switch{left, right} {
		s.Vsctl("add-port", "br0", "p0")
		s.Vsctl("add-bond", "br0", "bond0", "t0", "t1", "lacp=active", "bond_mode=balance-slb", "other_config:lacp-time=fast", "other_config:bond-rebalance-interval=0")
		agent(t, s.Space)
	}
	cables(t, left, right)
	fabric = described(t, fmt.Sprintf(`linerate: v1
hosts:
  a: {reach: "netns:%s", hardware: {links: {eth0: {speed: 40M, framing: l2}}}, network: {version: 2, ethernets: {eth0: {addresses: [10.78.0.1/24]}}}}
  b: {reach: "netns:%s", hardware: {links: {eth0: {speed: 40M, framing: l2}}}, network: {version: 2, ethernets: {eth0: {addresses: [10.78.0.2/24]}}}}
switches:
  left:
    system: ovs
    reach: snmp://127.0.0.1
    credentials: secret.yaml
    hash: src-mac
    ports:
      p0: {host: a, link: eth0}
      t0: {switch: right, port: t0, speed: 8M, framing: l2}
      t1: {switch: right, port: t1, speed: 8M, framing: l2}
    channels: {bond0: {members: [t0, t1], mode: lacp}}
  right:
    system: ovs
    reach: snmp://192.0.2.2
    credentials: secret.yaml
    hash: src-mac
    ports: {p0: {host: b, link: eth0}}
    channels: {bond0: {members: [t0, t1], mode: lacp}}
paths:
  - {between: [a, b]}
`, a.NS.Name, b.NS.Name))
	return left, right, [2]floor.Space{a, b}, fabric
}

// cables gives the switches' links their rates, which are no setting of a switch, and waits
// until LACP agrees.
func cables(t *testing.T, switches ...*openvswitch.Switch) {
	t.Helper()
	for _, s := range switches {
		s.KeepShapers("p0", "bond0")
		floor.Must(t, s.Space.Builder.Shape("p0", hostRate, floor.Bucket(hostRate), queue))
		for _, link := range []string{"t0", "t1"} {
			floor.Must(t, s.Space.Builder.Shape(link, trunkRate, floor.Bucket(trunkRate), queue))
		}
	}
	for _, s := range switches {
		s.Await("bond0", 2, time.Minute)
	}
}

// linerate runs the program where the switches are reached from, and returns its standard
// output; nothing that it prints may have the community in it.
func linerate(t *testing.T, space floor.Space, args ...string) []byte {
	t.Helper()
	self, err := os.Executable()
	floor.Must(t, err)
	c := exec.Command(self, args...)
	c.Env = append(os.Environ(), envProgram+"=1")
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	floor.Must(t, space.NS.Do(c.Start))
	if err := c.Wait(); err != nil {
		t.Fatalf("linerate %v: %v\n%s%s", args, err, out.String(), errs.String())
	}
	if strings.Contains(out.String()+errs.String(), community) {
		t.Fatalf("linerate %v prints the community", args)
	}
	t.Logf("linerate %v\n%s", args, errs.String())
	return out.Bytes()
}

// measured measures, and returns the trial and what explain says of its record.
func measured(t *testing.T, s floor.Space, fabric string) (record.Trial, record.Finding) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "record.json")
	linerate(t, s, "measure", fabric, "--streams", fmt.Sprint(streams), "--directions", "forward", "--duration", "10s", "--no-loaded-latency", "-o", file)
	text, err := os.ReadFile(file)
	floor.Must(t, err)
	if bytes.Contains(text, []byte(community)) {
		t.Fatal("the record has the community")
	}
	r, err := record.Decode(text)
	floor.Must(t, err)
	var said struct {
		Findings []record.Finding `json:"findings"`
	}
	floor.Must(t, json.Unmarshal(linerate(t, s, "explain", file, "--json"), &said))
	if len(r.Trials) != 1 || len(said.Findings) != 1 {
		t.Fatalf("%d trials, %d findings", len(r.Trials), len(said.Findings))
	}
	return r.Trials[0], said.Findings[0]
}

// shares are what each member of the trunk sent of both.
func shares(t *testing.T, trial record.Trial) [2]float64 {
	t.Helper()
	var bytes [2]float64
	for i, port := range []string{"t0", "t1"} {
		p, ok := trial.PortOf("left", port)
		if !ok || p.TxBytes == nil {
			t.Fatalf("no counts of %s: %+v", port, trial.Switches)
		}
		bytes[i] = float64(*p.TxBytes)
	}
	sum := bytes[0] + bytes[1]
	return [2]float64{bytes[0] / sum, bytes[1] / sum}
}

// TestOVSTrunk: two hosts with one link each, and a trunk of two links whose hash reads MAC
// addresses. Hosts cannot see it: the switch's counters show one link full and the other
// idle, explain names the hash, and the lines that render writes for the two switches, typed
// there, repair it.
func TestOVSTrunk(t *testing.T) {
	needRoot(t)
	left, right, _, fabric := stand(t)
	trial, finding := measured(t, left.Space, fabric)
	if trial.Limit != record.SingleLink || trial.Predicted < 0.8*trunkRate || trial.Predicted > trunkRate || trial.Goodput < 0.7*trial.Predicted || trial.Goodput > 1.05*trial.Predicted {
		t.Errorf("predicted %v (%s), measured %v", trial.Predicted, trial.Limit, trial.Goodput)
	}
	before := shares(t, trial)
	t.Logf("before: %v of %v, members %v; %s (%.2f): %s\n%+v", trial.Goodput, trial.Ceiling, before, finding.Cause, finding.Confidence, finding.Summary, finding.Evidence)
	if max(before[0], before[1]) < 0.95 {
		t.Errorf("balance-slb put %v on the members", before)
	}
	if finding.Cause != record.SingleLink || finding.Confidence < 0.9 || !strings.Contains(finding.Summary, "bond0 of switch left") || !strings.Contains(finding.Summary, "src-mac") ||
		!strings.Contains(fmt.Sprint(finding.Remedy), "on switch left") || !strings.Contains(finding.Evidence[0].Source, "SNMP") {
		t.Errorf("explained as %+v", finding)
	}
	if !strings.Contains(fmt.Sprint(finding.Remedy), "bond_mode=balance-tcp") {
		t.Errorf("the remedy has no line of the switch's: %+v", finding.Remedy)
	}
	for name, s := range map[string]*openvswitch.Switch{"left": left, "right": right} {
		dir := t.TempDir()
		linerate(t, left.Space, "render", fabric, "--switch", name, "-o", dir)
		lines, err := os.ReadFile(filepath.Join(dir, "switch", name+"-ovs-channel.txt"))
		floor.Must(t, err)
		t.Logf("typed on %s:\n%s", name, lines)
		s.Type(string(lines))
	}
	cables(t, left, right)
	text, err := os.ReadFile(fabric)
	floor.Must(t, err)
	floor.Must(t, os.WriteFile(fabric, bytes.ReplaceAll(text, []byte("hash: src-mac"), []byte("hash: src-dst-ip-port")), 0o600))
	mended, after := measured(t, left.Space, fabric)
	now := shares(t, mended)
	t.Logf("after: %v of %v, members %v; %s: %s", mended.Goodput, mended.Ceiling, now, after.Cause, after.Summary)
	if min(now[0], now[1]) < 0.2 || mended.Goodput < 1.5*trial.Goodput {
		t.Errorf("balance-tcp: %v after %v, members %v", mended.Goodput, trial.Goodput, now)
	}
}

// described writes a fabric file, and beside it what its switches are asked with.
func described(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	floor.Must(t, os.WriteFile(filepath.Join(dir, "secret.yaml"), []byte("community: "+community+"\n"), 0o600))
	file := filepath.Join(dir, "fabric.yaml")
	floor.Must(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}
