package netstate

import (
	"maps"
	"slices"
)

// Clone is a copy that shares nothing a plan changes with h: links with their
// bonds, addresses and settings, routes, rules, MPTCP and sysctls are the
// copy's own, so that a desired state can be made from an observed one.
func (h Host) Clone() Host {
	c := h
	c.Links = slices.Clone(h.Links)
	for i := range c.Links {
		c.Links[i] = c.Links[i].Clone()
	}
	c.Routes = slices.Clone(h.Routes)
	for i := range c.Routes {
		r := &c.Routes[i]
		r.Hops, r.Metrics, r.Extra = slices.Clone(r.Hops), maps.Clone(r.Metrics), maps.Clone(r.Extra)
	}
	c.Rules = slices.Clone(h.Rules)
	if h.MPTCP != nil {
		m := *h.MPTCP
		m.Endpoints = slices.Clone(m.Endpoints)
		c.MPTCP = &m
	}
	c.Absent = slices.Clone(h.Absent)
	c.Sysctls = make(map[string]Sysctl, len(h.Sysctls))
	maps.Copy(c.Sysctls, h.Sysctls)
	return c
}

// Clone is a copy of a link as Host.Clone makes it.
func (l Link) Clone() Link {
	if l.Bond != nil {
		b := *l.Bond
		b.Ports, b.Options = slices.Clone(b.Ports), maps.Clone(b.Options)
		b.Own = copied(b.Own)
		l.Bond = &b
	}
	if l.OVS != nil {
		b := *l.OVS
		b.Ports, b.Disabled, b.Buckets = slices.Clone(b.Ports), slices.Clone(b.Disabled), maps.Clone(b.Buckets)
		l.OVS = &b
	}
	l.Port = copied(l.Port)
	l.VLAN, l.GuestQueues = copied(l.VLAN), copied(l.GuestQueues)
	l.Addresses, l.Leases, l.NoBroadcast = slices.Clone(l.Addresses), slices.Clone(l.Leases), slices.Clone(l.NoBroadcast)
	l.AddressSettings = maps.Clone(l.AddressSettings)
	l.NexthopObjects = slices.Clone(l.NexthopObjects)
	l.Qdiscs = slices.Clone(l.Qdiscs)
	l.Offloads, l.Extra = maps.Clone(l.Offloads), maps.Clone(l.Extra)
	if l.Device != nil {
		d := *l.Device
		d.Rings, d.Channels = copied(d.Rings), copied(d.Channels)
		d.Coalescing = maps.Clone(d.Coalescing)
		l.Device = &d
	}
	return l
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}
