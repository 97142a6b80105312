package engine

import "github.com/linerate/linerate/internal/traffic/socket"

// volley is datagrams prepared to be sent together, all of one length, in
// messages of several that the kernel cuts (UDP_SEGMENT) or of one. Only the
// headers change from one volley to the next.
type volley struct {
	payload int
	each    int // datagrams a message
	most    int // datagrams in all
	stream  int
	buf     []byte
}

// newVolley is a volley of so many messages.
func newVolley(payload, each, messages int) *volley {
	v := &volley{payload: payload, each: each, most: each * messages, buf: make([]byte, payload*each*messages)}
	socket.Pattern(v.buf)
	return v
}

// address writes what all datagrams of the stream have in common.
func (v *volley) address(tag uint64, stream int) {
	v.stream = stream
	for i := range v.most {
		putData(v.buf[i*v.payload:], tag, stream, 0, 0)
	}
}

// stamp numbers the first n datagrams from a sequence number on.
func (v *volley) stamp(n int, at, seq uint64) {
	for i, at0 := 0, 0; i < n; i, at0 = i+1, at0+v.payload {
		restamp(v.buf[at0:], v.stream, at, seq+uint64(i))
	}
}

// within is how many of n datagrams fit so many bytes, and the length of the
// last, which is never shorter than its header.
func (v *volley) within(n int, left uint64) (int, int) {
	if uint64(n)*uint64(v.payload) <= left {
		return n, v.payload
	}
	n = int((left + uint64(v.payload) - 1) / uint64(v.payload))
	return n, max(int(left)-(n-1)*v.payload, dataHeader)
}

// messages is how many messages n datagrams take.
func (v *volley) messages(n int) int { return (n + v.each - 1) / v.each }

// message is the k-th of the messages that n datagrams take, the last of
// length last.
func (v *volley) message(k, n, last int) []byte {
	from, to := k*v.each, min((k+1)*v.each, n)
	end := to * v.payload
	if to == n {
		end -= v.payload - last
	}
	return v.buf[from*v.payload : end]
}
