package iperf3server

import (
	"maps"
	"net/netip"
	"sync"
	"time"

	"github.com/linerate/linerate/internal/traffic/iperf3"
	"github.com/linerate/linerate/internal/traffic/socket"
)

// slots are what tests may take: so many at a time, and so many streams in all. A
// quarter of both no single origin (socket.Origin) gets. It also knows which cookies
// were used with a token and until when each could be used again, for a proof
// is good once. A listener that is started anew knows of none of them: until
// then a proof that was overheard just before is good once more.
type slots struct {
	tests, streams int

	mu      sync.Mutex
	taken   int
	by      map[netip.Addr]int // tests of an origin
	flowing int
	flows   map[netip.Addr]int // streams of an origin
	spent   map[iperf3.Cookie]time.Time
}

func newSlots(tests, streams int) *slots {
	return &slots{tests: tests, streams: streams, by: make(map[netip.Addr]int), flows: make(map[netip.Addr]int), spent: make(map[iperf3.Cookie]time.Time)}
}

// ofOne is how many of all one origin gets.
func ofOne(all int) int { return max(all-all/4, 1) }

// take gives a test its slot, or says that there is none.
func (p *slots) take(from netip.Addr) bool {
	from = socket.Origin(from)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken >= p.tests || p.by[from] >= ofOne(p.tests) {
		return false
	}
	p.taken++
	p.by[from]++
	return true
}

func (p *slots) give(from netip.Addr) {
	from = socket.Origin(from)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken--
	if p.by[from]--; p.by[from] == 0 {
		delete(p.by, from)
	}
}

// reserve sets n streams aside and returns how many there are before them.
func (p *slots) reserve(from netip.Addr, n int) (before int, ok bool) {
	from = socket.Origin(from)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.flowing+n > p.streams || p.flows[from]+n > ofOne(p.streams) {
		return 0, false
	}
	p.flowing += n
	p.flows[from] += n
	return p.flowing - n, true
}

func (p *slots) release(from netip.Addr, n int) {
	from = socket.Origin(from)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flowing -= n
	if p.flows[from] -= n; p.flows[from] <= 0 {
		delete(p.flows, from)
	}
}

// spentMost is how many used cookies are remembered, some 6 MiB of them. Only
// who knows the token makes one, and they last iperf3.ProofAge or twice that:
// fifty tests a second.
const spentMost = 1 << 16

// spend takes a cookie that could be used until then. Errors: ErrNoToken where
// it is used already, ErrFull where no more can be remembered.
func (p *slots) spend(c iperf3.Cookie, until, now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, used := p.spent[c]; used {
		return ErrNoToken
	}
	if len(p.spent) >= spentMost {
		maps.DeleteFunc(p.spent, func(_ iperf3.Cookie, until time.Time) bool { return now.After(until) })
	}
	if len(p.spent) >= spentMost {
		return ErrFull
	}
	p.spent[c] = until
	return nil
}

// teller passes on no more than RefusalsLogged refusals a second and counts the
// others.
type limitedLog struct {
	tell func(Refusal)

	mu     sync.Mutex
	second int64
	told   int
	silent int
	last   Refusal // of the silent ones
}

func (t *limitedLog) refused(from netip.Addr, reason error) {
	if t.tell == nil {
		return
	}
	t.mu.Lock()
	if now := time.Now().Unix(); now != t.second {
		t.second, t.told = now, 0
	}
	if t.told >= RefusalsLogged {
		t.silent++
		t.last = Refusal{Client: from, Reason: reason}
		t.mu.Unlock()
		return
	}
	r := Refusal{Client: from, Reason: reason, More: t.silent}
	t.told++
	t.silent = 0
	t.mu.Unlock()
	t.tell(r)
}

// finish tells of those that nothing was said of yet, as one.
func (t *limitedLog) finish() {
	t.mu.Lock()
	r := t.last
	r.More = t.silent - 1
	t.silent = 0
	t.mu.Unlock()
	if t.tell != nil && r.More >= 0 {
		t.tell(r)
	}
}
