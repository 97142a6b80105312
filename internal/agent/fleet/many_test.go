package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// slowHost takes a second for each answer, and counts who asks beside it.
type slowHost struct {
	name      string
	err       error
	now, most *atomic.Int32
}

func (s *slowHost) Call(_ context.Context, _ agentapi.AnyMethod, params json.RawMessage) (json.RawMessage, error) {
	s.most.Store(max(s.most.Load(), s.now.Add(1)))
	defer s.now.Add(-1)
	time.Sleep(time.Second)
	if s.err != nil {
		return nil, s.err
	}
	var req agentapi.ObserveRequest
	if err := json.Unmarshal(params, &req); err != nil {
		return nil, err
	}
	var reply agentapi.ObserveReply
	reply.Host.Name = s.name + fmt.Sprint(req.Sysctls)
	return json.Marshal(reply)
}

func (s *slowHost) Close() error { return nil }

// Forty hosts that take a second each are read in three: as many as may be at the
// same time, and the answers are where their hosts are.
func TestObserveAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		gone := errors.New("gone")
		hosts := make([]*Host, 40)
		for i := range hosts {
			host := &slowHost{name: fmt.Sprintf("h%d", i), now: &now, most: &most}
			if i == 7 {
				host.err = gone
			}
			if i != 8 {
				hosts[i] = &Host{Name: host.name, via: host}
			}
		}
		begin := time.Now()
		seen := ObserveAll(t.Context(), hosts, func(i int) []string { return slices.Repeat([]string{"k"}, i%2) })
		if took := time.Since(begin); took != 3*time.Second || most.Load() != mostDialed {
			t.Errorf("%v, %d at the same time; want 3 s, %d", took, most.Load(), mostDialed)
		}
		for i, o := range seen {
			want := fmt.Sprintf("h%d%v", i, slices.Repeat([]string{"k"}, i%2))
			switch {
			case i == 7 && errors.Is(o.Err, gone), i == 8 && o.Err == nil && o.Reply.Host.Name == "":
			case o.Err != nil || o.Reply.Host.Name != want:
				t.Errorf("host %d: %q, %v; want %q", i, o.Reply.Host.Name, o.Err, want)
			}
		}
	})
}
