package scenariorun

import (
	"context"
	"errors"
	"fmt"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// campaign measures with linerate's own engine, or with a program that it runs
// as a user would.
func (r *run) campaign(ctx context.Context, c *campaign.Campaign, step string, m scenario.Measurement) error {
	matrix := matrixOf(m)
	r.result.Tools[m.Tool] = r.cfg.Version
	if m.Tool != scenario.Linerate {
		said, err := version(ctx, m.Tool)
		if err != nil {
			return err
		}
		r.result.Tools[m.Tool] = said
		matrix.Base.Tool, matrix.Base.Block = string(m.Tool), blockOf(m)
	}
	if m.Protocol != scenario.ProtocolTCP {
		matrix.Base.Protocol = m.Protocol
	}
	r.fail(&matrix, m)
	if len(m.Aliases) > 0 {
		return r.aliases(ctx, c, step, m, matrix)
	}
	for i, streams := range m.Streams {
		matrix.Streams = []int{streams}
		t, err := trialOf(ctx, c, matrix)
		if err != nil {
			return err
		}
		row := rowOf(t)
		if row.Outage, err = r.outage(c, m, t); err != nil {
			return err
		}
		if m.Tool == scenario.Linerate {
			row.Shares = sharesAlone(c, m, t)
		}
		r.keep(c, step, m, i, row, t)
	}
	return nil
}

// trialOf measures a matrix of one trial.
func trialOf(ctx context.Context, c *campaign.Campaign, m campaign.Matrix) (record.Trial, error) {
	before := len(c.Record().Trials)
	if err := c.Run(ctx, m); err != nil {
		return record.Trial{}, err
	}
	trials := c.Record().Trials
	if len(trials) == before {
		return record.Trial{}, failure(c.Record())
	}
	return trials[len(trials)-1], nil
}

// matrixOf is what a measurement asks of every number of streams.
func matrixOf(m scenario.Measurement) campaign.Matrix {
	base := measure.Spec{Socket: record.Socket{NoDelay: m.NoDelay, SndBuf: m.Buffer, RcvBuf: m.Buffer}}
	return campaign.Matrix{Base: base, Ports: m.Ports, Duration: m.Duration, Directions: []flow.Direction{m.Direction}}
}

// aliases measures with each number of addresses: what the clients report, as
// whoever adds their reports up does, beside what arrived.
func (r *run) aliases(ctx context.Context, c *campaign.Campaign, step string, m scenario.Measurement, matrix campaign.Matrix) error {
	err := c.AliasSweep(ctx, matrix, campaign.Aliases{Counts: m.Aliases, Direction: m.Direction})
	trials := c.Record().Trials
	for i, t := range trials {
		row := rowOf(t)
		if t.Claimed > 0 {
			row.Measured, row.Wire = t.Claimed, t.Goodput
		}
		r.keep(c, step, m, i, row, t)
	}
	if err == nil && len(trials) < len(m.Aliases) {
		err = failure(c.Record())
	}
	return err
}

// failure is why a trial came to nothing.
func failure(r record.Record) error {
	if n := len(r.Failures); n > 0 {
		return errors.New(r.Failures[n-1].Error)
	}
	return errors.New("nothing was measured")
}

// rowOf is a trial's row, at the lab's scale.
func rowOf(t record.Trial) scenario.Row {
	return scenario.Row{Streams: t.Streams, Measured: t.Goodput, Predicted: t.Predicted, Ceiling: t.Ceiling, CPUBound: t.CPUBound()}
}

// keep brings a row to the published scale, judges and keeps it, with the
// trial's finding.
func (r *run) keep(c *campaign.Campaign, step string, m scenario.Measurement, i int, row scenario.Row, t record.Trial) {
	scale := unit.BitRate(r.now.Scale)
	row.Step, row.Direction, row.Tool, row.Kind = step, m.Direction, string(m.Tool), m.Kinds[i]
	row.From, row.To = m.Names()
	row.Ports = scenario.BondPorts(hostsOf(r.now.Fabric, m))
	for _, rate := range []*unit.BitRate{&row.Measured, &row.Predicted, &row.Ceiling, &row.Wire} {
		*rate *= scale
	}
	if o := row.Outage; o != nil {
		for _, rate := range []*unit.BitRate{&o.Before, &o.During, &o.PredictedDuring, &o.After} {
			*rate *= scale
		}
	}
	if tuned := row.Tuned; tuned != nil {
		for _, rate := range []*unit.BitRate{&tuned.Before, &tuned.Forward, &tuned.Reverse, &tuned.LimitedAt} {
			*rate *= scale
		}
	}
	for _, s := range row.Shares {
		for k := range s.Links {
			s.Links[k].Measured *= scale
			s.Links[k].Predicted *= scale
		}
	}
	at := place{step, row.From, row.To, string(m.Direction), m.Tool, m.Rows(), i}
	r.measured[at] = row.Measured
	if len(m.Published) > 0 {
		row.Published = &m.Published[i]
	}
	if len(m.Ratios) > 0 {
		row.PublishedRatio = &m.Ratios[i]
		at.step = m.Of
		if base := r.measured[at]; base > 0 {
			ratio := float64(row.Measured / base)
			row.MeasuredRatio = &ratio
		}
	}
	row.CPUBound = row.CPUBound && row.Short()
	row.Judge(m.Within, mostLinks(c.State().Hosts, m))
	if row.Verdict == scenario.Off && t.Direction != "" {
		row.Trial = &t
	}
	if t.Finding != nil {
		row.Limit = t.Finding.Cause
		r.result.Findings = append(r.result.Findings, published(*t.Finding, step, scale))
	}
	r.result.Rows = append(r.result.Rows, row)
	for _, n := range t.Notes {
		r.result.Notes = append(r.result.Notes, fmt.Sprintf("%s, %s: %s", step, between(m), n))
	}
	r.tell(Progress{Step: step, Row: &row})
}

// published is a finding with its rates at the published scale; the evidence is
// the lab's own.
func published(f record.Finding, step string, scale unit.BitRate) record.Finding {
	f.Step = step
	f.Rate *= scale
	f.Ceiling *= scale
	f.Expected *= scale
	if f.Next != nil {
		next := *f.Next
		next.Rate *= scale
		f.Next = &next
	}
	return f
}

// links are the physical ones of a host.
func links(h netstate.Host) (n int) {
	for _, l := range h.Links {
		if l.Kind == "veth" {
			n++
		}
	}
	return n
}
