package lldp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/netstate"
)

// often is how often a listener looks whether it shall end.
const often = 200 * time.Millisecond

// frameLength is more than any LLDP frame has, jumbo ones too.
const frameLength = 9216

// Listen hears LLDP on the ports, in the calling thread's network namespace,
// for at most that long (senders speak every 30 s by default), and returns
// each port's neighbours in order of the ports. It ends early when every port
// has heard one. A bond's ports are listened on one by one, for each has a
// neighbour of its own. Needs CAP_NET_RAW, else fs.ErrPermission. The end of
// ctx ends it with what was heard and the context's error.
func Listen(ctx context.Context, ports []Port, within time.Duration) ([]netstate.Neighbor, error) {
	var sockets []*sys.PacketSocket
	defer func() {
		for _, s := range sockets {
			s.Close()
		}
	}()
	for _, p := range ports {
		s, err := sys.OpenPacketSocket(p.Index, EtherType)
		if err != nil {
			return nil, fmt.Errorf("listen on %s: %w", p.Name, err)
		}
		sockets = append(sockets, s)
		for _, g := range groups() {
			if err := s.JoinMulticast(g); err != nil {
				return nil, fmt.Errorf("listen on %s: %w", p.Name, err)
			}
		}
	}
	// Each listener ends by itself: at the deadline, with ctx, or when it has
	// heard a neighbour.
	type heard struct {
		at   int
		list []netstate.Neighbor
		err  error
	}
	results := make(chan heard, len(ports))
	deadline := time.Now().Add(within)
	for i := range ports {
		go func() {
			list, err := listenOn(ctx, sockets[i], ports[i].Name, deadline)
			results <- heard{i, list, err}
		}()
	}
	byPort := make([][]netstate.Neighbor, len(ports))
	var errs []error
	for range ports {
		h := <-results
		byPort[h.at] = h.list
		errs = append(errs, h.err)
	}
	return slices.Concat(byPort...), errors.Join(append(errs, ctx.Err())...)
}

func listenOn(ctx context.Context, s *sys.PacketSocket, port string, deadline time.Time) ([]netstate.Neighbor, error) {
	buf := make([]byte, frameLength)
	for ctx.Err() == nil {
		left := time.Until(deadline)
		if left <= 0 {
			break
		}
		n, err := s.Receive(buf, min(left, often))
		if err != nil {
			return nil, fmt.Errorf("listen on %s: %w", port, err)
		}
		// A time to live of zero takes back what was said before.
		if neighbor, err := Parse(port, buf[:n]); err == nil && neighbor.TTLSeconds > 0 {
			return []netstate.Neighbor{neighbor}, nil
		}
	}
	return nil, nil
}
