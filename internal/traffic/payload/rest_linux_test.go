package payload

import (
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/sys"
)

// TestRestIsTaken: a reader that sleeps until much waits, as a fast stream's does,
// takes in soon what a stream leaves that stands still, and goes on to its end.
func TestRestIsTaken(t *testing.T) {
	near, far := pair(t)
	out, err := NewWriter(near, agentapi.ModeCopy, NewSource(), 0)
	if err != nil {
		t.Fatal(err)
	}
	in := NewReader(far, agentapi.ModeCopy, ReceiveLength(0), 0).(*vectorReader)
	total := 0
	ended := make(chan error, 1)
	go func() {
		for {
			n, err := in.Receive()
			total += n
			if err != nil {
				ended <- err
				return
			}
		}
	}()
	send := func(n int) {
		t.Helper()
		for n > 0 {
			sent, err := out.Send(uint64(n))
			if err != nil {
				t.Fatal(err)
			}
			n -= sent
		}
	}
	// As long as it takes until it waits for more than any byte: a machine that
	// carries less than 2 Gb/s to itself never gets there.
	sent := 0
	low := func() int {
		v, err := syscall.GetsockoptInt(far, syscall.SOL_SOCKET, syscall.SO_RCVLOWAT)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for begin := time.Now(); low() <= 1; {
		if time.Since(begin) > 20*time.Second {
			t.Fatal("no rate that it would sleep at")
		}
		send(64 << 20)
		sent += 64 << 20
	}
	time.Sleep(20 * time.Millisecond) // the reader sleeps
	const rest = 1000
	send(rest)
	sent += rest
	// A call that waits for more has it already: what is left is in the socket.
	for begin := time.Now(); sys.Unread(far) > 0; time.Sleep(time.Millisecond) {
		if time.Since(begin) > 5*time.Second {
			t.Fatalf("%d bytes wait still", sys.Unread(far))
		}
	}
	if err := syscall.Shutdown(near, syscall.SHUT_WR); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, io.EOF) {
		t.Errorf("the end: %v", err)
	}
	if total != sent {
		t.Errorf("took %d of %d bytes", total, sent)
	}
}

// pair is a connection over loopback: two blocking sockets.
func pair(t *testing.T) (near, far int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	fds := [2]int{}
	for i, conn := range []net.Conn{c, s} {
		f, err := conn.(*net.TCPConn).File()
		if err == nil {
			fds[i], err = syscall.Dup(int(f.Fd())) // Fd makes it block
		}
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		conn.Close()
		t.Cleanup(func() { syscall.Close(fds[i]) })
	}
	return fds[0], fds[1]
}
