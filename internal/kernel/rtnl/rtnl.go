// Package rtnl speaks rtnetlink: it reads links, bonds, addresses, queueing
// disciplines, routes and rules of one network namespace into netstate, and
// builds links for labs. It decodes the kernel's messages itself and keeps
// what it does not know; it must never judge what it reads.
package rtnl

import "github.com/linerate/linerate/netstate"

// Reading is every link of a namespace, with what could not be read.
type Reading struct {
	// Links are in order of their index.
	Links []netstate.Link
	// Missing says what is not in Links and why, one line each.
	Missing []string
}

// LinkCounters is one link's counters and those of its outgoing queues.
type LinkCounters struct {
	Link string
	netstate.LinkCounters
	// Carrier is set while the link is up and its lower layer is; it came and
	// went CarrierChanges times. Port is set for a port of a bond.
	Carrier        bool
	CarrierChanges uint64
	Port           *netstate.BondPort
}

// Links is Handle.Links of a socket that is opened for it.
func Links() ([]netstate.Link, error) {
	h, err := Open()
	if err != nil {
		return nil, err
	}
	defer h.Close()
	return h.Links()
}
