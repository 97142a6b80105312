package fleet

import (
	"errors"
	"io"
	"testing"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

func TestStreamDies(t *testing.T) {
	requests, ours := io.Pipe()
	theirs, replies := io.Pipe()
	s := newStream(theirs, ours, nil, func() error { return sshReach{}.refused("Permission denied") })
	go func() {
		_, _ = io.CopyN(io.Discard, requests, 1)
		replies.Close() // ssh ended
		_, _ = io.Copy(io.Discard, requests)
	}()
	_, err := s.Call(t.Context(), agentapi.Hello.Any(), nil)
	if !errors.Is(err, ErrUnreachable) || err.Error() != "host is unreachable: Permission denied" {
		t.Errorf("a dead transport: %v", err)
	}
	if _, err := s.Call(t.Context(), agentapi.Hello.Any(), nil); !errors.Is(err, ErrUnreachable) {
		t.Errorf("the next call: %v", err)
	}
}

func TestDialRefuses(t *testing.T) {
	for reach, want := range map[string]error{"": ErrUnreachable, "telnet://h": ErrReach, "netns:": ErrReach, "netns:linerate-test-absent": ErrUnreachable} {
		if _, err := Dial(t.Context(), "h", reach, Config{}); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", reach, err, want)
		}
	}
}
