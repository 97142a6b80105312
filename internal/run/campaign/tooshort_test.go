package campaign

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/run/measure"
)

// Peers 12b: bounds that end a run before anything was measured are an error that
// says what went by, and none where something was.
func TestBoundsTooNarrow(t *testing.T) {
	for done, want := range map[int]error{0: ErrTooShort, 1: nil} {
		var noted string
		c := &Campaign{cfg: Config{Tell: func(e Event) { noted = e.Note }, Now: time.Now}}
		k := &care{Care: Care{MaxBytes: 10e6}, now: time.Now}
		k.Moved(9_900_000)
		if word := k.Halt(200_000); word != measure.StopBytes {
			t.Fatalf("halted by %q", word)
		}
		err := c.endedEarly(k, done, 12)
		if !errors.Is(err, want) || want != nil && !strings.Contains(err.Error(), "the cap of 10 MB was reached, 9.9 MB went by") {
			t.Errorf("%d trials: %v", done, err)
		}
		if (done > 0) != strings.Contains(noted, "1 of 12 trials measured") {
			t.Errorf("%d trials: noted %q", done, noted)
		}
	}
}
