package measure

import (
	"fmt"
	"math"
	"time"

	"github.com/linerate/linerate/internal/analysis/series"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// How often a round is sampled: often enough that a short window has blocks
// to compare, seldom enough that a thousand streams cost little to ask, and
// hours little to keep.
const (
	pollEvery     = 100 * time.Millisecond
	pollManyEvery = 250 * time.Millisecond
	manyStreams   = 128
	pollsAtLeast  = 16 // in a short window
	// pollsAtMost keeps what a long window takes of memory the same however long it is;
	// one that lasts until it is sure is asked less often from there on.
	pollsAtMost = 2000
	// sampleShare is the part of a core that the samples of a host may take: what
	// they take the streams have not. A host on which one takes long, for its
	// system calls are dear or its links many, is asked down to pollDearEvery.
	sampleShare   = 0.01
	pollDearEvery = 500 * time.Millisecond
	// A warm-up takes a dozen samples at the least, which must not fill the window:
	// what is measured while it is open, such as round trips, wants time too.
	pollsWarm = 20
)

// tolerableDip is how far the rate may fall below the median of the window,
// beyond its noise, before the trial counts as disturbed: a saturated link
// keeps within 3 %, a machine that lost its processor does not.
const tolerableDip = 0.15

// every is how often the round is sampled, however long it lasts: so often that
// little is lost, where samples are cheap, and where they are dear.
func (r *round) every() (cheap, dear time.Duration) {
	streams, dearest := 0, time.Duration(0)
	for _, e := range r.ends {
		streams += e.way.streams
		dearest = max(dearest, e.took)
	}
	cheap = pollEvery
	if streams > manyStreams {
		cheap = pollManyEvery
	}
	return cheap, max(cheap, min(time.Duration(float64(dearest)/sampleShare), pollDearEvery))
}

// length is the window's, where that was asked for: zero is until it is sure, which
// least says how soon may be.
func (r *round) length() (exact, least time.Duration) {
	if len(r.trials) > 0 {
		exact = r.trials[0].spec.Duration
	}
	if exact > 0 {
		return exact, exact
	}
	return 0, series.LeastWindow
}

// warmPoll is how often a warm-up is sampled.
func (r *round) warmPoll() time.Duration {
	_, least := r.length()
	cheap, dear := r.every()
	return min(dear, max(cheap, least/pollsWarm))
}

// usualPoll is how often a window is sampled that watches for nothing special.
func (r *round) usualPoll() time.Duration {
	exact, least := r.length()
	cheap, every := r.every()
	if exact == 0 {
		return max(cheap, min(every, least/pollsAtLeast), r.ends.opened()/pollsAtMost)
	}
	return max(min(every, exact/pollsAtLeast), exact/pollsAtMost, shortestPoll)
}

// addSeries adds what the trial's rate did over time: its series, the blocks
// of the window, the interval, and what is odd about them.
func (t *trial) addSeries(out *record.Trial) {
	all, counted := t.ends.series(), t.ends.counted()
	for _, p := range all {
		out.Series = append(out.Series, unit.BitRate(math.Round(float64(p.Rate))))
		out.SeriesAt = append(out.SeriesAt, math.Round(p.To.Seconds()*1e4)/1e4)
	}
	out.GoodputLow, out.GoodputHigh = out.Goodput, out.Goodput
	e := counted.Estimate()
	if e.Known {
		out.GoodputLow, out.GoodputHigh = max(out.Goodput-e.Half, 0), out.Goodput+e.Half
		out.Blocks, out.BlockLength = e.Blocks, math.Round(e.Length.Seconds()*1e4)/1e4
	}
	if spread := series.Spread(e.Blocks); spread > series.EvenEnough {
		out.Notes = append(out.Notes, fmt.Sprintf("uneven: the rate varied by %.0f %% during the measurement (blocks of %.2g s)", 100*spread, e.Length.Seconds()))
	}
	t.addShaper(out, all)
}

// addShaper names the token bucket that a series shows, and where the window
// lies to its burst.
func (t *trial) addShaper(out *record.Trial, all series.Series) {
	w := all.Window()
	if out.Shaper = w.Bucket; w.Bucket == nil {
		return
	}
	where := "the window begins after it"
	if w.After > t.ends[0].opened {
		where = "the window has part of it"
	}
	out.Notes = append(out.Notes, fmt.Sprintf("burst: %v for %.2g s, then %v: as a shaper with a bucket of %v does it; %s",
		w.Bucket.Burst, w.Bucket.BurstFor, w.Bucket.Rate, w.Bucket.Bucket, where))
}
