package testcluster

import (
	"io"
	"net"
	"sync"
	"testing"
)

// Proxy is a way to a server that can be cut: connections stay, and nothing
// gets through, as when a switch dies. What was sent meanwhile comes when it
// is healed.
type Proxy struct {
	listener net.Listener
	to       string

	mu   sync.Mutex
	open chan struct{} // closed while bytes flow
}

// NewProxy listens on loopback for connections to an address, until the test
// ends.
func NewProxy(t testing.TB, to string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: l, to: to, open: make(chan struct{})}
	close(p.open)
	t.Cleanup(func() { l.Close() })
	go p.accept()
	return p
}

// Addr is where it listens.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Cut lets nothing through from now on.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = make(chan struct{})
}

// Heal ends a cut.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.open)
}

func (p *Proxy) flowing() chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open
}

func (p *Proxy) accept() {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer near.Close()
			far, err := net.Dial("tcp", p.to)
			if err != nil {
				return
			}
			defer far.Close()
			done := make(chan struct{}, 2)
			for _, way := range [2][2]net.Conn{{near, far}, {far, near}} {
				go func() {
					p.carry(way[0], way[1])
					done <- struct{}{}
				}()
			}
			<-done
		}()
	}
}

func (p *Proxy) carry(from io.Reader, to io.Writer) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		<-p.flowing()
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
