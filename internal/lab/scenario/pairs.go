package scenario

import (
	"fmt"
	"slices"
	"strings"
)

// Pair is two hosts of a measurement, the sender of direction forward first.
type Pair struct{ From, To string }

// Pairs are those that a measurement runs at the same time: each of its
// senders with each of its receivers.
func (m Measurement) Pairs() []Pair {
	if len(m.Senders) == 0 {
		return []Pair{{m.From, m.To}}
	}
	var all []Pair
	for _, from := range m.Senders {
		for _, to := range m.Receivers {
			all = append(all, Pair{from, to})
		}
	}
	return all
}

// Several reports more than one pair.
func (m Measurement) Several() bool { return len(m.Senders) > 1 || len(m.Receivers) > 1 }

// Names are the hosts as a row has them: of several, with commas between.
func (m Measurement) Names() (from, to string) {
	if !m.Several() {
		return m.From, m.To
	}
	return strings.Join(m.Senders, ","), strings.Join(m.Receivers, ",")
}

// mostPairs is as many as a lab's processors can be asked to serve at once.
const mostPairs = 64

// pairs checks who sends to whom and fills in From and To.
func (c checker) pairs(at func(...any) []any, m *Measurement) {
	for _, side := range []struct {
		key   string
		hosts []string
	}{{"from", m.Senders}, {"to", m.Receivers}} {
		if len(side.hosts) == 0 { // a key left out is said already
			c.wrong(side.key+": there is no host", "", at(side.key)...)
			return
		}
		for i, name := range side.hosts {
			where := at(side.key, i)
			c.host(name, where...)
			if slices.Contains(side.hosts[:i], name) {
				c.wrong(fmt.Sprintf("%s: %s is there already", side.key, name), "", where...)
			}
		}
	}
	m.From, m.To = m.Senders[0], m.Receivers[0]
	for i, name := range m.Receivers {
		switch {
		case !slices.Contains(m.Senders, name):
		case m.Several():
			c.wrong(fmt.Sprintf("to: %s is among those that send", name), "a host is on one side", at("to", i)...)
		default:
			c.wrong("from and to are the same host", "", at("to")...)
		}
	}
	switch {
	case !m.Several():
	case m.Tool != Linerate || len(m.Aliases) > 0 || !m.Fail.IsZero():
		c.wrong("several pairs at once are measured with linerate, by streams, while nothing fails", "tool: linerate, or one host in from and in to", at("tool")...)
	case len(m.Pairs()) > mostPairs:
		c.wrong(fmt.Sprintf("%d pairs at once, want at most %d", len(m.Pairs()), mostPairs), "name fewer hosts in from or to", at("from")...)
	}
}

// protocol checks what only single pairs of linerate's own streams can be asked.
func (c checker) protocol(at func(...any) []any, m *Measurement) {
	if m.Protocol == "" {
		m.Protocol = ProtocolTCP
	}
	if m.Protocol == ProtocolTCP {
		return
	}
	switch {
	case m.Tool != Linerate || len(m.Aliases) > 0 || m.Several() || !m.Fail.IsZero():
		c.wrong("protocol: MPTCP is measured with linerate, by streams, between two hosts, while nothing fails", "tool: linerate", at("protocol")...)
	case !c.bonded(m.From):
		c.wrong(fmt.Sprintf("protocol: %s has no bond for MPTCP's subflows to be spread over", m.From), "", at("protocol")...)
	}
}

// bonded reports a host with a bond.
func (c checker) bonded(host string) bool {
	h, known := c.s.Fabric.Host(host)
	return known && len(h.Network.Bonds) > 0
}
