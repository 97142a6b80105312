// Package sampling is how counters of running traffic are read so that the
// reading is worth something and costs little: the surest of several readings,
// and what the streams' threads used, over files that stay open. A sampler that
// takes a core's time away from the streams measures itself. Don't open in a
// sample what can stay open.
package sampling

import "time"

// A count is worth as much as its time is sure. On a full processor a thread
// may lose it between the two; such a reading is taken again.
const (
	sureWithin  = 2 * time.Millisecond
	perStream   = 20 * time.Microsecond // what asking the kernel takes
	readingsMax = 4
	// asSure is how many times the shortest span so far is as sure as it gets: where
	// a reading takes long by itself, to take it again costs what it would show.
	asSure = 2
)

// Surest takes one kind of reading again and again. Its zero value has taken
// none; it is for one goroutine at a time.
type Surest struct {
	least time.Duration // shortest span of a reading so far; zero is none
}

// Take runs read until it took no longer than a reading of so many streams
// should, or than one ever did by much, four times at the most. It returns the
// moment in the middle of the surest one's span, by the clock, which is the last
// that keep was called for. An error of read ends it.
func (s *Surest) Take(clock func() time.Duration, streams int, read func() error, keep func()) (time.Duration, error) {
	var at time.Duration
	best := time.Duration(-1)
	for range readingsMax {
		begin := clock()
		if err := read(); err != nil {
			return 0, err
		}
		span := clock() - begin
		if best < 0 || span < best {
			best, at = span, begin+span/2
			keep()
		}
		if span <= max(sureWithin+time.Duration(streams)*perStream, asSure*s.least) {
			break
		}
	}
	if s.least == 0 || best < s.least {
		s.least = max(best, 1)
	}
	return at, nil
}
