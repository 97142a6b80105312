package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/wire"
	"github.com/linerate/linerate/netstate"
)

// Fleet is the hosts that meet on the server's bus. What a user asks of them is
// asked in their name and under their role, so that hosts hold them to it too.
type Fleet interface {
	// Hosts are those that were ever there, by name, as they last said.
	Hosts(ctx context.Context) ([]Host, error)
	Journal(ctx context.Context, v User, host string) (agentapi.JournalReply, error)
	// Observe is a host's state as it is now.
	Observe(ctx context.Context, v User, host string) (netstate.Host, error)
	Confirm(ctx context.Context, v User, host, change string) error
	Rollback(ctx context.Context, v User, host, change string) (agentapi.RollbackReply, error)
	// Measure starts a measurement, which goes on when the page is left.
	Measure(v User, w Request) error
	// Measuring are the measurements of these pages, the newest first.
	Measuring() []Measuring
	// Stop ends one that runs; what it has measured is kept.
	Stop(v User, id string) error
}

// Errors of a fleet.
var (
	// ErrBusy is a measurement more than is run at a time.
	ErrBusy = errors.New("busy")
	// ErrNothing is something that is asked for and is not there.
	ErrNothing = errors.New("there is no such thing")
	// errRole is something that a user may not.
	errRole = errors.New("not permitted")
)

// Host is one of a fleet.
type Host struct {
	Name string
	wire.State
	Gone bool // it has said nothing for long
}

// Request is a measurement that somebody asks for.
type Request struct {
	From, To  string
	Streams   []int
	Direction flow.Direction
	Duration  time.Duration // of each trial
}

// Measuring is a measurement that was started here.
type Measuring struct {
	ID      string
	Who     string
	Request Request
	Started time.Time
	Line    string // what it said last
	Ended   bool
	Run     string // its name in the store; "" until it is kept there
	Error   string // why it came to nothing
}

// The bounds of a request.
const (
	mostStreams  = 64
	mostCounts   = 8
	mostDuration = 5 * time.Minute
)

// request reads the form. Errors: errAsked.
func request(r *http.Request) (Request, error) {
	w := Request{From: r.PostFormValue("from"), To: r.PostFormValue("to"), Direction: flow.Direction(r.PostFormValue("direction"))}
	for _, host := range [...]string{w.From, w.To} {
		if err := wire.CheckName("host", host); err != nil {
			return w, fmt.Errorf("%w: %w", errAsked, err)
		}
	}
	if w.From == w.To {
		return w, fmt.Errorf("%w: choose two hosts: %s does not measure itself", errAsked, w.From)
	}
	switch w.Direction {
	case flow.Forward, flow.Reverse, flow.Both:
	default:
		return w, fmt.Errorf("%w: a direction %.20q", errAsked, w.Direction)
	}
	for word := range strings.SplitSeq(r.PostFormValue("streams"), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 || n > mostStreams || len(w.Streams) == mostCounts {
			return w, fmt.Errorf("%w: streams %.40q: want up to %d numbers from 1 to %d, such as 1,4", errAsked, r.PostFormValue("streams"), mostCounts, mostStreams)
		}
		w.Streams = append(w.Streams, n)
	}
	seconds, err := strconv.Atoi(r.PostFormValue("seconds"))
	w.Duration = time.Duration(seconds) * time.Second
	if err != nil || w.Duration < time.Second || w.Duration > mostDuration {
		return w, fmt.Errorf("%w: %.20q seconds: want 1 to %.0f", errAsked, r.PostFormValue("seconds"), mostDuration.Seconds())
	}
	return w, nil
}
