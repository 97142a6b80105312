package store

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// quietFor makes the connections of a database quietConns.
func quietFor(most time.Duration) func(context.Context, *pgconn.Config, net.Conn) (net.Conn, error) {
	return func(_ context.Context, _ *pgconn.Config, c net.Conn) (net.Conn, error) {
		return &quietConn{Conn: c, most: most}, nil
	}
}

// mostAnswer is what one question may be answered with, bytes: twice the largest record,
// or ten million results.
const mostAnswer = 2 * mostBytes

// errEndless: a database that goes on answering takes no more memory than that.
var errEndless = fmt.Errorf("it answers one question with more than %d MiB", mostAnswer>>20)

// quietConn is a connection to a database that may say nothing for so long while
// it is asked; os.ErrDeadlineExceeded afterwards. A deadline that its user sets
// counts beside it. It answers with mostAnswer at most; errEndless afterwards.
type quietConn struct {
	net.Conn
	most time.Duration
	came atomic.Int64 // since the last question

	mu  sync.Mutex
	set time.Time // by the user; zero is none
}

func (c *quietConn) Read(b []byte) (int, error) {
	if c.came.Load() > mostAnswer {
		return 0, errEndless
	}
	if err := c.await(); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(b)
	c.came.Add(int64(n))
	return n, err
}

// Write asks something.
func (c *quietConn) Write(b []byte) (int, error) {
	c.came.Store(0)
	return c.Conn.Write(b)
}

// await sets the deadline of the next read.
func (c *quietConn) await() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	end := time.Now().Add(c.most)
	if !c.set.IsZero() && c.set.Before(end) {
		end = c.set
	}
	return c.Conn.SetReadDeadline(end)
}

// SetDeadline is net.Conn's.
func (c *quietConn) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set = t
	return c.Conn.SetDeadline(t)
}

// SetReadDeadline is net.Conn's.
func (c *quietConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set = t
	return c.Conn.SetReadDeadline(t)
}
