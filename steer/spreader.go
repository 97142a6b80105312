package steer

import (
	"strconv"

	"github.com/linerate/linerate/flow"
)

// Spreader is anything that sends each flow on one of several links by a rule
// of its own: a bond, an ECMP route, another system's link aggregation, or a
// table of what was seen.
type Spreader interface {
	// Links are the names of the links in the order Placement.Index counts.
	Links() []string
	// Place says which link sends f, or why that cannot be told.
	Place(f flow.Frame) Placement
	// Reach says what makes flows use more than one link.
	Reach() Reach
}

// Remedied is a spreader that says itself what would let flows use its links evenly.
type Remedied interface{ Remedy() string }

// Grouper is a Spreader that says which frames share a link where it does not know
// which link: groups number the frames' links by first appearance.
type Grouper interface {
	Spreader
	Groups(frames []flow.Frame) (groups []int, known bool, why string)
}

var _ Grouper = Bundle{}

// Numbered are the names of n links that have none: their numbers.
func Numbered(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names
}

// Links are the usable ports.
func (b Bundle) Links() []string { return b.Ports }

// Sighting is one frame and the link it was seen to take.
type Sighting struct {
	Frame flow.Frame
	// Link counts from 0 in the order that the links were given in, which
	// need not be the order in which the spreader counts them.
	Link int
}
