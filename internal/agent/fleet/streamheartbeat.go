package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// heartbeatPause is between two signs of life: an agent that hears nothing for
// several of them ends (agent.Config, Silence).
const heartbeatPause = 15 * time.Second

// A far agent that does not answer a sign of life is given up: while it sends
// nothing at all after silences of answerWithin, and while a long answer is on
// its way after many.
const (
	silences    = 2
	longAnswers = 20
)

// sign is a sign of life that was asked for.
type sign struct {
	id  uint64
	at  time.Duration // since the stream began
	got chan agentapi.Reply
}

// beat gives the agent signs of life and hears whether it lives, until the
// stream ends. An agent that does not, as long as answer says and longer, ends
// the stream.
func (s *stream) beat(answer time.Duration) {
	pause := min(heartbeatPause, answer/2)
	every := time.NewTicker(pause)
	defer every.Stop()
	var signs []sign
	for {
		signs = s.ask(signs, pause)
		select {
		case <-s.over:
			return
		case <-every.C:
		}
		if signs = unanswered(signs); len(signs) == 0 {
			continue
		}
		now, oldest := time.Since(s.began), signs[0].at
		silent := now - max(oldest, time.Duration(s.heard.Load()))
		if silent >= silences*answer || now-oldest >= longAnswers*answer {
			s.die(fmt.Errorf("%w: its agent did not answer for %v", ErrUnreachable, max(silent, now-oldest).Round(pause)))
			return
		}
	}
}

// ask asks for another sign. One that cannot be sent counts as asked for: a pipe
// that stays full is a silence too.
func (s *stream) ask(signs []sign, pause time.Duration) []sign {
	hello, _ := json.Marshal(agentapi.HelloRequest{Version: agentapi.Version})
	ctx, cancel := context.WithTimeout(context.Background(), pause)
	defer cancel()
	one := sign{at: time.Since(s.began)}
	var err error
	if one.id, one.got, err = s.send(ctx, agentapi.Hello.Any(), hello); err != nil {
		one.got = nil
	}
	return append(signs, one)
}

// unanswered are the signs that are still waited for: an answer to one is an
// answer to those before.
func unanswered(signs []sign) []sign {
	for i := len(signs) - 1; i >= 0; i-- {
		select {
		case <-signs[i].got:
			return signs[i+1:]
		default:
		}
	}
	return signs
}
