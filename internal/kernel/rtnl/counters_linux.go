package rtnl

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"syscall"

	"github.com/vishvananda/netlink/nl"

	"github.com/linerate/linerate/internal/kernel/nlattr"
	"github.com/linerate/linerate/unit"
)

// Counters reads the named links' counters and queues, in the order of the
// names, with one message a link and one dump of queues: some tens of
// microseconds on a host with few links. A link that is not there keeps its
// place with zero counters and is part of the error, which is fs.ErrNotExist.
func (h *Handle) Counters(names []string) ([]LinkCounters, error) {
	counters := make([]LinkCounters, len(names))
	places := make(map[int][]int, len(names)) // of a link's index
	var problems []error
	for i, name := range names {
		counters[i].Link = name
		raw, err := h.linkByName(name)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		counters[i].Counters = raw.link.Counters
		counters[i].Carrier, counters[i].Port = raw.link.Up && raw.link.Carrier, raw.port
		// No number before Linux 3.15, and then zero.
		counters[i].CarrierChanges, _ = strconv.ParseUint(raw.link.Extra[keptNumbers[iflaCarrierChanges]], 10, 32)
		places[raw.link.Index] = append(places[raw.link.Index], i)
	}
	qdiscs, err := h.rawQdiscs(syscall.RTM_GETQDISC, syscall.RTM_NEWQDISC, 0)
	if err != nil && !errors.Is(err, nl.ErrDumpInterrupted) {
		problems = append(problems, fmt.Errorf("list queueing disciplines: %w", err))
	}
	for index, at := range places {
		for _, i := range at {
			counters[i].addQueues(index, qdiscs)
		}
	}
	return counters, errors.Join(problems...)
}

// addQueues takes the root's counters: a child's drops and backlog are
// counted in its parents too (qdisc_tree_reduce_backlog), overlimits are not.
func (c *LinkCounters) addQueues(index int, qdiscs []rawQdisc) {
	var below uint64
	var delayed unit.Bytes
	for _, q := range qdiscs {
		if q.index != index || q.parent == parentIngress {
			continue
		}
		c.QdiscThrottled += q.throttled
		if q.parent == parentRoot && q.qdisc.Kind == "netem" && q.qdisc.Rate == 0 {
			delayed = q.qdisc.Backlog - childBacklog(q, qdiscs)
		}
		if q.parent != parentRoot {
			below += q.qdisc.Overlimits
			continue
		}
		c.QdiscDrops = q.qdisc.Drops
		c.QdiscOverlimits = q.qdisc.Overlimits
		c.QdiscRequeues = q.qdisc.Requeues
		c.QdiscBacklog = q.qdisc.Backlog
	}
	if c.QdiscOverlimits == 0 {
		c.QdiscOverlimits = below
	}
	c.QdiscBacklog = max(c.QdiscBacklog-max(delayed, 0), 0)
}

// childBacklog is what waits in the queues right below one.
func childBacklog(parent rawQdisc, qdiscs []rawQdisc) (sum unit.Bytes) {
	for _, q := range qdiscs {
		if q.index == parent.index && q.parent>>16 == parent.handle>>16 && q.parent != parentRoot {
			sum += q.qdisc.Backlog
		}
	}
	return sum
}

func (h *Handle) linkByName(name string) (rawLink, error) {
	request := append(make([]byte, linkHead), nlattr.Encode(iflaName, nl.ZeroTerminated(name))...)
	messages, err := h.ask(syscall.RTM_GETLINK, syscall.RTM_NEWLINK, 0, request)
	if errors.Is(err, syscall.ENODEV) || err == nil && len(messages) == 0 {
		return rawLink{}, fmt.Errorf("read link %s: %w", name, fs.ErrNotExist)
	}
	if err != nil {
		return rawLink{}, fmt.Errorf("read link %s: %w", name, err)
	}
	l, err := decodeLink(messages[0])
	if err != nil {
		return rawLink{}, fmt.Errorf("read link %s: %w", name, err)
	}
	return l, nil
}
