package declared

import (
	"slices"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
)

// Recorded is the state that a record's trials were measured in: the hosts as they were
// observed, the paths with the round trips that were declared or else measured, and the
// switches that the fabric file of then describes.
func Recorded(r record.Record) predict.Fabric {
	state := predict.Fabric{Hosts: make(map[string]netstate.Host), Paths: r.Fabric.Paths}
	for _, h := range r.Environment.Hosts {
		state.Hosts[h.Name] = h
	}
	f, err := fabric.Parse(r.Fabric.File, []byte(r.Fabric.Text))
	if err == nil && f.Topology != nil { // else a record of another version, or without a file
		if len(state.Paths) == 0 {
			state.Paths = fabric.PathsBetween(r.Environment.Hosts)
		}
		state.Paths = f.Over(slices.Clone(state.Paths))
	}
	state.Paths = withTrips(state.Paths, r.Latency)
	return state
}

// withTrips is paths with the round trips that were measured where none is declared, of
// several the last: as it was when the trials ran.
func withTrips(paths []fabric.Path, measured []record.Latency) []fabric.Path {
	out := slices.Clone(paths)
	for i, p := range paths {
		for _, l := range measured {
			if trip := l.RoundTrip(); p.RTT == 0 && trip > 0 && p.Leads(l.From, l.To) {
				out[i].RTT = trip
			}
		}
	}
	return out
}
