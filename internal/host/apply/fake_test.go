package apply

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// fakeKernel is a host that obeys the bonding driver's preconditions, by
// plan's model, which internal/kernel/act's tests hold against a real one.
type fakeKernel struct {
	mu   sync.Mutex // of host, which a guard changes beside its test
	host netstate.Host
	dos  int
	// before and after are called around the n-th Do, from 0.
	before, after func(n int) error
	// clamp changes what a step sets.
	clamp func(plan.Step) plan.Step
	reads func(plan.Step) // called on every Read
}

func (k *fakeKernel) Do(ctx context.Context, s plan.Step) error {
	n := k.dos
	k.dos++
	if err := ctx.Err(); err != nil {
		return err
	}
	if k.before != nil {
		if err := k.before(n); err != nil {
			return err
		}
	}
	if k.clamp != nil {
		s = k.clamp(s)
	}
	if err := k.set(s); err != nil {
		return err
	}
	if k.after != nil {
		return k.after(n)
	}
	return nil
}

// set knows no Old, as the kernel does not: it sets from whatever is.
func (k *fakeKernel) set(s plan.Step) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	old, err := plan.Current(k.host, s)
	if err != nil {
		return err
	}
	s.Old = old
	host, err := plan.Apply(k.host, plan.Plan{Steps: []plan.Step{s}})
	if err != nil {
		return err
	}
	k.host = host
	return nil
}

// now is the host as it is while others may change it.
func (k *fakeKernel) now() netstate.Host {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.host
}

func (k *fakeKernel) Read(ctx context.Context, s plan.Step) (string, error) {
	if k.reads != nil {
		k.reads(s)
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	return plan.Current(k.now(), s)
}

func (k *fakeKernel) Ready(ctx context.Context, link string) (string, error) {
	if l, ok := k.now().Link(link); !ok || !l.Up {
		return link + " is down", ctx.Err()
	}
	return "", ctx.Err()
}

func testHost() netstate.Host {
	return netstate.Host{
		Name: "h",
		Links: []netstate.Link{
			{Name: "p0", MTU: 1500, Up: true, Master: "b", Port: &netstate.BondPort{Bond: "b"}},
			{Name: "p1", MTU: 1500, Up: true, Master: "b", Port: &netstate.BondPort{Bond: "b"}},
			{Name: "b", Kind: "bond", MTU: 1500, Up: true, Bond: &netstate.Bond{Mode: netstate.LACP, Miimon: 100 * time.Millisecond, Ports: []string{"p0", "p1"}}},
			{Name: "v", Kind: "vlan", MTU: 1500, Up: true, VLAN: &netstate.VLAN{ID: 1, Parent: "b"},
				Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/24")}},
		},
		Routes:  []netstate.Route{{Dst: netip.MustParsePrefix("0.0.0.0/0"), Gateway: netip.MustParseAddr("10.0.0.254"), Link: "v", Table: 254}},
		Sysctls: map[string]netstate.Sysctl{"net.ipv4.tcp_rmem": {Value: "4096 131072 6291456", Scope: netstate.ScopeNamespace}},
	}
}

// testPlans are an online change, one that bounces the bond, one that takes
// its ports out.
func testPlans(t *testing.T) map[string]plan.Plan {
	t.Helper()
	out := make(map[string]plan.Plan)
	for name, wish := range map[string]func(*netstate.Bond){
		"online": func(b *netstate.Bond) { b.HashPolicy = netstate.Layer34 },
		"bounce": func(b *netstate.Bond) {
			b.LACPRate, b.Miimon, b.UpDelay = netstate.LACPFast, 50*time.Millisecond, 100*time.Millisecond
		},
		"recreate": func(b *netstate.Bond) { b.Mode, b.HashPolicy = netstate.BalanceXOR, netstate.Layer34 },
	} {
		want := testHost()
		b, _ := want.Link("b")
		wish(b.Bond)
		b.MTU = 9000
		want.SetLink(b)
		v, _ := want.Link("v")
		v.MTU = 9000
		want.SetLink(v)
		want.Sysctls["net.ipv4.tcp_rmem"] = netstate.Sysctl{Value: "4096 131072 33554432"}
		p, err := plan.Between(testHost(), want)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = p
	}
	return out
}

// tempDir is t.TempDir in memory where there is such a place: hundreds of
// crashes with a synced disk take half a minute.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "linerate-journal-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func applier(t *testing.T, dir string, k Kernel) *Applier {
	t.Helper()
	a, err := New(Config{Kernel: k, Dir: dir, Settle: time.Millisecond, Poll: time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func sameHost(t *testing.T, what string, want, got netstate.Host) {
	t.Helper()
	diff := cmp.Diff(want, got, cmpopts.EquateEmpty(),
		cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }), cmp.Comparer(func(a, b netip.Addr) bool { return a == b }))
	if diff != "" {
		t.Fatalf("%s: the host is not as before (-before +now):\n%s", what, diff)
	}
}

// errCrash is the panic that stands for kill -9: nothing after it runs but what
// the system does for a dead process.
var errCrash = errors.New("crash")

// crashes runs fn and reports whether it crashed.
func crashes(t *testing.T, fn func()) (crashed bool) {
	t.Helper()
	defer func() {
		switch r := recover(); r {
		case nil:
		case errCrash:
			crashed = true
		default:
			panic(r)
		}
	}()
	fn()
	return false
}

// crashAt returns a function that panics at its n-th call, from 0.
func crashAt(n int) func() {
	calls := 0
	return func() {
		if calls == n {
			calls++
			panic(errCrash)
		}
		calls++
	}
}

// dead is a process of this boot that has ended: no pid is that large.
func dead() Owner { return Owner{PID: 1 << 30, Start: 1, Boot: bootID()} }

func caseName(name string, n int) string { return fmt.Sprintf("%s, moment %d", name, n) }

// goneKernel has lost a link.
type goneKernel struct {
	*fakeKernel
	gone string
}

func (k *goneKernel) Read(ctx context.Context, s plan.Step) (string, error) {
	if s.Link == k.gone {
		return "", fmt.Errorf("link %s: %w", s.Link, fs.ErrNotExist)
	}
	return k.fakeKernel.Read(ctx, s)
}
