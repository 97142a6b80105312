package foreigntool

import (
	"sync"
	"time"

	"github.com/linerate/linerate/internal/agentapi"
	"github.com/linerate/linerate/internal/kernel/cgroup"
)

// sampleEvery is how often the host's own counters are read while a tool runs.
const sampleEvery = 500 * time.Millisecond

// sampler reads a host's links and processors beside a tool that does not.
type sampler struct {
	cfg     Config
	links   []string
	process int // the tool's, once it runs
	state   *samples
}

type samples struct {
	// Of the tool; used by the sampling goroutine alone.
	quota cgroup.Watch
	began time.Time

	mu   sync.Mutex
	all  []agentapi.ToolSample
	once sync.Once
	end  chan struct{}
	done chan struct{}
}

func newSampler(cfg Config, links []string) sampler {
	return sampler{cfg: cfg, links: links, state: &samples{end: make(chan struct{}), done: make(chan struct{})}}
}

// start samples the tool's host on a goroutine of its own until stop.
func (s sampler) start(process int) {
	s.process, s.state.began = process, time.Now()
	go func() {
		defer close(s.state.done)
		tick := time.NewTicker(sampleEvery)
		defer tick.Stop()
		for {
			s.take()
			select {
			case <-s.state.end:
				s.take()
				return
			case <-tick.C:
			}
		}
	}()
}

// take adds a sample; a host that cannot count has none.
func (s sampler) take() {
	now := agentapi.ToolSample{At: time.Now()}
	var err error
	if s.cfg.Links != nil && len(s.links) > 0 {
		if now.Links, err = s.cfg.Links(s.links); err != nil {
			return
		}
	}
	if s.cfg.CPU != nil {
		if now.CPU, err = s.cfg.CPU(); err != nil {
			return
		}
		allowed := s.state.quota.See(now.At.Sub(s.state.began), []int{s.process})
		now.CPU.Quota, now.CPU.Throttled = allowed.Quota, allowed.Throttled.Seconds()
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	s.state.all = append(s.state.all, now)
}

// stop ends sampling and returns the samples. Before start there is nothing to
// wait for.
func (s sampler) stop() []agentapi.ToolSample {
	started := false
	s.state.mu.Lock()
	started = len(s.state.all) > 0
	s.state.mu.Unlock()
	s.state.once.Do(func() { close(s.state.end) })
	if started {
		<-s.state.done
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return s.state.all
}
