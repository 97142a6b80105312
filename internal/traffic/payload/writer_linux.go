package payload

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/internal/traffic/socket"
)

// NewWriter sends a source's bytes on a connected socket; at is how many its thread
// has sent before (see NewReader). A mode that the kernel does not have is errors.ErrUnsupported.
func NewWriter(fd int, mode agentapi.Mode, from *Source, at int) (Writer, error) {
	// An MPTCP socket takes no pages: mptcp_sendmsg copies whatever it is given.
	_, copies := socket.Multipath(fd)
	switch mode {
	case agentapi.ModeZeroCopy, agentapi.ModeSendfile:
		// Of the three ways sendfile wins: MSG_ZEROCOPY is copied on every local
		// path and pays for every call's completion, splice for the pipe between.
		file, err := from.pages()
		return &fileWriter{fd: fd, file: file, copies: copies}, err
	case agentapi.ModeMsgZeroCopy:
		if err := sys.SetZeroCopy(fd); err != nil {
			return nil, fmt.Errorf("%w: %w", err, errors.ErrUnsupported)
		}
		return &pinnedWriter{fd: fd, from: sys.NewVector(from.Bytes, pinnedLength, at), copies: copies}, nil
	}
	return &writeWriter{fd: fd, from: sys.NewVector(from.Bytes, SendLength, at)}, nil
}

// pace is how much a writer hands over at once, and when it gives way.
type pace struct {
	trial trial
	turn  turn
}

// sent ends a call that handed over n bytes.
func (p *pace) sent(n int) {
	now := time.Now()
	p.trial.sent(n, now)
	p.turn.over(now)
}

// writeWriter is writev of the source many times over.
type writeWriter struct {
	fd   int
	from *sys.Vector
	pace pace
}

func (o *writeWriter) Send(most uint64) (int, error) {
	n, err := overdue(o.from.Write(o.fd, min(most, o.pace.trial.length())))
	o.pace.sent(n)
	return n, err
}

func (o *writeWriter) Copied() bool   { return false }
func (o *writeWriter) Method() string { return "write" }

// overdue takes a call that the socket's time has ended (SO_SNDTIMEO) for one that is over.
func overdue(n int, err error) (int, error) {
	if errors.Is(err, syscall.EAGAIN) {
		return max(n, 0), nil
	}
	return max(n, 0), err
}

// fileWriter is sendfile from a file without a name: the kernel sends the pages
// of its cache.
type fileWriter struct {
	fd, file int
	at       int64
	copies   bool
	pace     pace
}

// fileTimes is how often the file holds the source: one call ends at the
// file's end.
const fileTimes = SendLength / sourceLength

// pages is the file that holds the source.
func (s *Source) pages() (int, error) {
	f := &s.file
	f.once.Do(func() {
		content := make([]byte, 0, fileTimes*len(s.Bytes))
		for range fileTimes {
			content = append(content, s.Bytes...)
		}
		f.fd, f.err = sys.PageFile("linerate-source", content, "/var/tmp", os.TempDir())
	})
	return f.fd, f.err
}

// Release frees what a source's streams had in common.
func (s *Source) Release() {
	s.file.once.Do(func() { s.file.err = errors.New("session ended") })
	if s.file.err == nil {
		_ = syscall.Close(s.file.fd)
	}
}

func (o *fileWriter) Send(most uint64) (int, error) {
	const size = fileTimes * sourceLength
	n, err := overdue(sys.SendFile(o.fd, o.file, o.at, int(min(most, o.pace.trial.length(), uint64(size-o.at)))))
	o.pace.sent(n)
	o.at = (o.at + int64(n)) % size
	return n, err
}

func (o *fileWriter) Copied() bool   { return o.copies }
func (o *fileWriter) Method() string { return "sendfile" }

// pinnedWriter is sendmsg with MSG_ZEROCOPY: the kernel sends the process's
// own pages and says on the error queue when it is done with them.
type pinnedWriter struct {
	fd     int
	from   *sys.Vector
	copies bool
}

// pinnedLength is what one call sends: each call's completion takes part of
// what net.core.optmem_max allows a socket.
const pinnedLength = 1 << 20

// completionWait is how long one wait for completions lasts, in ms: a session
// that ends in the meantime shuts the socket, which ends it at once.
const completionWait = 200

func (o *pinnedWriter) Send(most uint64) (int, error) {
	for {
		n, err := overdue(o.from.Send(o.fd, most, sys.ZeroCopy))
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

func (o *pinnedWriter) Copied() bool   { return o.copies }
func (o *pinnedWriter) Method() string { return "MSG_ZEROCOPY" }
