package payload

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// Net moves the payload of a connection of package net, by calls with one buffer:
// as systems do it that have nothing better here. It is a Writer and a Reader.
type Net struct {
	conn     net.Conn
	buf      []byte
	at       int
	patience time.Duration
}

// OverNet sends a buffer's bytes again and again, or takes bytes into it. Patience
// bounds how long a call takes, zero does not. Another mode than copying is
// errors.ErrUnsupported.
func OverNet(c net.Conn, mode agentapi.Mode, buf []byte, patience time.Duration) (*Net, error) {
	if mode != agentapi.ModeCopy {
		return nil, fmt.Errorf("move bytes uncopied: connections of package net cannot: %w", errors.ErrUnsupported)
	}
	return &Net{conn: c, buf: buf, patience: patience}, nil
}

func (m *Net) Receive() (int, error) {
	if m.patience > 0 {
		if err := m.conn.SetReadDeadline(time.Now().Add(m.patience)); err != nil {
			return 0, err
		}
	}
	n, err := m.conn.Read(m.buf)
	return n, m.overdue(err)
}

func (m *Net) Send(most uint64) (int, error) {
	if m.patience > 0 {
		if err := m.conn.SetWriteDeadline(time.Now().Add(m.patience)); err != nil {
			return 0, err
		}
	}
	n, err := m.conn.Write(m.buf[m.at:][:min(most, uint64(len(m.buf)-m.at))])
	m.at = (m.at + max(n, 0)) % len(m.buf)
	return n, m.overdue(err)
}

// overdue takes a call that its patience has ended for one that is over.
func (m *Net) overdue(err error) error {
	if m.patience > 0 && errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return err
}

func (m *Net) Copied() bool   { return false }
func (m *Net) Method() string { return "write" }
