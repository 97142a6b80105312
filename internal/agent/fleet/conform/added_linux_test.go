package conform

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/agent"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
)

// repeat is a method that is added in the two places that it takes: its value,
// and its handler in more.
var repeat = agentapi.Method[repeatRequest, repeatReply]{Name: "repeat", Role: agentapi.RoleWatch}

type repeatRequest struct {
	Word  string `json:"word"`
	Times int    `json:"times"`
}

type repeatReply struct {
	Text string `json:"text"`
}

// Check refuses a request outside its bounds.
func (r repeatRequest) Check() error {
	if r.Times > 3 {
		return fmt.Errorf("repeat %d times: want at most 3", r.Times)
	}
	return nil
}

// more is what the agents of this package's tests answer besides.
func more() []agent.Handler {
	return []agent.Handler{agent.Handle(repeat, func(_ context.Context, r repeatRequest) (repeatReply, error) {
		if r.Word == "" {
			return repeatReply{}, fs.ErrNotExist
		}
		return repeatReply{strings.Repeat(r.Word, r.Times)}, nil
	})}
}

// added asks for a method that was added: request, reply, bounds and errors go
// the way that every other's do.
func added(t *testing.T, h *fleet.Host) {
	reply, err := ask.Call(t.Context(), h, repeat, repeatRequest{"to ", 2})
	if err != nil || reply.Text != "to to " {
		t.Errorf("%+v, %v", reply, err)
	}
	if _, err := ask.Call(t.Context(), h, repeat, repeatRequest{Times: 1}); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), h.Name) {
		t.Errorf("an error of its own: %v, want ErrNotExist and the host's name", err)
	}
	if _, err := ask.Call(t.Context(), h, repeat, repeatRequest{"to ", 4}); err == nil || !strings.Contains(err.Error(), "at most 3") {
		t.Errorf("what is out of bounds is sent: %v", err)
	}
	if err := h.Ask(t.Context(), repeat.Any(), repeatRequest{"to ", 4}, &reply); err == nil || !strings.Contains(err.Error(), "at most 3") {
		t.Errorf("what is out of bounds is answered: %v", err)
	}
}
