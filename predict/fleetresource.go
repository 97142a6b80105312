package predict

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/predict/maxmin"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// resource names what several ways may share: a host's port or card in one
// direction, or a shared limit.
type resource struct {
	host string // "" in a shared limit, whose part says it
	part string // the port, the card, or where the shared limit is
	what string // of a shared limit, in words; "card"
	// side says which end of a way has it; a path's is on neither.
	side  end
	cause record.Cause
	// rate is its capacity. Limits at one place that differ are several.
	rate unit.BitRate
}

// end is an end of a way.
type end uint8

const (
	neither end = iota
	sending
	receiving
)

// new adds a resource.
func (j *joint) new(r resource, capacity float64) int {
	j.capacity, j.of = append(j.capacity, capacity), append(j.of, r)
	j.users, j.latest = append(j.users, 0), append(j.latest, 0)
	return len(j.capacity) - 1
}

// number is the resource's number, new or known.
func (j *joint) number(r resource, capacity float64) int {
	r.rate = unit.BitRate(capacity)
	i, known := j.index[r]
	if !known {
		i = j.new(r, capacity)
		j.index[r] = i
	}
	return i
}

// resources gives each resource of a way's own network its number among all.
func (j *joint) resources(w *way, n *network) []int {
	numbers := make([]int, len(n.capacity))
	for i := range numbers {
		numbers[i] = maxmin.None
	}
	set := func(own int, r resource) {
		if own != maxmin.None {
			numbers[own] = j.number(r, n.capacity[own])
		}
	}
	hosts := func(s side, ids [][]int, cards map[string]slotResource, at end) {
		for i, a := range s.at {
			for p, id := range ids[i] {
				cause := record.LineRate
				if a.caps[p].Shaped {
					cause = record.Shaper
				}
				set(id, resource{host: a.host.Name, part: a.ports[p].Name, side: at, cause: cause})
			}
			for name, c := range cards {
				set(c.number, resource{host: a.host.Name, part: name, what: "card", side: at, cause: record.CardSlot})
			}
		}
	}
	hosts(w.out, n.out, n.outCard, sending)
	hosts(w.in, n.in, n.inCard, receiving)
	for i, id := range n.shared {
		s := n.bounds.shared[i]
		r := resource{part: s.where, what: s.what, side: w.endOf(s), cause: s.cause}
		if s.roles { // one for both roles; forRole names it
			r.side, r.cause = neither, record.SenderCPU
		}
		set(id, r)
	}
	for i, id := range n.between {
		at := fabric.NetworkOf(w.path).Links[i].From
		set(id, resource{host: "switch " + at.Switch, part: at.Port, side: sending, cause: record.LineRate})
	}
	for own, i := range numbers {
		if i == maxmin.None { // of this way alone
			numbers[own] = j.new(resource{}, n.capacity[own])
		}
	}
	return numbers
}

// endOf is the end of the way that a shared limit belongs to.
func (w *way) endOf(s sharedLimit) end {
	at := func(host string) bool { return s.where == host || strings.HasPrefix(s.where, host+":") }
	switch {
	case at(w.sender.Name):
		return sending
	case at(w.receiver.Name):
		return receiving
	}
	return neither
}

// like reports resources of one kind at one end: a bond's ports.
func (r resource) like(other resource) bool {
	return r.host != "" && r.host == other.host && r.side == other.side && r.what == other.what && r.cause == other.cause ||
		r == other
}

// named is the limit that like resources are: "alpha: eth0, eth1, sending", "12
// pairs share its 25 Gbit/s".
func (j *joint) named(like []int) Limit {
	r := j.of[like[0]]
	var parts []string
	users := 0
	l := Limit{Cause: r.cause}
	for _, i := range like {
		l.Rate += unit.BitRate(j.capacity[i])
		parts, users = append(parts, j.of[i].part), max(users, j.users[i])
	}
	l.Where = strings.Join(parts, ", ")
	if r.cause == record.CardSlot && r.host != "" {
		l.Where = "card " + l.Where
	}
	if r.host != "" {
		l.Where = r.host + ": " + l.Where
	}
	switch r.side {
	case sending:
		l.Where += ", sending"
	case receiving:
		l.Where += ", receiving"
	}
	l.Why = fmt.Sprintf("%d pairs share its %s", users, l.Rate)
	if len(like) > 1 {
		l.Why = fmt.Sprintf("%d pairs share their %s", users, l.Rate)
	}
	if r.host == "" {
		l.Why = r.what + "; " + l.Why
	}
	return l
}
