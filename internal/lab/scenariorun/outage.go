package scenariorun

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/linerate/linerate/internal/lab/scenario"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/failover"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// fail has a link fail while the matrix is measured, as the measurement says.
func (r *run) fail(matrix *campaign.Matrix, m scenario.Measurement) {
	if m.Fail.IsZero() {
		return
	}
	matrix.Base.Fail = &measure.Failing{Host: m.Fail.Port.Host, Link: m.Fail.Port.Link, At: m.Fail.At, For: m.Fail.For}
	if m.FailKind == scenario.Silent {
		matrix.Base.Silent = r.lab.Cable(m.Fail.Port)
	}
}

// outage is what the failure did, at the lab's scale, and what was to be
// expected of it; nil where none was asked for.
func (r *run) outage(c *campaign.Campaign, m scenario.Measurement, t record.Trial) (*scenario.Outage, error) {
	if m.Fail.IsZero() {
		return nil, nil
	}
	o, err := outageOf(t, m)
	if err != nil {
		return nil, err
	}
	host := c.State().Hosts[m.Fail.Port.Host]
	link, _ := host.Link(m.Fail.Port.Link)
	bond, _ := host.Link(link.Master)
	if bond.Bond == nil { // nobody else can carry: it stands still until the link is back
		bond.Bond = &netstate.Bond{}
	}
	gap := failover.Failover(*bond.Bond, m.FailKind == scenario.Silent, m.Fail.For, r.rtt(m))
	o.GapLow, o.GapHigh, o.Why = unit.Milliseconds(gap.Low), unit.Milliseconds(gap.High), gap.Why
	sent := predict.Between(m.From, m.To, m.Direction, t.Streams)
	sent.Ports, sent.SocketBuffer, sent.ChosenOnly = m.Ports, m.Buffer, true
	without, err := predict.Predict(lost(c.State(), m.Fail.Port), sent)
	if err == nil { // without a link left nothing is carried
		o.PredictedDuring = without.Rate
	}
	return &o, nil
}

// rtt is the round trip between a measurement's hosts, as the file says.
func (r *run) rtt(m scenario.Measurement) time.Duration {
	for _, p := range r.now.Fabric.Paths {
		if p.Joins(m.From, m.To) {
			return p.RTT
		}
	}
	return 0
}

// outageOf reads a trial with a failure and its return.
func outageOf(t record.Trial, m scenario.Measurement) (scenario.Outage, error) {
	o := scenario.Outage{Port: m.Fail.Port.String(), How: m.FailKind, Back: -1}
	is := func(event string) func(record.Outage) bool {
		return func(o record.Outage) bool { return o.Asked && o.Event == event }
	}
	i := slices.IndexFunc(t.Outages, is("down"))
	if i < 0 {
		return o, fmt.Errorf("fail %s: nobody saw it fail", m.Fail.Port)
	}
	down := t.Outages[i]
	o.Moved, o.Retransmits, o.Resolution = len(down.Moved), down.Retransmits, 1000*down.Resolution
	o.Gap = 1000 * down.LongestStall()
	end := last(t.SeriesAt)
	o.Before = mean(t, down.At-1, down.At-down.Resolution)
	back, calm := end, down.At+settled(down)
	if j := slices.IndexFunc(t.Outages, is("up")); j > i {
		up := t.Outages[j]
		back = up.At
		away := up.At - down.At
		for lane, s := range up.Stalled { // a stream that found out after the return only
			if lane < len(down.Stalled) && down.Stalled[lane] >= away-2*down.Resolution {
				o.Gap = max(o.Gap, 1000*(away+s))
			}
		}
		if up.Recovered >= 0 {
			o.Back = 1000 * up.Recovered
		}
		o.After = mean(t, up.At+settled(up), end)
	}
	if calm >= back { // it did not recover: all of it
		calm = down.At
	}
	o.During = mean(t, calm, back)
	return o, nil
}

// settled is how long the rate took to be steady after an event; zero where it
// never was.
func settled(o record.Outage) float64 { return max(o.Recovered, 0) }

func last(at []float64) float64 {
	if len(at) == 0 {
		return 0
	}
	return at[len(at)-1]
}

// mean is the rate between two times since the start of the series, by the
// points that lie within them.
func mean(t record.Trial, from, to float64) unit.BitRate {
	var bits, length float64
	begin := 0.0
	for i, end := range t.SeriesAt {
		if begin >= from-1e-9 && end <= to+1e-9 {
			bits += float64(t.Series[i]) * (end - begin)
			length += end - begin
		}
		begin = end
	}
	if length == 0 {
		return 0
	}
	return unit.BitRate(math.Round(bits / length))
}

// lost is the fabric without a port.
func lost(f predict.Fabric, p scenario.Port) predict.Fabric {
	hosts := make(map[string]netstate.Host, len(f.Hosts))
	for name, h := range f.Hosts {
		h = h.Clone()
		for i := range h.Links {
			if l := &h.Links[i]; name == p.Host && l.Name == p.Link {
				l.Up, l.Carrier = false, false
				if l.Port != nil {
					l.Port.MIIUp, l.Port.Active = false, false
				}
			}
		}
		hosts[name] = h
	}
	f.Hosts = hosts
	return f
}
