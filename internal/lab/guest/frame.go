// Package guest is both ends of the line between linerate and a copy of
// itself that runs as the first process of a lab kernel: it boots the kernel,
// gives the guest a command to run, and carries output, exit status and
// signals over one serial line. A distribution's kernel is unpacked and emulated,
// with linerate as the init of a file system in memory: such small kernels can
// mount nothing of the host's.
package guest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
)

// frameKind tells what a frame on the serial line carries.
type frameKind uint8

const (
	frameStdout frameKind = 1 // guest to host: the command's standard output
	frameStderr frameKind = 2 // guest to host: the command's standard error
	frameExit   frameKind = 3 // guest to host: one byte, the exit status
	frameSignal frameKind = 4 // host to guest: one byte, the signal's number
	frameReady  frameKind = 5 // guest to host: the kernel's release
	frameBye    frameKind = 6 // host to guest: everything arrived, power off
	frameParcel frameKind = 7 // guest to host: a piece of the archive of files

	// Channels, both ways; the payload begins with the channel's number.
	frameOpen  frameKind = 8  // host to guest: a new one
	frameData  frameKind = 9  // bytes
	frameRoom  frameKind = 10 // four bytes: so much more may be sent
	frameClose frameKind = 11 // nothing more will be read or written
	frameTaken frameKind = 16 // guest to host: four bytes: so much of the above was read off the line

	// In a channel, see session.
	frameRequest frameKind = 12 // client to guest: a piece of the request; an empty one ends it
	frameStdin   frameKind = 13 // client to guest: standard input; an empty one ends it
	frameSize    frameKind = 14 // client to guest: the terminal's rows and columns
	frameRefused frameKind = 15 // guest to client: why the command did not start
)

// maxFrame bounds a frame's payload: the reader allocates no more than this.
const maxFrame = 32 << 10

var errFrame = errors.New("frame out of step")

// frameMagic starts each frame, so that stray kernel output is noticed
// instead of being taken for a length.
const frameMagic = 0xb7

func writeFrame(w io.Writer, kind frameKind, payload []byte) error {
	for first := true; first || len(payload) > 0; first = false {
		n := min(len(payload), maxFrame)
		buf := make([]byte, 4, 4+n)
		buf[0], buf[1] = frameMagic, byte(kind)
		binary.BigEndian.PutUint16(buf[2:], uint16(n))
		if _, err := w.Write(append(buf, payload[:n]...)); err != nil {
			return fmt.Errorf("write frame: %w", err)
		}
		payload = payload[n:]
	}
	return nil
}

func readFrame(r io.Reader) (frameKind, []byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := int(binary.BigEndian.Uint16(head[2:]))
	if head[0] != frameMagic || n > maxFrame {
		return 0, nil, errFrame
	}
	payload := make([]byte, n)
	if _, err := io.ReadFull(r, payload); err != nil {
		return 0, nil, fmt.Errorf("read frame: %w", err)
	}
	return frameKind(head[1]), payload, nil
}

// frameWriter sends whole frames of several writers.
type frameWriter struct {
	mu sync.Mutex
	to io.Writer
}

func (w *frameWriter) send(kind frameKind, p []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return writeFrame(w.to, kind, p)
}
