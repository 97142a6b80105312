package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/host/apply"
)

// held is the agent's hold on its host; nil inside when it has none.
type held struct {
	mu   sync.Mutex
	hold *apply.Hold
}

func (h *held) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hold.Release()
	h.hold = nil
}

// hold keeps other runs off the host; asked again it changes nothing.
func (a *Agent) hold(_ context.Context, req agentapi.HoldRequest) (agentapi.HoldReply, error) {
	a.held.mu.Lock()
	defer a.held.mu.Unlock()
	if a.held.hold == nil {
		err := a.cfg.Namespace.Do(func() (err error) {
			a.held.hold, err = apply.TakeHold(a.cfg.HoldDir, req.Holder)
			return err
		})
		if other := (*apply.HeldError)(nil); errors.As(err, &other) {
			return agentapi.HoldReply{}, fmt.Errorf("%w: %s", agentapi.ErrBusy, other.Holder.Text(time.Now()))
		}
		if err != nil {
			return agentapi.HoldReply{}, err
		}
	}
	return agentapi.HoldReply{Note: a.held.hold.Note}, nil
}

func (a *Agent) release(context.Context, agentapi.Empty) (agentapi.Empty, error) {
	a.held.release()
	return agentapi.Empty{}, nil
}
