package guest

import (
	"encoding/binary"
	"io"
	"sync"
)

// inputWindow is how much input a client may send before the command has taken
// it: a signal behind it is heard at once.
const inputWindow = 128 << 10

// feeder writes a command's input, and tells the client what was taken.
type feeder struct {
	to    io.WriteCloser
	ends  bool // an empty piece closes it; a terminal stays open
	tell  *frameWriter
	mu    sync.Mutex
	more  *sync.Cond
	queue [][]byte // a window's worth at most
	done  bool
}

func newFeeder(to io.WriteCloser, ends bool, tell *frameWriter) *feeder {
	f := &feeder{to: to, ends: ends, tell: tell}
	f.more = sync.NewCond(&f.mu)
	return f
}

func (f *feeder) add(p []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queue = append(f.queue, p)
	f.more.Signal()
}

// close ends run when what was added is written.
func (f *feeder) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done = true
	f.more.Signal()
}

// run writes until close. What a command that ended did not read is dropped.
func (f *feeder) run() {
	for {
		f.mu.Lock()
		for len(f.queue) == 0 && !f.done {
			f.more.Wait()
		}
		if len(f.queue) == 0 {
			f.mu.Unlock()
			return
		}
		p := f.queue[0]
		f.queue = f.queue[1:]
		f.mu.Unlock()
		if len(p) > 0 {
			_, _ = f.to.Write(p)
			_ = f.tell.send(frameRoom, binary.BigEndian.AppendUint32(nil, uint32(len(p))))
		} else if f.ends {
			_ = f.to.Close()
		}
	}
}
