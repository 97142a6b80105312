package engine

import (
	"bytes"
	"testing"
	"time"
)

// bytewise says a byte of its opening now and then.
type bytewise struct {
	conn
	every, limit time.Duration
}

func (d *bytewise) patience(limit time.Duration) error {
	d.limit = limit
	return nil
}

func (d *bytewise) Read(buf []byte) (int, error) {
	time.Sleep(d.every)
	return copy(buf, "x"), nil
}

// TestBytewiseOpening: who says the opening a byte at a time has the time of one opening, not that for
// each byte.
func TestBytewiseOpening(t *testing.T) {
	buf := make([]byte, 20)
	began := time.Now()
	err := readWithin(&bytewise{every: 20 * time.Millisecond}, buf, 100*time.Millisecond)
	if took := time.Since(began); err == nil || took > 300*time.Millisecond {
		t.Errorf("%v after %v", err, took)
	}
	quick := &bytewise{limit: -1}
	if err := readWithin(quick, buf, time.Minute); err != nil || quick.limit != 0 || !bytes.Equal(buf, bytes.Repeat([]byte("x"), len(buf))) {
		t.Errorf("%q: %v, then %v", buf, err, quick.limit)
	}
}
