package agent

import (
	"testing"
	"time"
)

// TestPace: a reading that takes long is made seldom, after it is known what it
// takes; whoever asks at the same moment gets the same.
func TestPace(t *testing.T) {
	const takes = 4 * time.Millisecond
	var p pace
	reads := 0
	get := func() (map[string]uint64, bool) {
		reads++
		time.Sleep(takes)
		return map[string]uint64{"n": uint64(reads)}, false
	}
	began, asked, answered := time.Now(), 0, 0
	for time.Since(began) < 300*time.Millisecond {
		if asked++; p.read(get) != nil {
			answered++
		}
		if again := p.read(get); again != nil && again["n"] != uint64(reads) {
			t.Errorf("of the same moment: %v, %d read", again, reads)
		}
		time.Sleep(freshFor + time.Millisecond)
	}
	// On a busy machine the second question may come too late for the first's
	// answer, and be the one that reads.
	if reads != paceTries || answered == 0 || answered > reads {
		t.Errorf("read %d times, answered %d of %d, in less time than the next may come", reads, answered, asked)
	}
	p.began = p.began.Add(-time.Duration(float64(p.least)/paceShare) - time.Millisecond)
	if got := p.read(get); got["n"] != paceTries+1 {
		t.Errorf("when it is time again: %v", got)
	}
	var none pace
	for range 3 {
		if got := none.read(func() (map[string]uint64, bool) { reads++; return nil, true }); got != nil {
			t.Errorf("of what is not there: %v", got)
		}
	}
	if reads != paceTries+2 {
		t.Errorf("what is not there was asked for %d times", reads-paceTries-1)
	}
}
