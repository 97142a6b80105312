package crash

import (
	"context"
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/linerate/linerate/internal/host/observe"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/netstate"
)

// stand is a host with a bond to a switch, a VLAN on it, a port to spare and a
// link of its own to whoever controls it.
type stand struct {
	t                *testing.T
	host, far, ctl   netns.Namespace
	dir, root        string // journal, configuration files
	observed         netstate.Host
	hostName, prefix string
}

const mgmt = "10.9.0.1"

// newStand builds one. Namespaces go with it.
func newStand(t *testing.T, mode netstate.BondMode) *stand {
	t.Helper()
	s := &stand{t: t, prefix: "linerate-test-crash-"}
	open := func(name string) (netns.Namespace, *rtnl.Builder) {
		_ = netns.Delete(s.prefix + name)
		ns, err := netns.Create(s.prefix + name)
		must(t, err)
		b, err := rtnl.OpenBuilder(ns)
		must(t, err)
		return ns, b
	}
	var h, f, c *rtnl.Builder
	s.host, h = open("host")
	s.far, f = open("far")
	s.ctl, c = open("ctl")
	s.hostName = s.prefix + "host"
	for _, p := range []string{"0", "1", "2"} {
		must(t, h.Veth("p"+p, f, "s"+p))
	}
	must(t, h.Veth("m0", c, "c0"))
	fast := netstate.LACPFast
	must(t, h.Bond("bond0", rtnl.BondSpec{Mode: mode, Miimon: 100 * time.Millisecond}, []string{"p0", "p1"}))
	farMode := netstate.BalanceXOR
	spec := rtnl.BondSpec{Mode: farMode, Miimon: 100 * time.Millisecond}
	if mode == netstate.LACP {
		spec.Mode, spec.LACPRate = mode, &fast
	}
	must(t, f.Bond("sw0", spec, []string{"s0", "s1"}))
	must(t, f.Up("s2"))
	must(t, h.VLAN("bond0.10", "bond0", 10))
	for link, address := range map[string]string{"m0": mgmt + "/24", "bond0": "10.1.0.1/24", "bond0.10": "10.1.10.1/24"} {
		must(t, h.Address(link, netip.MustParsePrefix(address)))
		must(t, h.Up(link))
	}
	must(t, c.Address("c0", netip.MustParsePrefix("10.9.0.2/24")))
	must(t, c.Up("c0"))
	for _, b := range []*rtnl.Builder{h, f, c} {
		b.Close()
	}
	s.fresh()
	s.settle()
	s.observed = s.observe()
	return s
}

// fresh gives the stand a new journal and new files.
func (s *stand) fresh() {
	s.dir = s.t.TempDir()
	s.root = s.t.TempDir()
	must(s.t, os.MkdirAll(filepath.Join(s.root, "/etc/netplan"), 0o755))
	must(s.t, os.MkdirAll(filepath.Join(s.root, "/etc/sysctl.d"), 0o755))
	must(s.t, os.WriteFile(filepath.Join(s.root, "/etc/netplan/10-old.yaml"), []byte(oldFiles["/etc/netplan/10-old.yaml"]), 0o640))
	must(s.t, os.WriteFile(filepath.Join(s.root, "/etc/sysctl.d/91-old.conf"), []byte(oldFiles["/etc/sysctl.d/91-old.conf"]), 0o640))
}

func (s *stand) close() {
	for _, name := range []string{"host", "far", "ctl"} {
		_ = netns.Delete(s.prefix + name)
	}
}

// settle waits until all links that are up have carrier.
func (s *stand) settle() {
	s.t.Helper()
	waitTrue(s.t, "the links of the stand", func() bool {
		for _, l := range s.observe().Links {
			if l.Up && !l.Carrier && l.Name != "lo" {
				return false
			}
		}
		return true
	})
}

func (s *stand) observe() (h netstate.Host) {
	s.t.Helper()
	must(s.t, s.host.DoWithSysfs(func() (err error) {
		h, err = observe.Observe(context.Background(), observe.Config{})
		return err
	}))
	return h
}

// governed is what a plan can change of a host, and no more: no counters, no
// states that come and go by themselves, no numbers that the kernel deals.
func governed(h netstate.Host) netstate.Host {
	h = h.Clone()
	out := netstate.Host{Sysctls: h.Sysctls, MPTCP: h.MPTCP}
	for _, l := range h.Links {
		g := netstate.Link{Name: l.Name, Kind: l.Kind, MAC: l.MAC, MTU: l.MTU, Up: l.Up, Master: l.Master, VLAN: l.VLAN, Bond: l.Bond, Offloads: l.Offloads}
		g.Addresses = slices.DeleteFunc(l.Addresses, func(p netip.Prefix) bool { return p.Addr().IsLinkLocalUnicast() })
		slices.SortFunc(g.Addresses, func(a, b netip.Prefix) int { return strings.Compare(a.String(), b.String()) })
		for _, q := range l.Qdiscs {
			if q.Parent == "root" && q.Kind != "noqueue" {
				g.Qdiscs = append(g.Qdiscs, netstate.Qdisc{Kind: q.Kind, FlowRate: q.FlowRate, Rate: q.Rate})
			}
		}
		if b := g.Bond; b != nil {
			b.Active, b.AD = "", nil
			slices.Sort(b.Ports)
		}
		if l.Port != nil {
			g.Port = &netstate.BondPort{Bond: l.Port.Bond, QueueID: l.Port.QueueID, Priority: l.Port.Priority}
		}
		out.Links = append(out.Links, g)
	}
	slices.SortFunc(out.Links, func(a, b netstate.Link) int { return strings.Compare(a.Name, b.Name) })
	for _, r := range h.Routes {
		if !r.Dst.Addr().IsLinkLocalUnicast() && !r.Dst.Addr().IsMulticast() && !r.Source.IsLinkLocalUnicast() && r.Table != 255 {
			out.Routes = append(out.Routes, r)
		}
	}
	key := func(v any) string { b, _ := json.Marshal(v); return string(b) }
	slices.SortFunc(out.Routes, func(a, b netstate.Route) int { return strings.Compare(key(a), key(b)) })
	out.Rules = h.Rules
	slices.SortFunc(out.Rules, func(a, b netstate.Rule) int { return strings.Compare(key(a), key(b)) })
	return out
}

// difference compares what plans govern, field by field; "" is no difference.
func difference(want, got netstate.Host) string {
	return cmp.Diff(governed(want), governed(got), cmpopts.EquateEmpty(),
		cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }), cmp.Comparer(func(a, b netip.Addr) bool { return a == b }))
}

// same waits a moment for the host to be as wanted: routes and carriers come
// by themselves.
func (s *stand) same(want netstate.Host) string {
	s.t.Helper()
	var diff string
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if diff = difference(want, s.observe()); diff == "" || time.Now().After(end) {
			return diff
		}
	}
}

// files says what the configuration files are: "old", "new" or "between".
func (s *stand) files() string { return filesBelow(s.root) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
