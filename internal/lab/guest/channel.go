package guest

import (
	"encoding/binary"
	"io"
	"sync"
)

// A lab kernel has one line to the host. Channels share it: each is a stream
// of bytes both ways with a window of its own, so that a command whose output
// nobody reads does not stop the others.

// channelWindow is how much may be on the way to a reader who does not read.
const channelWindow = 256 << 10

// lineWindow is how much of channels may be on the line to the guest. Its
// terminal layer holds 4 KiB, throttles the line shortly before, and that of
// User-Mode Linux 6.1 does not always wake up from it.
const (
	lineWindow = 2 << 10
	linePiece  = 1 << 10 // of one frame, at most
)

// channels are the channels of one end of the line.
type channels struct {
	send func(kind frameKind, payload []byte) error // whole frames, by one writer at a time
	// accept is called for a channel that the far end opened; nil refuses.
	accept func(*channel)

	mu   sync.Mutex
	open map[uint32]*channel
	last uint32
	dead bool
}

func newChannels(send func(frameKind, []byte) error, accept func(*channel)) *channels {
	return &channels{send: send, accept: accept, open: make(map[uint32]*channel)}
}

// channel is one of them. Read returns io.EOF when the far end has closed it
// and all was read. One goroutine may read and another write.
type channel struct {
	of *channels
	id uint32

	mu        sync.Mutex
	changed   *sync.Cond
	in        []byte // arrived and not read
	room      int    // what the far end will still take
	closed    bool   // by us
	farClosed bool
}

func (c *channels) add(id uint32) *channel {
	ch := &channel{of: c, id: id, room: channelWindow}
	ch.changed = sync.NewCond(&ch.mu)
	c.open[id] = ch
	return ch
}

// dial opens a channel; only one end of the line may.
func (c *channels) dial() (*channel, error) {
	c.mu.Lock()
	if c.dead {
		c.mu.Unlock()
		return nil, io.ErrClosedPipe
	}
	c.last++
	ch := c.add(c.last)
	c.mu.Unlock()
	return ch, c.send(frameOpen, ch.message(nil))
}

// handle takes a frame off the line. It never waits.
func (c *channels) handle(kind frameKind, payload []byte) error {
	if len(payload) < 4 {
		return errFrame
	}
	id, rest := binary.BigEndian.Uint32(payload), payload[4:]
	c.mu.Lock()
	ch := c.open[id]
	if kind == frameOpen && ch == nil && c.accept != nil && !c.dead {
		ch = c.add(id)
		go c.accept(ch)
	}
	c.mu.Unlock()
	if ch == nil {
		return nil // of a channel that both ends have done with
	}
	ch.mu.Lock()
	defer ch.mu.Unlock()
	switch kind {
	case frameData:
		if len(ch.in)+len(rest) > channelWindow {
			return errFrame
		}
		if !ch.closed { // else nobody will read it
			ch.in = append(ch.in, rest...)
		}
	case frameRoom:
		if len(rest) == 4 {
			ch.room += int(binary.BigEndian.Uint32(rest))
		}
	case frameClose:
		ch.farClosed = true
		ch.forget()
	}
	ch.changed.Broadcast()
	return nil
}

// end closes every channel: the line is dead.
func (c *channels) end() {
	c.mu.Lock()
	c.dead = true
	all := c.open
	c.open = make(map[uint32]*channel)
	c.mu.Unlock()
	for _, ch := range all {
		ch.mu.Lock()
		ch.farClosed = true
		ch.changed.Broadcast()
		ch.mu.Unlock()
	}
}

// message is a frame's payload: the channel and what is said.
func (ch *channel) message(p []byte) []byte {
	return append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(p)), ch.id), p...)
}

// forget takes a channel that both ends closed off the list. The caller holds
// ch.mu; the list's lock is never held while a channel's is taken.
func (ch *channel) forget() {
	if ch.closed && ch.farClosed {
		ch.of.mu.Lock()
		delete(ch.of.open, ch.id)
		ch.of.mu.Unlock()
	}
}

// Read is io.Reader.
func (ch *channel) Read(p []byte) (int, error) {
	ch.mu.Lock()
	for len(ch.in) == 0 && !ch.farClosed && !ch.closed {
		ch.changed.Wait()
	}
	n := copy(p, ch.in)
	ch.in = ch.in[n:]
	tell := n > 0 && !ch.farClosed && !ch.closed
	ch.mu.Unlock()
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	if tell {
		if err := ch.of.send(frameRoom, ch.message(binary.BigEndian.AppendUint32(nil, uint32(n)))); err != nil {
			return n, err
		}
	}
	return n, nil
}

// Write is io.Writer. It waits while the far end has no room, and is
// io.ErrClosedPipe when that has closed the channel.
func (ch *channel) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		ch.mu.Lock()
		for ch.room == 0 && !ch.closed && !ch.farClosed {
			ch.changed.Wait()
		}
		if ch.closed || ch.farClosed {
			ch.mu.Unlock()
			return n, io.ErrClosedPipe
		}
		piece := min(len(p), ch.room, linePiece-8)
		ch.room -= piece
		ch.mu.Unlock()
		if err := ch.of.send(frameData, ch.message(p[:piece])); err != nil {
			return n, err
		}
		n, p = n+piece, p[piece:]
	}
	return n, nil
}

// Close says that nothing more will be read or written here. What was written
// arrives before it.
func (ch *channel) Close() error {
	ch.mu.Lock()
	already, dead := ch.closed, ch.of.gone()
	ch.closed, ch.in = true, nil
	ch.forget()
	ch.changed.Broadcast()
	ch.mu.Unlock()
	if already || dead {
		return nil
	}
	return ch.of.send(frameClose, ch.message(nil))
}

func (c *channels) gone() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dead
}
