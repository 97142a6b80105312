package scene

import (
	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Mostly is the port that has at least so much of a way's traffic.
func (b Bond) Mostly(way string, least float64) (name string, part float64, at piece.Source, ok bool) {
	parts, at, ok := b.Carried(way)
	if !ok {
		return "", 0, at, false
	}
	name, part = Busiest(parts)
	return name, part, at, part >= least
}

// idlePart is the most that a port of two carries where the other has it all.
const idlePart = 0.05

// Count is how many of the bond's ports are so.
func (b Bond) Count(is func(Port) bool) (n int) {
	for _, p := range b.Ports {
		if is(p) {
			n++
		}
	}
	return n
}

// OneSided is the port that has nearly all of a way's traffic.
func (b Bond) OneSided(way string) (name string, part float64, at piece.Source, ok bool) {
	parts, at, ok := b.Carried(way)
	if !ok {
		return "", 0, at, false
	}
	name, part = Busiest(parts)
	return name, part, at, part >= 1-idlePart*float64(len(parts)-1)
}

// Sides are the ways a run's bytes go.
func Sides(r piece.Run) (sender, receiver string) {
	if r.Reverse {
		return r.Server, r.Client
	}
	return r.Client, r.Server
}

// Sends reports a host that sent in a run, and Receives one that received.
func (v *View) Sends(h *piece.Host) bool { return h.Name != "" && v.senders[h.Name] }

func (v *View) Receives(h *piece.Host) bool { return h.Name != "" && v.receivers[h.Name] }

// OnlyReceives reports runs in which this host receives and sends nothing.
func (v *View) OnlyReceives(h *piece.Host) bool {
	seen := false
	for _, r := range v.Case.Runs {
		in := r.Server == h.Name && !r.Reverse || r.Client == h.Name && r.Reverse
		if r.Both || !in {
			return false
		}
		seen = true
	}
	return seen && h.Name != ""
}
