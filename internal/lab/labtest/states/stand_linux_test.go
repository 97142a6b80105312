package states

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/host/apply"
	"github.com/linerate/linerate/internal/host/observe"
	"github.com/linerate/linerate/internal/kernel/act"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// cables is how many links the host under proof has to its switch: the first
// four are ports that bonds may take, the others stay by themselves.
const (
	cables    = 6
	bondPorts = 4
)

func port(i int) string { return fmt.Sprintf("p%d", i) }
func far(name string) string {
	return "q" + strings.TrimPrefix(name, "p")
}

// stand is the host under proof and the switch beside it, which follows the
// host's bonds as whoever runs it would.
type stand struct {
	t       *testing.T
	near    floor.Space
	far     floor.Space
	farHost act.Kernel
	groups  map[string]group // on the switch, by the near bond's name
	applier *apply.Applier
	dirty   bool
	// waits is since when a change waits for which link and what for; vain what
	// it waited for too long: a step asked for what could not be yet.
	waits waiting
	vain  string
}

// waiting is what a change waits for.
type waiting struct {
	what  string
	since time.Time
}

// vainAfter is longer than any bond and switch here take to agree.
const vainAfter = 12 * time.Second

// group is what the switch has for one bond.
type group struct {
	kind  string // a bonding mode, or "bridge"
	ports []string
}

func newStand(t *testing.T) *stand {
	t.Helper()
	s := &stand{t: t, near: floor.NewSpace(t, "near"), far: floor.NewSpace(t, "far"), groups: make(map[string]group)}
	for i := range cables {
		floor.Must(t, s.near.Builder.Veth(port(i), s.far.Builder, far(port(i))))
		floor.Must(t, s.far.Builder.MTU(far(port(i)), 9000))
		floor.Must(t, s.far.Builder.Up(far(port(i))))
	}
	floor.Must(t, s.near.Builder.Up("lo"))
	floor.Must(t, s.far.Builder.Up("lo"))
	a, err := apply.New(apply.Config{Kernel: following{s}, Dir: t.TempDir(), Namespace: "near"})
	floor.Must(t, err)
	s.applier = a
	return s
}

// prepare sets what every drawn state stands on: IPv6 addresses outlive a link
// that goes down, or no plan takes one down; and they are used at once, for
// nobody here has another's, and each would cost a second.
func (s *stand) prepare() {
	s.t.Helper()
	floor.Must(s.t, s.near.NS.Do(func() error {
		err := os.WriteFile("/proc/sys/net/ipv6/conf/all/keep_addr_on_down", []byte("1"), 0)
		files, _ := filepath.Glob("/proc/sys/net/ipv6/conf/*/accept_dad")
		for _, f := range files {
			err = errors.Join(err, os.WriteFile(f, []byte("0"), 0))
		}
		return err
	}))
}

// observe is the host as it is now.
func (s *stand) observe() netstate.Host {
	s.t.Helper()
	var h netstate.Host
	floor.Must(s.t, s.near.NS.Do(func() (err error) {
		h, err = observe.Observe(context.Background(), observe.Config{})
		return err
	}))
	return h
}

// following is the running kernel, and a switch that is told what the host
// does to its bonds before the host waits for a link.
type following struct{ stand *stand }

func (k following) Do(ctx context.Context, s plan.Step) error {
	if s.Kind == plan.PortMaster || s.Kind == plan.LinkPresence || s.Kind == plan.BondOption && s.Key == "mode" {
		k.stand.dirty = true
	}
	return act.Kernel{}.Do(ctx, s)
}

func (k following) Read(ctx context.Context, s plan.Step) (string, error) {
	return act.Kernel{}.Read(ctx, s)
}

func (k following) Ready(ctx context.Context, link string) (string, error) {
	if k.stand.dirty {
		k.stand.follow()
	}
	waits, err := act.Kernel{}.Ready(ctx, link)
	k.stand.waitsFor(link, waits)
	return waits, err
}

// waitsFor notes what a change waits for.
func (s *stand) waitsFor(link, what string) {
	if s.waits.what != link || what == "" {
		s.waits = waiting{link, time.Now()}
	}
	if what != "" && time.Since(s.waits.since) > vainAfter {
		s.vain = fmt.Sprintf("waits %v for %s: %s", vainAfter, link, what)
	}
}

// links are the host's, with their bonds.
func (s *stand) links() (links []netstate.Link) {
	s.t.Helper()
	floor.Must(s.t, s.near.NS.Do(func() error {
		h, err := rtnl.Open()
		if err != nil {
			return err
		}
		defer h.Close()
		links, err = h.Links()
		return err
	}))
	return links
}

// partner is what a switch has for a bond of that mode: a group that
// negotiates, one that does not, or a bridge where one port is used. The second
// sends over all links in turn: with a hash all answers to ARP would come over
// one, and a bond that asks would count the others as down (bonding.rst,
// arp_interval).
func partner(m netstate.BondMode) string {
	switch m {
	case netstate.LACP:
		return "802.3ad"
	case netstate.BalanceRR, netstate.BalanceXOR, netstate.Broadcast:
		return "balance-rr"
	}
	return "bridge"
}

// follow brings the switch to what the host's bonds are now.
func (s *stand) follow() {
	s.t.Helper()
	s.dirty = false
	want := make(map[string]group)
	for _, l := range s.links() {
		if l.Bond != nil {
			ports := slices.Clone(l.Bond.Ports)
			slices.Sort(ports)
			want[l.Name] = group{partner(l.Bond.Mode), ports}
		}
	}
	for name, g := range s.groups {
		if w, ok := want[name]; !ok || w.kind != g.kind {
			floor.Must(s.t, s.far.Builder.Delete("g"+name))
			delete(s.groups, name)
		} else {
			for _, p := range g.ports {
				if !slices.Contains(w.ports, p) {
					floor.Must(s.t, s.farDo(plan.Step{Kind: plan.PortMaster, Link: far(p), New: plan.NoMaster}))
					floor.Must(s.t, s.far.Builder.Up(far(p)))
				}
			}
		}
	}
	for name, w := range want {
		s.join(name, w)
	}
	for i := range cables {
		floor.Must(s.t, s.far.Builder.Up(far(port(i))))
	}
	s.groups = want
}

// join makes a bond's group on the switch and puts its ports in.
func (s *stand) join(name string, w group) {
	s.t.Helper()
	have, there := s.groups[name]
	if !there {
		if w.kind == "bridge" {
			floor.Must(s.t, s.far.Builder.Bridge("g"+name, nil))
		} else {
			floor.Must(s.t, s.farDo(plan.Step{Kind: plan.LinkPresence, Link: "g" + name, Make: &plan.Made{Kind: "bond"}, New: plan.Present}))
			floor.Must(s.t, s.farDo(plan.Step{Kind: plan.BondOption, Link: "g" + name, Key: "mode", New: w.kind}))
			floor.Must(s.t, s.farDo(plan.Step{Kind: plan.BondOption, Link: "g" + name, Key: "miimon", New: "50"}))
			if w.kind == "802.3ad" {
				floor.Must(s.t, s.farDo(plan.Step{Kind: plan.BondOption, Link: "g" + name, Key: "lacp_rate", New: "fast"}))
			}
			floor.Must(s.t, s.far.Builder.Up("g"+name))
		}
	}
	for _, p := range w.ports {
		if !there || !slices.Contains(have.ports, p) {
			floor.Must(s.t, s.far.Builder.Enslave(far(p), "g"+name))
		}
	}
	if !there {
		floor.Must(s.t, s.far.Builder.MTU("g"+name, 9000))
		floor.Must(s.t, s.far.Builder.Address("g"+name, netip.PrefixFrom(farAddr(name), 24)))
	}
}

func (s *stand) farDo(step plan.Step) error {
	return s.far.NS.Do(func() error { return s.farHost.Do(context.Background(), step) })
}

// bonds of the host and the addresses of both ends in the subnet between.
var bondNames = [...]string{"bond0", "bond1"}

func nearAddr(bond string) netip.Addr {
	return netip.AddrFrom4([4]byte{10, 50, byte(slices.Index(bondNames[:], bond)), 1})
}

func farAddr(bond string) netip.Addr {
	return netip.AddrFrom4([4]byte{10, 50, byte(slices.Index(bondNames[:], bond)), 2})
}

// apply carries a plan out on the host and returns the journal's entry.
func (s *stand) apply(p plan.Plan) (id string, err error) {
	err = s.near.NS.Do(func() error {
		r, err := s.applier.Apply(context.Background(), p, apply.Options{})
		id = r.ID
		return err
	})
	if s.dirty {
		s.follow()
	}
	return id, err
}

func (s *stand) rollback(id string) error {
	err := s.near.NS.Do(func() error {
		r, err := s.applier.Rollback(context.Background(), id)
		if err == nil && len(r.Left) > 0 {
			err = fmt.Errorf("left: %v", r.Left)
		}
		return err
	})
	if s.dirty {
		s.follow()
	}
	return err
}

func (s *stand) confirm(id string) error {
	return s.near.NS.Do(func() error { return s.applier.Confirm(context.Background(), id) })
}

// settled waits until both ends use every port of a bond, as LACP takes its
// time, and says what it waits for in the end; "" is nothing.
func (s *stand) settled(bond string, ports []string) string {
	const most = 20 * time.Second
	farEnd := []string{"g" + bond}
	for _, p := range ports {
		farEnd = append(farEnd, far(p))
	}
	nearEnd := append([]string{bond}, ports...)
	waits := ""
	for start := time.Now(); time.Since(start) < most; floor.Pause() {
		if waits = s.waitsAt(s.near, nearEnd) + s.waitsAt(s.far, farEnd); waits == "" {
			return ""
		}
	}
	return waits
}

// waitsAt is what links of one end wait for.
func (s *stand) waitsAt(end floor.Space, links []string) (waits string) {
	s.t.Helper()
	floor.Must(s.t, end.NS.Do(func() error {
		for _, name := range links {
			why, err := act.Kernel{}.Ready(context.Background(), name)
			if err != nil {
				return err
			}
			if why != "" {
				waits += why + "; "
			}
		}
		return nil
	}))
	return waits
}
