package series

import (
	"time"

	"github.com/linerate/linerate/record"
)

// leastTick is the shortest point that is judged: shorter ones are joined.
const leastTick = 100 * time.Millisecond

// Window is where a series from the first byte on becomes steady.
type Window struct {
	First int // index of the first point that counts
	Over  bool
	// Bucket is the token bucket whose burst came before, and After the first
	// point that has nothing of it; nil for none.
	Bucket *record.TokenBucket
	After  int
}

// Window is the index of the first point that counts: after the warm-up and
// after a token bucket's burst.
func (s Series) Window() Window {
	if len(s) == 0 {
		return Window{}
	}
	by := max(int(leastTick*time.Duration(len(s))/max(s.Length(), 1)), 1)
	w := s.Join(by).window()
	w.First = min(len(s)%by+by*w.First, len(s))
	w.After = min(len(s)%by+by*w.After, len(s))
	return w
}

func (s Series) window() Window {
	b, after, ok := s.TokenBucket()
	if !ok {
		first, over := s.WarmUp()
		return Window{First: first, Over: over}
	}
	first, over := s[after-1:].WarmUp() // whose first point never counts
	return Window{First: after - 1 + first, Over: over, Bucket: &b, After: after}
}
