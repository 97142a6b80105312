package externaltool

import (
	"sync"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/cgroup"
)

// sampleEvery is how often the host's own counters are read while a tool runs.
const sampleEvery = 500 * time.Millisecond

// sampler reads a host's links and processors beside a tool that does not.
type sampler struct {
	cfg Config
	req agentapi.ToolRequest
	// Of the tool; used by the sampling goroutine alone.
	process int
	quota   cgroup.Watch
	began   time.Time

	mu   sync.Mutex
	all  []agentapi.ToolSample
	once sync.Once
	end  chan struct{}
	done chan struct{}
}

func newSampler(cfg Config, req agentapi.ToolRequest) *sampler {
	return &sampler{cfg: cfg, req: req, end: make(chan struct{}), done: make(chan struct{})}
}

// start samples the tool's host on a goroutine of its own until stop.
func (s *sampler) start(process int) {
	s.process, s.began = process, time.Now()
	go func() {
		defer close(s.done)
		tick := time.NewTicker(sampleEvery)
		defer tick.Stop()
		for {
			s.take()
			select {
			case <-s.end:
				s.take()
				return
			case <-tick.C:
			}
		}
	}()
}

// take adds a sample; a host that cannot count has none.
func (s *sampler) take() {
	now := agentapi.ToolSample{At: time.Now()}
	var err error
	if s.cfg.Host.Links != nil && len(s.req.Links) > 0 {
		if now.Links, err = s.cfg.Host.Links(s.req.Links); err != nil {
			return
		}
	}
	if s.cfg.Host.CPU != nil {
		if now.CPU, err = s.cfg.Host.CPU(); err != nil {
			return
		}
		allowed := s.quota.See(now.At.Sub(s.began), []int{s.process})
		now.CPU.Quota, now.CPU.Throttled = allowed.Quota, allowed.Throttled.Seconds()
	}
	now.Sockets = s.sockets()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, now)
}

// sockets are the tool's connections; none where the kernel does not show them.
func (s *sampler) sockets() []agentapi.ToolSocket {
	if s.cfg.Sockets == nil || s.req.UDP {
		return nil
	}
	port, far := s.req.Port, false
	if s.req.Role == agentapi.ToolClient {
		port, far = s.req.Peer.Port(), true
	}
	found, err := s.cfg.Sockets(port, far)
	if err != nil {
		return nil
	}
	return found
}

// stop ends sampling and returns the samples. Before start there is nothing to
// wait for.
func (s *sampler) stop() []agentapi.ToolSample {
	s.mu.Lock()
	started := len(s.all) > 0
	s.mu.Unlock()
	s.once.Do(func() { close(s.end) })
	if started {
		<-s.done
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}
