package tune

import "time"

// Budget is what a tune may cost the network: measuring windows, and seconds of
// traffic, warm-ups included. Zero fields are the defaults.
type Budget struct {
	MostWindows int
	MostTraffic time.Duration
}

// The defaults: what a person waits for without leaving, and a third of the
// points of a full grid.
const (
	DefaultWindows = 24
	DefaultTraffic = time.Minute
)

func (b Budget) orDefault() Budget {
	if b.MostWindows <= 0 {
		b.MostWindows = DefaultWindows
	}
	if b.MostTraffic <= 0 {
		b.MostTraffic = DefaultTraffic
	}
	return b
}

// Spent is what a tune has cost so far.
type Spent struct {
	Windows int
	Traffic time.Duration
}

// Left reports whether that many windows more fit, each of at most that long,
// and why not; "" where they do.
func (b Budget) Left(s Spent, windows int, each time.Duration) (why string) {
	b = b.orDefault()
	switch {
	case s.Windows+windows > b.MostWindows:
		return "windows"
	case s.Traffic+time.Duration(windows)*each > b.MostTraffic:
		return "traffic"
	}
	return ""
}

// Traffic is the most that may be sent.
func (b Budget) Traffic() time.Duration { return b.orDefault().MostTraffic }
