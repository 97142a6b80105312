package link

import (
	"context"
	"sync"
)

// Dialer makes the one connection that a controller's hosts share, when the
// first of them is reached. It is safe for many goroutines.
type Dialer struct {
	cfg func() (Config, error)

	mu   sync.Mutex
	conn *Conn
}

// NewDialer returns one that has not connected. Cfg is asked when it has to.
func NewDialer(cfg func() (Config, error)) *Dialer { return &Dialer{cfg: cfg} }

// Conn is the shared connection, or one of its own where fresh: that shows that
// NATS can be reached now. Done lets go of it. Errors: Connect's.
func (d *Dialer) Conn(ctx context.Context, fresh bool) (conn *Conn, done func(), err error) {
	cfg, err := d.cfg()
	if err != nil {
		return nil, nil, err
	}
	if fresh {
		conn, err = Connect(ctx, cfg)
		if err != nil {
			return nil, nil, err
		}
		return conn, conn.Close, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	// One whose credentials were refused twice, as when they have expired, has given
	// up for good; they may be others by now.
	if d.conn == nil || d.conn.IsClosed() {
		if d.conn, err = Connect(ctx, cfg); err != nil {
			d.conn = nil
			return nil, nil, err
		}
	}
	return d.conn, func() {}, nil
}

// Used is the shared connection; nil where nobody asked for it yet.
func (d *Dialer) Used() *Conn {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.conn
}

// Close ends the shared connection.
func (d *Dialer) Close() {
	if c := d.Used(); c != nil {
		c.Close()
	}
}
