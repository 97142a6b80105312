package measure

import (
	"context"
	"slices"
	"sync"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/record"
)

// chunk is how many echoes are asked for at once while traffic runs: what the
// end of the window cuts off at the most.
const chunk = 10

// loadedSeries is a trial's latency series while its window is open.
type loadedSeries struct {
	trial *trial
	way   way
	*pinger
	reply agentapi.PingReply
}

// pingLoaded sends echoes from each sending host whose trial asks for it until
// stop is called, which waits for what is under way to be cut off. A host that
// cannot is left out: the throughput is what the trial is about.
func (r *round) pingLoaded(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	for _, t := range r.trials {
		if t.spec.Loaded == nil {
			continue
		}
		for _, w := range t.ways() {
			s := &loadedSeries{trial: t, way: w, pinger: newPinger(r.cfg.Network.Endpoints[w.from], w.from, w.lanes[0], t.spec.Loaded.loaded())}
			r.loaded = append(r.loaded, s)
			wg.Go(func() { s.run(ctx) })
		}
	}
	return func() {
		cancel()
		wg.Wait()
	}
}

// loaded is a series that disturbs what runs beside it less than an idle one.
func (p Pings) loaded() Pings {
	if p.Interval == 0 {
		p.Interval = 2 * usualInterval
	}
	return p
}

// ways are what the trial's receiving ends receive, each once.
func (t *trial) ways() []way {
	if t.feed != nil { // only one of the two hosts can be asked
		w := t.ends[0].way
		w.from, w.to, w.lanes = t.spec.From, t.spec.To, t.spec.Lanes
		return []way{w}
	}
	var out []way
	for _, e := range t.ends {
		if !e.sending && len(e.way.lanes) > 0 {
			out = append(out, e.way)
		}
	}
	return out
}

func (s *loadedSeries) run(ctx context.Context) {
	for ctx.Err() == nil {
		reply, err := s.send(ctx, chunk)
		if err != nil {
			return
		}
		s.reply.Sent += reply.Sent
		s.reply.RTTs = append(s.reply.RTTs, reply.RTTs...)
	}
}

// latencies are the series under load, with the load that results say ran.
func (r *round) latencies(results []record.Trial) []record.Latency {
	var out []record.Latency
	for _, s := range r.loaded {
		i := slices.Index(r.trials, s.trial)
		if s.reply.Sent == 0 || i < 0 || i >= len(results) {
			continue
		}
		l := s.summary(s.reply)
		l.From, l.To = s.way.from, s.way.to
		l.Load = &record.Load{Direction: s.trial.spec.Direction, Streams: s.trial.spec.Streams, Goodput: results[i].Goodput}
		out = append(out, l)
	}
	return out
}
