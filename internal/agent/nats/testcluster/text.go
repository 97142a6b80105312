package testcluster

import (
	"bytes"
	"sync"
)

// Text is a log that is read while it is written. The zero value is empty.
type Text struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write adds to it.
func (t *Text) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.Write(p)
}

// String is all of it.
func (t *Text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.String()
}
