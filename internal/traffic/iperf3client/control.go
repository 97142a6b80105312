package iperf3client

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/traffic/iperf3"
	"github.com/linerate/linerate/internal/traffic/socket"
)

// answerTime is how long the server may take for a step that takes it no work.
const answerTime = 10 * time.Second

// control is the connection that the two ends agree over.
type control struct {
	conn   net.Conn
	cookie iperf3.Cookie
	// states are the server's, one at a time, and the error that ends them;
	// more asks for the next.
	states chan stateRead
}

type stateRead struct {
	state iperf3.State
	err   error
}

// dialControl connects and says who is there.
func dialControl(ctx context.Context, ns netns.Namespace, near netip.Addr, far netip.AddrPort, device string) (*control, error) {
	c := &control{cookie: newCookie(), states: make(chan stateRead, 1)}
	err := ns.Do(func() (err error) {
		if far, err = numbered(far); err != nil {
			return err
		}
		d := net.Dialer{Timeout: answerTime, ControlContext: onDevice(device)}
		if near.IsValid() {
			d.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(near.WithZone(far.Addr().Zone()), 0))
		}
		d.SetMultipathTCP(false)
		c.conn, err = d.DialContext(ctx, "tcp", far.String())
		return err
	})
	if ctx.Err() != nil {
		return nil, errors.Join(ctx.Err(), c.close())
	}
	if err != nil {
		return nil, fmt.Errorf("connect: %w", dialError(err))
	}
	if err := c.say(ctx, c.cookie[:]); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// dialError tells a refusal, silence and a filter's word apart.
func dialError(err error) error {
	class := socket.Class(err)
	switch {
	case errors.Is(err, syscall.ECONNRESET): // its port closed while the connection was made
		return fmt.Errorf("%w: %w", ErrEnded, err)
	case class == ErrBlocked:
		return fmt.Errorf("%w (%w)", ErrBlocked, err)
	case class != nil:
		return class
	}
	return err
}

func (c *control) close() error {
	if c.conn == nil {
		return nil
	}
	return c.conn.Close()
}

// within bounds what follows by a time and by the context; the function it
// returns ends the watch.
func (c *control) within(ctx context.Context, d time.Duration) func() {
	_ = c.conn.SetDeadline(time.Now().Add(d))
	stop := context.AfterFunc(ctx, func() { _ = c.conn.SetDeadline(time.Unix(1, 0)) })
	return func() { stop() }
}

// explain turns the end of a connection or of patience into what it means.
func explain(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, iperf3.ErrMalformed):
		return fmt.Errorf("%w: %w", ErrProtocol, err)
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ErrStalled
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return fmt.Errorf("%w: it closed the connection", ErrEnded)
	}
	return err
}

func (c *control) say(ctx context.Context, b []byte) error {
	defer c.within(ctx, answerTime)()
	_, err := c.conn.Write(b)
	return explain(ctx, err)
}

func (c *control) sayState(ctx context.Context, s iperf3.State) error {
	return c.say(ctx, []byte{s.Byte()})
}

// tell writes a document, ask reads one of at most limit bytes.
func (c *control) tell(ctx context.Context, document any) error {
	frame, err := iperf3.AppendFrame(nil, document)
	if err != nil {
		return err
	}
	return c.say(ctx, frame)
}

func (c *control) ask(ctx context.Context, limit int) ([]byte, error) {
	defer c.within(ctx, answerTime)()
	text, err := iperf3.ReadFrame(c.conn, limit)
	return text, explain(ctx, err)
}

// next reads the server's next state, within a time; zero is none but the
// context's.
func (c *control) next(ctx context.Context, wait time.Duration) (iperf3.State, error) {
	if wait > 0 {
		defer c.within(ctx, wait)()
	} else {
		_ = c.conn.SetDeadline(time.Time{})
	}
	var b [1]byte
	if _, err := io.ReadFull(c.conn, b[:]); err != nil {
		return 0, explain(ctx, err)
	}
	s, err := iperf3.ParseState(b[0])
	switch {
	case err != nil:
		return 0, fmt.Errorf("%w: %w", ErrProtocol, err)
	case s == iperf3.AccessDenied:
		return s, ErrBusy
	case s == iperf3.ServerTerminate:
		return s, fmt.Errorf("%w: it was stopped", ErrEnded)
	case s == iperf3.ServerError:
		return s, c.fault()
	}
	return s, nil
}

// errUnnamed is an end without a reason.
var errUnnamed = fmt.Errorf("%w, with an error that it does not name", ErrEnded)

// fault reads why the server ended the test.
func (c *control) fault() error {
	_ = c.conn.SetReadDeadline(time.Now().Add(time.Second))
	var b [iperf3.FaultLength]byte
	if _, err := io.ReadFull(c.conn, b[:]); err != nil {
		return errUnnamed
	}
	f, err := iperf3.ParseFault(b[:])
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrProtocol, err)
	case f.Reason == iperf3.ReasonAuth || f.Reason == iperf3.ReasonAccess:
		return fmt.Errorf("%w (%w)", ErrDenied, f)
	}
	return fmt.Errorf("the server says: %w", f)
}

// expect reads the next state, which must be the one.
func (c *control) expect(ctx context.Context, want iperf3.State) error {
	s, err := c.next(ctx, answerTime)
	if err != nil {
		return err
	}
	if s != want {
		return fmt.Errorf("%w: it says %s where %s is due", ErrProtocol, s, want)
	}
	return nil
}

// watch reads one state in the background: while a test runs the server says
// nothing unless something is wrong.
func (c *control) watch(ctx context.Context) {
	go func() {
		s, err := c.next(ctx, 0)
		c.states <- stateRead{s, err}
	}()
}

func newCookie() iperf3.Cookie {
	var random [iperf3.CookieLength - 1]byte
	_, _ = rand.Read(random[:]) // never fails, by its documentation
	return iperf3.NewCookie(random)
}
