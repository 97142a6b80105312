package iperf3client

import (
	"fmt"
	"slices"
	"time"

	"github.com/linerate/linerate/internal/agentapi"
	"github.com/linerate/linerate/internal/kernel/procfs"
)

// A count is worth as much as its time is sure: a reading that took longer, on
// a full processor, is taken again, a few times at the most.
const (
	sureWithin  = 2 * time.Millisecond
	perStream   = 20 * time.Microsecond
	readingsMax = 4
	// delaysMost is of how many threads the run delay is read: it takes the
	// kernel some 20 µs each.
	delaysMost = 16
)

// sample counts everything once, streams first: they move fastest.
func (s *session) sample() error {
	now, best := agentapi.Sample{}, time.Duration(-1)
	for range readingsMax {
		begin := time.Since(s.opened)
		reading := agentapi.Sample{}
		for _, st := range s.streams {
			tcp, bytes := st.count()
			reading.TCP, reading.Bytes = append(reading.TCP, tcp), append(reading.Bytes, bytes)
			if st.udp != nil {
				reading.UDP = append(reading.UDP, st.udp.counted())
			}
		}
		span := time.Since(s.opened) - begin
		if best < 0 || span < best {
			best, now = span, reading
			now.At = begin + span/2
		}
		if span <= sureWithin+time.Duration(len(s.streams))*perStream {
			break
		}
	}
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
		now.CPU.Threads = append(now.CPU.Threads, threadSeconds(int64(ids[i])))
		if i < delaysMost {
			waited, _ := procfs.RunDelay(ids[i])
			now.CPU.Waited = append(now.CPU.Waited, waited.Seconds())
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	allowed := s.quota.See(time.Since(s.opened), ids)
	now.CPU.Quota, now.CPU.Throttled = allowed.Quota, allowed.Throttled.Seconds()
	s.samples = append(s.samples, now)
	return nil
}

// since is the samples from an index on; a negative one is the last.
func (s *session) since(index int) []agentapi.Sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.samples) == 0 {
		return nil
	}
	if index < 0 {
		index = len(s.samples) - 1
	}
	return slices.Clone(s.samples[min(index, len(s.samples)):])
}
