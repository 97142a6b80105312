package web

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/linerate/linerate/internal/traffic/socket"
)

// Listen takes an address for the pages. Who takes nothing of an answer for
// takenWithin is cut off, and of too many connections the oldest.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &impatient{socket.Bounded(l, mostConns, connsOfOne), takenWithin}, nil
}

// takenWithin is how long a reader may take for a piece of an answer. It is no limit
// of the whole: a record is large, a line may be slow, and events go on.
const takenWithin = 30 * time.Second

// mostConns bounds the connections at a time, connsOfOne those of one address, which may
// be many browsers behind a proxy. The server of the fleet is the same process: it must not
// run out of files by them.
const (
	mostConns  = 512
	connsOfOne = 128
)

// piece is what is written at a time under one deadline.
const piece = 16 << 10

// impatient gives out connections that do not wait for a reader without end.
type impatient struct {
	net.Listener
	within time.Duration
}

// Accept implements net.Listener.
func (l *impatient) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &impatientConn{c, l.within}, nil
}

type impatientConn struct {
	net.Conn
	within time.Duration
}

// Write implements net.Conn.
func (c *impatientConn) Write(b []byte) (sent int, err error) {
	for {
		next := b[sent:min(sent+piece, len(b))]
		if err := c.SetWriteDeadline(time.Now().Add(c.within)); err != nil {
			return sent, err
		}
		n, err := c.Conn.Write(next)
		sent += n
		if err != nil || sent == len(b) {
			return sent, err
		}
	}
}

// mostHeader bounds what a request's headers may hold.
const mostHeader = 32 << 10

// Server serves the pages to whoever asks, and cuts off who asks slowly. Every
// request ends when ctx does: a stream of events would go on for as long as its
// reader.
func Server(ctx context.Context, pages http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: pages, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: mostHeader,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug), BaseContext: func(net.Listener) context.Context { return ctx },
	}
}
