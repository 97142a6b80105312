package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/host/observe"
	"github.com/linerate/linerate/internal/kernel/act"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/kernel/sysctl"
	"github.com/linerate/linerate/internal/lab/guest"
	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/internal/wanted"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// Raised is a network that has been built in this kernel.
type Raised struct {
	what    Network
	built   *network
	uplinks []uplink
	// far is the switch's end of each port.
	far map[scenario.Port]string
	// slots are what stands for cards that several ports share.
	slots []slot
}

// uplink is a pair of links that join a host's part of a switch to the switch.
type uplink struct{ host, site, core string }

// Raise builds a network and waits until its bonds carry traffic. What a dead
// run left is removed first; a living one is ErrBusy. Needs root. The caller
// takes it down.
func Raise(ctx context.Context, what Network) (*Raised, error) {
	if err := claim(namespaces(what.members())); err != nil {
		return nil, err
	}
	s, err := raise(ctx, what)
	if err != nil {
		return nil, errors.Join(err, release())
	}
	return s, nil
}

// raise is Raise for a lab whose names nobody else has. On any error what was
// made is removed.
func raise(ctx context.Context, what Network) (*Raised, error) {
	s := &Raised{what: what, built: &network{named: what.namespace, builders: make(map[string]*rtnl.Builder)}, far: make(map[scenario.Port]string)}
	if err := s.construct(ctx); err != nil {
		return nil, errors.Join(err, s.built.remove())
	}
	return s, nil
}

// Down removes the network and all that is in it.
func (s *Raised) Down() error { return errors.Join(s.built.remove(), release()) }

func (s *Raised) construct(ctx context.Context) error {
	if err := s.built.space(switchName); err != nil {
		return err
	}
	for _, h := range s.what.Fabric.Hosts {
		if err := s.built.space(h.Name); err != nil {
			return err
		}
	}
	for i, p := range scenario.Ports(s.what.Fabric) {
		if err := s.cable(p, portName(i)); err != nil {
			return err
		}
	}
	for _, h := range s.what.Fabric.Hosts {
		if err := s.configure(ctx, h); err != nil {
			return err
		}
	}
	if err := s.globals(); err != nil {
		return err
	}
	if err := s.cards(); err != nil {
		return err
	}
	if err := s.join(); err != nil {
		return err
	}
	if err := s.Shape(s.what.Fabric); err != nil {
		return err
	}
	return s.Settle(ctx)
}

// cable joins a host's port to the switches' namespace.
func (s *Raised) cable(p scenario.Port, far string) error {
	us, sw := s.built.builders[p.Host], s.built.builders[switchName]
	if err := us.Veth(p.Link, sw, far); err != nil {
		return err
	}
	s.far[p] = far
	if err := sw.MTU(far, s.what.LargestMTU()); err != nil {
		return err
	}
	return sw.Up(far)
}

// configure makes a host what the file says: by the same plan, and the same
// steps, by which a real one would be changed.
func (s *Raised) configure(ctx context.Context, h fabric.Host) error {
	ns := netns.Named(s.what.namespace(h.Name))
	return ns.DoWithSysfs(func() error {
		observed, err := observe.Observe(ctx, observe.Config{Sysctls: append(wanted.Sysctls(h), flux...)})
		if err != nil {
			return err
		}
		want, err := wanted.Of(wanted.Request{Fabric: s.what.Fabric, Host: h.Name, Observed: observed, Profiles: []string{}, InNamespace: true})
		if err != nil {
			return err
		}
		for i := range want.Host.Links { // what nothing says is up, is
			want.Host.Links[i].Up = true
		}
		several(&want.Host)
		if err := carryOut(ctx, observed, want.Host); err != nil {
			return err
		}
		return timed(s.what.Timed)
	})
}

// timed sets tunables in the calling thread's namespace; what the kernel does not
// know is left.
func timed(values map[string]string) error {
	for key, value := range values {
		if err := sysctl.Write(key, value, true); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// flux are the sysctls by which a host with several interfaces in one network
// answers for each by itself; else one interface answers for all, and what the
// file says of lanes does not hold.
var flux = []string{"net.ipv4.conf.all.arp_ignore", "net.ipv4.conf.all.arp_announce"}

func several(h *netstate.Host) {
	links := 0
	for _, l := range h.Links {
		if len(l.Addresses) > 0 && l.Kind != "loopback" {
			links++
		}
	}
	if links < 2 {
		return
	}
	for i, key := range flux {
		if v, ok := h.Sysctls[key]; ok && v.Value == "0" {
			v.Value = []string{"1", "2"}[i]
			h.Sysctls[key] = v
		}
	}
}

// carryOut does the steps from one state to the other, in the calling
// thread's namespace.
func carryOut(ctx context.Context, observed, want netstate.Host) error {
	p, err := plan.Between(observed, want)
	if err != nil {
		return err
	}
	for _, step := range p.Steps {
		if step.Kind == plan.Sysctl && sysctl.ScopeOf(step.Key) == netstate.ScopeGlobal {
			continue // see globals
		}
		if err := (act.Kernel{}).Do(ctx, step); err != nil {
			return err
		}
	}
	return nil
}

// globals sets the machine's own sysctls, to the largest that any host of the
// lab has: in a lab kernel alone, where nobody else is.
func (s *Raised) globals() error {
	for _, h := range s.what.Fabric.Hosts {
		if err := Machine(h.Sysctl); err != nil {
			return err
		}
	}
	return nil
}

// Machine sets those of the sysctls that belong to the whole machine. On a
// machine that the lab does not own it sets none.
func Machine(values map[string]string) error {
	if os.Getenv(guest.EnvGuest) == "" {
		return nil
	}
	for key, value := range values {
		if sysctl.ScopeOf(key) != netstate.ScopeGlobal {
			continue
		}
		if err := sysctl.Write(key, value, false); err != nil {
			return err
		}
	}
	return nil
}

// Settle waits until every port carries, and is used by its bond where it has
// one that would use it.
func (s *Raised) Settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, p := range scenario.Ports(s.what.Fabric) {
		if err := awaitReady(ctx, s.what.namespace(p.Host), p); err != nil {
			return err
		}
	}
	return nil
}

func awaitReady(ctx context.Context, namespace string, p scenario.Port) error {
	for {
		var waits string
		err := netns.Named(namespace).DoWithSysfs(func() (err error) {
			waits, err = act.Kernel{}.Ready(ctx, p.Link)
			return err
		})
		if err == nil && waits == "" {
			return nil
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %s: %w", p, waits, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Change makes a host of the lab what become makes of it, as a plan would a real
// one. Of the sysctls become sees the usual ones and those of keys. It returns
// the MTUs that the host's links have then.
func (s *Raised) Change(ctx context.Context, host string, keys []string, become func(*netstate.Host) error) (map[string]int, error) {
	mtus := make(map[string]int)
	err := netns.Named(s.what.namespace(host)).DoWithSysfs(func() error {
		observed, err := observe.Observe(ctx, observe.Config{Sysctls: keys})
		if err != nil {
			return err
		}
		observed.Name = host
		want := observed.Clone()
		if err := become(&want); err != nil {
			return err
		}
		if err := carryOut(ctx, observed, want); err != nil {
			return err
		}
		after, err := observe.Observe(ctx, observe.Config{})
		for _, l := range after.Links {
			mtus[l.Name] = l.MTU
		}
		return err
	})
	return mtus, err
}

// MTUs are those of the hosts' ports, as they are now.
func (s *Raised) MTUs() (map[scenario.Port]int, error) {
	mtus := make(map[scenario.Port]int)
	for p := range s.far {
		mtu, err := s.built.builders[p.Host].MTUOf(p.Link)
		if err != nil {
			return nil, err
		}
		mtus[p] = mtu
	}
	return mtus, nil
}
