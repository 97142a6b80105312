package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// Kind is what a signature is for: one that was made for one thing is none for
// another.
type Kind string

// The kinds.
const (
	KindRequest Kind = "request" // to a host
	KindReply   Kind = "reply"   // of a host
	KindState   Kind = "state"   // what a host says of itself
	KindStore   Kind = "store"   // a request to the run store
)

// Signed is all that a signature covers. A field that a kind does not need is
// left out.
type Signed struct {
	Kind    Kind   `json:"kind"`
	Subject string `json:"subject"` // names user, role, host and method
	Session string `json:"talk,omitempty"`
	// Challenge is a number that the host drew for the conversation: what was
	// signed for another one is worth nothing in it. That of an opening is "".
	Challenge string `json:"challenge,omitempty"`
	Call      uint64 `json:"call,omitempty"`
	Time      int64  `json:"time_ns,omitempty"` // on the clock of who signs
	Params    string `json:"params,omitempty"`
	Size      int    `json:"size_bytes"` // of the whole body
	Sum       string `json:"sha256"`
}

// OfBody is s with the size and checksum of a body.
func (s Signed) OfBody(body []byte) Signed {
	sum := sha256.Sum256(body)
	s.Size, s.Sum = len(body), hex.EncodeToString(sum[:])
	return s
}

// OfPart is s with the size and checksum of the whole that a part is of.
func (s Signed) OfPart(p Part) Signed {
	s.Size, s.Sum = p.Size, p.Sum
	return s
}

// At is s at a moment.
func (s Signed) At(t time.Time) Signed {
	s.Time = t.UnixNano()
	return s
}

// JSON is what is signed as it is written down.
func (s Signed) JSON() string {
	text, err := json.Marshal(s)
	if err != nil {
		return "" // never: strings and numbers
	}
	return string(text)
}

// Text is what the key signs. It begins with a byte that no text of JSON has:
// the number that a NATS server has its clients sign, to show that they have
// their key, is such a text, so that a hostile server cannot have a request
// signed as one.
func (s Signed) Text() []byte { return append([]byte{0xff}, s.JSON()...) }
