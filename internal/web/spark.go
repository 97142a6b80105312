package web

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/internal/analysis/history"
)

// spark is a small drawing of a line's results: points of a polyline in a box of
// sparkWide by sparkHigh, and where the newest is.
type spark struct {
	Points string
	X, Y   string // the newest
	Words  string // the same for who does not see it
}

const (
	sparkWide = 120
	sparkHigh = 28
	sparkMost = 60 // results drawn
	sparkRim  = 3
)

// sparkOf draws the newest results from zero up, one beside the other.
func sparkOf(points []history.Point) spark {
	if len(points) > sparkMost {
		points = points[len(points)-sparkMost:]
	}
	top := 0.0
	for _, p := range points {
		top = max(top, number(p.Goodput))
	}
	s := spark{Words: fmt.Sprintf("the last %d results", len(points))}
	if len(points) == 1 {
		s.Words = "one result"
	}
	var b strings.Builder
	for i, p := range points {
		x, y := float64(sparkWide-sparkRim), float64(sparkHigh-sparkRim)
		if len(points) > 1 {
			x = sparkRim + float64(i)*float64(sparkWide-2*sparkRim)/float64(len(points)-1)
		}
		if top > 0 {
			y -= number(p.Goodput) / top * float64(sparkHigh-2*sparkRim)
		}
		s.X, s.Y = fmt.Sprintf("%.1f", x), fmt.Sprintf("%.1f", y)
		fmt.Fprintf(&b, "%s,%s ", s.X, s.Y)
	}
	s.Points = strings.TrimSpace(b.String())
	return s
}
