package plan

import (
	"net/netip"
	"slices"
	"strconv"

	"github.com/linerate/linerate/netstate"
)

func setRoute(h *netstate.Host, s Step) error {
	if s.Route == nil || !s.Route.Dst.IsValid() {
		return &StateError{s, "no route"}
	}
	if s.New == Absent {
		if i := routeIndex(h.Routes, *s.Route); i >= 0 {
			h.Routes = slices.Delete(slices.Clone(h.Routes), i, i+1)
		}
		return nil
	}
	links := []string{s.Route.Link}
	for _, hop := range s.Route.Hops {
		links = append(links, hop.Link)
	}
	for _, name := range links {
		if l, ok := h.Link(name); name != "" && !ok {
			return &StateError{s, "no link " + name + " (ENODEV)"}
		} else if name != "" && !l.Up {
			return &StateError{s, "the link is down (ENETDOWN)"}
		}
	}
	place := routePlace(*s.Route)
	if slices.ContainsFunc(h.Routes, func(r netstate.Route) bool { return routePlace(r) == place && !restored(*h, r) }) {
		return &StateError{s, "there is one to the same place (EEXIST)"}
	}
	if why := unreachable(*h, *s.Route, netip.Prefix{}); why != "" {
		return &StateError{s, why}
	}
	if src := s.Route.Source; src.IsValid() {
		if _, ok := h.LinkWith(src); !ok {
			return &StateError{s, "its source is no address of the host (EINVAL)"}
		}
	}
	h.Routes = append(slices.Clone(h.Routes), *s.Route)
	return nil
}

func setRule(h *netstate.Host, s Step) error {
	if s.Rule == nil {
		return &StateError{s, "no rule"}
	}
	if s.New == Absent {
		if i := ruleIndex(h.Rules, *s.Rule); i >= 0 {
			h.Rules = slices.Delete(slices.Clone(h.Rules), i, i+1)
		}
		return nil
	}
	h.Rules = append(slices.Clone(h.Rules), *s.Rule)
	slices.SortStableFunc(h.Rules, func(a, b netstate.Rule) int { return a.Priority - b.Priority })
	return nil
}

// setAddress adds an address or removes one. The kernel takes more away with
// one: its secondaries (inet_del_ifa), routes that leave from it
// (fib_sync_down_addr), and with a link's last one its IPv4 routes
// (fib_disable_ip).
func setAddress(h *netstate.Host, l netstate.Link, s Step) error {
	if !s.Address.IsValid() {
		return &StateError{s, "no address"}
	}
	if s.New != Absent {
		l.Addresses = append(slices.Clone(l.Addresses), s.Address)
		h.SetLink(l)
		return nil
	}
	if others := secondaries(l, s.Address); len(others) > 0 {
		return &StateError{s, others[0].String() + " would go with it"}
	}
	if lost := routesOfAddress(*h, l, s.Address); len(lost) > 0 {
		return &StateError{s, "the route " + routeWords(&lost[0], false) + " would go with it"}
	}
	if stray := stranded(*h, l, s.Address); len(stray) > 0 {
		return &StateError{s, "the gateway of the route " + routeWords(&stray[0], false) + " is reached by it alone, and a rollback could not add it again"}
	}
	l.Addresses = slices.DeleteFunc(slices.Clone(l.Addresses), func(p netip.Prefix) bool { return p == s.Address })
	h.SetLink(l)
	return nil
}

// secondaries are the IPv4 addresses that go with one: those after it in its
// subnet, if it is the first.
func secondaries(l netstate.Link, a netip.Prefix) []netip.Prefix {
	if !a.Addr().Is4() {
		return nil
	}
	var after []netip.Prefix
	seen := false
	for _, o := range l.Addresses {
		switch {
		case o == a:
			seen = true
		case o.Addr().Is4() && o.Masked() == a.Masked() && !seen:
			return nil // a is a secondary itself
		case o.Addr().Is4() && o.Masked() == a.Masked():
			after = append(after, o)
		}
	}
	return after
}

// routesOfAddress are the routes that go with an address.
func routesOfAddress(h netstate.Host, l netstate.Link, a netip.Prefix) []netstate.Route {
	last := a.Addr().Is4() && !slices.ContainsFunc(l.Addresses, func(o netip.Prefix) bool { return o != a && o.Addr().Is4() })
	var lost []netstate.Route
	for _, r := range h.Routes {
		own := !far(r) && r.Type == "" && r.Dst.Masked() == a.Masked() && r.Link == l.Name && restored(h, r)
		if kernelMade(h, r) || own || r.Table == tableLocal {
			continue
		}
		if r.Source == a.Addr() || last && r.Dst.Addr().Is4() && uses(r, []string{l.Name}) {
			lost = append(lost, r)
		}
	}
	return lost
}

func currentMPTCP(h netstate.Host, s Step) (string, error) {
	switch {
	case h.MPTCP == nil:
		return "", &StateError{s, "no MPTCP"}
	case s.Kind == MPTCPEndpoint:
		return presence(s.Endpoint != nil && endpointIndex(h.MPTCP.Endpoints, *s.Endpoint) >= 0), nil
	case s.Key == "subflows":
		return strconv.Itoa(h.MPTCP.Subflows), nil
	case s.Key == "add_addr_accepted":
		return strconv.Itoa(h.MPTCP.AddAddrAccepted), nil
	}
	return "", &StateError{s, "no such limit"}
}

func endpointIndex(all []netstate.MPTCPEndpoint, e netstate.MPTCPEndpoint) int {
	want := endpointWords(&e)
	return slices.IndexFunc(all, func(have netstate.MPTCPEndpoint) bool { return endpointWords(&have) == want })
}

func setMPTCP(h *netstate.Host, s Step) error {
	m := *h.MPTCP
	m.Endpoints = slices.Clone(m.Endpoints)
	h.MPTCP = &m
	if s.Kind == MPTCPLimit {
		n, err := strconv.Atoi(s.New)
		if err != nil || n < 0 || n > netstate.MPTCPMax {
			return &StateError{s, "no number from 0 to 8 (EINVAL)"}
		}
		if s.Key == "subflows" {
			m.Subflows = n
		} else {
			m.AddAddrAccepted = n
		}
		return nil
	}
	e := s.Endpoint
	if e == nil {
		return &StateError{s, "no endpoint"}
	}
	if s.New == Absent {
		if i := endpointIndex(m.Endpoints, *e); i >= 0 {
			m.Endpoints = slices.Delete(m.Endpoints, i, i+1)
		}
		return nil
	}
	for _, o := range m.Endpoints {
		if o.Addr == e.Addr && o.Port == e.Port {
			return &StateError{s, "there is one of the same address (EEXIST)"}
		}
	}
	m.Endpoints = append(m.Endpoints, *e)
	return nil
}
