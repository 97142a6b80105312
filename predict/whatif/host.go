package whatif

import (
	"fmt"
	"math/big"
	"net/netip"
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// eachHost changes every host, in order of name.
func (v *variant) eachHost(change func(*netstate.Host) error) error {
	names := make([]string, 0, len(v.hosts))
	for name := range v.hosts {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		h := v.hosts[name]
		if err := change(&h); err != nil {
			return err
		}
		v.hosts[name] = h
	}
	return nil
}

// onWire reports a link that frames leave the host by.
func onWire(l netstate.Link) bool {
	switch l.Kind {
	case "", "veth":
		return true
	}
	return l.Master != "" && l.Kind != "vlan" && l.Kind != "bridge" && l.Kind != "bond"
}

func (v *variant) mtu(mtu int) error {
	return v.eachHost(func(h *netstate.Host) error {
		for i := range h.Links {
			l := &h.Links[i]
			if l.Loopback() || l.Unused != "" {
				continue
			}
			if l.MaxMTU > 0 && mtu > l.MaxMTU {
				v.note("%s on %s takes no more than %d bytes", l.Name, h.Name, l.MaxMTU)
			}
			l.MTU = mtu
		}
		return nil
	})
}

func (v *variant) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(v.notes, text) {
		v.notes = append(v.notes, text)
	}
}

func (v *variant) speed(rate unit.BitRate) error {
	return v.eachHost(func(h *netstate.Host) error {
		for i := range h.Links {
			if onWire(h.Links[i]) {
				h.Links[i].Speed = rate
			}
		}
		return nil
	})
}

// eachBond changes the bonds of every host that has one; one host must.
func (v *variant) eachBond(change func(h *netstate.Host, bond int)) error {
	found := false
	err := v.eachHost(func(h *netstate.Host) error {
		for i := range h.Links {
			if h.Links[i].Bond != nil {
				found = true
				change(h, i)
			}
		}
		return nil
	})
	if err == nil && !found {
		return fmt.Errorf("no host has a bond (mode=802.3ad makes one of each host's link): %w", ErrChange)
	}
	return err
}

func readPolicy(s string) (func(*variant) error, error) {
	var policy netstate.HashPolicy
	err := policy.UnmarshalText([]byte(s))
	if err != nil && !ownWord(bondopt.HashPolicy, s) {
		return nil, err
	}
	return func(v *variant) error {
		if err != nil {
			return v.eachOwn(bondopt.HashPolicy, policies(), s)
		}
		return v.eachBond(func(h *netstate.Host, bond int) {
			if b := h.Links[bond].Bond; b.Own != nil {
				setOwn(h, b, bondopt.HashPolicy, s)
			} else {
				b.HashPolicy = policy
			}
		})
	}, nil
}

// eachOwn sets what only systems other than Linux have a word for; one host with a bond
// must run such a system; linux are the words of the others.
func (v *variant) eachOwn(option string, linux []string, word string) error {
	found := false
	err := v.eachHost(func(h *netstate.Host) error {
		for i := range h.Links {
			if b := h.Links[i].Bond; b != nil && b.Own != nil {
				found = true
				setOwn(h, b, option, word)
			}
		}
		return nil
	})
	if err == nil && !found {
		return fmt.Errorf("%s is a word of another system than the hosts with bonds run; want one of %s: %w", word, strings.Join(linux, ", "), ErrChange)
	}
	return err
}

func readMode(s string) (func(*variant) error, error) {
	var mode netstate.BondMode
	err := mode.UnmarshalText([]byte(s))
	if err != nil && !ownWord(bondopt.Mode, s) {
		return nil, err
	}
	return func(v *variant) error {
		if err != nil {
			return v.eachOwn(bondopt.Mode, modes(), s)
		}
		if err := v.eachHost(v.bonded); err != nil {
			return err
		}
		return v.eachBond(func(h *netstate.Host, bond int) {
			if b := h.Links[bond].Bond; b.Own != nil {
				setOwn(h, b, bondopt.Mode, s)
			} else {
				setMode(h, bond, mode)
			}
		})
	}, nil
}

// bonded gives a host without a bond one, of its only link with an address.
func (v *variant) bonded(h *netstate.Host) error {
	only := -1
	for i, l := range h.Links {
		switch {
		case l.Bond != nil:
			return nil
		case l.Loopback() || l.Unused != "" || len(l.Addresses) == 0:
		case only >= 0:
			return fmt.Errorf("%s has no bond, and several interfaces with addresses: %w", h.Name, ErrChange)
		default:
			only = i
		}
	}
	if only < 0 || !onWire(h.Links[only]) {
		return fmt.Errorf("%s has no link that a bond could be made of: %w", h.Name, ErrChange)
	}
	port := &h.Links[only]
	const name = "bond0"
	bond := netstate.Link{Name: name, Kind: "bond", MAC: port.MAC, MTU: port.MTU, Up: port.Up, Carrier: port.Carrier,
		Addresses: port.Addresses, Bond: &netstate.Bond{Ports: []string{port.Name}, PacketsPerSlave: 1, TLBDynamic: true}}
	port.Addresses, port.Master = nil, name
	port.Port = &netstate.BondPort{Bond: name, Active: true, MIIUp: port.Up && port.Carrier}
	for i := range h.Routes {
		if h.Routes[i].Link == port.Name {
			h.Routes = slices.Clone(h.Routes)
			h.Routes[i].Link = name
		}
	}
	h.Links = append(h.Links, bond)
	return nil
}

// setMode gives a bond another mode, its ports as they would be: all in one
// aggregator, or one of them active.
func setMode(h *netstate.Host, at int, mode netstate.BondMode) {
	b := h.Links[at].Bond
	b.Mode, b.AD, b.Active = mode, nil, ""
	aggregator := 0
	switch mode {
	case netstate.LACP:
		aggregator = 1
		b.AD = &netstate.Aggregator{ID: aggregator, Ports: len(b.Ports)}
	case netstate.ActiveBackup, netstate.BalanceTLB, netstate.BalanceALB:
		if len(b.Ports) > 0 {
			b.Active = b.Ports[0]
		}
	}
	for i := range h.Links {
		l := &h.Links[i]
		if l.Port == nil || l.Port.Bond != h.Links[at].Name {
			continue
		}
		port := *l.Port
		port.AggregatorID = aggregator
		port.Active = mode != netstate.ActiveBackup || l.Name == b.Active
		l.Port = &port
	}
}

// links gives every bond n ports, and a host without one n interfaces with addresses:
// those that are too many go, last first; those that lack are like the last one.
func (v *variant) links(n int) error {
	return v.eachHost(func(h *netstate.Host) error {
		found := false
		for i := range h.Links {
			if h.Links[i].Bond != nil {
				found = true
				v.bondPorts(h, i, n)
			}
		}
		if found {
			return nil
		}
		return v.interfaces(h, n)
	})
}

// interfaces gives a host n interfaces of its own: each that lacks is like the last,
// in the subnet that comes after its.
func (v *variant) interfaces(h *netstate.Host, n int) error {
	var own, added []string
	for _, l := range h.Links {
		if onWire(l) && !l.Loopback() && l.Unused == "" && l.Master == "" && len(l.Addresses) > 0 {
			own = append(own, l.Name)
		}
	}
	if len(own) == 0 {
		return fmt.Errorf("%s has no bond, and no interface with an address: %w", h.Name, ErrChange)
	}
	last, _ := h.Link(own[len(own)-1])
	for i := len(own); i < n; i++ {
		more := last
		more.Name, more.Addresses = freeName(*h, last.Name), nil
		for _, p := range last.Addresses {
			moved, ok := inLaterSubnet(p, i-len(own)+1)
			if !ok {
				continue
			}
			more.Addresses = append(more.Addresses, moved)
			for _, r := range h.Routes {
				if r.Link == last.Name && r.Dst == p.Masked() {
					r.Link, r.Dst, r.Source = more.Name, moved.Masked(), netip.Addr{}
					h.Routes = append(slices.Clone(h.Routes), r)
				}
			}
		}
		if len(more.Addresses) == 0 {
			return fmt.Errorf("%s on %s has no address with a subnet after its own: %w", last.Name, h.Name, ErrChange)
		}
		h.Links = append(h.Links, more)
		added = append(added, fmt.Sprintf("%s (%v)", more.Name, more.Addresses[0]))
	}
	if len(added) > 0 {
		v.note("%s on %s: like %s, in subnets of their own", strings.Join(added, ", "), h.Name, last.Name)
	}
	if len(own) > n {
		for _, gone := range own[n:] {
			h.Links = slices.DeleteFunc(h.Links, func(l netstate.Link) bool { return l.Name == gone })
			h.Routes = slices.DeleteFunc(slices.Clone(h.Routes), func(r netstate.Route) bool { return r.Link == gone })
		}
	}
	return nil
}

// inLaterSubnet is the same address in the n-th subnet after its own; false where there
// is none.
func inLaterSubnet(p netip.Prefix, n int) (netip.Prefix, bool) {
	bits := p.Addr().BitLen() - p.Bits()
	if p.Bits() < 8 || bits == 0 {
		return netip.Prefix{}, false
	}
	raw := new(big.Int).SetBytes(p.Addr().AsSlice())
	raw.Add(raw, new(big.Int).Lsh(big.NewInt(int64(n)), uint(bits)))
	text := make([]byte, p.Addr().BitLen()/8)
	if raw.BitLen() > p.Addr().BitLen() {
		return netip.Prefix{}, false
	}
	moved, ok := netip.AddrFromSlice(raw.FillBytes(text))
	return netip.PrefixFrom(moved, p.Bits()), ok
}

// bondPorts gives a bond n ports.
func (v *variant) bondPorts(h *netstate.Host, at, n int) {
	name := h.Links[at].Name
	b := *h.Links[at].Bond
	b.Ports = slices.Clone(b.Ports)
	if len(b.Ports) == 0 {
		return
	}
	last, ok := h.Link(b.Ports[len(b.Ports)-1])
	if !ok {
		return
	}
	for len(b.Ports) < n {
		port := last
		port.Name = freeName(*h, last.Name)
		if b.Mode == netstate.ActiveBackup && port.Port != nil {
			backup := *port.Port
			backup.Active = false
			port.Port = &backup
		}
		b.Ports = append(b.Ports, port.Name)
		h.Links = append(h.Links, port)
		if port.Card != "" {
			v.note("%s of %s on %s: like %s, in the same card %s", port.Name, name, h.Name, last.Name, port.Card)
		}
	}
	for _, gone := range b.Ports[n:] {
		h.Links = slices.DeleteFunc(h.Links, func(l netstate.Link) bool { return l.Name == gone })
	}
	b.Ports = b.Ports[:n]
	if b.AD != nil {
		ad := *b.AD
		ad.Ports = n
		b.AD = &ad
	}
	for i := range h.Links {
		if h.Links[i].Name == name {
			h.Links[i].Bond = &b
		}
	}
}

// freeName is the next name that no link has: ens2f1 follows ens2f0.
func freeName(h netstate.Host, name string) string {
	stem := strings.TrimRight(name, "0123456789")
	for n := 0; ; n++ {
		next := fmt.Sprintf("%s%d", stem, n)
		if _, taken := h.Link(next); !taken {
			return next
		}
	}
}

func (v *variant) rmem(b unit.Bytes) error {
	return v.memory("net.ipv4.tcp_rmem", "4096 131072", "net.core.rmem_max", b)
}

func (v *variant) wmem(b unit.Bytes) error {
	return v.memory("net.ipv4.tcp_wmem", "4096 16384", "net.core.wmem_max", b)
}

// memory sets the last of the protocol's three values, and the core's maximum
// where that is less.
func (v *variant) memory(key, initial, core string, b unit.Bytes) error {
	return v.eachHost(func(h *netstate.Host) error {
		first := initial
		if now := h.SysctlInts(key); len(now) == 3 {
			first = fmt.Sprintf("%d %d", min(now[0], int64(b)), min(now[1], int64(b)))
		}
		h.Sysctls[key] = netstate.Sysctl{Value: fmt.Sprintf("%s %d", first, int64(b)), Scope: h.Sysctls[key].Scope}
		if now := h.SysctlInts(core); len(now) != 1 || now[0] < int64(b) {
			h.Sysctls[core] = netstate.Sysctl{Value: fmt.Sprint(int64(b)), Scope: h.Sysctls[core].Scope}
		}
		return nil
	})
}

func (v *variant) rmemMax(b unit.Bytes) error { return v.coreMemory("net.core.rmem_max", b) }
func (v *variant) wmemMax(b unit.Bytes) error { return v.coreMemory("net.core.wmem_max", b) }

func (v *variant) coreMemory(key string, b unit.Bytes) error {
	return v.eachHost(func(h *netstate.Host) error {
		h.Sysctls[key] = netstate.Sysctl{Value: fmt.Sprint(int64(b)), Scope: h.Sysctls[key].Scope}
		return nil
	})
}

func readCongestion(s string) (func(*variant) error, error) {
	for _, r := range s {
		if !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '-') {
			return nil, ErrChange
		}
	}
	return func(v *variant) error {
		return v.eachHost(func(h *netstate.Host) error {
			const key = "net.ipv4.tcp_congestion_control"
			h.Sysctls[key] = netstate.Sysctl{Value: s, Scope: h.Sysctls[key].Scope}
			return nil
		})
	}, nil
}
