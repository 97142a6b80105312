package sampling

import "slices"

// Log is samples by number, from zero on, without those that their reader has:
// who asks for the samples since one has those before it. Its zero value is
// empty; it is for one goroutine at a time.
type Log[T any] struct {
	gone int // how many were let go
	kept []T
}

// Add adds the next sample.
func (l *Log[T]) Add(sample T) { l.kept = append(l.kept, sample) }

// Last is the newest sample; false where there is none.
func (l *Log[T]) Last() (T, bool) {
	if len(l.kept) == 0 {
		var none T
		return none, false
	}
	return l.kept[len(l.kept)-1], true
}

// Since returns the samples from a number on, and lets those before it go, but
// for the newest. A negative number is the newest sample, and lets none go.
func (l *Log[T]) Since(number int) []T {
	last, any := l.Last()
	if !any {
		return nil
	}
	if number < 0 {
		return []T{last}
	}
	if drop := min(number-l.gone, len(l.kept)-1); drop > 0 {
		l.kept = slices.Delete(l.kept, 0, drop)
		l.gone += drop
	}
	return slices.Clone(l.kept[min(max(number-l.gone, 0), len(l.kept)):])
}
