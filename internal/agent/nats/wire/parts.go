package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The headers of a message.
const (
	HeaderSession   = "Linerate-Talk"      // the conversation
	HeaderInstance  = "Linerate-Instance"  // of the agent that it is with
	HeaderCall      = "Linerate-Call"      // the call's number in it
	HeaderPart      = "Linerate-Part"      // "2/5": the second of five messages
	HeaderSum       = "Linerate-Sum"       // SHA-256 of the whole
	HeaderSize      = "Linerate-Size"      // bytes of the whole
	HeaderTime      = "Linerate-Time"      // when it was signed, in nanoseconds since 1970
	HeaderSignature = "Linerate-Signature" // over Signed.Text, by the key of the claim
	HeaderClaim     = "Linerate-Claim"     // who signs: a token of the fleet's authority
	HeaderParams    = "Linerate-Params"    // of a request to the run store: StoreParams
	HeaderError     = "Linerate-Error"     // of its answer: agentapi.Error
)

// ErrParts is a message in parts that do not make a whole.
var ErrParts = errors.New("bad message")

// Part is one message of a whole: its number from 1, how many there are, and
// the whole's length and checksum.
type Part struct {
	Number, Of int
	Size       int
	Sum        string
	Body       []byte
}

// Split cuts a whole into parts of at most size bytes, one where it fits.
// Size must be above zero.
func Split(whole []byte, size int) []Part {
	sum := sha256.Sum256(whole)
	n := max((len(whole)+size-1)/size, 1)
	out := make([]Part, 0, n)
	for i := range n {
		body := whole[i*size : min((i+1)*size, len(whole))]
		out = append(out, Part{Number: i + 1, Of: n, Size: len(whole), Sum: hex.EncodeToString(sum[:]), Body: body})
	}
	return out
}

// Headers are the part's, by name.
func (p Part) Headers() map[string]string {
	return map[string]string{HeaderPart: fmt.Sprintf("%d/%d", p.Number, p.Of), HeaderSize: strconv.Itoa(p.Size), HeaderSum: p.Sum}
}

// ParsePart reads a part from a message; get returns a header's value. A whole
// longer than most bytes is refused before any of it is kept. Errors: ErrParts.
func ParsePart(get func(string) string, body []byte, most int) (Part, error) {
	number, of, ok := strings.Cut(get(HeaderPart), "/")
	p := Part{Sum: get(HeaderSum), Body: body}
	var errs [3]error
	p.Number, errs[0] = strconv.Atoi(number)
	p.Of, errs[1] = strconv.Atoi(of)
	p.Size, errs[2] = strconv.Atoi(get(HeaderSize))
	if !ok || errors.Join(errs[:]...) != nil {
		return p, fmt.Errorf("%w: its headers do not say which part of what it is", ErrParts)
	}
	return p.Checked(most)
}

// Checked is the part where what it says of itself can be: nothing is allocated
// by the word of one that was not checked. Errors: ErrParts.
func (p Part) Checked(most int) (Part, error) {
	body := p.Body
	switch {
	case len(p.Sum) != 2*sha256.Size:
		return p, fmt.Errorf("%w: a checksum of %d characters", ErrParts, len(p.Sum))
	case p.Of < 1 || p.Of > mostParts || p.Number < 1 || p.Number > p.Of || p.Size < 0:
		return p, fmt.Errorf("%w: part %d of %d", ErrParts, p.Number, p.Of)
	case p.Size > most:
		return p, fmt.Errorf("%w: %d bytes, want at most %d", ErrParts, p.Size, most)
	case len(body) > p.Size:
		return p, fmt.Errorf("%w: a part of %d bytes of a whole of %d", ErrParts, len(body), p.Size)
	}
	return p, nil
}

// Assembly collects the parts of one message. The zero value is empty.
type Assembly struct {
	parts [][]byte
	there int
	bytes int
	first Part
}

// Add takes a part in any order, and returns the whole when it is complete.
// The same part again changes nothing. Parts of different wholes, more bytes
// than were said, or a wrong checksum are ErrParts.
func (w *Assembly) Add(p Part) ([]byte, bool, error) {
	if w.parts == nil {
		w.parts, w.first = make([][]byte, p.Of), p
	}
	if !w.Same(p) {
		return nil, false, fmt.Errorf("%w: parts of two different ones", ErrParts)
	}
	if w.parts[p.Number-1] == nil {
		w.parts[p.Number-1] = append([]byte{}, p.Body...)
		w.there++
		w.bytes += len(p.Body)
	}
	if w.bytes > w.first.Size {
		return nil, false, fmt.Errorf("%w: its parts have more than its %d bytes", ErrParts, w.first.Size)
	}
	if w.there < w.first.Of {
		return nil, false, nil
	}
	whole := make([]byte, 0, w.bytes)
	for _, part := range w.parts {
		whole = append(whole, part...)
	}
	sum := sha256.Sum256(whole)
	if len(whole) != w.first.Size || hex.EncodeToString(sum[:]) != w.first.Sum {
		return nil, false, fmt.Errorf("%w: the checksum is of something else", ErrParts)
	}
	return whole, true, nil
}

// Same reports that a part is of the same whole as those that are there.
func (w *Assembly) Same(p Part) bool {
	return w.parts == nil || p.Of == w.first.Of && p.Size == w.first.Size && p.Sum == w.first.Sum
}

// partCost is what a part that is awaited takes: its place in the list.
const partCost = 24

// Cost is how many bytes more it would keep with a part.
func (w *Assembly) Cost(p Part) int {
	cost := 0
	if w.parts == nil {
		cost = partCost * p.Of
	} else if p.Number <= len(w.parts) && w.parts[p.Number-1] != nil {
		return 0
	}
	return cost + len(p.Body)
}

// Buffered is how many bytes it keeps, the places of parts that are awaited too.
func (w *Assembly) Buffered() int { return w.bytes + partCost*len(w.parts) }
