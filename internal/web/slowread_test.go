package web

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"
)

// Who asks and reads nothing is cut off, and who reads slowly has it all.
func TestSlowReaders(t *testing.T) {
	large, small := bytes.Repeat([]byte("all of it "), 16<<20/10), bytes.Repeat([]byte("all of it "), 512<<10/10)
	ended := make(chan struct{}, 1)
	pages := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/small" {
			_, _ = w.Write(small)
			return
		}
		_, _ = w.Write(large)
		ended <- struct{}{}
	})
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if hurried, ok := l.(*impatient); ok {
		hurried.within = 500 * time.Millisecond
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := Server(ctx, pages, slog.New(slog.DiscardHandler))
	go func() { _ = s.Serve(l) }()
	defer func() {
		cancel()
		_ = s.Close()
	}()
	ask := func(path string, window int) *net.TCPConn {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		tcp := c.(*net.TCPConn)
		_ = tcp.SetReadBuffer(window)
		_, _ = io.WriteString(tcp, "GET "+path+" HTTP/1.0\r\n\r\n")
		return tcp
	}
	silent := ask("/large", 4<<10)
	defer silent.Close()
	select {
	case <-ended:
	case <-time.After(2500 * time.Millisecond):
		t.Error("a reader that reads nothing is waited for")
	}
	slow := ask("/small", 64<<10)
	defer slow.Close()
	var got int
	buf := make([]byte, 64<<10)
	for {
		n, err := slow.Read(buf)
		got += n
		if err != nil {
			break
		}
		time.Sleep(60 * time.Millisecond)
	}
	if got < len(small) {
		t.Errorf("a slow reader got %d of %d bytes", got, len(small))
	}
}
