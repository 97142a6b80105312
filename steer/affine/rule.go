package affine

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/steer"
)

// Learned is the map in the form that a file keeps: for flows that
// differ from one of the given ones in one port alone, which field names. To
// and Date are the caller's to set. An error says which of the ports, or of
// the flows, the map does not reach.
func (m *Map) Learned(field string, ports flow.PortRange, flows []flow.Tuple) (flow.LearnedHash, error) {
	l := flow.LearnedHash{Field: field, Ports: ports, Observed: m.Progress.Learned, Checked: m.Checked}
	n := m.known.numberings[0]
	for number := range m.links {
		l.Links = append(l.Links, m.links[n.link(uint8(number))])
	}
	if len(flows) == 0 {
		return l, errors.New("keep a learned hash: no flow is given")
	}
	number := func(t flow.Tuple, port uint16) (uint8, error) {
		link, ok := m.Link(with(t, field, port))
		if !ok {
			return 0, fmt.Errorf("keep a learned hash: %v was not learned", with(t, field, port))
		}
		return n[link], nil
	}
	first, err := number(flows[0], ports.First)
	if err != nil {
		return l, err
	}
	// Each port of the range is an equation; the masks solve all of them.
	var rows []portRow
	for port := int(ports.First); port <= int(ports.Last); port++ {
		value, err := number(flows[0], uint16(port))
		if err != nil {
			return l, err
		}
		rows = insertPort(rows, portRow{uint16(port) ^ ports.First, value ^ first})
	}
	l.Masks = masksOf(rows, bits.Len(uint(len(m.links)-1)))
	for _, t := range flows {
		value, err := number(t, ports.First)
		if err != nil {
			return l, err
		}
		other := t.Dport
		if field == flow.LearnedDport {
			other = t.Sport
		}
		l.Flows = append(l.Flows, flow.LearnedFlow{Src: t.Src, Dst: t.Dst, Port: other, Start: int(value) ^ l.Number(ports.First)})
	}
	return l, nil
}

// with is the flow with another source or destination port.
func with(t flow.Tuple, field string, port uint16) flow.Tuple {
	if field == flow.LearnedDport {
		t.Dport = port
	} else {
		t.Sport = port
	}
	return t
}

// portRow says what flipping some bits of a port does to the link's number.
type portRow struct {
	bits  uint16
	value uint8
}

// insertPort adds a row to those that are reduced to distinct highest bits,
// none of which another row has.
func insertPort(rows []portRow, r portRow) []portRow {
	for _, have := range rows {
		if r.bits&top(have.bits) != 0 {
			r.bits, r.value = r.bits^have.bits, r.value^have.value
		}
	}
	if r.bits == 0 {
		return rows
	}
	for i, have := range rows {
		if have.bits&top(r.bits) != 0 {
			rows[i] = portRow{have.bits ^ r.bits, have.value ^ r.value}
		}
	}
	return append(rows, r)
}

func top(b uint16) uint16 { return 1 << (bits.Len16(b) - 1) }

// masksOf gives each row's highest bit the row's value, and all others none.
func masksOf(rows []portRow, width int) []uint16 {
	masks := make([]uint16, width)
	for _, r := range rows {
		for j := range masks {
			if r.value>>j&1 == 1 {
				masks[j] |= top(r.bits)
			}
		}
	}
	return masks
}

// Rule is a learned hash as a spreader: links count by their number in it.
type Rule struct {
	flow.LearnedHash
	// Shared: of flows with other addresses, or another port that does not vary,
	// it says which share a link, by numbers that need not be the links'. A hash
	// that is affine shifts all of them alike.
	Shared bool
}

var _ steer.Spreader = Rule{}

// Find is the learned hash towards a host's links by one of a flow's ports, of
// flows from Src to Dst: the last one that was learned for those links, in
// whatever order, and for addresses of that family. False for none.
func Find(all []flow.LearnedHash, to, field string, links []string, lane flow.Lane) (Rule, bool) {
	want := slices.Sorted(slices.Values(links))
	for _, l := range slices.Backward(all) {
		if l.To == to && l.Field == field && l.Check() == nil && steer.Is6(l.Flows[0].Src) == steer.Is6(lane.Src) &&
			slices.Equal(want, slices.Sorted(slices.Values(l.Links))) {
			return Rule{LearnedHash: l}, true
		}
	}
	return Rule{}, false
}

// Unnumbered is the rule with Shared set, and with numbers for names of links:
// those of streams that share one are equal, and say no more.
func (r Rule) Unnumbered() Rule {
	r.Shared = true
	names := make([]string, len(r.LearnedHash.Links))
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	r.LearnedHash.Links = names
	return r
}

// Links are the links by number.
func (r Rule) Links() []string { return r.LearnedHash.Links }

// Place says which link takes f, or why that was not learned.
func (r Rule) Place(f flow.Frame) steer.Placement {
	port, other := f.Sport, f.Dport
	if r.Field == flow.LearnedDport {
		port, other = other, port
	}
	at := slices.IndexFunc(r.Flows, func(l flow.LearnedFlow) bool {
		return l.Src == f.Src.Unmap() && l.Dst == f.Dst.Unmap() && l.Port == other
	})
	start := 0
	switch {
	case f.Fragment || f.NoSport || f.NoDport || f.EtherType != 0:
		return steer.Placement{Index: -1, Why: "the switch's hash was learned for whole packets with both ports"}
	case !r.Ports.Contains(port):
		return steer.Placement{Index: -1, Why: fmt.Sprintf("the switch's hash was learned for ports %v, and this is %d", r.Ports, port)}
	case at >= 0 && f.Proto == flow.TCP:
		start = r.Flows[at].Start
	case !r.Shared:
		return steer.Placement{Index: -1, Why: "the switch's hash was learned for other addresses, another port or another protocol"}
	}
	number := r.Number(port) ^ start
	return steer.Placement{Index: number, Link: r.LearnedHash.Links[number], Known: true}
}

// Reach says whether ports decide: addresses may, but that was not learned.
func (r Rule) Reach() steer.Reach {
	if !slices.ContainsFunc(r.Masks, func(m uint16) bool { return m != 0 }) {
		return steer.Reach{Why: "the switch's hash, as a probe learned it, does not read ports"}
	}
	return steer.Reach{Ports: true, Chosen: true, Why: "the switch's hash, as a probe learned it, reads ports"}
}

// Reached is how many of the links flows reach that differ in the learned port
// alone.
func (r Rule) Reached() int {
	var rows []portRow
	for _, m := range r.Masks {
		rows = insertPort(rows, portRow{bits: m})
	}
	return 1 << len(rows)
}
