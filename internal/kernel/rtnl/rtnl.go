// Package rtnl speaks rtnetlink: it reads links, bonds, addresses, queueing
// disciplines, routes and rules of one network namespace into netstate, and
// builds links for labs. It decodes the kernel's messages itself and keeps
// what it does not know; it must never judge what it reads.
package rtnl

import (
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// Reading is every link of a namespace, with what could not be read.
type Reading struct {
	// Links are in order of their index.
	Links []netstate.Link
	// Missing says what is not in Links and why, one line each.
	Missing []string
}

// LinkCounters is one link's counters and those of its outgoing queues.
type LinkCounters struct {
	Link     string
	Counters netstate.Counters
	// Queue counters are the root qdisc's, which counts for its children;
	// the kernel keeps them in 32 bits. Overlimits are the children's where
	// the root shapes nothing itself. The backlog is without what netem at
	// the root only delays: packets on a wire that is long are in no queue.
	// Below a shaper netem is the queue, and what it delays counts.
	QdiscDrops      uint64
	QdiscOverlimits uint64
	QdiscRequeues   uint64
	QdiscBacklog    unit.Bytes
	// QdiscThrottled sums fq's count of flows held back.
	QdiscThrottled uint64
	// Carrier is set while the link is up and its lower layer is; it came and
	// went CarrierChanges times. Port is set for a port of a bond.
	Carrier        bool
	CarrierChanges uint64
	Port           *netstate.BondPort
}
