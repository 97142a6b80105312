package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/fleet"
)

// oddHost greets, and answers a rollback as it is told to.
type oddHost struct {
	rollback error
	asked    int
}

func (o *oddHost) Call(_ context.Context, method agentapi.AnyMethod, _ json.RawMessage) (json.RawMessage, error) {
	switch method {
	case agentapi.Hello.Any():
		return json.Marshal(agentapi.HelloReply{Version: agentapi.Version})
	case agentapi.Rollback.Any():
		o.asked++
		if o.rollback == nil {
			return json.Marshal(agentapi.RollbackReply{Journal: "one"})
		}
	}
	return nil, o.rollback
}

func (o *oddHost) Close() error { return nil }

// TestRevert: a host that is silent rolls itself back, and is said to, but not where
// it was told to keep the change: then it is tried for a minute, and nobody knows.
func TestRevert(t *testing.T) {
	gone := fmt.Errorf("%w: it is off", fleet.ErrUnreachable)
	for _, c := range []struct {
		what     string
		asked    bool
		rollback error
		want     error
		state    agentapi.ChangeState
		says     string
		takes    time.Duration
	}{
		{"answers", false, nil, ErrRolledBack, "rolled-back", "h: change rolled back", 0},
		{"told to keep it, answers", true, nil, ErrRolledBack, "rolled-back", "h: change rolled back", 0},
		{"silent", false, gone, ErrRolledBack, "applied", "h will roll back by itself by", 0},
		{"told to keep it, silent", true, gone, ErrUnknown, "applied", "h was asked to and does not answer, see its journal", longestRevert},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				odd := &oddHost{rollback: c.rollback}
				host, err := fleet.Attach(t.Context(), "h", odd)
				if err != nil {
					t.Fatal(err)
				}
				change := &Change{cfg: Config{Tell: func(string) {}}, hosts: map[string]*fleet.Host{"h": host}, reach: map[string]string{"h": "netns:linerate-test-absent"}}
				out := Outcome{Hosts: []HostOutcome{{Host: "h", Journal: "one", State: "applied", asked: c.asked}}}
				begin := time.Now()
				err = change.revert(&out)
				if !errors.Is(err, c.want) || c.want == ErrUnknown && errors.Is(err, ErrRolledBack) || !strings.Contains(err.Error(), c.says) || out.Hosts[0].State != c.state {
					t.Errorf("state %s, %v", out.Hosts[0].State, err)
				}
				if took := time.Since(begin); took != c.takes {
					t.Errorf("it took %v, want %v", took, c.takes)
				}
				if odd.asked != 1 {
					t.Errorf("asked %d times over the connection there was", odd.asked)
				}
			})
		})
	}
}
