package rtnl

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/vishvananda/netlink/nl"

	"github.com/linerate/linerate/internal/kernel/nlattr"
	"github.com/linerate/linerate/netstate"
)

// extMaskSkipStats tells a link dump to leave out counters (RTEXT_FILTER_SKIP_STATS).
const extMaskSkipStats = 1 << 3

// Links reads every link, in order of index. It is Read without the account
// of what is missing.
func (h *Handle) Links() ([]netstate.Link, error) {
	r, err := h.Read()
	return r.Links, err
}

// Read reads every link with its bond, VLAN, addresses, queueing disciplines
// and counters. Only a namespace without readable links is an error; what else
// cannot be read is in Reading.Missing. Slaves are in enslave order.
func (h *Handle) Read() (Reading, error) {
	var r Reading
	raw, err := h.rawLinks(linkRequest(0))
	if err != nil && len(raw) == 0 {
		return r, fmt.Errorf("list links: %w", err)
	}
	r.note("links", err)
	r.Links = assemble(raw)
	r.note("addresses", h.addAddresses(r.Links))
	r.note("queueing disciplines", h.addQdiscs(r.Links))
	r.note("nexthop objects", h.addNexthops(r.Links))
	for i := range r.Links {
		if r.Links[i].Bond != nil {
			r.Missing = append(r.Missing, orderSlaves(r.Links, &r.Links[i])...)
		}
	}
	return r, nil
}

func (r *Reading) note(what string, err error) {
	if errors.Is(err, nl.ErrDumpInterrupted) {
		r.Missing = append(r.Missing, fmt.Sprintf("%s: they changed during each of %d readings; some may be missing", what, dumpAttempts))
	} else if err != nil {
		r.Missing = append(r.Missing, fmt.Sprintf("%s: %v", what, err))
	}
}

// linkRequest is a struct ifinfomsg and the filter of what to answer.
func linkRequest(filter uint32) []byte {
	request := make([]byte, linkHead)
	return append(request, nlattr.Encode(iflaExtMask, nl.Uint32Attr(filter))...)
}

func (h *Handle) rawLinks(request []byte) ([]rawLink, error) {
	messages, err := h.dump(syscall.RTM_GETLINK, syscall.RTM_NEWLINK, request)
	raw := make([]rawLink, 0, len(messages))
	for _, m := range messages {
		l, malformed := decodeLink(m)
		if malformed != nil {
			err = errors.Join(err, malformed)
			continue
		}
		raw = append(raw, l)
	}
	slices.SortStableFunc(raw, func(a, b rawLink) int { return cmp.Compare(a.link.Index, b.link.Index) })
	// An interrupted dump may show a link twice.
	raw = slices.CompactFunc(raw, func(a, b rawLink) bool { return a.link.Index == b.link.Index })
	return raw, err
}

// namesOf is a function from index to name; "" for an unknown index.
func namesOf(raw []rawLink) func(int) string {
	names := make(map[int]string, len(raw))
	for _, r := range raw {
		names[r.link.Index] = r.link.Name
	}
	return func(index int) string { return names[index] }
}

// assemble turns indexes into names. Slaves come out in order of index.
func assemble(raw []rawLink) []netstate.Link {
	name := namesOf(raw)
	links := make([]netstate.Link, 0, len(raw))
	for i := range raw {
		r := &raw[i]
		l := &r.link
		l.Master = name(r.master)
		if r.isVLAN {
			l.VLAN = &netstate.VLAN{ID: r.vlan, Protocol: r.vlanProtocol}
		}
		if r.tunnel != nil {
			t := r.tunnel.tunnel
			t.Lower = name(r.tunnel.lower)
			l.Tunnel = &t
		}
		switch {
		case r.parent == 0:
		case r.afar:
			r.keep("link", strconv.Itoa(r.parent)+" in another namespace")
		case r.parent == l.Index:
		case l.VLAN != nil:
			l.VLAN.Parent = name(r.parent)
		default:
			r.keep("link", name(r.parent))
		}
		if r.bond != nil {
			b := r.bond.bond
			b.Active = name(r.bond.active)
			if p := name(r.bond.primary); p != "" {
				b.Options["primary"] = p
			}
			for _, s := range raw {
				if s.master == l.Index && s.port != nil {
					b.Ports = append(b.Ports, s.link.Name)
				}
			}
			l.Bond = &b
		}
		if r.bridge != nil {
			l.Bridge = &netstate.Bridge{Ports: portsOf(raw, l.Index), Options: r.bridge}
		}
		if r.port != nil {
			r.port.Bond = l.Master
			l.Port = r.port
		}
		links = append(links, *l)
	}
	return links
}

// portsOf is the links whose master has the index, in order of theirs.
func portsOf(raw []rawLink, master int) []string {
	ports := []string{}
	for _, p := range raw {
		if p.master == master {
			ports = append(ports, p.link.Name)
		}
	}
	return ports
}

func (h *Handle) addAddresses(links []netstate.Link) error {
	messages, err := h.dump(syscall.RTM_GETADDR, syscall.RTM_NEWADDR, make([]byte, addressHead))
	for _, m := range messages {
		a, ok := decodeAddress(m)
		if !ok {
			continue
		}
		l := byIndex(links, a.index)
		if l == nil || slices.Contains(l.Addresses, a.prefix) {
			continue
		}
		l.Addresses = append(l.Addresses, a.prefix)
		if a.leased {
			l.Leases = append(l.Leases, a.prefix)
		}
		if a.label != "" && a.label != l.Name {
			a.add("label %s", a.label)
		}
		if len(a.words) > 0 {
			if l.AddressSettings == nil {
				l.AddressSettings = make(map[netip.Prefix]string)
			}
			l.AddressSettings[a.prefix] = strings.Join(a.words, " ")
		}
		if a.noBroadcast {
			l.NoBroadcast = append(l.NoBroadcast, a.prefix)
		}
	}
	return err
}

// byIndex finds a link; they are sorted.
func byIndex(links []netstate.Link, index int) *netstate.Link {
	i, found := slices.BinarySearchFunc(links, index, func(l netstate.Link, index int) int { return cmp.Compare(l.Index, index) })
	if !found {
		return nil
	}
	return &links[i]
}

func (h *Handle) rawQdiscs(kind, answer uint16, index int) ([]rawQdisc, error) {
	request := make([]byte, tcHead)
	copy(request[4:], nl.Uint32Attr(uint32(index)))
	messages, err := h.dump(kind, answer, request)
	raw := make([]rawQdisc, 0, len(messages))
	for _, m := range messages {
		q, malformed := decodeQdisc(m)
		if malformed != nil {
			err = errors.Join(err, malformed)
			continue
		}
		raw = append(raw, q)
	}
	return raw, err
}

func (h *Handle) addQdiscs(links []netstate.Link) error {
	raw, err := h.rawQdiscs(syscall.RTM_GETQDISC, syscall.RTM_NEWQDISC, 0)
	for _, q := range raw {
		l := byIndex(links, q.index)
		if l == nil {
			continue
		}
		if q.qdisc.Kind == "htb" {
			// Classes can only be asked for link by link.
			classes, e := h.rawQdiscs(syscall.RTM_GETTCLASS, syscall.RTM_NEWTCLASS, q.index)
			err = errors.Join(err, e)
			if open := decodeHTB(&q, classes); open {
				keep(l, "htb "+q.qdisc.Handle, "no default class: what no class takes is not limited")
			}
		}
		l.Qdiscs = append(l.Qdiscs, q.qdisc)
	}
	return err
}

// Qdiscs reads the queueing disciplines of the link with that index.
func (h *Handle) Qdiscs(index int) ([]netstate.Qdisc, error) {
	raw, err := h.rawQdiscs(syscall.RTM_GETQDISC, syscall.RTM_NEWQDISC, index)
	if err != nil {
		return nil, fmt.Errorf("list queueing disciplines: %w", err)
	}
	var all []netstate.Qdisc
	for _, q := range raw {
		if q.index == index {
			all = append(all, q.qdisc)
		}
	}
	return all, nil
}

func keep(l *netstate.Link, key, value string) {
	if l.Extra == nil {
		l.Extra = make(map[string]string)
	}
	l.Extra[key] = value
}

// names gives the links' names by index without their counters.
func (h *Handle) names() (func(int) string, error) {
	raw, err := h.rawLinks(linkRequest(extMaskSkipStats))
	if err != nil && len(raw) == 0 {
		return nil, fmt.Errorf("list links: %w", err)
	}
	return namesOf(raw), nil
}

// Routes reads the IPv4 and IPv6 routes of every table. What the kernel makes
// from addresses in the local table is left out. With an error that is
// nl.ErrDumpInterrupted the routes are there and may be incomplete.
func (h *Handle) Routes() ([]netstate.Route, error) {
	name, err := h.names()
	if err != nil {
		return nil, err
	}
	var routes []netstate.Route
	err = h.perFamily(syscall.RTM_GETROUTE, syscall.RTM_NEWROUTE, func(m []byte) {
		if r, ok := decodeRoute(m, name); ok {
			routes = append(routes, r)
		}
	})
	if slices.ContainsFunc(routes, func(r netstate.Route) bool { return r.Object != 0 }) {
		all, unread := h.objects()
		addGroups(routes, all, name)
		err = errors.Join(err, unread)
	}
	if err != nil {
		err = fmt.Errorf("list routes: %w", err)
	}
	return routes, err
}

// Rules reads the IPv4 and IPv6 policy rules in order of priority. Errors are
// as for Routes; a kernel without policy routing has none.
func (h *Handle) Rules() ([]netstate.Rule, error) {
	var rules []netstate.Rule
	err := h.perFamily(rtmGetRule, rtmNewRule, func(m []byte) {
		if r, ok := decodeRule(m); ok {
			rules = append(rules, r)
		}
	})
	if errors.Is(err, syscall.EOPNOTSUPP) {
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("list rules: %w", err)
	}
	slices.SortStableFunc(rules, func(a, b netstate.Rule) int { return cmp.Compare(a.Priority, b.Priority) })
	return rules, err
}

// Message kinds that package syscall lacks.
const (
	rtmNewRule = 32
	rtmGetRule = 34
)

func (h *Handle) perFamily(kind, answer uint16, each func(message []byte)) error {
	var problems []error
	for _, family := range []byte{syscall.AF_INET, syscall.AF_INET6} {
		// struct rtmsg and struct fib_rule_hdr are of one size.
		request := make([]byte, routeHead)
		request[0] = family
		messages, err := h.dump(kind, answer, request)
		for _, m := range messages {
			// A family that the kernel lacks is answered with another's.
			if len(m) > 0 && m[0] == family {
				each(m)
			}
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}
