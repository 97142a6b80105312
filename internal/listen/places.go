package listen

import (
	"net/netip"
	"sync"
	"time"

	"github.com/linerate/linerate/internal/iperf3"
)

// places are what tests may take: so many at a time, a quarter of which no
// single address gets, and so many streams in all. It also knows which cookies
// were used with a token, for a proof is good once.
type places struct {
	tests, streams int

	mu      sync.Mutex
	taken   int
	by      map[netip.Addr]int
	flowing int
	spent   map[iperf3.Cookie]bool
	order   []iperf3.Cookie
}

func newPlaces(tests, streams int) *places {
	return &places{tests: tests, streams: streams, by: make(map[netip.Addr]int), spent: make(map[iperf3.Cookie]bool)}
}

// take gives a test its place, or says that there is none.
func (p *places) take(from netip.Addr) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	ofOne := max(p.tests-p.tests/4, 1)
	if p.taken >= p.tests || p.by[from] >= ofOne {
		return false
	}
	p.taken++
	p.by[from]++
	return true
}

func (p *places) give(from netip.Addr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken--
	if p.by[from]--; p.by[from] == 0 {
		delete(p.by, from)
	}
}

// reserve sets n streams aside and returns how many there are before them.
func (p *places) reserve(n int) (before int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.flowing+n > p.streams {
		return 0, false
	}
	p.flowing += n
	return p.flowing - n, true
}

func (p *places) release(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flowing -= n
}

// spentMost is how many used cookies are remembered.
const spentMost = 4096

// spend says whether a cookie is used for the first time.
func (p *places) spend(c iperf3.Cookie) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.spent[c] {
		return false
	}
	if len(p.order) == spentMost {
		delete(p.spent, p.order[0])
		p.order = p.order[1:]
	}
	p.spent[c] = true
	p.order = append(p.order, c)
	return true
}

// teller passes on no more than RefusalsTold refusals a second and counts the
// others.
type teller struct {
	tell func(Refusal)

	mu     sync.Mutex
	second int64
	told   int
	silent int
}

func (t *teller) refused(from netip.Addr, reason error) {
	if t.tell == nil {
		return
	}
	t.mu.Lock()
	if now := time.Now().Unix(); now != t.second {
		t.second, t.told = now, 0
	}
	if t.told >= RefusalsTold {
		t.silent++
		t.mu.Unlock()
		return
	}
	r := Refusal{Client: from, Reason: reason, More: t.silent}
	t.told++
	t.silent = 0
	t.mu.Unlock()
	t.tell(r)
}
