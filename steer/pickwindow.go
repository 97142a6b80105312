package steer

import (
	"fmt"
)

// PickWindow is Pick for programs that can be given only the first of their
// source ports and count on from there: it chooses a run of consecutive
// source ports, the first run that is even on every side, else the one that
// is nearest to even. It uses the request's first lane and destination port.
// Streams are in the order of their ports, so that a first part of them need
// not be even. Errors: those of Pick.
func PickWindow(req PickRequest) (Picked, error) {
	req, err := req.Complete()
	if err != nil {
		return Picked{}, fmt.Errorf("pick a run of ports: %w", err)
	}
	req.Lanes, req.Dports = req.Lanes[:1], req.Dports[:1]
	s := newSearch(req, false)
	start := s.window(int(req.FirstPort), int(req.LastPort), func(port uint16) (links, bool) {
		if s.barred.has(port) {
			return links{}, false
		}
		return s.linksOf(&s.variants[0], port)
	})
	if start < 0 {
		return Picked{}, fmt.Errorf("pick a run of ports: %w", req.tooFew())
	}
	streams := make([]Stream, req.Streams)
	for i := range streams {
		port := uint16(start + i)
		l, _ := s.linksOf(&s.variants[0], port)
		streams[i] = s.stream(s.variants[0], port, l)
	}
	return s.judge(streams), nil
}

// window is the first port of the most even run, the lowest of equals; -1
// without any run of ports that may be used.
func (s *search) window(first, last int, place func(uint16) (links, bool)) (start int) {
	var run []links
	use := newUsage(s.newCandidates().classes)
	start = -1
	var best [mostSides]int
	for port := first; port <= last; port++ {
		l, ok := place(uint16(port))
		if !ok {
			for _, l := range run {
				use.add(l, -1)
			}
			run = run[:0]
			continue
		}
		run = append(run, l)
		use.add(l, 1)
		if len(run) > s.req.Streams {
			use.add(run[0], -1)
			run = run[1:]
		}
		if len(run) < s.req.Streams {
			continue
		}
		if v := use.uneven(); start < 0 || less(v, best) {
			start, best = port-len(run)+1, v
			if v == [mostSides]int{} {
				break
			}
		}
	}
	return start
}
