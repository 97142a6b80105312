package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// beat keeps the conversation until ctx ends, and fails every call when the
// agent has given it up.
func (t *natsSession) beat(ctx context.Context) {
	defer close(t.ended)
	tick := time.NewTicker(min(natsHeartbeat, t.opened.Silence/5))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := t.heartbeatOnce(ctx); ctx.Err() == nil && err != nil {
			t.die(err)
			return
		}
	}
}

// heartbeatOnce is nil as long as there is hope.
func (t *natsSession) heartbeatOnce(ctx context.Context) error {
	var req wire.HeartbeatRequest
	t.mu.Lock()
	req.Last = t.last
	for n := range t.waiting {
		req.Waiting = append(req.Waiting, n)
	}
	heard := t.heard
	t.mu.Unlock()
	if silent := time.Since(heard); silent > t.opened.Silence {
		return fmt.Errorf("%w: the agent %s has not answered for %v", ErrUnreachable, t.host, silent.Round(time.Second))
	}
	params, err := json.Marshal(req)
	if err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, min(natsHeartbeat, t.opened.Silence/5))
	defer cancel()
	body, err := t.call(waiting, wire.Beat, params, 0)
	t.mu.Lock()
	dead := t.dead
	t.mu.Unlock()
	if dead != nil {
		return dead
	}
	var reply wire.HeartbeatReply
	if err != nil || json.Unmarshal(body, &reply) != nil {
		return nil // the next one may come through
	}
	for _, n := range reply.Again {
		t.mu.Lock()
		c := t.waiting[n]
		t.mu.Unlock()
		if c != nil {
			_ = t.send(n, c) // or at the next beat
		}
	}
	return nil
}

// die fails every call that waits and all to come.
func (t *natsSession) die(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dead = err
	for _, c := range t.waiting {
		select {
		case <-c.reply: // "no responders", which was to be tried again
		default:
		}
		c.answer(natsReply{err: err})
	}
}
