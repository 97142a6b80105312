package link

import (
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// Bounds of messages that wait.
const (
	mostLanes  = 256
	mostOfLane = 20 << 20 // bytes of one: more than the longest request
	mostInLane = 256      // messages of one
	mostOfAll  = 128 << 20
	perMessage = 1 << 10 // bytes, beside its body
	// mostBurst and everyMessage bound what one sender may have verified, at once
	// and one by one: a signature takes some 100 µs to verify, so that who sends
	// without end takes a twentieth of a core.
	mostBurst    = 256
	everyMessage = 2 * time.Millisecond
)

// ErrCrowd is a message of a sender of whom too many wait. It is one error, without the
// sender's name: whoever floods must not have words made.
var ErrCrowd = fmt.Errorf("%w: too many requests of this sender wait", agentapi.ErrBusy)

// Lanes take messages of many senders and work each sender's off by itself, in
// order: whoever sends more than is worked off loses their own messages, and
// nobody else's wait for them. It is safe for many goroutines.
type Lanes struct {
	work func(*nats.Msg)

	mu   sync.Mutex
	of   map[string]*lane
	held int // bytes of all
}

// lane is one sender's messages that wait.
type lane struct {
	queue   []*nats.Msg
	held    int  // bytes
	running bool // somebody works it off
	// free is when everything that was worked off is paid for, a message each
	// everyMessage.
	free time.Time
}

// NewLanes works messages off.
func NewLanes(work func(*nats.Msg)) *Lanes {
	return &Lanes{work: work, of: make(map[string]*lane)}
}

// Put takes a sender's message, and does not block. Error: ErrCrowd.
func (l *Lanes) Put(sender string, m *nats.Msg) error {
	size := perMessage + len(m.Data)
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.lane(sender)
	if q == nil || l.held+size > mostOfAll || len(q.queue) >= mostInLane || q.held+size > mostOfLane {
		return ErrCrowd
	}
	q.queue = append(q.queue, m)
	q.held += size
	l.held += size
	if !q.running {
		q.running = true
		go l.run(q)
	}
	return nil
}

// lane is a sender's, made where there is none; nil is one too many. l.mu is held.
func (l *Lanes) lane(sender string) *lane {
	if q := l.of[sender]; q != nil {
		return q
	}
	if len(l.of) >= mostLanes {
		now := time.Now()
		for name, q := range l.of {
			if !q.running && q.free.Before(now) {
				delete(l.of, name)
			}
		}
	}
	if len(l.of) >= mostLanes {
		return nil
	}
	q := &lane{}
	l.of[sender] = q
	return q
}

// run works off a lane until it is empty, no faster than one sender's pace.
func (l *Lanes) run(q *lane) {
	for {
		m, wait := l.next(q)
		if m == nil {
			return
		}
		time.Sleep(wait)
		l.work(m)
	}
}

// next is a lane's oldest message and how long it has to wait; nil is none, and
// nobody works the lane off any more.
func (l *Lanes) next(q *lane) (*nats.Msg, time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(q.queue) == 0 {
		q.running = false
		return nil, 0
	}
	m := q.queue[0]
	q.queue[0], q.queue = nil, q.queue[1:]
	size := perMessage + len(m.Data)
	q.held -= size
	l.held -= size
	now := time.Now()
	if q.free.Before(now) {
		q.free = now
	}
	q.free = q.free.Add(everyMessage)
	return m, q.free.Sub(now) - mostBurst*everyMessage
}
