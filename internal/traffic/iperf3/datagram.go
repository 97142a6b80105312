package iperf3

import (
	"encoding/binary"
	"fmt"
	"time"
)

// DatagramHeader is the length of what each UDP datagram begins with: seconds,
// microseconds and a counter of 32 or 64 bits, all big endian. The counter of
// the first datagram is 1.
func DatagramHeader(counters64 bool) int {
	if counters64 {
		return 16
	}
	return 12
}

// Datagram is such a header. Sent is the sender's clock, whose beginning only
// the sender knows.
type Datagram struct {
	Sent    time.Duration
	Counter uint64
}

// ParseDatagram reads the header of a datagram. Errors are ErrMalformed.
func ParseDatagram(b []byte, counters64 bool) (Datagram, error) {
	if len(b) < DatagramHeader(counters64) {
		return Datagram{}, fmt.Errorf("%w: datagram of %d bytes, want %d", ErrMalformed, len(b), DatagramHeader(counters64))
	}
	d := Datagram{Sent: time.Duration(binary.BigEndian.Uint32(b))*time.Second + time.Duration(binary.BigEndian.Uint32(b[4:]))*time.Microsecond}
	if counters64 {
		d.Counter = binary.BigEndian.Uint64(b[8:])
	} else {
		d.Counter = uint64(binary.BigEndian.Uint32(b[8:]))
	}
	return d, nil
}

// Put writes the header over the beginning of b, which must be long enough.
func (d Datagram) Put(b []byte, counters64 bool) {
	binary.BigEndian.PutUint32(b, uint32(d.Sent/time.Second))
	binary.BigEndian.PutUint32(b[4:], uint32(d.Sent%time.Second/time.Microsecond))
	if counters64 {
		binary.BigEndian.PutUint64(b[8:], d.Counter)
	} else {
		binary.BigEndian.PutUint32(b[8:], uint32(d.Counter))
	}
}

// HelloLength is the bytes of a UDP stream's first datagram and of the answer.
const HelloLength = 4

// Hello is how a UDP stream is opened: the client sends one of these and waits
// for its answer before it opens the next stream.
type Hello [HelloLength]byte

// The hellos, as they are on the wire. iperf3 writes a number of its own byte
// order, so a big-endian client's hello is what a little-endian server answers.
var hellos = [...]struct{ hello, answer Hello }{
	{Hello{'9', '8', '7', '6'}, Hello{'6', '7', '8', '9'}},         // since 3.10
	{Hello{'6', '7', '8', '9'}, Hello{'9', '8', '7', '6'}},         // likewise, big endian
	{Hello{0x15, 0xcd, 0x5b, 0x07}, Hello{0xb1, 0x68, 0xde, 0x3a}}, // 123456789, and 987654321 back
	{Hello{0x07, 0x5b, 0xcd, 0x15}, Hello{0x3a, 0xde, 0x68, 0xb1}}, // likewise, big endian
}

// NewHello is what a client sends.
func NewHello() Hello { return hellos[0].hello }

// Answer is what a server answers to a stream's first datagram, and whether
// that is a hello at all.
func Answer(datagram []byte) (Hello, bool) {
	for _, h := range hellos {
		if string(datagram) == string(h.hello[:]) {
			return h.answer, true
		}
	}
	return Hello{}, false
}

// Answers says whether a datagram is an answer to NewHello of any version.
func Answers(datagram []byte) bool {
	return string(datagram) == string(hellos[0].answer[:]) || string(datagram) == string(hellos[2].answer[:])
}
