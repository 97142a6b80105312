package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/netstate"
)

// network is a topology that has been built in this kernel.
type network struct {
	names    []string // namespaces made, in order
	named    func(host string) string
	builders map[string]*rtnl.Builder
}

// build makes the topology in network namespaces of the running kernel and
// waits until its bonds carry traffic. On any error what was made is removed.
// Needs root. A namespace of the same name left by another run is
// fs.ErrExist.
func build(ctx context.Context, t Topology) (*network, error) {
	n := &network{named: t.Namespace, builders: make(map[string]*rtnl.Builder)}
	if err := n.construct(t); err != nil {
		return nil, errors.Join(err, n.remove())
	}
	if err := n.settle(ctx, t); err != nil {
		return nil, errors.Join(err, n.remove())
	}
	return n, nil
}

// remove deletes the namespaces made, and every link with them.
func (n *network) remove() error {
	n.leave()
	var errs []error
	for _, name := range n.names {
		errs = append(errs, netns.Delete(name))
	}
	return errors.Join(errs...)
}

// leave lets go of the namespaces: they stand by their names.
func (n *network) leave() {
	for _, b := range n.builders {
		b.Close()
	}
}

func (n *network) construct(t Topology) error {
	if err := n.space(switchName); err != nil {
		return err
	}
	var uplinks []string
	for _, h := range t.Hosts {
		if err := n.space(h.Name); err != nil {
			return err
		}
		uplink, err := n.host(t, h)
		if err != nil {
			return err
		}
		uplinks = append(uplinks, uplink...)
	}
	return n.builders[switchName].Bridge(bridgeName, uplinks)
}

// space makes one namespace with its loopback up.
func (n *network) space(host string) error {
	name := n.named(host)
	ns, err := netns.Create(name)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make lab host %s: another lab is up, or was killed (`ip netns delete %s` removes what it left): %w", host, name, err)
	}
	if err != nil {
		return err
	}
	n.names = append(n.names, name)
	b, err := rtnl.OpenBuilder(ns)
	if err != nil {
		return err
	}
	n.builders[host] = b
	return b.Up("lo")
}

// host makes a host's cables and bond, and returns what the switch bridges
// for it.
func (n *network) host(t Topology, h Host) (uplinks []string, err error) {
	us, sw := n.builders[h.Name], n.builders[switchName]
	var ports []string
	for i := range h.Links {
		port, far := Port(i), h.Name+fmt.Sprint(i)
		if err := us.Veth(port, sw, far); err != nil {
			return nil, err
		}
		if err := n.cable(t, h, port, far); err != nil {
			return nil, err
		}
		ports, uplinks = append(ports, port), append(uplinks, far)
	}
	link := Port(0)
	if h.Bond != nil {
		link = bondName
		if err := us.Bond(link, rtnl.BondSpec{Mode: h.Bond.Mode, HashPolicy: h.Bond.HashPolicy, Miimon: h.Bond.Miimon}, ports); err != nil {
			return nil, err
		}
		if uplinks, err = n.uplinkBond(t, h, uplinks); err != nil {
			return nil, err
		}
	} else if err := us.Up(link); err != nil {
		return nil, err
	}
	if h.MTU > 0 {
		if err := us.MTU(link, h.MTU); err != nil {
			return nil, err
		}
	}
	for _, a := range h.Addresses {
		if err := us.Address(link, a); err != nil {
			return nil, err
		}
	}
	return uplinks, nil
}

// uplinkBond is the switch's half of a host's bond.
func (n *network) uplinkBond(t Topology, h Host, ports []string) ([]string, error) {
	sw, name := n.builders[switchName], "to-"+h.Name
	spec := rtnl.BondSpec{Mode: h.Bond.Mode, HashPolicy: &t.Switch.Hash, Miimon: h.Bond.Miimon}
	if h.Bond.Mode == netstate.LACP {
		fast := netstate.LACPFast
		spec.LACPRate = &fast
	}
	if err := sw.Bond(name, spec, ports); err != nil {
		return nil, err
	}
	return []string{name}, sw.MTU(name, t.Switch.MTU)
}

// cable shapes both ends of a cable and delays what the switch sends down it.
// Shaping one end only would hide an uneven spread from the counters.
func (n *network) cable(t Topology, h Host, port, far string) error {
	us, sw := n.builders[h.Name], n.builders[switchName]
	if err := sw.MTU(far, t.Switch.MTU); err != nil {
		return err
	}
	if t.LinkRate > 0 {
		if err := us.Shape(port, t.LinkRate, t.Burst, t.Wait); err != nil {
			return err
		}
		if err := sw.Shape(far, t.LinkRate, t.Burst, t.Wait); err != nil {
			return err
		}
	}
	if t.RTT > 0 {
		const limit = 10000 // packets: far above rate x delay, so that netem never drops
		return sw.Delay(far, t.RTT/2, limit, t.LinkRate > 0)
	}
	return nil
}

// settleTime is the longest a bond may take to carry traffic: LACP at the
// slow rate needs a few seconds, a busy machine more.
const settleTime = 40 * time.Second

// settle waits until every bond has all its ports in use.
func (n *network) settle(ctx context.Context, t Topology) error {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	for _, h := range t.Hosts {
		if h.Bond == nil {
			continue
		}
		links := h.Links
		if h.Bond.Mode == netstate.ActiveBackup {
			links = 1
		}
		if err := awaitPorts(ctx, t.Namespace(h.Name), bondName, links); err != nil {
			return err
		}
		if err := awaitPorts(ctx, t.Namespace(switchName), "to-"+h.Name, links); err != nil {
			return err
		}
	}
	return nil
}

func awaitPorts(ctx context.Context, namespace, bond string, want int) error {
	for {
		usable, err := usablePorts(namespace, bond)
		if err != nil {
			return err
		}
		if usable == want {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s of %s: %d of %d ports in use: %w", bond, namespace, usable, want, ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func usablePorts(namespace, bond string) (int, error) {
	var usable int
	err := netns.Named(namespace).Do(func() error {
		links, err := rtnl.Links()
		if err != nil {
			return err
		}
		state := netstate.Host{Links: links}
		if l, ok := state.Link(bond); ok && l.Bond != nil && l.Bond.Mode == netstate.LACP {
			// Without an answer from the partner each port is alone.
			if l.Bond.AD == nil || l.Bond.AD.PartnerMAC.IsZero() {
				return nil
			}
		}
		usable = len(state.UsablePorts(bond))
		return nil
	})
	return usable, err
}
