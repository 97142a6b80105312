package agent

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// maxRequest bounds one line of a request.
const maxRequest = 16 << 20

// ErrSilent: the controller gave no sign of life for Config.Silence.
var ErrSilent = errors.New("the controller is silent")

// Serve answers requests read from r, one JSON document a line, on w, until r
// ends or ctx does, or nothing comes for Config.Silence, which is ErrSilent.
// Requests are answered as they finish, not in order. When it returns the
// agent's traffic has ended: a controller that is gone must not leave a host
// sending. A read of r that does not return is left behind.
func (a *Agent) Serve(ctx context.Context, r io.Reader, w io.Writer) error {
	// In this order at the end: requests under way are told, traffic ends,
	// and only then is there something to wait for.
	var running sync.WaitGroup
	defer running.Wait()
	defer a.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := &replies{enc: json.NewEncoder(w)}
	lines, ended := read(ctx, r)
	for {
		select {
		case line := <-lines:
			var req agentapi.Request
			if err := json.Unmarshal(line, &req); err != nil {
				return fmt.Errorf("read request: %w", err)
			}
			running.Go(func() {
				result, err := a.Dispatch(ctx, req.Method, req.Params)
				out.send(agentapi.Reply{ID: req.ID, Result: result, Error: agentapi.WireError(err)})
			})
		case err := <-ended:
			return err
		case <-ctx.Done():
			return nil
		case <-silence(a.cfg.Silence):
			return fmt.Errorf("%w for %v", ErrSilent, a.cfg.Silence)
		}
	}
}

// silence ticks after so long without a line; never for zero.
func silence(d time.Duration) <-chan time.Time {
	if d <= 0 {
		return nil
	}
	return time.After(d)
}

// read gives the lines of r, until ctx ends; then why there are no more.
func read(ctx context.Context, r io.Reader) (<-chan []byte, <-chan error) {
	lines, ended := make(chan []byte), make(chan error, 1)
	go func() {
		scanner := bufio.NewScanner(r)
		scanner.Buffer(make([]byte, 64<<10), maxRequest)
		for scanner.Scan() {
			select {
			case lines <- bytes.Clone(scanner.Bytes()):
			case <-ctx.Done():
				return
			}
		}
		if err := scanner.Err(); err != nil && !errors.Is(err, io.ErrClosedPipe) {
			ended <- fmt.Errorf("read request: %w", err)
			return
		}
		ended <- nil
	}()
	return lines, ended
}

// replies writes whole lines, one writer at a time.
type replies struct {
	mu  sync.Mutex
	enc *json.Encoder
}

func (r *replies) send(reply agentapi.Reply) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.enc.Encode(reply) // a controller that is gone ends Serve by its reader
}
