package tune

import (
	"fmt"

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
	frame, trips := largestFrame(s), windowTrips
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

// largestFrame is the largest MTU of the pair's links.
func largestFrame(s State) int {
	frame := 0
	for _, links := range pairLinks(s) {
		for _, l := range links {
			frame = max(frame, l.MTU)
		}
	}
	return frame
}
