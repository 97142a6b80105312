package channels

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// fewest is how often something must happen to count as going on.
const fewest = 3

// lacpEvents: what a log says of a bond that does not stay whole.
func lacpEvents(v *scene.View) {
	for _, h := range v.Hosts {
		takenApart(v, h)
		if n, at := scene.Events(h, "lacp-no-response"); n > 0 {
			last := h.Events[len(h.Events)-1]
			if last.Kind == "lacp-no-response" && n == len(h.Events) && !v.HasFinding(record.LACPDown) {
				v.Add(record.LACPDown, 0.5+0.1*float64(min(n, 3)), h, cmp.Or(last.Link, "the bond"),
					"The bond heard no LACP partner when it came up, and its log says nothing of one since.",
					"Read `cat /proc/net/bonding/"+cmp.Or(last.Link, "bond0")+"` as root: a partner MAC of zeroes means that the switch does not speak LACP on these ports.",
					scene.Saw("log", last.Text, at))
			}
		}
	}
}

// takenApart: ports that a program releases and enslaves again and again.
func takenApart(v *scene.View, h *piece.Host) {
	var released, first []piece.Event
	for _, e := range h.Events {
		switch e.Kind {
		case "released":
			released = append(released, e)
		case "link-down":
			first = append(first, e)
		}
	}
	if len(released) < fewest || len(first) > len(released) {
		return
	}
	period := ""
	if gap := steady(released); gap > 0 {
		period = fmt.Sprintf(", every %s", duration(gap))
	}
	v.Add(record.LACPDown, 0.82, h, cmp.Or(released[0].Link, "the bond")+", taken apart by software",
		fmt.Sprintf("The bond's ports were released and enslaved again %d times%s, without a link going down first: software takes the bond apart and re-creates it, no cable or switch does.", len(released), period),
		"Find who does it: the network controller, agent or operator of this host (its log at these times; a periodic resync). Have it apply only what differs.",
		scene.Saw("log", fmt.Sprintf("%d releases, the first: %s", len(released), released[0].Text), released[0].Source))
}

// steady is the time between events where it is about the same each time, in
// seconds; zero otherwise. Events of one moment count once.
func steady(all []piece.Event) float64 {
	var gaps []float64
	last := 0.0
	for _, e := range all {
		if last > 0 && e.Seconds-last > 30 {
			gaps = append(gaps, e.Seconds-last)
		}
		if e.Seconds > 0 {
			last = e.Seconds
		}
	}
	if len(gaps) < 2 {
		return 0
	}
	slices.Sort(gaps)
	if mid := gaps[len(gaps)/2]; gaps[0] > 0.8*mid && gaps[len(gaps)-1] < 1.25*mid {
		return mid
	}
	return 0
}

func duration(seconds float64) string {
	switch {
	case seconds >= 5400:
		return fmt.Sprintf("%.0f hours", seconds/3600)
	case seconds >= 90:
		return fmt.Sprintf("%.0f minutes", seconds/60)
	}
	return fmt.Sprintf("%.0f seconds", seconds)
}
