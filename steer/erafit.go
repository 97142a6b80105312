package steer

import (
	"fmt"

	"github.com/linerate/linerate/flow"
)

// Fit returns the eras, of those that the bundle may be of, under which every
// sighting is where the kernel sent it, likeliest first. The sightings' links
// are indexes into the bundle's ports. One sighting in twenty may be wrong;
// those that an era cannot place do not count. Nil when none fits: another
// driver, or other ports than those given, or nothing that can be placed.
func Fit(b Bundle, sightings []Sighting) []Era {
	var fitting []Era
	for _, era := range b.eras() {
		one := b
		one.Era, one.Doubt = era, nil
		placed, wrong := 0, 0
		for _, s := range sightings {
			if p := one.Place(s.Frame); p.Known && p.Index >= 0 {
				placed++
				if p.Index != s.Link {
					wrong++
				}
			}
		}
		if placed > 0 && wrong <= placed/20 {
			fitting = append(fitting, era)
		}
	}
	return fitting
}

// TellsEras reports whether the links that the frames take can tell the eras
// apart, of all there are; why says what stands in the way, "" for nothing.
func (b Bundle) TellsEras(frames []flow.Frame) (can bool, why string) {
	if !b.Hashes() || len(b.Ports) < 2 {
		return false, b.Reach().Why
	}
	placed := make([]map[int]bool, len(frames)) // links of each frame
	for _, era := range Eras() {
		b.Era, b.Doubt = era, nil
		for i, f := range frames {
			p := b.Place(f)
			if !p.Known || p.Index < 0 {
				if era == EraCurrent && why == "" {
					why = p.Why
				}
				continue
			}
			if placed[i] == nil {
				placed[i] = make(map[int]bool)
			}
			if placed[i][p.Index] = true; len(placed[i]) > 1 {
				return true, ""
			}
		}
	}
	if why != "" {
		return false, why
	}
	return false, fmt.Sprintf("every kernel that has %s sends these frames alike: there is nothing to find out", b.Policy)
}

// AfterFit is the bundle with the eras that fit; as it was when none does.
func (b Bundle) AfterFit(fitting []Era) Bundle {
	if len(fitting) > 0 {
		b.Era, b.Doubt = fitting[0], fitting[1:]
	}
	return b
}
