package engine

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// What a datagram of a session looks like, all big-endian. Everything else
// that arrives at a data port is passed over.
//
//	data     tag 8 | stream 2, time 6 | sequence number 8 | payload
//	opening  "lrUDPop1" | key 16 | stream 4 | datagram length 4
//	answer   tag 16 | stream 4
//
// The time is the sender's, in nanoseconds modulo 2^48 (three days). Tags are
// derived from the session's key. An answer is shorter than the opening it
// answers: nobody can have a data port send more than he sends it.
const (
	dataHeader    = 24
	openingPacket = 32
	answerPacket  = 20
	timeBits      = 48
	timeMask      = 1<<timeBits - 1
	openingWord   = "lrUDPop1"
)

// dataTag marks a session's data.
func dataTag(key agentapi.Key) uint64 {
	sum := sha256.Sum256(append([]byte("linerate udp data "), key[:]...))
	return binary.BigEndian.Uint64(sum[:])
}

func putData(b []byte, tag uint64, stream int, at, seq uint64) {
	binary.BigEndian.PutUint64(b, tag)
	restamp(b, stream, at, seq)
}

// restamp changes what differs from one datagram of a stream to the next.
func restamp(b []byte, stream int, at, seq uint64) {
	_ = b[dataHeader-1]
	binary.BigEndian.PutUint64(b[8:], uint64(stream)<<timeBits|at&timeMask)
	binary.BigEndian.PutUint64(b[16:], seq)
}

// readData reads a datagram's header; ok is false for one that does not carry
// the tag.
func readData(b []byte, tag uint64) (stream int, at, seq uint64, ok bool) {
	if len(b) < dataHeader || binary.BigEndian.Uint64(b) != tag {
		return 0, 0, 0, false
	}
	word := binary.BigEndian.Uint64(b[8:])
	return int(word >> timeBits), word & timeMask, binary.BigEndian.Uint64(b[16:]), true
}

// opening is what a stream's sender asks for.
type opening struct {
	stream  int
	payload int // of its datagrams
}

func putOpening(key agentapi.Key, o opening) []byte {
	b := make([]byte, 0, openingPacket)
	b = append(b, openingWord...)
	b = append(b, key[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(o.stream))
	return binary.BigEndian.AppendUint32(b, uint32(o.payload))
}

// readOpeningPacket reads an opening; ok is false for anything else and for
// one that does not know the key.
func readOpeningPacket(b []byte, key agentapi.Key) (o opening, ok bool) {
	if len(b) != openingPacket || string(b[:8]) != openingWord || subtle.ConstantTimeCompare(b[8:24], key[:]) != 1 {
		return o, false
	}
	o = opening{stream: int(binary.BigEndian.Uint32(b[24:])), payload: int(binary.BigEndian.Uint32(b[28:]))}
	return o, o.payload >= dataHeader && o.payload <= largestDatagram
}

func putAnswer(key agentapi.Key, stream int) []byte {
	sum := sha256.Sum256(append([]byte("linerate udp answer "), key[:]...))
	return binary.BigEndian.AppendUint32(sum[:16:16], uint32(stream))
}

func isAnswer(b []byte, key agentapi.Key, stream int) bool {
	return len(b) == answerPacket && subtle.ConstantTimeCompare(b, putAnswer(key, stream)) == 1
}
