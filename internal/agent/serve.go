package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/linerate/linerate/internal/agentapi"
)

// maxRequest bounds one line of a request.
const maxRequest = 16 << 20

// Serve answers requests read from r, one JSON document a line, on w, until r
// ends or ctx does. Requests are answered as they finish, not in order. When
// it returns the agent's traffic has ended: a controller that is gone must
// not leave a host sending.
func (a *Agent) Serve(ctx context.Context, r io.Reader, w io.Writer) error {
	// In this order at the end: requests under way are told, traffic ends,
	// and only then is there something to wait for.
	var running sync.WaitGroup
	defer running.Wait()
	defer a.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := &replies{enc: json.NewEncoder(w)}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), maxRequest)
	for lines.Scan() {
		var req agentapi.Request
		if err := json.Unmarshal(lines.Bytes(), &req); err != nil {
			return fmt.Errorf("read request: %w", err)
		}
		running.Go(func() {
			result, err := a.Dispatch(ctx, req.Method, req.Params)
			out.send(agentapi.Reply{ID: req.ID, Result: result, Error: wire(err)})
		})
	}
	if err := lines.Err(); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		return fmt.Errorf("read request: %w", err)
	}
	return nil
}

func wire(err error) *agentapi.Error { return agentapi.WireError(err) }

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
