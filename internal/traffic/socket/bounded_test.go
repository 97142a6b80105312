package socket

import (
	"io"
	"net"
	"testing"
	"time"
)

// TestBounded: of more connections than there may be of one address the oldest go, and
// those that are closed leave their places.
func TestBounded(t *testing.T) {
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := Bounded(plain, 8, 4)
	defer l.Close()
	var near, far []net.Conn
	connect := func() {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		n, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = n.Close() })
		far, near = append(far, c), append(near, n)
	}
	open := func(c net.Conn) bool {
		_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		_, err := c.Read(make([]byte, 1))
		return err != nil && err != io.EOF && isTimeout(err)
	}
	for range 6 {
		connect()
	}
	for i, c := range far {
		if open(c) != (i >= 2) {
			t.Errorf("connection %d of 6: open is %v", i, open(c))
		}
	}
	for range 20 { // each leaves its place
		_ = near[len(near)-1].Close()
		near, far = near[:len(near)-1], far[:len(far)-1]
		connect()
	}
	if !open(far[2]) {
		t.Error("one that was there goes though others left")
	}
}

func isTimeout(err error) bool {
	late, ok := err.(net.Error)
	return ok && late.Timeout()
}
