package guest

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"testing"
	"time"
)

// pairOfEnds joins two ends by a line.
func pairOfEnds(t *testing.T, accept func(*channel)) *channels {
	t.Helper()
	var near, far *channels
	toFar, toNear := make(chan func(), 1<<12), make(chan func(), 1<<12)
	say := func(line chan func(), end **channels) func(frameKind, []byte) error {
		return func(kind frameKind, p []byte) error {
			p = bytes.Clone(p)
			line <- func() {
				if err := (*end).handle(kind, p); err != nil {
					t.Error(err)
				}
			}
			return nil
		}
	}
	near, far = newChannels(say(toFar, &far), nil), newChannels(say(toNear, &near), accept)
	for _, line := range []chan func(){toFar, toNear} {
		go func() {
			for f := range line {
				f()
			}
		}()
	}
	return near
}

// TestChannels: what is echoed comes back whole on each of several channels,
// while another, that nobody reads, is full.
func TestChannels(t *testing.T) {
	stuck := make(chan struct{})
	near := pairOfEnds(t, func(ch *channel) {
		var first [1]byte
		if _, err := io.ReadFull(ch, first[:]); err != nil {
			t.Error(err)
		}
		if first[0] == 's' {
			n, err := ch.Write(make([]byte, 4*channelWindow))
			if n != channelWindow || !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("to a reader that reads nothing: %d, %v; want a window's worth and the end", n, err)
			}
			close(stuck)
			return
		}
		_, _ = io.Copy(ch, ch)
		ch.Close()
	})
	silent, err := near.dial()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := silent.Write([]byte("s")); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() {
			ch, err := near.dial()
			if err != nil {
				t.Error(err)
				return
			}
			want := bytes.Repeat([]byte{'0' + byte(i), 'x', 'y'}, channelWindow)
			go func() { _, _ = ch.Write(append([]byte{'e'}, want...)) }()
			got := make([]byte, len(want))
			if _, err := io.ReadFull(ch, got); err != nil || !bytes.Equal(got, want) {
				t.Errorf("channel %d: not what was sent (%v)", i, err)
			}
			ch.Close()
		})
	}
	all.Wait()
	silent.Close()
	select {
	case <-stuck:
	case <-time.After(10 * time.Second):
		t.Error("a writer waits for a reader who has gone")
	}
	near.end()
	if _, err := near.dial(); err == nil {
		t.Error("a channel was opened on a dead line")
	}
}
