//go:build linux && !portable

package engine

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
)

// openFlooded is a sink for one stream of a peer.
func openFlooded(t *testing.T, log *slog.Logger, peer netip.Addr) (*Engine, netip.AddrPort) {
	t.Helper()
	e := New(Config{Logger: log})
	t.Cleanup(e.Close)
	sink, err := e.OpenSink(t.Context(), agentapi.SinkRequest{Session: "in", Key: testKey, Bind: []netip.Addr{loopback}, Peers: []netip.Addr{peer}, Streams: 1, Lifetime: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return e, netip.AddrPortFrom(loopback, uint16(sink.Port))
}

// honest opens the one stream that the sink is there for.
func honest(t *testing.T, e *Engine, at netip.AddrPort) error {
	t.Helper()
	_, err := e.OpenSource(t.Context(), agentapi.SourceRequest{Session: "out", Key: testKey, Lifetime: time.Minute,
		Streams: []agentapi.Stream{{Lane: flow.Lane{Src: loopback, Dst: loopback}, Dport: at.Port()}}})
	return err
}

// logged is a log that counts its lines.
type logged struct {
	mu    sync.Mutex
	lines int
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines += bytes.Count(b, []byte("\n"))
	return len(b), nil
}

func (l *logged) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines
}

// Whoever has an account on a peer may connect to a data port and say nothing:
// that costs a bounded number of sockets and threads, and the streams get in.
func TestSilentConnectionsAreBounded(t *testing.T) {
	e, at := openFlooded(t, nil, loopback)
	const most, flood = strangersMost + 1, 5 * strangersMost
	before := len(descriptors(t))
	var held []net.Conn
	defer func() {
		for _, c := range held {
			c.Close()
		}
	}()
	for range flood {
		c, err := net.Dial("tcp", at.String())
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
	}
	if err := honest(t, e, at); err != nil {
		t.Errorf("in the flood: %v", err)
	}
	// One end of each connection is the flood's.
	if grown := len(descriptors(t)) - before - len(held); grown > most+16 {
		t.Errorf("%d silent connections hold %d sockets of the sink, want %d at most", flood, grown, most)
	}
}

func descriptors(t *testing.T) []os.DirEntry {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A host that is out of files for a moment serves the port again afterwards.
func TestOutOfFiles(t *testing.T) {
	e, at := openFlooded(t, nil, loopback)
	client, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	low := limit
	low.Cur = 256
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	var taken []int
	for {
		fd, err := syscall.Open("/dev/null", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err != nil {
			break
		}
		taken = append(taken, fd)
	}
	// accept4 takes its descriptor before it waits (do_accept, net/socket.c): the
	// first connection is accepted, and the next call has none.
	err = syscall.Connect(client, &syscall.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()})
	time.Sleep(50 * time.Millisecond)
	for _, fd := range append(taken, client) {
		syscall.Close(fd)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := honest(t, e, at); err != nil {
		t.Error(err)
	}
}

// What strangers do at a data port is logged, and does not fill the log.
func TestStrangersDoNotFillTheLog(t *testing.T) {
	for name, peer := range map[string]netip.Addr{"not a peer": netip.MustParseAddr("192.0.2.1"), "a peer without the key": loopback} {
		t.Run(name, func(t *testing.T) {
			var lines logged
			_, at := openFlooded(t, slog.New(slog.NewTextHandler(&lines, nil)), peer)
			for i := range 5 * refusalsLogged {
				c, err := net.Dial("tcp", at.String())
				if err != nil {
					continue // cut off at once
				}
				fmt.Fprint(c, strings.Repeat("x", openingLength))
				_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
				if _, err := c.Read(make([]byte, 1)); err == nil {
					t.Errorf("connection %d was answered", i)
				}
				c.Close()
			}
			if n := lines.count(); n == 0 || n > refusalsLogged {
				t.Errorf("%d lines, want 1 to %d", n, refusalsLogged)
			}
		})
	}
}
