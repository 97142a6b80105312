package iperf3client

import (
	"fmt"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// sample counts everything once, streams first: they move fastest.
func (s *session) sample() error {
	s.sampling.Lock()
	defer s.sampling.Unlock()
	clock := func() time.Duration { return time.Since(s.opened) }
	begin := clock()
	var now, reading agentapi.Sample
	now.At, _ = s.surest.Take(clock, len(s.streams), func() error {
		reading = agentapi.Sample{}
		for _, st := range s.streams {
			tcp, bytes := st.count()
			reading.TCP, reading.Bytes = append(reading.TCP, tcp), append(reading.Bytes, bytes)
			if st.udp != nil {
				reading.UDP = append(reading.UDP, st.udp.counted())
			}
		}
		return nil
	}, func() { now = reading })
	if s.cfg.Links != nil && len(s.req.Links) > 0 {
		begin := time.Since(s.opened)
		links, err := s.cfg.Links(s.req.Links)
		if err != nil {
			return fmt.Errorf("sample links: %w", err)
		}
		for i := range links {
			links[i].At = begin + (time.Since(s.opened)-begin)/2
		}
		now.Links = links
	}
	if s.cfg.CPU != nil {
		var err error
		if now.CPU, err = s.cfg.CPU(); err != nil {
			return fmt.Errorf("sample processors: %w", err)
		}
	}
	ids := make([]int, len(s.streams))
	for i, st := range s.streams {
		ids[i] = int(st.thread.Load())
	}
	s.threads.Count(&now.CPU, clock(), ids)
	now.Took = clock() - begin
	s.mu.Lock()
	defer s.mu.Unlock()
	s.samples.Add(now)
	return nil
}

// since is the samples from an index on; a negative one is the last.
func (s *session) since(index int) []agentapi.Sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.samples.Since(index)
}
