package observe

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/vishvananda/netlink"

	"github.com/linerate/linerate/internal/kernel/feature"
	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// inNewNamespace runs fn on a thread of its own in an empty network
// namespace, with a /sys that shows it or with the one of the process.
func inNewNamespace(t *testing.T, sysfs bool, fn func() error) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		var err error
		// Deferred, for t.Fatal ends the goroutine.
		defer func() { done <- err }()
		if err = sys.NewNetNS(); err != nil {
			return
		}
		if sysfs {
			if err = sys.PrivateSysfs(); err != nil {
				return
			}
		}
		err = fn()
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestKernelObserve(t *testing.T) {
	for _, sysfs := range []bool{true, false} {
		t.Run(fmt.Sprintf("own sysfs %v", sysfs), func(t *testing.T) {
			inNewNamespace(t, sysfs, func() error { return observeVeth(t) })
		})
	}
}

func observeVeth(t *testing.T) error {
	lr0, err := vethPair("lr0", "lr1")
	if err != nil {
		return err
	}
	if err := netlink.AddrAdd(lr0, &netlink.Addr{IPNet: &net.IPNet{IP: net.IPv4(10, 9, 0, 1), Mask: net.CIDRMask(24, 32)}}); err != nil {
		return err
	}
	const rate = 125_000_000 / 8
	if err := netlink.QdiscAdd(&netlink.Tbf{QdiscAttrs: netlink.QdiscAttrs{LinkIndex: lr0.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT},
		Rate: rate, Limit: 1 << 20, Buffer: uint32(netlink.Xmittime(rate, 256<<10))}); err != nil {
		return err
	}
	const low = "net.ipv6.conf.lr0.mtu"
	if err := os.WriteFile("/proc/sys/net/ipv6/conf/lr0/mtu", []byte("1400"), 0); err != nil {
		return err
	}
	h, err := Observe(context.Background(), Config{})
	if err != nil {
		return err
	}
	if _, same := h.Sysctls["net.ipv6.conf.lr1.mtu"]; same || h.Sysctls[low].Value != "1400" {
		t.Errorf("%s is %+v; the other's MTU for IPv6, which is its own, is told: %t", low, h.Sysctls[low], same)
	}
	if len(h.Missing) > 0 {
		t.Errorf("missing: %v", h.Missing)
	}
	l, ok := h.Link("lr0")
	if !ok || l.Kind != "veth" || l.Speed != 0 || l.Driver != "veth" || len(l.Offloads) == 0 || len(l.Qdiscs) != 1 || l.Qdiscs[0].Rate != 125*unit.Mbps {
		t.Errorf("lr0: %+v", l)
	}
	if _, ok := h.LinkWith(netip.MustParseAddr("10.9.0.1")); !ok {
		t.Errorf("no link with its address: %+v", h.Links)
	}
	if h.Name == "" || h.Kernel.Release == "" || h.Kernel.Arch == "" || h.CPU.Cores != onlineCPUs(t) || len(h.Owners) > 0 || len(h.Cards) > 0 {
		t.Errorf("machine: %q %+v %+v owners %v cards %v", h.Name, h.Kernel, h.CPU, h.Owners, h.Cards)
	}
	for key, scope := range map[string]netstate.Scope{
		"net.ipv4.tcp_rmem": netstate.ScopeNamespace, "net.ipv4.conf.lr0.rp_filter": netstate.ScopeNamespace, "net.ipv4.conf.all.arp_ignore": netstate.ScopeNamespace,
		"net.core.netdev_budget": netstate.ScopeGlobal, "net.core.rmem_max": netstate.ScopeGlobal, "net.ipv4.tcp_mem": netstate.ScopeGlobal,
	} {
		if got := h.Sysctls[key]; got.Value == "" || got.Scope != scope {
			t.Errorf("%s = %+v, want a value of scope %s", key, got, scope)
		}
	}
	if len(h.Sysctls) < 50 {
		t.Errorf("%d sysctls only", len(h.Sysctls))
	}
	return nil
}

// onlineCPUs are the machine's, however few of them this process may run on.
func onlineCPUs(t *testing.T) (n int) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(stat)) {
		if strings.HasPrefix(line, "cpu") && !strings.HasPrefix(line, "cpu ") {
			n++
		}
	}
	return n
}

func vethPair(name, peer string) (netlink.Link, error) {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = name
	if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: peer}); err != nil {
		return nil, fmt.Errorf("add veth %s: %w", name, err)
	}
	for _, n := range []string{peer, name} {
		l, err := netlink.LinkByName(n)
		if err != nil {
			return nil, err
		}
		if err := netlink.LinkSetUp(l); err != nil {
			return nil, err
		}
	}
	return netlink.LinkByName(name)
}

// thisNamespace shows the calling thread's proc/net as a captured tree would
// hold it: /proc/net itself is the process's first thread's.
type thisNamespace struct{ fs.FS }

// ReadFile reads with one large read: a sysctl is given out in the first
// read alone, and fs.ReadFile's is one byte for a file of size zero.
func (n thisNamespace) ReadFile(name string) ([]byte, error) {
	if rest, ok := strings.CutPrefix(name, "proc/net/"); ok {
		name = "proc/thread-self/net/" + rest
	}
	return os.ReadFile("/" + name)
}

// TestKernelCapturedAgrees reads one namespace both ways: by netlink and as a
// captured tree.
func TestKernelCapturedAgrees(t *testing.T) {
	inNewNamespace(t, true, func() error {
		lr0, err := vethPair("lr0", "lr1")
		if err != nil {
			return err
		}
		if err := netlink.LinkSetMTU(lr0, 9000); err != nil {
			return err
		}
		carrier := lr0
		if feature.Need(feature.Bonding) == nil {
			if carrier, err = lacpBond("bond0", "lr0"); err != nil {
				return err
			}
		}
		if err := netlink.AddrAdd(carrier, &netlink.Addr{IPNet: &net.IPNet{IP: net.IPv4(10, 9, 0, 1), Mask: net.CIDRMask(24, 32)}}); err != nil {
			return err
		}
		live, copied, err := atRest()
		if err != nil {
			return err
		}
		compare(t, live, copied)
		return nil
	})
}

// atRest reads the namespace by netlink and as a captured tree, while neither
// duplicate address detection nor LACP changed anything between: netlink says
// the same before and after the tree was read.
func atRest() (live, copied netstate.Host, err error) {
	for try := 0; ; try++ {
		time.Sleep(3 * time.Second)
		if live, err = Observe(context.Background(), Config{}); err != nil {
			return
		}
		if copied, err = Captured(thisNamespace{os.DirFS("/")}); err != nil {
			return
		}
		again, err := Observe(context.Background(), Config{})
		if err != nil {
			return live, copied, err
		}
		if samePorts(live, again) {
			return live, copied, nil
		}
		if try == 10 {
			return live, copied, errors.New("the ports' LACP states never came to rest")
		}
	}
}

// samePorts compares what changes by itself for a while: addresses and the
// ports of bonds.
func samePorts(a, b netstate.Host) bool {
	return slices.EqualFunc(a.Links, b.Links, func(x, y netstate.Link) bool {
		return x.Name == y.Name && reflect.DeepEqual(x.Port, y.Port) && reflect.DeepEqual(x.Bond, y.Bond) && slices.Equal(x.Addresses, y.Addresses)
	})
}

func lacpBond(name, port string) (netlink.Link, error) {
	b := netlink.NewLinkBond(netlink.LinkAttrs{Name: name})
	b.Mode, b.XmitHashPolicy, b.Miimon = netlink.BOND_MODE_802_3AD, netlink.BOND_XMIT_HASH_POLICY_LAYER3_4, 100
	if err := netlink.LinkAdd(b); err != nil {
		return nil, err
	}
	l, err := netlink.LinkByName(port)
	if err != nil {
		return nil, err
	}
	if err := netlink.LinkSetDown(l); err != nil {
		return nil, err
	}
	bond, err := netlink.LinkByName(name)
	if err != nil {
		return nil, err
	}
	if err := netlink.LinkSetMaster(l, bond); err != nil {
		return nil, err
	}
	for _, l := range []netlink.Link{l, bond} {
		if err := netlink.LinkSetUp(l); err != nil {
			return nil, err
		}
	}
	return netlink.LinkByName(name)
}

// compare leaves out what a captured tree cannot hold.
func compare(t *testing.T, live, copied netstate.Host) {
	t.Helper()
	plain := func(l netstate.Link) netstate.Link {
		l.Counters, l.Qdiscs, l.Extra, l.Offloads, l.Device, l.MaxMTU, l.Driver = netstate.Counters{}, nil, nil, nil, nil, 0, ""
		if l.Kind == "veth" {
			l.Kind = "unknown"
		}
		slices.SortFunc(l.Addresses, func(a, b netip.Prefix) int { return strings.Compare(a.String(), b.String()) })
		// The loopback's own addresses are in no connected route.
		if l.Kind == "loopback" {
			l.Addresses = nil
		}
		if l.Bond != nil {
			b := *l.Bond
			b.Options = nil
			l.Bond = &b
		}
		if l.Port != nil { // netlink alone tells it
			p := *l.Port
			p.ActorPriority = nil
			l.Port = &p
		}
		return l
	}
	var want, got []netstate.Link
	for _, l := range live.Links {
		want = append(want, plain(l))
	}
	for _, l := range copied.Links {
		got = append(got, plain(l))
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
		t.Errorf("links (-netlink +captured)\n%s", diff)
	}
	if live.Name != copied.Name || live.Kernel.Release != copied.Kernel.Release || live.CPU != copied.CPU {
		t.Errorf("machine: %q %+v %+v, captured %q %+v %+v", live.Name, live.Kernel, live.CPU, copied.Name, copied.Kernel, copied.CPU)
	}
	for key, want := range copied.Sysctls {
		if live.Sysctls[key] != want {
			t.Errorf("%s: %+v, captured %+v", key, live.Sysctls[key], want)
		}
	}
}

// TestPrograms: who runs is found, and who does not is not.
func TestPrograms(t *testing.T) {
	own, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	lives := programs()
	if running, known := lives(strings.TrimSpace(string(own))); !running || !known {
		t.Errorf("%q: running %v, known %v", own, running, known)
	}
	if !lives.dead("no-such-program") {
		t.Error("a program that there is not is taken to run")
	}
}
