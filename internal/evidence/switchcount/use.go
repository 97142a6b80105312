package switchcount

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/fabric/topology"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Ports are the ports of a switch that something is known of, with what hangs on them
// and their channel, in the file's order; speed is that of a host's link, zero unknown.
func Ports(n *topology.Network, name string, speed func(host, link string) unit.BitRate) []record.PortUse {
	var out []record.PortUse
	for _, port := range n.Ports(name) {
		p, _ := n.Port(topology.At{Switch: name, Port: port})
		use := record.PortUse{Port: port, Host: p.Host, Link: p.Link, Switch: p.Switch, PeerPort: p.Port, Speed: n.SpeedOf(topology.At{Switch: name, Port: port}, speed)}
		if c, ok := n.ChannelOf(topology.At{Switch: name, Port: port}); ok {
			use.Channel = c.Name
		}
		out = append(out, use)
	}
	return out
}

// Span is a trial in time.
type Span struct {
	Start       time.Time // of its first byte
	Open, Close time.Time // of its window
}

// leastOf is the share of a window that lies between two refreshes, for their bytes to
// be the window's, and leastSpan the least of it: a refresh is known to a second.
const (
	leastOf   = 0.5
	leastSpan = 2 * time.Second
)

// Over is what the ports carried over a trial, by readings from before it to after it, in
// the order of time. Ports that were not read twice are without counts, and noted.
func Over(ports []record.PortUse, readings []Reading, s Span) record.SwitchUse {
	use := record.SwitchUse{Ports: slices.Clone(ports)}
	first, last := around(readings, s)
	if first < 0 || last <= first {
		use.Notes = append(use.Notes, "its counters were not read before and after the trial")
		return use
	}
	from, to, over := first, last, s.Close.Sub(s.Start)
	if a, b := within(readings, s); b > a {
		if span := readings[b].At.Sub(readings[a].At); span >= leastSpan && span.Seconds() >= leastOf*s.Close.Sub(s.Open).Seconds() {
			from, to, over, use.Window = a, b, span, true
		}
	}
	settled := Settled(readings[:last+1], s.Close, Lag(readings, s.Start, s.Close))
	if !settled {
		use.Notes = append(use.Notes, fmt.Sprintf("it tells its counters anew so rarely that %.0f s after the trial the end was not in them: drops and errors may be more", readings[last].At.Sub(s.Close).Seconds()))
	}
	use.Over = over.Seconds()
	if use.Over <= 0 {
		use.Over = readings[to].At.Sub(readings[from].At).Seconds()
	}
	var lost []string
	for i := range use.Ports {
		p := &use.Ports[i]
		end, ok := readings[last].Ports[p.Port]
		if p.Speed == 0 {
			p.Speed = end.Speed
		}
		p.Attached = end.Attached
		all, known := grown(readings[first:last+1], p.Port)
		part, partKnown := grown(readings[from:to+1], p.Port)
		if !ok || !known || !partKnown {
			lost = append(lost, p.Port)
			continue
		}
		end.Bytes = end.Bytes && (settled || use.Window) // else of a time that nobody knows
		fill(p, end, all, part, use.Over)
	}
	if len(lost) > 0 {
		use.Notes = append(use.Notes, fmt.Sprintf("no counts of %s: not read, or set back meanwhile", strings.Join(lost, ", ")))
	}
	return use
}

func fill(p *record.PortUse, read Port, all, part netstate.Counters, seconds float64) {
	if read.Bytes {
		tx, rx := part.TxBytes, part.RxBytes
		p.TxBytes, p.RxBytes = &tx, &rx
		p.Tx, p.Rx = unit.BitRate(float64(tx)*8/seconds), unit.BitRate(float64(rx)*8/seconds)
	}
	if read.Drops {
		p.TxDrops, p.RxDrops = &all.TxDropped, &all.RxDropped
	}
	if read.Errors {
		p.TxErrors, p.RxErrors = &all.TxErrors, &all.RxErrors
	}
}

// around are the last reading before the first byte, and the first that has all that
// was counted by the end, else the last of all; negative where there is none.
func around(readings []Reading, s Span) (first, last int) {
	first, last = -1, -1
	lag := Lag(readings, s.Start, s.Close)
	for i, r := range readings {
		if !r.At.After(s.Start) {
			first = i
		}
		if r.At.After(s.Close) {
			last = i
			if Settled(readings[:i+1], s.Close, lag) {
				break
			}
		}
	}
	return first, last
}

// within are the first and the last refresh in the window.
func within(readings []Reading, s Span) (a, b int) {
	a = -1
	for i := 1; i < len(readings); i++ {
		at := readings[i].At
		if at.Before(s.Open) || at.After(s.Close) || !refreshed(readings[i-1], readings[i]) {
			continue
		}
		if a < 0 {
			a = i
		}
		b = i
	}
	return max(a, 0), b
}

// grown is what a port counted over readings, step by step; false where a step is not
// known.
func grown(readings []Reading, name string) (netstate.Counters, bool) {
	var sum netstate.Counters
	for i := 1; i < len(readings); i++ {
		step, ok := since(readings[i-1], readings[i], name)
		if !ok {
			return sum, false
		}
		sum = sum.Add(step)
	}
	return sum, len(readings) > 1
}
