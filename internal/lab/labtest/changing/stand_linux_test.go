package changing

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/host/apply/testjournal"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// ip runs ip(8) in a lab host, which must work: it is what an administrator
// does by hand.
func ip(t *testing.T, host, words string) string {
	t.Helper()
	return command(t, "ip", append([]string{"-n", lab.Namespace(host)}, strings.Fields(words)...)...)
}

// in runs a program in a lab host.
func in(t *testing.T, host, words string) string {
	t.Helper()
	return command(t, "ip", append([]string{"netns", "exec", lab.Namespace(host)}, strings.Fields(words)...)...)
}

func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// plainPair is two hosts with two links each, of which the first is up and has
// the address, on one switch.
func plainPair() lab.Topology {
	return lab.Topology{
		Hosts: []lab.Host{
			{Name: "alpha", Links: 2, Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/24")}},
			{Name: "beta", Links: 2, Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.2/24")}},
		},
		Switch: lab.Switch{MTU: 9000},
	}
}

// groups makes LACP groups of the switch's ports, as its administrator does.
func groups(t *testing.T, hosts ...string) {
	t.Helper()
	for _, h := range hosts {
		ip(t, "switch", "link add to-"+h+" type bond mode 802.3ad miimon 100 lacp_rate fast xmit_hash_policy layer3+4")
		for i := range 2 {
			port := fmt.Sprintf("%s%d", h, i)
			ip(t, "switch", "link set "+port+" nomaster down")
			ip(t, "switch", "link set "+port+" master to-"+h)
		}
		ip(t, "switch", "link set to-"+h+" mtu 9000 master bridge0 up")
	}
}

// backToBack is two hosts that two cables join, without a switch; parameters
// are those of ip(8) for the bond of each.
func backToBack(t *testing.T, fabric, bond string) ground {
	t.Helper()
	var builders []*rtnl.Builder
	for _, h := range []string{"alpha", "beta"} {
		ns, err := netns.Create(lab.Namespace(h))
		floor.Must(t, err)
		t.Cleanup(func() { _ = netns.Delete(lab.Namespace(h)) })
		b, err := rtnl.OpenBuilder(ns)
		floor.Must(t, err)
		t.Cleanup(b.Close)
		builders = append(builders, b)
		floor.Must(t, b.Up("lo"))
	}
	for i := range 2 {
		floor.Must(t, builders[0].Veth(lab.Port(i), builders[1], lab.Port(i)))
	}
	for i, h := range []string{"alpha", "beta"} {
		ip(t, h, "link add bond0 type bond "+bond)
		for p := range 2 {
			ip(t, h, "link set "+lab.Port(p)+" down")
			ip(t, h, "link set "+lab.Port(p)+" master bond0")
		}
		ip(t, h, "link set bond0 up")
		ip(t, h, fmt.Sprintf("addr add 10.0.0.%d/24 dev bond0", i+1))
	}
	return onGround(t, fabric)
}

func onGround(t *testing.T, fabric string) ground {
	t.Helper()
	g := ground{t: t, journal: testjournal.Dir(t), file: filepath.Join(t.TempDir(), "fabric.yaml")}
	g.write(fabric)
	return g
}

func (g ground) write(fabric string) {
	g.t.Helper()
	floor.Must(g.t, os.WriteFile(g.file, []byte(fabric), 0o600))
}

// hostFile is one host of a fabric file: network is its netplan, more what
// stands beside it.
func hostFile(name, network, more string) string {
	return "  " + name + ":\n    reach: netns:" + lab.Namespace(name) + "\n    profiles: []\n" + indented(4, more) +
		"    network:\n      version: 2\n" + indented(6, network)
}

func indented(by int, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.Repeat(" ", by) + strings.TrimRight(line, "\n") + "\n")
	}
	return b.String()
}

// pairFile is a fabric of alpha and beta.
func pairFile(alpha, beta string) string {
	return "linerate: v1\nhosts:\n" + hostFile("alpha", alpha, "") + hostFile("beta", beta, "") + "paths:\n  - {between: [alpha, beta]}\n"
}

// rollbackAll takes a change back on every host.
func (g ground) rollbackAll(o outcome) {
	g.t.Helper()
	for _, h := range o.Hosts {
		if h.Journal != "" {
			g.must(0, "rollback", h.Journal, "--host", "netns:"+lab.Namespace(h.Host))
		}
	}
}

// settled says that a second plan is empty.
func (g ground) settled() {
	g.t.Helper()
	if out := g.must(0, "plan", g.file); !strings.Contains(out, "nothing to change") {
		g.t.Errorf("a second plan is not empty:\n%s", out)
	}
}

// pings reports whether an address answers a lab host within a second.
func pings(host, address string) bool {
	return exec.Command("ip", "netns", "exec", lab.Namespace(host), "ping", "-c", "1", "-W", "1", address).Run() == nil
}

// await waits for what comes about by itself.
func await(t *testing.T, what string, most time.Duration, holds func() bool) {
	t.Helper()
	for begun := time.Now(); !holds(); floor.Pause() {
		if time.Since(begun) > most {
			t.Fatalf("waited %v for %s", most, what)
		}
	}
}

// rollbackNewest takes back the last change of both hosts.
func (g ground) rollbackNewest() {
	g.t.Helper()
	for _, h := range []string{"alpha", "beta"} {
		var journal struct {
			Entries []struct {
				ID string `json:"id"`
			} `json:"entries"`
		}
		out := g.must(0, "journal", "--json", "--host", "netns:"+lab.Namespace(h))
		floor.Must(g.t, json.Unmarshal([]byte(out), &journal))
		g.must(0, "rollback", journal.Entries[len(journal.Entries)-1].ID, "--host", "netns:"+lab.Namespace(h))
	}
}
