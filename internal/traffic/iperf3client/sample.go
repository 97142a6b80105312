package iperf3client

import "github.com/linerate/linerate/internal/agent/agentapi"

// sample counts everything once.
func (s *session) sample() error {
	_, err := s.samples.Take(len(s.streams), func(now *agentapi.Sample) {
		for _, st := range s.streams {
			tcp, bytes := st.count()
			now.TCP, now.Bytes = append(now.TCP, tcp), append(now.Bytes, bytes)
			if st.udp != nil {
				now.UDP = append(now.UDP, st.udp.counted())
			}
		}
	}, func(*agentapi.CPUCount) []int {
		ids := make([]int, len(s.streams))
		for i, st := range s.streams {
			ids[i] = int(st.thread.Load())
		}
		return ids
	})
	return err
}
