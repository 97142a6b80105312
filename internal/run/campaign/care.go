package campaign

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/run/latencyguard"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Care is what a run owes to a network that is in use. Zero fields ask for
// nothing.
type Care struct {
	// MaxBytes is the payload that all trials together may move, MaxTime how
	// long they may take together: then the run ends and keeps what it has.
	MaxBytes unit.Bytes
	MaxTime  time.Duration
	// Watch are addresses, or hosts of the fabric, that every measured host
	// which can reach them pings while trials run; Rule says when their latency
	// ends the run, which is ErrWatch.
	Watch []string
	Rule  latencyguard.Rule
}

// ErrWatch is a run that was ended because it was in the way of others.
var ErrWatch = errors.New("latency to a watched host rose, the run was ended")

// ErrTooShort is a run whose bounds end it before anything could be measured.
var ErrTooShort = errors.New("nothing was measured")

// care keeps a run within its bounds. It is safe for many goroutines.
type care struct {
	Care
	began time.Time
	now   func() time.Time
	stop  func() // ends the echoes

	mu    sync.Mutex
	moved unit.Bytes
	word  string // of measure.Care, once the run must end
	why   string
}

// Moved is told of payload that has arrived.
func (c *care) Moved(b unit.Bytes) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.moved += b
}

func (c *care) movedSoFar() unit.Bytes {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.moved
}

// Halt is the word by which trials must end now; "" is none.
func (c *care) Halt(next unit.Bytes) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.word != "":
	case c.MaxTime > 0 && c.now().Sub(c.began) >= c.MaxTime:
		c.end(measure.StopSeconds, fmt.Sprintf("the cap of %v was reached", c.MaxTime))
	case c.MaxBytes > 0 && c.moved+next >= c.MaxBytes:
		c.end(measure.StopBytes, fmt.Sprintf("the cap of %s was reached", asGiven(c.MaxBytes)))
	}
	return c.word
}

// Left is the share that is left of what the run may take.
func (c *care) Left() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	left := 1.0
	if c.MaxTime > 0 {
		left = min(left, 1-c.now().Sub(c.began).Seconds()/c.MaxTime.Seconds())
	}
	if c.MaxBytes > 0 {
		left = min(left, 1-float64(c.moved)/float64(c.MaxBytes))
	}
	return max(left, 0)
}

// asGiven is a size in the units it was probably given in: decimal where it is
// whole in those, as rates are, else binary.
func asGiven(b unit.Bytes) string {
	for _, u := range [...]struct {
		size unit.Bytes
		name string
	}{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if b < u.size {
			continue
		}
		if part := max(u.size/100, 1); b%part == 0 {
			return strconv.FormatFloat(float64(b)/float64(u.size), 'f', -1, 64) + " " + u.name
		}
		break
	}
	return b.String()
}

func (c *care) end(word, why string) {
	if c.word == "" {
		c.word, c.why = word, why
	}
}

// ended is why the run ended early; "" when it did not.
func (c *care) ended() (word, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.word, c.why
}

// The idle echoes, and the pace while trials run: three late ones in a row are
// seen within a second.
const (
	idleEchoes    = 20
	idleInterval  = 25 * time.Millisecond
	idleTimeout   = time.Second
	watchInterval = 150 * time.Millisecond
	leastTimeout  = 200 * time.Millisecond
)

// careFor begins to watch, before a byte is sent. A host that nobody reaches
// is fleet.ErrUnreachable. The caller calls stop.
func (c *Campaign) careFor(ctx context.Context, asked Care) (*care, error) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	k := &care{Care: asked, now: c.cfg.Now, stop: func() { cancel(); wg.Wait() }}
	for _, host := range asked.Watch {
		eyes, err := c.eyes(ctx, host, asked.Rule)
		if err != nil {
			k.stop()
			return nil, err
		}
		for _, e := range eyes {
			c.cfg.Tell(Event{Kind: Noted, Note: fmt.Sprintf("%s watches %s: idle %v, the run ends beyond %v", e.from, host, e.judge.Idle().Round(10*time.Microsecond), e.judge.Most().Round(10*time.Microsecond))})
			wg.Go(func() { e.run(ctx, k) })
		}
	}
	k.began = c.cfg.Now()
	return k, nil
}

// careless ends the watching; what is measured next has no bounds.
func (c *Campaign) careless() {
	c.care.stop()
	c.care = nil
}

// eye is one host that pings a watched one.
type eye struct {
	from, to string
	at       *fleet.Host
	req      agentapi.PingRequest
	judge    *latencyguard.Watch
}

// eyes are the measured hosts that reach the watched one.
func (c *Campaign) eyes(ctx context.Context, host string, rule latencyguard.Rule) ([]eye, error) {
	var out []eye
	var problems []string
	for _, from := range c.measured() {
		if from == host {
			continue
		}
		dst, err := c.watched(from, host)
		if err != nil {
			return nil, err
		}
		e := eye{from: from, to: host, at: c.hosts[from], req: agentapi.PingRequest{Dst: dst, Count: idleEchoes, Interval: idleInterval, Timeout: idleTimeout}}
		reply, err := ask.Call(ctx, e.at, agentapi.Ping, e.req)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			e.judge, err = rule.New(reply.Sent, reply.RTTs)
		}
		if errors.Is(err, latencyguard.ErrRule) {
			return nil, err
		}
		if err != nil {
			problems = append(problems, fmt.Sprintf("from %s: %v", from, err))
			continue
		}
		e.req.Count, e.req.Timeout = 1, min(max(2*e.judge.Most(), leastTimeout), idleTimeout)
		out = append(out, e)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("watch %s: %w: %s", host, fleet.ErrUnreachable, strings.Join(problems, "; "))
	}
	for _, p := range problems {
		c.cfg.Tell(Event{Kind: Noted, Note: "not watched: " + host + " " + p})
	}
	return out, nil
}

// measured are the reached hosts that paths are between, by name.
func (c *Campaign) measured() []string {
	var out []string
	for _, p := range c.state.Paths {
		for _, name := range []string{p.From, p.To} {
			if c.hosts[name] != nil && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// watched is the address under which a host is pinged from another.
func (c *Campaign) watched(from, host string) (netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return a, nil
	}
	state, ok := c.state.Hosts[host]
	if !ok {
		return netip.Addr{}, fmt.Errorf("watch %s: %w: it is neither an address nor a host of the fabric", host, ErrWatched)
	}
	if lanes, err := predict.Lanes(c.state, from, host, ""); err == nil && len(lanes) > 0 {
		return lanes[0].Dst, nil
	}
	for _, l := range state.Links {
		for _, p := range l.Addresses {
			if p.Addr().IsGlobalUnicast() {
				return p.Addr(), nil
			}
		}
	}
	return netip.Addr{}, fmt.Errorf("watch %s: %w: the fabric knows no address of it", host, ErrWatched)
}

// ErrWatched is a host that cannot be watched by that name.
var ErrWatched = errors.New("cannot watch it")

// run pings until ctx ends or the latency has risen. An error counts as a lost
// echo: whoever cannot look must not go on.
func (e *eye) run(ctx context.Context, k *care) {
	for {
		reply, err := ask.Call(ctx, e.at, agentapi.Ping, e.req)
		if ctx.Err() != nil {
			return
		}
		risen := false
		if err != nil || len(reply.RTTs) == 0 {
			risen = e.judge.Lost()
		} else {
			risen = e.judge.Answered(reply.RTTs[0])
		}
		if risen {
			k.mu.Lock()
			k.end(measure.StopWatch, fmt.Sprintf("from %s to %s %s", e.from, e.to, e.judge.Why()))
			k.mu.Unlock()
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(watchInterval):
		}
	}
}

// endedEarly keeps in the record why a run ended before all was measured, and
// is an error when it was in the way of others.
func (c *Campaign) endedEarly(k *care, done, total int) error {
	word, why := k.ended()
	if word == "" {
		return nil
	}
	text := fmt.Sprintf("%s: %d of %d trials measured", why, done, total)
	err := c.keep(func(r *record.Record) { r.Ended = text })
	switch {
	case word == measure.StopWatch:
		err = errors.Join(fmt.Errorf("%w: %s", ErrWatch, text), err)
	case done == 0:
		err = errors.Join(fmt.Errorf("%w: %s, %.1f MB went by until the rate was steady", ErrTooShort, why, float64(k.movedSoFar())/1e6), err)
	default:
		c.cfg.Tell(Event{Kind: Noted, Note: text})
	}
	return err
}
