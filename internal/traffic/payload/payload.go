// Package payload sends what streams carry and takes it in, as much as a
// connection bears for as little of the processor as that costs: linerate's own
// engine and both roles of iperf3 move their bytes here. It never looks at what
// comes, and never decides when a stream ends.
package payload

import (
	"sync"

	"github.com/linerate/linerate/internal/traffic/socket"
)

// Writer hands payload over to the kernel, many bytes a call. One thread uses it.
type Writer interface {
	// Send hands over at most so many bytes. Zero without an error: none went in
	// the time that the socket's calls may take.
	Send(most uint64) (int, error)
	// Copied reports whether the kernel copied though it was asked not to.
	Copied() bool
	Method() string // as record.Method has it
}

// Reader takes payload from the kernel. One thread uses it.
type Reader interface {
	// Receive takes in what a call brings. Zero without an error: nothing came in
	// the time that the socket's calls may take. io.EOF is the end of the stream.
	Receive() (int, error)
}

// Source is the bytes that many streams send, again and again: few, so that they
// stay in the processor's cache, and none that a link compresses away.
type Source struct {
	Bytes []byte
	file  pageFile // the same bytes, for sendfile
}

// sourceLength is shared by all streams: larger than what a level-1 cache
// holds costs nothing, larger than level 2 does.
const sourceLength = 128 << 10

// NewSource makes a source, for Release to free after the last use.
func NewSource() *Source {
	s := &Source{Bytes: make([]byte, sourceLength)}
	socket.Pattern(s.Bytes)
	return s
}

// pageFile is a file without a name, made when it is first asked for.
type pageFile struct {
	once sync.Once
	fd   int
	err  error
}

// SendLength is as much as one call should be given to hand over; a fast stream
// finds out whether it does better with less, see trial. A blocked call that returns
// early costs the runtime a hand-over: in a lab kernel two thirds of the processor.
// Nothing of a call is counted before it is over.
const SendLength = 4 << 20

// ReceiveLength is a stream's own buffer, where so many others flow beside: it
// stays in the cache, and with very many streams memory counts more.
func ReceiveLength(others int) int {
	if others > 64 {
		return 64 << 10
	}
	return 256 << 10
}
