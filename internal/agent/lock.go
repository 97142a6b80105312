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
type hostLock struct {
	mu   sync.Mutex
	lock *apply.HostLock
}

func (h *hostLock) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lock.Release()
	h.lock = nil
}

// hold keeps other runs off the host; asked again it changes nothing.
func (a *Agent) lock(_ context.Context, req agentapi.LockRequest) (agentapi.LockReply, error) {
	a.hostLock.mu.Lock()
	defer a.hostLock.mu.Unlock()
	if a.hostLock.lock == nil {
		err := a.cfg.Namespace.Do(func() (err error) {
			a.hostLock.lock, err = apply.LockHost(a.cfg.LockDir, req.Holder)
			return err
		})
		if other := (*apply.InUseError)(nil); errors.As(err, &other) {
			return agentapi.LockReply{}, fmt.Errorf("%w: %s", agentapi.ErrBusy, other.Holder.Text(time.Now()))
		}
		if err != nil {
			return agentapi.LockReply{}, err
		}
	}
	return agentapi.LockReply{Note: a.hostLock.lock.Note}, nil
}

func (a *Agent) release(context.Context, agentapi.Empty) (agentapi.Empty, error) {
	a.hostLock.release()
	return agentapi.Empty{}, nil
}
