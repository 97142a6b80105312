package tune

import (
	"fmt"
	"time"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// latencyPace is the share of the ceiling that streams are paced at where the
// time under load must be short: no queue grows that is not asked to carry more
// than it can (facts: pacing at the bottleneck).
const latencyPace = 0.97

// latencyProposals first fill the links, and where the time under load is
// beyond its bound then try what keeps queues short, mildest first.
func latencyProposals(s State) []Proposal {
	out := onPaper(s)
	if len(out) > 0 || s.Bound <= 0 || s.Loaded <= 0 || s.Loaded <= s.Bound {
		return out
	}
	for _, m := range []move{
		{name: Pacing, options: paceOptions},
		{name: Queueing, options: func(s State) []option {
			return append(rootQueue(s, "fq_codel", "fq_codel keeps its queue below 5 ms, and shares the port by stream"), queueOptions(s)...)
		}},
		{name: Congestion, options: func(s State) []option { return onlyKey(congestionOptions(s), Congestion+"=bbr") }},
		{name: Buffers, options: smallerBuffers},
	} {
		for _, o := range s.left(m) {
			p, _ := proposalOf(s, []pick{{m, o}})
			p.Unsure = true
			out = append(out, p)
		}
	}
	return out
}

func onlyKey(all []option, key Name) []option {
	for _, o := range all {
		if o.key == key {
			return []option{o}
		}
	}
	return nil
}

// paceOptions: each stream at its part of what the links carry, less a little.
func paceOptions(s State) []option {
	t := s.Traffic
	t.ChosenOnly = true
	p, err := predict.Predict(s.Fabric, t)
	if err != nil || s.Traffic.Pace > 0 {
		return nil
	}
	rate := p.Rate
	if len(t.Direction.Ways()) > 1 {
		rate /= 2
	}
	load := s.Load
	load.Traffic.Pace = latencyPace * rate / unit.BitRate(t.Streams)
	return []option{{load: load, change: fmt.Sprintf("each stream paced at %v", load.Traffic.Pace),
		why: fmt.Sprintf("no queue grows that is asked for %.0f %% of what the links carry", 100*latencyPace)}}
}

// smallerBuffers: receive windows that hold the flight of an idle path and
// little more, so that no stream can fill a deep queue.
func smallerBuffers(s State) []option {
	want := bufferFor(streamShare(s), roundTrip(s)) / (flights / 2)
	if want <= 0 {
		return nil
	}
	hosts := make(map[string]netstate.Host)
	for _, name := range []string{s.Traffic.From, s.Traffic.To} {
		h := s.Fabric.Hosts[name]
		if v := h.SysctlInts(rmemKey); len(v) == 3 && v[2] > int64(want) {
			hosts[name] = withSysctl(h, rmemKey, fmt.Sprintf("%d %d %d", min(v[0], int64(want)), min(v[1], int64(want)), int64(want)))
		}
	}
	if len(hosts) == 0 {
		return nil
	}
	return []option{{key: Name(fmt.Sprintf("%s=%d", Buffers, want)), hosts: hosts, load: s.Load,
		change: fmt.Sprintf("receive buffers of at most %v", want), why: "a window no larger than the path holds leaves nothing to queue"}}
}

// JudgeLatency compares two trials by the longest time under load and the
// rate: one that keeps the bound before one that does not, of two that do the
// faster, of two that do not the one whose time is shorter by a tenth.
func JudgeLatency(a, b record.Trial, loadedA, loadedB, bound time.Duration) (keep bool, verdict string) {
	say := func(word string) string {
		return fmt.Sprintf("%s: p99 under load %.1f ms, then %.1f ms; %v, then %v", word, unit.Milliseconds(loadedA), unit.Milliseconds(loadedB), a.Goodput, b.Goodput)
	}
	switch holdsA, holdsB := loadedA <= bound, loadedB <= bound; {
	case loadedA <= 0 || loadedB <= 0:
		return false, "the time under load could not be measured"
	case holdsA && holdsB:
		keep, verdict = Judge(a, b)
		return keep, verdict
	case holdsB && float64(b.Goodput) >= leastKept*float64(a.Goodput):
		return true, say("proven: the bound is kept")
	case holdsA:
		return false, say("the bound is lost")
	case float64(loadedB) <= (1-shorter)*float64(loadedA) && float64(b.Goodput) >= leastKept*float64(a.Goodput):
		return true, say("proven: shorter")
	}
	return false, say("not shorter")
}

const (
	// shorter is the share by which a time under load must fall to count: a p99
	// of a window of a second rests on few echoes.
	shorter = 0.1
	// leastKept is the share of the rate that a shorter time may not fall below.
	leastKept = 0.9
)
