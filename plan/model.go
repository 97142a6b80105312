package plan

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/linerate/linerate/netstate"
)

// StateError is a step that the modelled host refuses.
type StateError struct {
	Step Step
	Why  string
}

func (e *StateError) Error() string { return fmt.Sprintf("step %s: %s", e.Step.Change(), e.Why) }

// Apply is what a host is after a plan, by the kernel's rules: each step's
// Old must hold and its preconditions too (the bond option table, a VLAN at
// most as large as its parent). The host given is not changed.
func Apply(h netstate.Host, p Plan) (netstate.Host, error) {
	h = h.Clone()
	h.Routes = slices.Clone(h.Routes)
	for _, s := range p.Steps {
		now, err := Current(h, s)
		if err != nil {
			return h, err
		}
		if now != s.Old {
			return h, &StateError{s, "it is " + now}
		}
		if err := set(&h, s); err != nil {
			return h, err
		}
	}
	return h, nil
}

// Current is what the step's target is on h, in the words of Old and New.
func Current(h netstate.Host, s Step) (string, error) {
	l, ok := h.Link(s.Link)
	if s.Kind != Sysctl && s.Kind != Route && !ok {
		return "", &StateError{s, "no such link"}
	}
	switch s.Kind {
	case Sysctl:
		v, ok := h.Sysctls[s.Key]
		if !ok {
			return "", &StateError{s, "no such sysctl"}
		}
		return fold(v.Value), nil
	case LinkMTU:
		return strconv.Itoa(l.MTU), nil
	case LinkState:
		if l.Up {
			return Up, nil
		}
		return Down, nil
	case PortMaster:
		if l.Master == "" {
			return NoMaster, nil
		}
		return l.Master, nil
	case Route:
		if s.Route != nil && routeIndex(h, *s.Route) >= 0 {
			return Present, nil
		}
		return Absent, nil
	case Address:
		if slices.Contains(l.Addresses, s.Address) {
			return Present, nil
		}
		return Absent, nil
	case BondOption:
		if l.Bond == nil {
			return "", &StateError{s, "no bond"}
		}
		var c bondChange
		if v, ok := c.values(l.Bond)[s.Key]; ok {
			return v, nil
		}
		return "", &StateError{s, "no such option"}
	}
	return "", &StateError{s, "unknown kind"}
}

func routeIndex(h netstate.Host, r netstate.Route) int {
	want := routeWords(&r, false)
	return slices.IndexFunc(h.Routes, func(have netstate.Route) bool { return routeWords(&have, false) == want })
}

func set(h *netstate.Host, s Step) error {
	l, _ := h.Link(s.Link)
	switch s.Kind {
	case Sysctl:
		v := h.Sysctls[s.Key]
		v.Value = s.New
		h.Sysctls[s.Key] = v
		return nil
	case LinkMTU:
		return setMTU(h, l, s)
	case LinkState:
		if lost, _ := lostRoutes(*h, l.Name); s.New == Down && len(lost) > 0 {
			return &StateError{s, "the route " + routeWords(&lost[0], false) + " would be lost"}
		}
		l.Up = s.New == Up
		h.SetLink(l)
		return nil
	case PortMaster:
		return setMaster(h, l, s)
	case Route:
		return setRoute(h, l, s)
	case Address:
		return setAddress(h, l, s)
	}
	return setOption(h, l, s)
}

func setMTU(h *netstate.Host, l netstate.Link, s Step) error {
	mtu, err := strconv.Atoi(s.New)
	if err != nil || mtu < minMTU {
		return &StateError{s, "no MTU"}
	}
	for _, o := range h.Links {
		if o.VLAN != nil && o.VLAN.Parent == l.Name && o.MTU > mtu {
			return &StateError{s, "the VLAN " + o.Name + " on it is larger"}
		}
		if l.VLAN != nil && l.VLAN.Parent == o.Name && o.MTU < mtu {
			return &StateError{s, "its parent " + o.Name + " is smaller (ERANGE)"}
		}
	}
	l.MTU = mtu
	h.SetLink(l)
	if l.Bond == nil {
		return nil
	}
	for _, name := range l.Bond.Ports {
		if port, ok := h.Link(name); ok {
			port.MTU = mtu
			h.SetLink(port)
		}
	}
	return nil
}

func setMaster(h *netstate.Host, port netstate.Link, s Step) error {
	name := s.New
	if name == NoMaster {
		name = s.Old
	}
	bond, ok := h.Link(name)
	if !ok || bond.Bond == nil {
		return &StateError{s, "no bond " + name}
	}
	port.Master = ""
	if s.New == NoMaster {
		bond.Bond.Ports = slices.DeleteFunc(bond.Bond.Ports, func(p string) bool { return p == port.Name })
	} else {
		bond.Bond.Ports = append(bond.Bond.Ports, port.Name)
		port.Master = s.New
	}
	if port.Port != nil {
		moved := *port.Port
		moved.Bond = port.Master
		port.Port = &moved
	}
	h.SetLink(bond)
	h.SetLink(port)
	return nil
}

func setRoute(h *netstate.Host, l netstate.Link, s Step) error {
	if s.New == Absent {
		i := routeIndex(*h, *s.Route)
		h.Routes = slices.Delete(h.Routes, i, i+1)
		return nil
	}
	if s.Route.Link != "" && !l.Up {
		return &StateError{s, "the link is down (ENETDOWN)"}
	}
	h.Routes = append(h.Routes, *s.Route)
	return nil
}

func setAddress(h *netstate.Host, l netstate.Link, s Step) error {
	if !s.Address.IsValid() {
		return &StateError{s, "no address"}
	}
	if s.New == Absent {
		l.Addresses = slices.DeleteFunc(slices.Clone(l.Addresses), func(p netip.Prefix) bool { return p == s.Address })
	} else {
		l.Addresses = append(slices.Clone(l.Addresses), s.Address)
	}
	h.SetLink(l)
	return nil
}

func setOption(h *netstate.Host, l netstate.Link, s Step) error {
	r, ok := BondOptionRule(s.Key)
	if !ok {
		return &StateError{s, "no such option"}
	}
	b := *l.Bond
	value, err := r.Number(s.New)
	switch {
	case err != nil:
		return &StateError{s, err.Error()}
	case !r.Allows(b.Mode):
		return &StateError{s, "not in mode " + b.Mode.String() + " (EACCES)"}
	case r.NoSlaves && len(b.Ports) > 0:
		return &StateError{s, "it has slaves (ENOTEMPTY)"}
	case r.NeedsDown && l.Up:
		return &StateError{s, "it is up (EBUSY)"}
	}
	setField(&b, s.Key, s.New, value)
	l.Bond = &b
	h.SetLink(l)
	return nil
}

// setField writes one option and what the driver changes along with it.
func setField(b *netstate.Bond, key, word string, value int64) {
	ms := time.Duration(value) * time.Millisecond
	switch key {
	case "mode":
		b.Mode = netstate.BondMode(value)
		if b.Miimon == 0 && (b.Mode == netstate.LACP || b.Mode == netstate.BalanceTLB || b.Mode == netstate.BalanceALB) {
			b.Miimon = 100 * time.Millisecond // BOND_DEFAULT_MIIMON
		}
	case "xmit_hash_policy":
		b.HashPolicy = netstate.HashPolicy(value)
	case "lacp_rate":
		b.LACPRate = netstate.LACPRate(value)
	case "miimon":
		if b.Miimon > 0 {
			b.UpDelay = b.UpDelay / b.Miimon * ms
			b.DownDelay = b.DownDelay / b.Miimon * ms
		}
		b.Miimon = ms
		if value > 0 && b.Options["arp_interval"] != "" {
			b.Options = maps.Clone(b.Options)
			b.Options["arp_interval"] = "0"
		}
	case "updelay":
		b.UpDelay = ms
	case "downdelay":
		b.DownDelay = ms
	case "min_links":
		b.MinLinks = int(value)
	case "packets_per_slave":
		b.PacketsPerSlave = int(value)
	case "tlb_dynamic_lb":
		b.TLBDynamic = value == 1
	default:
		b.Options = maps.Clone(b.Options)
		b.Options[key] = word
		if key == "arp_interval" && value > 0 {
			b.Miimon = 0
		}
	}
}
