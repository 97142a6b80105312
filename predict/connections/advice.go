package connections

import (
	"fmt"
	"slices"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/whatif"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Advice is one change that would let the program carry more.
type Advice struct {
	// Change is what to set, How in whose words and where.
	Change string `json:"change"`
	How    string `json:"how,omitempty"`
	// Connections is how many there are with it.
	Connections int `json:"connections_count,omitempty"`
	// Rate is what to expect with it; zero where that hangs on addresses that
	// are not chosen yet.
	Rate unit.BitRate `json:"rate_bps,omitempty"`
}

const (
	// worth is the gain from which on a change is named: below it the model does
	// not tell two rates apart.
	worth = 1.03
	// enough is the part of the best rate at which a smaller number of
	// connections does: more of them cost cores and windows.
	enough = 0.98
)

// Advise returns what would carry more than now does in that direction, what
// costs least first; none where nothing of the program's or of the hosts'
// hashes gains. Changes are tried by the model, one by one, and together where
// one alone gains nothing.
func (q Question) Advise(d flow.Direction, now predict.Prediction) []Advice {
	o, err := q.Opened()
	if err != nil || now.Rate == 0 {
		return nil
	}
	a := adviser{q: q, d: d, now: now, opened: o}
	a.raise(q, "", now.Rate)
	a.choose()
	a.widen()
	a.rehash()
	if len(a.found) == 0 {
		a.alone()
	}
	return a.found
}

type adviser struct {
	q      Question
	d      flow.Direction
	now    predict.Prediction
	opened Opened
	found  []Advice
}

// gains reports a rate above what is expected now.
func (a *adviser) gains(rate unit.BitRate) bool { return rate > a.now.Rate*worth }

// raise tries more connections, and adds the smallest number that does, where it
// carries more than base; before is what has to be changed as well.
func (a *adviser) raise(q Question, before string, base unit.BitRate) bool {
	knob, ok := a.opened.Use.Program.Knob()
	if !ok {
		return false
	}
	var tried []Advice
	best := unit.BitRate(0)
	for n := 2; n <= min(knob.Most, 64); n *= 2 {
		if n <= a.opened.Use.Value(knob.Key) {
			continue
		}
		more := q
		more.Use = a.opened.Use.With(knob.Key, n)
		o, err := more.Opened()
		if err != nil {
			return false
		}
		p, err := predict.Predict(q.Fabric, quick(more.traffic(o, a.d, predict.PortsKernel)))
		if err != nil {
			return false
		}
		best = max(best, p.Rate)
		tried = append(tried, Advice{Change: before + knob.Write(n), How: a.opened.Use.Program.More, Connections: o.Connections, Rate: p.Rate})
	}
	i := slices.IndexFunc(tried, func(t Advice) bool { return t.Rate >= best*enough })
	if i < 0 || tried[i].Rate <= base*worth {
		return false
	}
	a.found = append(a.found, tried[i])
	return true
}

// quick leaves out what only a table shows.
func quick(t predict.Traffic) predict.Traffic {
	t.ChosenOnly = true
	return t
}

// choose tries chosen source ports, where the program has a way.
func (a *adviser) choose() {
	by := a.opened.Use.Program.ChosenBy
	if by == "" || a.opened.Connections < 2 {
		return
	}
	p, err := predict.Predict(a.q.Fabric, quick(a.q.traffic(a.opened, a.d, predict.PortsChosen)))
	if err == nil && a.gains(p.Rate) {
		a.found = append(a.found, Advice{Change: "chosen source ports", Connections: a.opened.Connections, Rate: p.Rate,
			How: fmt.Sprintf("%s: `linerate steer pick --for %s`", by, a.opened.Use.Program.Name)})
	}
}

// widen tries every pair of addresses that the hosts have.
func (a *adviser) widen() {
	use, ok := a.opened.Use.Widened(a.opened.Had)
	if !ok {
		return
	}
	wide := a.q
	wide.Use = use
	o, err := wide.Opened()
	if err != nil {
		return
	}
	p, err := predict.Predict(a.q.Fabric, quick(wide.traffic(o, a.d, predict.PortsKernel)))
	if err == nil && a.gains(p.Rate) {
		a.found = append(a.found, Advice{Change: use.String(), How: use.Program.Spread, Connections: o.Connections, Rate: p.Rate})
	}
}

// rehash tries a hash of ports on the hosts, then on what is between them too.
func (a *adviser) rehash() {
	ports := netstate.Layer34.String()
	for _, try := range []struct{ changes, change string }{
		{"policy=" + ports, "transmit hash policy " + ports + " on both hosts"},
		{"policy=" + ports + ",switch_hash=" + ports, "transmit hash policy " + ports + " on both hosts, a hash of ports on the switch"},
	} {
		changed, ok := a.changed(try.changes)
		if !ok {
			continue
		}
		p, err := changed.Predict(a.d)
		if err == nil && a.gains(p.Rate) && !a.have(p.Rate) {
			a.found = append(a.found, Advice{Change: try.change, Connections: a.opened.Connections, Rate: p.Rate})
			a.raise(changed, try.change+", and ", p.Rate)
			a.addresses()
			return
		}
		if len(a.found) == 0 && a.raise(changed, try.change+", and ", a.now.Rate) {
			a.addresses()
			return
		}
	}
}

// have reports that what was found carries as much.
func (a *adviser) have(rate unit.BitRate) bool {
	return slices.ContainsFunc(a.found, func(f Advice) bool { return f.Rate*worth >= rate })
}

// changed is the question with a change laid over the fabric.
func (a *adviser) changed(text string) (Question, bool) {
	w, err := whatif.Parse(text)
	if err != nil {
		return a.q, false
	}
	q := a.q
	q.Fabric, q.Measure, _, err = w.Apply(a.q.Fabric, a.q.Measure)
	if err != nil {
		return a.q, false
	}
	for _, p := range q.Fabric.Paths {
		if p.From == q.Path.From && p.To == q.Path.To {
			q.Path = p
		}
	}
	return q, true
}

// addresses adds the way that leaves the hash as it is, where addresses decide.
func (a *adviser) addresses() {
	spread := a.opened.Use.Program.Spread
	if spread == "" || a.opened.Had > 1 || !slices.ContainsFunc([]string{a.q.Path.From, a.q.Path.To}, func(name string) bool { return byAddresses(a.q.Fabric.Hosts[name]) }) {
		return
	}
	a.found = append(a.found, Advice{Change: "another address for each link", How: spread + "; `linerate steer addresses` names addresses that take different links"})
}

// byAddresses reports a bond that hashes addresses and no ports.
func byAddresses(h netstate.Host) bool {
	return slices.ContainsFunc(h.Links, func(l netstate.Link) bool {
		return l.Bond != nil && l.Bond.Mode.Hashes() && (l.Bond.HashPolicy == netstate.Layer23 || l.Bond.HashPolicy == netstate.Encap23)
	})
}

// alone says of a program with one connection and no option for several what
// carries one connection over several links.
func (a *adviser) alone() {
	_, several := a.opened.Use.Program.Knob()
	if placed := a.now.Limit == record.SingleLink || a.now.Limit == record.LineRate; several || !placed || a.now.Rate*worth > a.now.Ceiling {
		return
	}
	a.found = append(a.found, Advice{Change: "one connection over several links", How: a.opened.Use.Program.What + " has no option for several connections: MPTCP (`linerate steer mptcp`), or a faster link"})
}
