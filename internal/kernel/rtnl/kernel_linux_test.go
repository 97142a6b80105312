package rtnl

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"

	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// inNewNamespace runs fn on a thread of its own in an empty network namespace
// whose /sys shows it.
func inNewNamespace(t *testing.T, fn func() error) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		var err error
		// Deferred, for t.Skip and t.Fatal end the goroutine.
		defer func() { done <- err }()
		if err = sys.NewNetNS(); err != nil {
			return
		}
		if err = sys.PrivateSysfs(); err != nil {
			return
		}
		err = fn()
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func addVeth(name, peer string) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = name
	if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: peer}); err != nil {
		return fmt.Errorf("add veth %s: %w", name, err)
	}
	return up(name, peer)
}

func up(names ...string) error {
	for _, name := range names {
		l, err := netlink.LinkByName(name)
		if err != nil {
			return err
		}
		if err := netlink.LinkSetUp(l); err != nil {
			return err
		}
	}
	return nil
}

func read() (netstate.Host, []string, error) {
	h, err := Open()
	if err != nil {
		return netstate.Host{}, nil, err
	}
	defer h.Close()
	r, err := h.Read()
	if err != nil {
		return netstate.Host{}, nil, err
	}
	routes, err := h.Routes()
	if err != nil {
		return netstate.Host{}, nil, err
	}
	rules, err := h.Rules()
	return netstate.Host{Links: r.Links, Routes: routes, Rules: rules}, r.Missing, err
}

func TestKernelRead(t *testing.T) {
	inNewNamespace(t, func() error {
		if err := addVeth("lr0", "lr1"); err != nil {
			return err
		}
		lr0, err := netlink.LinkByName("lr0")
		if err != nil {
			return err
		}
		if err := netlink.AddrAdd(lr0, &netlink.Addr{IPNet: &net.IPNet{IP: net.IPv4(10, 9, 0, 1), Mask: net.CIDRMask(24, 32)}}); err != nil {
			return err
		}
		if err := netlink.LinkSetMTU(lr0, 9000); err != nil {
			return err
		}
		const rate, burst = 125_000_000 / 8, 256 << 10
		ticks := uint32(netlink.Xmittime(rate, burst))
		tbf := &netlink.Tbf{QdiscAttrs: netlink.QdiscAttrs{LinkIndex: lr0.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT},
			Rate: rate, Limit: 1 << 20, Buffer: ticks}
		if err := netlink.QdiscAdd(tbf); err != nil {
			return err
		}
		gateway := net.IPv4(10, 9, 0, 254)
		if err := netlink.RouteAdd(&netlink.Route{Dst: &net.IPNet{IP: net.IPv4(10, 77, 0, 0), Mask: net.CIDRMask(16, 32)}, Gw: gateway, LinkIndex: lr0.Attrs().Index, Table: 1001, Priority: 5, MTU: 1400}); err != nil {
			return err
		}
		rule := netlink.NewRule()
		rule.Src, rule.Table, rule.Priority = &net.IPNet{IP: net.IPv4(10, 9, 0, 1), Mask: net.CIDRMask(32, 32)}, 1001, 101
		if err := netlink.RuleAdd(rule); err != nil {
			return err
		}
		host, missing, err := read()
		if err != nil {
			return err
		}
		checkRead(t, host, missing)
		return checkCounters(t)
	})
}

func checkRead(t *testing.T, host netstate.Host, missing []string) {
	t.Helper()
	if len(missing) > 0 {
		t.Errorf("missing: %v", missing)
	}
	l, ok := host.Link("lr0")
	if !ok || l.Kind != "veth" || l.MTU != 9000 || l.MaxMTU != 65535 || !l.Up || !l.Carrier || l.MAC.IsZero() || l.Extra["link"] != "lr1" {
		t.Errorf("lr0: %+v", l)
	}
	if !slices.Contains(l.Addresses, netip.MustParsePrefix("10.9.0.1/24")) {
		t.Errorf("addresses of lr0: %v", l.Addresses)
	}
	if len(l.Qdiscs) != 1 {
		t.Fatalf("queues of lr0: %+v", l.Qdiscs)
	}
	q := l.Qdiscs[0]
	q.Drops, q.Backlog, q.Overlimits, q.Requeues = 0, 0, 0, 0
	want := netstate.Qdisc{Kind: "tbf", Handle: "1:", Parent: "root", Rate: 125 * unit.Mbps, Burst: q.Burst, Limit: 1 << 20}
	if diff := cmp.Diff(want, q); diff != "" || q.Burst < 255<<10 || q.Burst > 257<<10 {
		t.Errorf("queue of lr0, burst %d (-want +got)\n%s", q.Burst, diff)
	}
	if lo, ok := host.Link("lo"); !ok || lo.Kind != "loopback" || lo.Up {
		t.Errorf("lo: %+v", lo)
	}
	for key := range l.Extra {
		if strings.HasPrefix(key, "ifla-") {
			t.Logf("attribute of a newer kernel: %s", key)
		}
	}
	isRoute := func(r netstate.Route) bool {
		return r.Dst == netip.MustParsePrefix("10.77.0.0/16") && r.Gateway == netip.MustParseAddr("10.9.0.254") &&
			r.Link == "lr0" && r.Table == 1001 && r.Metric == 5 && r.MTU == 1400 && r.Type == ""
	}
	connected := func(r netstate.Route) bool {
		return r.Dst == netip.MustParsePrefix("10.9.0.0/24") && r.Protocol == "kernel" && r.Source == netip.MustParseAddr("10.9.0.1") && r.Table == 254
	}
	if !slices.ContainsFunc(host.Routes, isRoute) || !slices.ContainsFunc(host.Routes, connected) {
		t.Errorf("routes: %+v", host.Routes)
	}
	if !slices.Contains(host.Rules, netstate.Rule{Priority: 101, From: netip.MustParsePrefix("10.9.0.1/32"), Table: 1001, Family: "ipv4"}) {
		t.Errorf("rules: %+v", host.Rules)
	}
}

// checkCounters sends a burst through the shaper and wants it counted on both
// ends, and dropped or delayed in the queue.
func checkCounters(t *testing.T) error {
	h, err := Open()
	if err != nil {
		return err
	}
	defer h.Close()
	read := func() ([]LinkCounters, error) { return h.Counters([]string{"lr1", "lr0"}) }
	before, err := read()
	for range 30 { // what the kernel itself sends on a new link may fall between the two
		if err != nil {
			return err
		}
		time.Sleep(50 * time.Millisecond)
		last := before
		if before, err = read(); err == nil && before[0].Counters == last[0].Counters && before[1].Counters == last[1].Counters {
			break
		}
	}
	return sendRaw(t, h, before)
}

func sendRaw(t *testing.T, h *Handle, before []LinkCounters) error {
	t.Helper()
	lr0, err := netlink.LinkByName("lr0")
	if err != nil {
		return err
	}
	fd, err := syscall.Socket(syscall.AF_PACKET, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	frame := make([]byte, 9014)
	copy(frame, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 0x88, 0xb5})
	const frames = 100
	for range frames {
		err := syscall.Sendto(fd, frame, 0, &syscall.SockaddrLinklayer{Ifindex: lr0.Attrs().Index})
		if err != nil && !errors.Is(err, syscall.ENOBUFS) {
			return err
		}
	}
	var after []LinkCounters
	var sent, got uint64
	for range 30 { // the shaper lets them through in its own time
		time.Sleep(100 * time.Millisecond)
		if after, err = h.Counters([]string{"lr1", "lr0"}); err != nil {
			return err
		}
		sent = after[1].Counters.TxBytes - before[1].Counters.TxBytes
		got = after[0].Counters.RxBytes - before[0].Counters.RxBytes
		if sent > 0 && sent == got {
			break
		}
	}
	if after[0].Link != "lr1" || sent == 0 || sent != got {
		t.Errorf("lr0 sent %d bytes, lr1 received %d", sent, got)
	}
	if after[1].QdiscOverlimits == before[1].QdiscOverlimits {
		t.Errorf("a burst over the shaper's left no overlimits: %+v", after[1])
	}
	both, err := h.Counters([]string{"absent0", "lr0"})
	if !errors.Is(err, fs.ErrNotExist) || both[1].Counters.TxBytes == 0 {
		t.Errorf("with an absent link: %+v, %v", both, err)
	}
	return nil
}

func TestKernelHTB(t *testing.T) {
	inNewNamespace(t, func() error {
		if err := addVeth("lr0", "lr1"); err != nil {
			return err
		}
		l, err := netlink.LinkByName("lr0")
		if err != nil {
			return err
		}
		htb := netlink.NewHtb(netlink.QdiscAttrs{LinkIndex: l.Attrs().Index, Handle: netlink.MakeHandle(5, 0), Parent: netlink.HANDLE_ROOT})
		htb.Defcls = 0x10
		if err := netlink.QdiscAdd(htb); err != nil {
			return err
		}
		class := netlink.NewHtbClass(netlink.ClassAttrs{LinkIndex: l.Attrs().Index, Parent: htb.Handle, Handle: netlink.MakeHandle(5, 0x10)},
			netlink.HtbClassAttrs{Rate: 50_000_000, Ceil: 80_000_000, Buffer: 64 << 10, Cbuffer: 128 << 10})
		if err := netlink.ClassAdd(class); err != nil {
			return err
		}
		host, missing, err := read()
		if err != nil {
			return err
		}
		got, _ := host.Link("lr0")
		if len(got.Qdiscs) != 1 || got.Qdiscs[0].Kind != "htb" || got.Qdiscs[0].Rate != 80*unit.Mbps || got.Qdiscs[0].Burst == 0 {
			t.Errorf("htb: %+v, missing %v", got.Qdiscs, missing)
		}
		return nil
	})
}

func BenchmarkKernelCounters(b *testing.B) {
	h, err := Open()
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close()
	for b.Loop() {
		if _, err := h.Counters([]string{"lo"}); err != nil {
			b.Fatal(err)
		}
	}
}
