package series

import "time"

const (
	// DefaultPrecision is half the interval's width, as a share of the mean, at
	// which a measurement has seen enough.
	DefaultPrecision = 0.02
	// LeastWindow is the shortest window that the stop rule is content with.
	LeastWindow = 2 * time.Second
	// lookAgain is how much more must have been seen before the rule looks
	// again: who looks at every point stops at a moment of chance calm.
	lookAgain = 1.15
)

// Rule is a sequential stop rule. Its zero value stops at DefaultPrecision.
type Rule struct {
	Precision float64       // zero is DefaultPrecision
	Least     time.Duration // shortest window; zero is LeastWindow
	next      int           // points at which it looks again
}

// Enough reports whether the window from point first of the series on has
// seen enough. It is asked after every sample with all that there is, and
// looks at some of them.
func (r *Rule) Enough(s Series, first int) (Estimate, bool) {
	if len(s) < r.next || first >= len(s) || s[first:].Length() < r.least() {
		return Estimate{}, false
	}
	r.next = int(float64(len(s))*lookAgain) + 1
	e := s[first:].Estimate()
	return e, e.Known && !e.Alike && float64(e.Half) <= r.precision()*float64(e.Mean)
}

func (r *Rule) least() time.Duration {
	if r.Least > 0 {
		return r.Least
	}
	return LeastWindow
}

func (r *Rule) precision() float64 {
	if r.Precision > 0 {
		return r.Precision
	}
	return DefaultPrecision
}
