package plan

import (
	"fmt"
	"slices"
	"strconv"

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
// most as large as its parent). What the kernel would take away along with a
// step, and undoing the step would not bring back, is an error as well. The
// host given is not changed.
func Apply(h netstate.Host, p Plan) (netstate.Host, error) {
	h = h.Clone()
	for _, s := range p.Steps {
		now, err := Current(h, s)
		if err != nil {
			return h, err
		}
		if now != s.Old && !s.Redrawn {
			return h, &StateError{s, "it is " + now}
		}
		if err := set(&h, s); err != nil {
			return h, err
		}
	}
	return h, nil
}

// presence is the word of what is there, or is not.
func presence(there bool) string {
	if there {
		return Present
	}
	return Absent
}

// Current is what the step's target is on h, in the words of Old and New.
func Current(h netstate.Host, s Step) (string, error) {
	switch s.Kind {
	case Sysctl:
		v, ok := h.Sysctls[s.Key]
		if !ok {
			return "", &StateError{s, "no such sysctl"}
		}
		return fold(v.Value), nil
	case Route:
		return presence(s.Route != nil && routeIndex(h.Routes, *s.Route) >= 0), nil
	case Rule:
		return presence(s.Rule != nil && ruleIndex(h.Rules, *s.Rule) >= 0), nil
	case MPTCPLimit, MPTCPEndpoint:
		return currentMPTCP(h, s)
	}
	l, ok := h.Link(s.Link)
	if s.Kind == LinkPresence {
		return presence(ok), nil
	}
	if !ok {
		return "", &StateError{s, "no such link"}
	}
	switch s.Kind {
	case LinkMTU:
		return strconv.Itoa(l.MTU), nil
	case LinkState:
		if l.Up {
			return Up, nil
		}
		return Down, nil
	case LinkMAC:
		return l.MAC.String(), nil
	case PortMaster:
		if l.Master == "" {
			return NoMaster, nil
		}
		return l.Master, nil
	case PortOrder:
		if l.Bond == nil {
			return "", &StateError{s, "no bond"}
		}
		return joinPorts(l.Bond.Ports), nil
	case PortOption:
		return currentPortOption(l, s)
	case Address:
		return presence(slices.Contains(l.Addresses, s.Address)), nil
	case BondOption:
		if l.Bond == nil {
			return "", &StateError{s, "no bond"}
		}
		if v, ok := optionsOf(l.Bond)[s.Key]; ok {
			return v, nil
		}
		return "", &StateError{s, "no such option"}
	}
	return currentDevice(l, s)
}

// set does a step on the modelled host; one with which a nexthop object would go is
// refused.
func set(h *netstate.Host, s Step) error {
	led := objectLinks(*h)
	if err := change(h, s); err != nil {
		return err
	}
	if why := flushed(*h, led); why != "" {
		return &StateError{s, why}
	}
	return nil
}

// change is set without what the kernel takes away along with it.
func change(h *netstate.Host, s Step) error {
	l, _ := h.Link(s.Link)
	switch s.Kind {
	case Sysctl:
		spread := Spread(h.Sysctls, s.Key, s.New)
		spread[s.Key] = s.New
		for key, value := range spread {
			v := h.Sysctls[key]
			v.Value = value
			h.Sysctls[key] = v
		}
		return nil
	case LinkPresence:
		return setPresence(h, l, s)
	case LinkMTU:
		return setMTU(h, l, s)
	case LinkState:
		return setState(h, l, s)
	case LinkMAC:
		return setMAC(h, l, s)
	case PortMaster:
		return setMaster(h, l, s)
	case PortOrder:
		return setOrder(h, l, s)
	case PortOption:
		return setPortOption(h, l, s)
	case BondOption:
		return setOption(h, l, s)
	case Route:
		return setRoute(h, s)
	case Rule:
		return setRule(h, s)
	case Address:
		return setAddress(h, l, s)
	case MPTCPLimit, MPTCPEndpoint:
		return setMPTCP(h, s)
	}
	return setDevice(h, l, s)
}
