package sampling

import (
	"slices"
	"testing"
)

// Code 4.7: a session of hours keeps what its controller has not fetched, and what
// a controller asks for again, since the answer was lost.
func TestLog(t *testing.T) {
	var l Log[int]
	if got := l.Since(0); len(got) > 0 {
		t.Errorf("of none: %v", got)
	}
	for n := range 36_000 {
		l.Add(n)
		if got := l.Since(n); !slices.Equal(got, []int{n}) {
			t.Fatalf("since %d: %v", n, got)
		}
		if got := l.Since(n); !slices.Equal(got, []int{n}) {
			t.Fatalf("again since %d: %v", n, got)
		}
		if len(l.kept) > 2 {
			t.Fatalf("after %d, %d are kept", n, len(l.kept))
		}
	}
	l.Add(36_000)
	l.Add(36_001)
	for number, want := range map[int][]int{36_002: nil, 40_000: nil, -1: {36_001}} {
		if got := l.Since(number); !slices.Equal(got, want) {
			t.Errorf("since %d: %v, want %v", number, got, want)
		}
	}
	if last, ok := l.Last(); last != 36_001 || !ok {
		t.Errorf("the last is %d", last)
	}
}
