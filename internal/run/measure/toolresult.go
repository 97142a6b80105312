package measure

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/predict/tunnel"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// toolResults turns what the programs reported into the ends of a round, and
// those into results.
func (r *round) toolResults(all []*pairing) ([]record.Trial, float64, error) {
	for _, t := range r.trials {
		for _, d := range t.spec.Direction.Ways() {
			var mine []*pairing
			for _, p := range all {
				if p.trial == t && p.way.name == d {
					mine = append(mine, p)
				}
			}
			if err := t.addToolEnds(mine); err != nil {
				return nil, 0, err
			}
		}
		r.ends = append(r.ends, t.ends...)
	}
	r.cut()
	var results []record.Trial
	for _, t := range r.trials {
		t.warmUp = r.warmUp
		t.notes = append(t.notes, r.notes...)
		out, err := t.result(stopDuration)
		if err != nil {
			return nil, 0, err
		}
		t.toolSays(&out, all)
		results = append(results, out)
	}
	return results, r.ends.counted().Dip(), nil
}

// addToolEnds makes the two ends of a way from the rows of its programs: a
// sample at each edge of a common grid, between which bytes came evenly.
func (t *trial) addToolEnds(mine []*pairing) error {
	var streams []agentapi.ToolStream
	var named []agentapi.Stream
	for _, p := range mine {
		for _, s := range p.received {
			stream := agentapi.Stream{Lane: p.lane, Sport: s.Client.Port(), Dport: s.Server.Port()}
			streams, named = append(streams, s), append(named, stream)
		}
	}
	if len(mine) == 0 || len(streams) == 0 {
		return nil
	}
	w := mine[0].way
	begin, until, err := commonTime(streams)
	if err != nil {
		return fmt.Errorf("read %s's report on %s: %w", t.spec.Tool, w.to, err)
	}
	t.streams[w.name] = named
	in := &end{host: w.to, way: w, links: physical(t.cfg.Network.Host(w.to), w.lanes, false)}
	out := &end{host: w.from, way: w, sending: true, links: physical(t.cfg.Network.Host(w.from), w.lanes, true)}
	steps := int(until.Sub(begin) / toolInterval)
	for k := range steps + 1 {
		at := begin.Add(time.Duration(k) * toolInterval)
		s := agentapi.Sample{At: at.Sub(begin)}
		for _, stream := range streams {
			s.Bytes = append(s.Bytes, carriedBy(stream, at))
		}
		s = beside(s, mine[0].server.said.Samples, at, begin)
		s.TCP = socketsOf(mine[0].server.said.Samples, named, true, at)
		in.samples = append(in.samples, s)
		out.samples = append(out.samples, s)
	}
	shift := clockShift(mine[0].client, mine[0].received)
	for k := range out.samples {
		at := begin.Add(out.samples[k].At + shift)
		out.samples[k] = beside(out.samples[k], mine[0].client.Samples, at, begin.Add(shift))
		out.samples[k].TCP = socketsOf(mine[0].client.Samples, named, false, at)
	}
	if t.spec.Direction == flow.Both { // a host's links are counted in one end
		for k := range out.samples {
			out.samples[k].Links = nil
		}
	}
	t.ends = append(t.ends, in, out)
	return nil
}

// commonTime is the time that all streams ran in, by their host's clock. A
// stream's rows begin with its connection and end with its last byte, so its
// first and last row are left out: they hold time in which others did not run,
// or in which buffers drained. Too little of it is
// errNoCommonTime.
func commonTime(streams []agentapi.ToolStream) (begin, end time.Time, err error) {
	for i, s := range streams {
		if len(s.Rows) < 4 || s.Rows[0].From.IsZero() {
			return begin, end, fmt.Errorf("%w: of %d one has %d rows", errNoCommonTime, len(streams), len(s.Rows))
		}
		from, until := s.Rows[1].From, s.Rows[len(s.Rows)-2].Until
		if i == 0 || from.After(begin) {
			begin = from
		}
		if i == 0 || until.Before(end) {
			end = until
		}
	}
	if both := end.Sub(begin); both < 2*toolInterval {
		return begin, end, fmt.Errorf("%w: the last of %d began %.1f s before the first ended", errNoCommonTime, len(streams), both.Seconds())
	}
	return begin, end, nil
}

// errNoCommonTime is what a tool's programs cannot be added up for.
var errNoCommonTime = errors.New("its streams share no time")

// carriedBy is a stream's bytes until a moment: of the row that holds it, its
// part.
func carriedBy(s agentapi.ToolStream, at time.Time) uint64 {
	sum := 0.0
	for _, r := range s.Rows {
		length := r.Until.Sub(r.From).Seconds()
		if length <= 0 {
			continue
		}
		share := at.Sub(r.From).Seconds() / length
		sum += float64(r.Bytes) * min(max(share, 0), 1)
	}
	return uint64(math.Round(sum))
}

// clockShift is what the sender's clock is ahead of the receiver's, as near as
// the beginning of the traffic tells: the sender samples from the moment its
// program started, and its first byte arrives at once.
func clockShift(client agentapi.ToolEndReply, received []agentapi.ToolStream) time.Duration {
	if len(client.Samples) == 0 || len(received) == 0 || len(received[0].Rows) == 0 {
		return 0
	}
	return client.Samples[0].At.Sub(received[0].Rows[0].From)
}

// cut opens the window behind the warm-up, of which the first row was left out
// already, and ends it where it is as long as was asked for.
func (r *round) cut() {
	s := r.ends.series()
	least := int(toolWarmUp/toolInterval) - 1
	first := min(max(least, 0), max(len(s)-2, 0))
	if w := s.Window(); w.Over && w.First > first && w.First < len(s)-2 {
		first = w.First
	}
	r.open(s, first)
	keep := len(s)
	if d := r.trials[0].spec.Duration; d > 0 {
		keep = min(keep, first+max(int(d/toolInterval), 1))
	}
	for _, e := range r.ends {
		e.samples = e.samples[:min(keep+1, len(e.samples))]
	}
}

// toolSays lays the tool's own figures beside what was counted in the common
// time.
func (t *trial) toolSays(out *record.Trial, all []*pairing) {
	out.Tool, out.Ports = t.spec.Tool, "kernel"
	out.Method = record.Method{}
	t.addWire(out)
	version := ""
	out.Claimed = 0 // the clients say it themselves
	for _, p := range all {
		if p.trial != t {
			continue
		}
		version = p.server.version
		for _, s := range p.client.Streams {
			if d := s.Total.Length; d > 0 {
				out.Claimed += unit.FromBytes(float64(s.Total.Bytes), d.Seconds())
			}
		}
	}
	out.Notes = append(out.Notes, version+"; counted by its servers' rows in the time that all streams ran in")
	if out.Goodput > 0 && math.Abs(float64(out.Claimed/out.Goodput)-1) > claimTold {
		why := "each holds what its buffer swallowed, over its own time"
		if out.Claimed < out.Goodput {
			why = "each is over its own time, slow start included"
		}
		out.Notes = append(out.Notes, fmt.Sprintf("the clients' own averages add up to %v, %+.1f %% from what arrived: %s", out.Claimed, 100*(float64(out.Claimed/out.Goodput)-1), why))
	}
	if t.spec.protocol() == protocolUDP {
		t.toolDatagrams(out, all)
	}
}

// addWire adds headers to what the wire carried: a tool does not count
// segments, so full ones are taken.
func (t *trial) addWire(out *record.Trial) {
	out.Wire = 0
	for _, l := range out.Lanes {
		full := out.MTU - framing.HeaderBytes(t.spec.protocol(), l.Src.Is6())
		if full > 0 {
			out.Wire += l.Goodput * unit.BitRate(1+headerBytes(t.spec.protocol(), l.Src.Is6(), tunnel.Stack{})/float64(full))
		}
	}
}

// claimTold is the difference between both figures from which it is said why.
const claimTold = 0.01

// toolDatagrams adds what the servers say of datagrams, over their whole time.
func (t *trial) toolDatagrams(out *record.Trial, all []*pairing) {
	type ends struct {
		src          netip.Addr
		sport, dport uint16
	}
	byEnds := make(map[ends]agentapi.ToolStream)
	for _, p := range all {
		if p.trial == t {
			for _, s := range p.received {
				byEnds[ends{p.lane.Src, s.Client.Port(), s.Server.Port()}] = s
			}
		}
	}
	for i := range out.Lanes {
		l := &out.Lanes[i]
		s := byEnds[ends{l.Src, l.Sport, l.Dport}]
		l.UDP = &record.UDP{Sent: s.Packets, Lost: min(s.Lost, s.Packets), Received: s.Packets - min(s.Lost, s.Packets), Reordered: s.Late, JitterMS: unit.Milliseconds(s.Jitter)}
		l.UDP.LossRatio = lossRatio(*l.UDP)
		if l.UDP.Received > 0 {
			l.UDP.Payload = int((uint64(s.Total.Bytes) + l.UDP.Received/2) / l.UDP.Received)
			*l.UDP = inWindow(*l.UDP, l.Goodput, out.Window)
		}
	}
	t.addDatagrams(out)
}
