package natsagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	diagnosehost "github.com/linerate/linerate/diagnose/host"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// publish says how the host is, now and then, until ctx ends. Each wait is
// another: a fleet that was started at once must not speak at once.
func (s *natsAgent) publish(ctx context.Context) {
	if s.cfg.Every < 0 {
		return
	}
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
		if err := s.tell(ctx); err != nil {
			s.log.Warn("the host's state was not published", "error", err)
			pause = min(pause, 5*time.Second)
			continue
		}
		s.cfg.Meter.published()
	}
}

// tell says how the host is to the run store.
func (s *natsAgent) tell(ctx context.Context) error {
	hello, err := ask.Call(ctx, s.own, agentapi.Hello, agentapi.HelloRequest{Version: agentapi.Version})
	if err != nil {
		return err
	}
	seen, err := ask.Call(ctx, s.own, agentapi.Observe, agentapi.ObserveRequest{})
	if err != nil {
		return err
	}
	state := wire.State{Hello: hello, Instance: s.instance, Since: s.since.UTC(), Written: time.Now().UTC(), Most: s.cfg.Most, Lost: Lost()}
	for _, l := range seen.Host.Links {
		said := wire.Link{Name: l.Name, Kind: l.Kind, MTU: l.MTU, Speed: l.Speed, Addresses: l.Addresses, PartOf: l.Master}
		if l.Bond != nil {
			said.Bond = strings.TrimSuffix(string(l.Bond.Mode)+", "+string(l.Bond.HashPolicy), ", ")
		}
		state.Links = append(state.Links, said)
	}
	for _, f := range diagnosehost.Judge(seen.Host) {
		if f.Severity != diagnosehost.Info && len(state.Wrong) < wire.MostWrong {
			state.Wrong = append(state.Wrong, f.What)
		}
	}
	return s.say(ctx, state)
}

// say has the run store keep the state, signed, and learns from its answer whose
// claims were revoked meanwhile.
func (s *natsAgent) say(ctx context.Context, state wire.State) error {
	body, err := json.Marshal(state)
	if err != nil {
		return err
	}
	params, err := json.Marshal(wire.StateParams{Revoked: s.trust.Known()})
	if err != nil {
		return err
	}
	headers := map[string]string{wire.HeaderParams: string(params)}
	signed := wire.SignedState{Time: s.conn.Now().UnixNano(), State: body}
	if err := link.Sign(headers, s.signer, signed.Signed(s.cfg.Host), true); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	answer, err := s.conn.RequestMsgWithContext(ctx, link.Message(wire.StateOf(s.cfg.Host), headers, body))
	if err != nil {
		return err
	}
	var reply wire.StateReply
	if err := json.Unmarshal(answer.Data, &reply); err != nil {
		return fmt.Errorf("%w: %w", wire.ErrParts, err)
	}
	if reply.Revoked != "" {
		s.learn(reply.Revoked)
	}
	if reply.Error != "" {
		return errors.New(reply.Error)
	}
	return nil
}
