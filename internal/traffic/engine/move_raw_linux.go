//go:build linux && !portable

package engine

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/sys"
)

// The kernel lays a stream's bytes one after the other into pages of its own
// (skb_page_frag_refill), from the first byte on, which is the opening's. A
// copy is fastest where both its ends stand at the same place in a page, so
// payload begins in the buffers where the opening ends: with 20 bytes between
// them a receiver took half as long again for the same bytes.

// receiveMethod is how a sink's streams are taken in.
func receiveMethod(m agentapi.Mode) string {
	if m == agentapi.ModeCopy {
		return "read"
	}
	return "MSG_TRUNC"
}

// vectorReader is recvmsg into one buffer many times over. Full calls: fewer,
// larger ones cost the processor less, in the kernel and in the runtime, which
// looks after every blocked call.
type vectorReader struct {
	fd int
	to *sys.Vector
}

func (in *vectorReader) receive() (int, error) { return in.to.Receive(in.fd, sys.WaitAll) }

// dropReader has the kernel drop what came in.
type dropReader struct {
	fd   int
	room []byte
}

const (
	// dropLength is what one call drops.
	dropLength = 64 << 10
	// dropTries is how often it is asked before the thread sleeps, some 8 µs: to
	// wake it takes the sender's core longer than to drop the bytes takes this.
	dropTries = 20
)

func (in dropReader) receive() (int, error) { return sys.Drop(in.fd, in.room, dropTries) }

func (c *rawConn) reader(mode agentapi.Mode, length int) (reader, error) {
	if mode != agentapi.ModeCopy {
		return dropReader{c.FD, make([]byte, dropLength)}, nil
	}
	return &vectorReader{fd: c.FD, to: sys.NewVector(make([]byte, length), length*receiveTimes, openingLength)}, nil
}

func (c *rawConn) writer(mode agentapi.Mode, from *source) (writer, error) {
	switch mode {
	case agentapi.ModeZeroCopy, agentapi.ModeSendfile:
		// Of the three ways sendfile wins: MSG_ZEROCOPY is copied on every local
		// path and pays for every call's completion, splice for the pipe between.
		return c.fileWriter(from)
	case agentapi.ModeMsgZeroCopy:
		return c.pinnedWriter(from)
	}
	return &writeWriter{fd: c.FD, from: sys.NewVector(from.bytes, sendLength, openingLength)}, nil
}

// writeWriter is writev of the source many times over.
type writeWriter struct {
	fd   int
	from *sys.Vector
}

func (o *writeWriter) send(most uint64) (int, error) { return o.from.Write(o.fd, most) }
func (o *writeWriter) copied() bool                  { return false }
func (o *writeWriter) method() string                { return "write" }

// fileWriter is sendfile from a file without a name: the kernel sends the pages
// of its cache.
type fileWriter struct {
	fd, file int
	at       int64
	copies   bool
}

// fileTimes is how often the file holds the source: one call ends at the
// file's end.
const fileTimes = sendLength / sourceLength

func (c *rawConn) fileWriter(from *source) (writer, error) {
	f := &from.file
	f.once.Do(func() {
		content := make([]byte, 0, fileTimes*len(from.bytes))
		for range fileTimes {
			content = append(content, from.bytes...)
		}
		f.fd, f.err = sys.PageFile("linerate-source", content, "/var/tmp", os.TempDir())
	})
	if f.err != nil {
		return nil, f.err
	}
	// An MPTCP socket takes no pages: mptcp_sendmsg copies whatever it is given.
	return &fileWriter{fd: c.FD, file: f.fd, copies: c.copies}, nil
}

func (o *fileWriter) send(most uint64) (int, error) {
	const size = fileTimes * sourceLength
	n, err := sys.SendFile(o.fd, o.file, o.at, int(min(most, uint64(size-o.at))))
	if n > 0 {
		o.at = (o.at + int64(n)) % size
	}
	return n, err
}

func (o *fileWriter) copied() bool   { return o.copies }
func (o *fileWriter) method() string { return "sendfile" }

// release frees what the session's streams had in common.
func (s *source) release() {
	s.file.once.Do(func() { s.file.err = errors.New("session ended") })
	if s.file.err == nil {
		_ = syscall.Close(s.file.fd)
	}
}

// pinnedWriter is sendmsg with MSG_ZEROCOPY: the kernel sends the process's
// own pages and says on the error queue when it is done with them.
type pinnedWriter struct {
	fd     int
	from   *sys.Vector
	copies bool
}

func (c *rawConn) pinnedWriter(from *source) (writer, error) {
	if err := sys.SetZeroCopy(c.FD); err != nil {
		return nil, fmt.Errorf("%w: %w", err, errors.ErrUnsupported)
	}
	return &pinnedWriter{fd: c.FD, from: sys.NewVector(from.bytes, pinnedLength, openingLength), copies: c.copies}, nil
}

// pinnedLength is what one call sends: each call's completion takes part of
// what net.core.optmem_max allows a socket.
const pinnedLength = 1 << 20

// completionWait is how long one wait for completions lasts, in ms: a session
// that ends in the meantime shuts the socket, which ends it at once.
const completionWait = 200

func (o *pinnedWriter) send(most uint64) (int, error) {
	for {
		n, err := o.from.Send(o.fd, most, sys.ZeroCopy)
		some, copied := sys.Completions(o.fd)
		o.copies = o.copies || copied
		if !errors.Is(err, syscall.ENOBUFS) {
			return n, err
		}
		if !some { // what may be pinned is: wait until something is free
			sys.AwaitError(o.fd, completionWait)
			if err := o.broken(); err != nil {
				return 0, err
			}
		}
	}
}

// broken is the socket's own error, which a wait for completions does not tell.
func (o *pinnedWriter) broken() error {
	n, err := syscall.GetsockoptInt(o.fd, syscall.SOL_SOCKET, syscall.SO_ERROR)
	if err != nil || n == 0 {
		return err
	}
	return syscall.Errno(n)
}

func (o *pinnedWriter) copied() bool   { return o.copies }
func (o *pinnedWriter) method() string { return "MSG_ZEROCOPY" }
