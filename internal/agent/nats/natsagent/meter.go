package natsagent

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/nats/wire"
	"github.com/linerate/linerate/netstate"
)

// Meter counts what one agent does, for whoever watches it. The zero value is
// ready; it is for many goroutines. A nil Meter counts nothing.
type Meter struct {
	mu        sync.Mutex
	counts    Counts
	natsAgent *natsAgent // whose it is; nil before it answers
}

// Counts are what was counted since the agent began.
type Counts struct {
	Since time.Time // the agent answers
	// Connected is whether the agent has a server right now; Reconnects is how
	// often it lost one and found one again. Bytes are of the bus, not of
	// traffic that is measured.
	Connected              bool
	Reconnects             uint64
	BytesIn, BytesOut      uint64
	Conversations, Running int
	// Published is when the host's state was last taken by the bus; zero: never.
	Published time.Time
	Calls     map[Call]Called
	// Changes are those of Calls that change the host, by what became of it.
	Changes map[Change]uint64
	// Refused are requests that were not begun, by one of Refusals.
	Refused map[string]uint64
}

// Call is a kind of request, by how it ended.
type Call struct {
	Method agentapi.MethodName
	Failed bool
}

// Change is a kind of change and its outcome, as the audit log has it.
type Change struct {
	Method  agentapi.MethodName
	Outcome string
}

// Changes are all of them.
func Changes() []Change {
	return []Change{
		{agentapi.Apply.Name, "done"}, {agentapi.Apply.Name, "failed"}, {agentapi.Apply.Name, "rolled back"},
		{agentapi.Confirm.Name, "done"}, {agentapi.Confirm.Name, "failed"}, {agentapi.Rollback.Name, "done"}, {agentapi.Rollback.Name, "failed"},
	}
}

// Refusals are the reasons for which a request is not begun: it is beyond the
// asker's role or this host's most, is no name, too much at once, of a
// conversation that ended, or no request at all.
func Refusals() []string {
	return []string{refusedRole, refusedName, refusedBusy, refusedGone, refusedBad}
}

const (
	refusedRole = "role"
	refusedName = "name"
	refusedBusy = "busy"
	refusedGone = "gone"
	refusedBad  = "bad"
)

// Called is how many there were and how long they took in sum.
type Called struct {
	Count uint64
	Time  time.Duration
}

// Counts returns what was counted so far.
func (m *Meter) Counts() Counts {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.counts
	out.Calls, out.Changes, out.Refused = maps.Clone(out.Calls), maps.Clone(out.Changes), maps.Clone(out.Refused)
	if s := m.natsAgent; s != nil {
		bus := s.conn.Stats()
		out.Since, out.Connected, out.Reconnects, out.BytesIn, out.BytesOut = s.since, s.conn.IsConnected(), bus.Reconnects, bus.InBytes, bus.OutBytes
		s.mu.Lock()
		defer s.mu.Unlock()
		out.Conversations = len(s.sessions)
	}
	return out
}

// Observe reads the host that the agent answers for. Error: ErrNobody before it
// does.
func (m *Meter) Observe(ctx context.Context) (netstate.Host, error) {
	m.mu.Lock()
	s := m.natsAgent
	m.mu.Unlock()
	if s == nil {
		return netstate.Host{}, ErrNobody
	}
	seen, err := ask.Call(ctx, s.own, agentapi.Observe, agentapi.ObserveRequest{})
	return seen.Host, err
}

// ErrNobody is a meter whose agent does not answer yet.
var ErrNobody = errors.New("the agent does not answer yet")

// of tells the meter whose it is.
func (m *Meter) of(s *natsAgent) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.natsAgent = s
}

// begun counts a call that runs; the caller calls ended when it does not.
func (m *Meter) begun(method agentapi.MethodName) (ended func(error)) {
	if m == nil {
		return func(error) {}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts.Running++
	begin := time.Now()
	return func(err error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.counts.Running--
		if m.counts.Calls == nil {
			m.counts.Calls = make(map[Call]Called)
		}
		key := Call{method, err != nil}
		c := m.counts.Calls[key]
		m.counts.Calls[key] = Called{c.Count + 1, c.Time + time.Since(begin)}
	}
}

// changed counts a change by the outcome that the audit log has of it.
func (m *Meter) changed(method agentapi.MethodName, result string) {
	if m == nil {
		return
	}
	outcome, _, _ := strings.Cut(result, ":")
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.counts.Changes == nil {
		m.counts.Changes = make(map[Change]uint64)
	}
	m.counts.Changes[Change{method, outcome}]++
}

func (m *Meter) refused(err error) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.counts.Refused == nil {
		m.counts.Refused = make(map[string]uint64)
	}
	m.counts.Refused[why(err)]++
}

func (m *Meter) published() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts.Published = time.Now()
}

// why is a refusal in one word.
func why(err error) string {
	switch {
	case errors.Is(err, wire.ErrName):
		return refusedName
	case errors.Is(err, fs.ErrPermission):
		return refusedRole
	case errors.Is(err, agentapi.ErrBusy):
		return refusedBusy
	case errors.Is(err, agentapi.ErrGone):
		return refusedGone
	}
	return refusedBad
}
