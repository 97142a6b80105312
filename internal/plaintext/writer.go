package plaintext

import (
	"io"
	"sync"
	"unicode/utf8"
)

// Writer passes on Text of what is written to it. A character may come in two
// writes. It may be used by several goroutines.
type Writer struct {
	to io.Writer

	mu   sync.Mutex
	rest []byte // the beginning of a character
}

// NewWriter writes to a terminal, or whatever takes its place.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Write returns the length of b where everything was passed on.
func (w *Writer) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := b
	if len(w.rest) > 0 {
		all = append(w.rest, b...)
		w.rest = nil
	}
	if n := unfinished(all); n > 0 {
		w.rest = append([]byte(nil), all[len(all)-n:]...)
		all = all[:len(all)-n]
	}
	if len(all) == 0 {
		return len(b), nil
	}
	if _, err := w.to.Write(TextBytes(all)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// unfinished is how many bytes at the end begin a character that is not whole.
func unfinished(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		tail := b[len(b)-n:]
		if utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}
