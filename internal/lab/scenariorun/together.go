package scenariorun

import (
	"context"
	"fmt"
	"slices"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// together measures several pairs at the same time: a row is what they carried
// in the one window that all share, and was predicted of all of them together.
func (r *run) together(ctx context.Context, c *campaign.Campaign, step string, m scenario.Measurement) error {
	r.result.Tools[m.Tool] = r.cfg.Version
	matrix := matrixOf(m)
	for i, streams := range m.Streams {
		before := len(c.Record().Groups)
		first := len(c.Record().Trials)
		matrix.Streams = []int{streams}
		if err := c.Together(ctx, matrix); err != nil {
			return err
		}
		groups := c.Record().Groups
		if len(groups) == before {
			return failure(c.Record())
		}
		trials := c.Record().Trials[first:]
		joints, err := predict.Together(c.State(), traffic(m, streams))
		if err != nil {
			return err
		}
		row, t := summed(groups[before], trials, joints)
		row.Pairs = len(m.Pairs())
		r.keep(c, step, m, i, row, t)
	}
	return nil
}

// traffic is what a measurement sends, pair by pair.
func traffic(m scenario.Measurement, streams int) (all []predict.Traffic) {
	for _, p := range m.Pairs() {
		one := predict.Between(p.From, p.To, m.Direction, streams)
		one.Protocol, one.Ports, one.SocketBuffer, one.ChosenOnly = m.Protocol, m.Ports, m.Buffer, true
		all = append(all, one)
	}
	return all
}

// summed is the row of trials of one window, and their notes. What each pair's
// finding would say is of the pair alone, so there is none.
func summed(g record.Group, trials []record.Trial, joints []predict.Joint) (scenario.Row, record.Trial) {
	row := scenario.Row{Streams: g.Streams, Measured: g.Goodput, Ceiling: g.Ceiling}
	t := record.Trial{Notes: slices.Clone(g.Notes)}
	for _, one := range trials {
		row.CPUBound = row.CPUBound || one.CPUBound()
		for _, n := range one.Notes {
			t.Notes = append(t.Notes, fmt.Sprintf("%s to %s: %s", one.From, one.To, n))
		}
	}
	for _, j := range joints {
		row.Predicted += j.Together
	}
	if row.Ceiling > 0 {
		row.Predicted = min(row.Predicted, row.Ceiling)
	}
	row.Shares = shares(trials, joints)
	return row, t
}

// sharesAlone are the shares of a pair alone; nil where they cannot be
// predicted.
func sharesAlone(c *campaign.Campaign, m scenario.Measurement, t record.Trial) []scenario.Share {
	if !m.Fail.IsZero() { // a link that fails has a share of its own time
		return nil
	}
	joints, err := predict.Together(c.State(), traffic(m, t.Streams))
	if err != nil {
		return nil
	}
	return shares([]record.Trial{t}, joints)
}

// shares are what the links carried of every host that could use several, beside
// what was predicted. Each trial of a window has counted a link whole.
func shares(trials []record.Trial, joints []predict.Joint) []scenario.Share {
	type port struct{ host, link string }
	sent, received := make(map[port]unit.BitRate), make(map[port]unit.BitRate)
	for _, t := range trials {
		for _, l := range t.Links {
			at := port{l.Host, l.Link}
			sent[at], received[at] = max(sent[at], l.TxPayload), max(received[at], l.RxPayload)
		}
	}
	var all []scenario.Share
	for _, j := range joints {
		for _, l := range j.TogetherLinks {
			measured := received
			if l.Transmit {
				measured = sent
			}
			rate, counted := measured[port{l.Host, l.Link}]
			if !counted {
				continue // no link of its own in what was measured: a tunnel's
			}
			add(&all, l, rate)
		}
	}
	all = slices.DeleteFunc(all, func(s scenario.Share) bool { return len(s.Links) < 2 })
	for i := range all {
		all[i].Settle()
	}
	return all
}

// add adds a link's prediction to the share of its host, new or known.
func add(all *[]scenario.Share, l predict.LinkShare, measured unit.BitRate) {
	i := slices.IndexFunc(*all, func(s scenario.Share) bool { return s.Host == l.Host && s.Receives != l.Transmit })
	if i < 0 {
		i = len(*all)
		*all = append(*all, scenario.Share{Host: l.Host, Receives: !l.Transmit})
	}
	s := &(*all)[i]
	k := slices.IndexFunc(s.Links, func(x scenario.LinkShare) bool { return x.Link == l.Link })
	if k < 0 {
		k = len(s.Links)
		s.Links = append(s.Links, scenario.LinkShare{Link: l.Link, Measured: measured})
	}
	s.Links[k].Predicted += l.Load
	s.Chance = s.Chance || l.Chance
}

// pathsOf are a measurement's pairs as a campaign takes them, with what the
// fabric says of each.
func pathsOf(f fabric.Fabric, m scenario.Measurement) (all []fabric.Path) {
	for _, pair := range m.Pairs() {
		path := fabric.Path{From: pair.From, To: pair.To}
		for _, p := range f.Paths {
			if p.Leads(pair.From, pair.To) {
				path = p
				path.From, path.To = pair.From, pair.To
				break
			}
		}
		path.Declared = true
		all = append(all, path)
	}
	return all
}

// mostLinks is the most physical links that one of the measurement's hosts has.
func mostLinks(hosts map[string]netstate.Host, m scenario.Measurement) (n int) {
	if !m.Several() {
		return links(hosts[m.From])
	}
	for _, p := range m.Pairs() {
		n = max(n, links(hosts[p.From]), links(hosts[p.To]))
	}
	return n
}

// hostsOf are the names of a measurement's hosts in a fabric.
func hostsOf(f fabric.Fabric, m scenario.Measurement) []fabric.Host {
	return slices.DeleteFunc(slices.Clone(f.Hosts), func(h fabric.Host) bool {
		return !slices.ContainsFunc(m.Pairs(), func(p scenario.Pair) bool { return p.From == h.Name || p.To == h.Name })
	})
}

// between names a measurement's hosts in a sentence.
func between(m scenario.Measurement) string {
	if m.Several() {
		return fmt.Sprintf("%d pairs at once", len(m.Pairs()))
	}
	return fmt.Sprintf("%s to %s", m.From, m.To)
}
