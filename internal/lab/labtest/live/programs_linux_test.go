package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"
)

// The programs that this binary plays. Each connects from given ports, or
// takes connections, until it is killed.
const (
	roleSelf  = "linerate"
	roleBulk  = "bulk"  // writes as fast as it can
	roleSmall = "small" // the same with a small send buffer
	roleFeed  = "feed"  // writes a little now and then
	roleQuiet = "quiet" // writes nothing
	roleSink  = "sink"  // reads all
	roleTight = "tight" // the same with a small receive buffer
	roleSlow  = "slow"  // reads a little now and then
)

// The sizes that make the limits: over a round trip of 60 ms the send buffer
// (which the kernel doubles, and of which a third is given back at once) is
// good for some 1.9 Mb/s, the receive buffer for 2.1; the feed is 0.8 Mb/s, the
// slow reader 1.6.
const (
	smallBuffer = 8 << 10
	smallPiece  = 2 * 1448
	tightBuffer = 16 << 10
	feedPiece   = 15 << 10
	feedRest    = 150 * time.Millisecond
	slowPiece   = 10 << 10
	now         = 50 * time.Millisecond
)

// play is a program's whole life: "ROLE ADDRESS:PORT [SOURCE PORT...]".
func play(role string, args []string) int {
	var err error
	switch role {
	case roleSink, roleTight, roleSlow:
		err = serve(role, args[0])
	default:
		err = send(role, args[0], args[1:])
	}
	fmt.Fprintln(os.Stderr, role+":", err)
	return 1
}

func send(role, to string, ports []string) error {
	errs := make(chan error)
	for _, port := range ports {
		n, err := strconv.Atoi(port)
		if err != nil {
			return err
		}
		d := net.Dialer{LocalAddr: &net.TCPAddr{Port: n}, Control: buffer(role == roleSmall, syscall.SO_SNDBUF, smallBuffer)}
		c, err := d.Dial("tcp4", to)
		if err != nil {
			return err
		}
		go func() { errs <- write(role, c) }()
	}
	return <-errs
}

// buffer sets a socket's buffer before it connects or listens.
func buffer(wanted bool, option, size int) func(string, string, syscall.RawConn) error {
	return func(_, _ string, c syscall.RawConn) (err error) {
		if !wanted {
			return nil
		}
		_ = c.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, option, size) })
		return err
	}
}

func write(role string, c net.Conn) error {
	if role == roleQuiet {
		_, err := c.Read(make([]byte, 1))
		return err
	}
	piece, rest := make([]byte, 256<<10), time.Duration(0)
	switch role {
	case roleSmall:
		return writeRecords(c.(*net.TCPConn))
	case roleFeed:
		piece, rest = piece[:feedPiece], feedRest
	}
	for {
		if _, err := c.Write(piece); err != nil {
			return err
		}
		time.Sleep(rest)
	}
}

// writeRecords writes pieces that the kernel keeps apart: else it adds to the
// last one up to 64 KB, however small the buffer is.
func writeRecords(c *net.TCPConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	piece := make([]byte, smallPiece)
	for {
		var sent error
		err := raw.Write(func(fd uintptr) bool {
			_, sent = syscall.SendmsgN(int(fd), piece, nil, nil, syscall.MSG_NOSIGNAL|msgEOR)
			return sent != syscall.EAGAIN
		})
		if err := errors.Join(err, sent); err != nil {
			return err
		}
	}
}

const msgEOR = 0x80 // MSG_EOR

func serve(role, at string) error {
	lc := net.ListenConfig{Control: buffer(role == roleTight, syscall.SO_RCVBUF, tightBuffer)}
	l, err := lc.Listen(context.Background(), "tcp4", at)
	if err != nil {
		return err
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go read(role, c)
	}
}

func read(role string, c net.Conn) {
	if role != roleSlow {
		_, _ = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{c}, make([]byte, 256<<10))
		return
	}
	piece := make([]byte, slowPiece)
	for {
		if _, err := io.ReadFull(c, piece); err != nil {
			return
		}
		time.Sleep(now)
	}
}
