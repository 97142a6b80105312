package tune

import (
	"fmt"
	"slices"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

const (
	// windowTrips is how many times the path's own flight the windows of all
	// streams together hold: what one link is late another has ready. Measured
	// on balance-rr over two links, 4 streams: 0.95 of the ceiling, and 0.87 to
	// 0.91 with windows that only losses end.
	windowTrips = 4
	// smallTrips is the same of small frames, of which as many bytes are more that
	// can change places: 4 streams over two links carried 0.96 of the ceiling with
	// it, 0.92 with twice as much.
	smallTrips = 2
	largeFrame = 4000
	// leastWindow is the fewest full frames that a stream can do with: three of
	// them out of turn are a loss.
	leastWindow = 4
)

// windowOptions: sockets that ask for no more than the path holds a few times.
// Packets that change places are few where queues are short, and no stream ever
// fills one until it loses.
func windowOptions(s State) []option {
	trip, rate := roundTrip(s), streamShare(s)*unit.BitRate(width(s))
	if trip <= 0 || rate <= 0 || s.Traffic.SocketBuffer > 0 {
		return nil
	}
	frame := 0
	for _, links := range pairLinks(s) {
		for _, l := range links {
			frame = max(frame, l.MTU)
		}
	}
	trips := windowTrips
	if frame < largeFrame {
		trips = smallTrips
	}
	each := max(unit.Bytes(float64(trips)*float64(rate)/8*trip.Seconds()/float64(max(s.Traffic.Streams, 1))), unit.Bytes(leastWindow*frame))
	load := s.Load
	load.Traffic.SocketBuffer = each
	return []option{{
		key: Name(fmt.Sprintf("%s=%d", Windows, each)), load: load,
		change: fmt.Sprintf("sockets that ask for %v (SO_RCVBUF and SO_SNDBUF)", each),
		why:    fmt.Sprintf("windows of %d times what the path holds in all keep queues short, so that packets hardly change places", trips),
	}}
}

// striped reports a pair with a bond that deals single packets out.
func striped(s State) bool {
	for host, links := range pairLinks(s) {
		if slices.ContainsFunc(links, func(l netstate.Link) bool {
			_, _, bond := s.Fabric.Hosts[host].Below(l.Name)
			return bond != nil && bond.Bond != nil && bond.Bond.Mode == netstate.BalanceRR && len(s.Fabric.Hosts[host].UsablePorts(bond.Name)) > 1
		}) {
			return true
		}
	}
	return false
}

// dealtOut is what a bond asks for first that deals single packets out: the
// prediction does not know how much of it their disorder takes.
func dealtOut(s State) []Proposal {
	t, ok := newest(s, s.Traffic.Direction)
	if !ok || !striped(s) || s.reached(t) || s.Traffic.SocketBuffer > 0 || s.Traffic.Congestion != "" {
		return nil
	}
	all := together(s, t, dealtTogether(s))
	for i := range all {
		all[i].Disordered = true
	}
	return all
}

// dealtTogether are the sets for a bond that deals single packets out. Large
// frames carry most, but a single stream may be slower with them: then comes
// what the sockets alone can do.
func dealtTogether(s State) [][]Name {
	sets := [][]Name{{Streams, SocketControl}, {Streams, Windows}}
	if len(mtuOptions(s)) > 0 {
		sets = append([][]Name{{MTU, Streams, Windows}}, sets...)
	}
	return sets
}

// joint are the sets of moves that may pay only together, the most first: one
// stream that loses its place gains as little by large frames alone as many
// streams do by small ones.
func joint(s State) [][]Name {
	sets := [][]Name{{MTU, Congestion, Streams}, {MTU, Streams}, {Congestion, Streams}}
	if !striped(s) {
		return sets
	}
	return append(dealtTogether(s), sets...)
}
