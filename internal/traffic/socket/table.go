package socket

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// Errors of a Table that a caller can act on.
var (
	ErrSession = errors.New("no such session")
	// ErrClosed: whoever asked has gone meanwhile.
	ErrClosed = fmt.Errorf("nothing is opened any more: %w", context.Canceled)
	// ErrName is a session's name that is empty or in use.
	ErrName = errors.New("name empty or in use")
)

// Table is a host's sessions by name. Each ends at the latest when its lifetime
// is over, and all of them with Close. It is safe for many goroutines.
type Table[S any] struct {
	end    func(name string, session S, late bool)
	most   int
	mu     sync.Mutex
	open   map[string]*entry[S]
	closed bool
	ending sync.WaitGroup
}

type entry[S any] struct {
	session S
	expiry  *time.Timer
}

// NewTable returns a table of at most so many sessions. End is called for each that
// outlives its time (late) or is open at Close, once it is out of the table.
func NewTable[S any](most int, end func(name string, session S, late bool)) *Table[S] {
	return &Table[S]{end: end, most: most, open: make(map[string]*entry[S])}
}

// Add takes a session in. Errors: ErrClosed, ErrName, agentapi.ErrBusy.
func (t *Table[S]) Add(name string, session S, lifetime time.Duration) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return fmt.Errorf("open session %q: %w", name, ErrClosed)
	case name == "" || t.open[name] != nil:
		return fmt.Errorf("open session %q: %w", name, ErrName)
	case len(t.open) >= t.most:
		return fmt.Errorf("open session %q: %d run already: %w", name, t.most, agentapi.ErrBusy)
	}
	e := &entry[S]{session: session}
	e.expiry = time.AfterFunc(lifetime, func() { t.finish(name, e, true) })
	t.open[name] = e
	return nil
}

// Set puts a session in the place of the one of that name. Errors: ErrSession,
// where that has ended meanwhile.
func (t *Table[S]) Set(name string, session S) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.open[name]
	if e == nil {
		return fmt.Errorf("session %q: %w", name, ErrSession)
	}
	e.session = session
	return nil
}

// Get is the session of a name. Errors: ErrSession.
func (t *Table[S]) Get(name string) (session S, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.open[name]; e != nil {
		return e.session, nil
	}
	return session, fmt.Errorf("session %q: %w", name, ErrSession)
}

// Remove is Get, and frees the name.
func (t *Table[S]) Remove(name string) (session S, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.open[name]
	if e == nil {
		return session, fmt.Errorf("session %q: %w", name, ErrSession)
	}
	e.expiry.Stop()
	delete(t.open, name)
	return e.session, nil
}

// All are the sessions that are open.
func (t *Table[S]) All() []S {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]S, 0, len(t.open))
	for _, e := range t.open {
		out = append(out, e.session)
	}
	return out
}

// finish ends an entry that nobody has removed.
func (t *Table[S]) finish(name string, e *entry[S], late bool) {
	t.mu.Lock()
	still := t.open[name] == e
	if still {
		e.expiry.Stop()
		delete(t.open, name)
		t.ending.Add(1)
		defer t.ending.Done()
	}
	session := e.session
	t.mu.Unlock()
	if still {
		t.end(name, session, late)
	}
}

// Close ends every session and returns when all have ended. Afterwards none can be
// added.
func (t *Table[S]) Close() {
	t.mu.Lock()
	t.closed = true
	all := maps.Clone(t.open)
	t.mu.Unlock()
	for name, e := range all {
		t.finish(name, e, false)
	}
	t.ending.Wait()
}
