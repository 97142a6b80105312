package probe

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/hashsurvey"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/traffic/sampling"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// A burst of known size leaves one link of each side that has carried it. If
// only one link carried so much, it is the flow's, whatever else was there;
// if others come near it, other traffic hides the flow and a larger burst must
// tell. The same holds for acknowledgements, which the receiver's TCP counts.
const (
	carriedShare = 0.95
	otherShare   = 0.7
	leastAcks    = 5 // fewer could be a neighbour's
)

// Counters are read at once, and again for as long as it may take: most
// drivers count as packets go, some write their counters up once a second.
const (
	glance       = 20 * time.Millisecond
	patience     = 300 * time.Millisecond
	slowCounters = 2500 * time.Millisecond
)

// burstTime is how long a burst may take to arrive.
const burstTime = 20 * time.Second

// bursts are the sizes to try in each direction, together at most half of
// what may be sent for one flow.
func bursts(size unit.Bytes) []unit.Bytes {
	return []unit.Bytes{size / 16, size / 8, size / 2 * 5 / 8}
}

// look sends bursts of one flow, each larger than the last, until every side
// shows which link is the flow's. Data goes there, and its acknowledgements
// come back; where those are too few among other traffic, data is sent the
// other way, in a connection whose packets have the very addresses and ports
// that the acknowledgements have.
func (r *runner) look(ctx context.Context, f flow.Frame) (seen hashsurvey.SeenFlow, repeats int, err error) {
	seen = hashsurvey.SeenFlow{Frame: f}
	for _, side := range hashsurvey.Sides() {
		seen.Links[side] = -1
		if r.state.Links[side] == 1 {
			seen.Links[side] = 0
		}
	}
	sent := 0
	for _, size := range bursts(r.cfg.Size) {
		for _, sender := range [2]int{0, 1} {
			if r.decided(seen, hashsurvey.Sides()...) {
				return seen, max(sent-1, 0), nil
			}
			if sender == 0 && sent > 0 && r.decided(seen, dataSides(0)...) {
				continue // only the way back is open
			}
			err := r.burst(ctx, f, sender, size, &seen)
			if err != nil && sender == 1 && ctx.Err() == nil && !r.oneWay {
				r.oneWay = true
				r.notes = append(r.notes, "the return path is judged by acknowledgements alone: "+err.Error())
			}
			if err != nil && (sender == 0 || ctx.Err() != nil) {
				return seen, sent, err
			}
			sent++
			r.log.Debug("burst", "flow", f.Tuple, "from", r.ends[sender].host.Name, "bytes", size, "links", seen.Links)
		}
	}
	return seen, max(sent-1, 0), nil
}

// dataSides and ackSides are what a burst from A (0) or B (1) shows.
func dataSides(sender int) []hashsurvey.Side {
	return [2][]hashsurvey.Side{{hashsurvey.NearOut, hashsurvey.FarIn}, {hashsurvey.FarOut, hashsurvey.NearIn}}[sender]
}

func ackSides(sender int) []hashsurvey.Side { return dataSides(1 - sender) }

// decided reports whether each of the sides that matters shows a link.
func (r *runner) decided(seen hashsurvey.SeenFlow, sides ...hashsurvey.Side) bool {
	return !slices.ContainsFunc(sides, func(side hashsurvey.Side) bool { return seen.Links[side] < 0 && !r.state.Ignore[side] })
}

// burst sends one burst of the flow from A (0) or B (1), and notes which links
// it took.
func (r *runner) burst(ctx context.Context, f flow.Frame, sender int, size unit.Bytes, seen *hashsurvey.SeenFlow) error {
	if sender == 1 && r.oneWay {
		return nil
	}
	c, err := r.open(ctx, f, sender)
	if err != nil {
		return err
	}
	defer c.close()
	if err := sampling.Pause(ctx, r.lag); err != nil {
		return err
	}
	if err := c.sample(ctx); err != nil {
		return err
	}
	c.before = c.latest
	if _, err := ask.Call(ctx, c.at(sender), agentapi.Start, agentapi.StartRequest{Session: c.source, Limit: size}); err != nil {
		return fmt.Errorf("send from %s: %w", r.ends[sender].host.Name, err)
	}
	r.sent += size
	begun := time.Now()
	for c.latest.arrived < uint64(size) {
		if time.Since(begun) > burstTime {
			return fmt.Errorf("send %v from %s to %s: %d bytes arrived in %v", size, c.lane.Src, c.lane.Dst, c.latest.arrived, burstTime)
		}
		if err := sampling.Pause(ctx, glance); err != nil {
			return err
		}
		if err := c.sample(ctx); err != nil {
			return err
		}
	}
	return r.read(ctx, c, size, seen)
}

// read reads the counters until they show the burst on every side, or for as
// long as counters may take.
func (r *runner) read(ctx context.Context, c *connection, size unit.Bytes, seen *hashsurvey.SeenFlow) error {
	begun := time.Now()
	// The last acknowledgements are still on their way.
	if err := sampling.Pause(ctx, max(glance, c.latest.rtt*3/2)); err != nil {
		return err
	}
	for {
		if err := c.sample(ctx); err != nil {
			return err
		}
		counted := true // the counters have caught up with the burst
		for _, side := range dataSides(c.sender) {
			moved := c.moved(side, bytesOf)
			note(seen, side, carried(moved, uint64(size)))
			counted = counted && float64(sum(moved)) >= carriedShare*float64(size)
		}
		if acks := netstate.Grown32(c.before.segments, c.latest.segments); counted && acks >= leastAcks {
			for _, side := range ackSides(c.sender) {
				note(seen, side, carried(c.moved(side, packetsOf), acks))
			}
		}
		switch took := time.Since(begun); {
		case r.decided(*seen, hashsurvey.Sides()...), counted && took > patience, took > slowCounters:
			return nil
		case !counted && took > patience+2*c.latest.rtt:
			r.lag = slowCounters // the next flow must not inherit this one's
		}
		if err := sampling.Pause(ctx, glance); err != nil {
			return err
		}
	}
}

// note keeps what a burst showed of a side; what an earlier one showed stays.
func note(seen *hashsurvey.SeenFlow, side hashsurvey.Side, link int) {
	if seen.Links[side] < 0 && link >= 0 {
		seen.Links[side] = link
	}
}

// carried is the only link that can have carried the amount; -1 when none has,
// or when others moved nearly as much.
func carried(moved []uint64, amount uint64) int {
	at := -1
	for i, n := range moved {
		switch {
		case float64(n) < otherShare*float64(amount):
		case float64(n) >= carriedShare*float64(amount) && at < 0:
			at = i
		default:
			return -1
		}
	}
	return at
}

func sum(moved []uint64) (total uint64) {
	for _, n := range moved {
		total += n
	}
	return total
}
