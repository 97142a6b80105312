package link

import (
	"sync"

	"github.com/nats-io/nats.go"
)

// Bounds of messages that wait.
const (
	mostLanes  = 256
	mostOfLane = 20 << 20 // bytes of one: more than the longest request
	mostInLane = 256      // messages of one
	mostOfAll  = 128 << 20
	perMessage = 1 << 10 // bytes, beside its body
)

// Lanes take messages of many senders and work each sender's off by itself, in
// order: whoever sends more than can be verified loses their own messages, and
// nobody else's wait for them. It is safe for many goroutines.
type Lanes struct {
	work func(*nats.Msg)

	mu   sync.Mutex
	of   map[string]*lane
	held int // bytes of all
}

// lane is one sender's messages that wait.
type lane struct {
	queue []*nats.Msg
	held  int // bytes
}

// NewLanes works messages off.
func NewLanes(work func(*nats.Msg)) *Lanes {
	return &Lanes{work: work, of: make(map[string]*lane)}
}

// Put takes a sender's message, and does not block; false is one too many.
func (l *Lanes) Put(sender string, m *nats.Msg) bool {
	size := perMessage + len(m.Data)
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.of[sender]
	if l.held+size > mostOfAll || q == nil && len(l.of) >= mostLanes || q != nil && (len(q.queue) >= mostInLane || q.held+size > mostOfLane) {
		return false
	}
	if q == nil {
		q = &lane{}
		l.of[sender] = q
		defer func() { go l.run(sender, q) }()
	}
	q.queue = append(q.queue, m)
	q.held += size
	l.held += size
	return true
}

// run works off a lane until it is empty.
func (l *Lanes) run(sender string, q *lane) {
	for {
		m := l.next(sender, q)
		if m == nil {
			return
		}
		l.work(m)
	}
}

// next is a lane's oldest message; nil is none, and the lane is no more.
func (l *Lanes) next(sender string, q *lane) *nats.Msg {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(q.queue) == 0 {
		delete(l.of, sender)
		return nil
	}
	m := q.queue[0]
	q.queue[0], q.queue = nil, q.queue[1:]
	size := perMessage + len(m.Data)
	q.held -= size
	l.held -= size
	return m
}
