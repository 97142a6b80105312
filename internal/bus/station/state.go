package station

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"time"

	"github.com/linerate/linerate/internal/agent"
	"github.com/linerate/linerate/internal/agentapi"
	"github.com/linerate/linerate/internal/bus"
)

// publish says how the host is, now and then, until ctx ends. Each wait is
// another: a fleet that was started at once must not speak at once.
func (s *station) publish(ctx context.Context) {
	if s.cfg.Every < 0 {
		return
	}
	a := agent.New(s.cfg.Agent)
	defer a.Close()
	pause := time.Duration(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = s.cfg.Every/2 + rand.N(s.cfg.Every)
		if !s.conn.IsConnected() {
			pause = min(pause, time.Second)
			continue
		}
		if err := s.tell(ctx, a); err != nil {
			s.log.Warn("the host's state was not published", "error", err)
			pause = min(pause, 5*time.Second)
			continue
		}
		s.cfg.Meter.published()
	}
}

// tell writes the host's state into the bucket.
func (s *station) tell(ctx context.Context, a *agent.Agent) error {
	state := bus.State{Instance: s.instance, Since: s.since.UTC(), Written: time.Now().UTC(), Most: s.cfg.Most, Lost: Lost()}
	if err := ask(ctx, a, agentapi.MethodHello, agentapi.HelloRequest{Version: agentapi.Version}, &state.Hello); err != nil {
		return err
	}
	var seen agentapi.ObserveReply
	if err := ask(ctx, a, agentapi.MethodObserve, agentapi.ObserveRequest{}, &seen); err != nil {
		return err
	}
	for _, l := range seen.Host.Links {
		state.Links = append(state.Links, bus.Link{Name: l.Name, Kind: l.Kind, MTU: l.MTU, Speed: l.Speed, Addresses: l.Addresses})
	}
	body, err := json.Marshal(state)
	if err != nil {
		return err
	}
	// What a put into a bucket is, without asking about the bucket first: an
	// agent may publish to its own key and nothing else.
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	_, err = s.conn.RequestWithContext(ctx, "$KV."+bus.HostsBucket+"."+s.cfg.Host, body)
	return err
}

func ask(ctx context.Context, a *agent.Agent, method agentapi.Method, req, reply any) error {
	params, err := json.Marshal(req)
	if err != nil {
		return err
	}
	result, err := a.Dispatch(ctx, method, params)
	if err != nil {
		return err
	}
	return json.Unmarshal(result, reply)
}
