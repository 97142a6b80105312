package fleet

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

// copies are the programs that a run has put on hosts, which stay there until it ends:
// most commands reach a host more than once, and a link may take seconds for one.
type copies struct {
	mu     sync.Mutex
	at     map[copied]string // their directories
	ending []func()          // those that hold them there
	all    sync.WaitGroup
}

// copied is a program on a host, as somebody who may run it there.
type copied struct {
	to  sshReach
	sum string
}

// keptAt is the directory that a program was last put in there; "-" for none.
func (s *SSH) keptAt(to sshReach, sum string) string {
	if s == nil {
		return "-"
	}
	s.copies.mu.Lock()
	defer s.copies.mu.Unlock()
	return cmp.Or(s.copies.at[copied{to, sum}], "-")
}

// keep notes where a program was put. The far shell reads the directory as one word.
func (s *SSH) keep(to sshReach, sum, dir string) {
	if s == nil || !strings.HasPrefix(dir, "/") || strings.ContainsAny(dir, " \t\\") {
		return
	}
	s.copies.mu.Lock()
	defer s.copies.mu.Unlock()
	if s.copies.at == nil {
		s.copies.at = make(map[copied]string)
	}
	s.copies.at[copied{to, sum}] = dir
}

// hold has a program stay on a host until Close, by an agent of its own that nobody
// asks anything: it ends with this process, or when nothing is heard of it, and the
// program goes with it. Where it does not come about, the next connection copies again.
// The channel is closed when it has come about or cannot.
func (s *SSH) hold(args []string, to sshReach, sum string) <-chan struct{} {
	held := make(chan struct{})
	done := sync.OnceFunc(func() { close(held) })
	dir := s.keptAt(to, sum)
	if dir == "-" {
		done()
		return held
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.copies.mu.Lock()
	s.copies.ending = append(s.copies.ending, cancel)
	s.copies.mu.Unlock()
	s.copies.all.Go(func() {
		defer done()
		_, agent, err := agentBy(ctx, args, to, s, func(p *sshProcess) error {
			if _, err := p.greeting(to); err != nil {
				return err
			}
			if err := p.say(to, fmt.Sprintf("keep - - %s - %s", sum, dir)); err != nil {
				return err
			}
			key, _, err := p.line(to)
			if err == nil && key != "ready" {
				err = p.gone(to)
			}
			return err
		})
		if err != nil {
			return
		}
		done()
		<-ctx.Done()
		_ = agent.Close() // it may be gone
	})
	return held
}

// copier is the transport by which a program was copied.
type copier struct {
	Transport
	held <-chan struct{} // closed when the program stays without it, or cannot
}

// heldWithin is how long a connection waits for another to hold what it copied.
const heldWithin = 3 * time.Second

func (c copier) Close() error {
	select {
	case <-c.held:
	case <-time.After(heldWithin):
	}
	return c.Transport.Close()
}

// drop ends the agents that keep programs on hosts.
func (c *copies) drop() {
	c.mu.Lock()
	for _, end := range c.ending {
		end()
	}
	c.ending, c.at = nil, nil
	c.mu.Unlock()
	c.all.Wait()
}
