package listen

import (
	"errors"
	"strings"
	"testing"
)

// What a stranger sent is shown as one short line without control characters.
func TestPeerWords(t *testing.T) {
	if got, want := peerWords(errors.New("set \x1b]0;x\a\nto é")), "set ?]0;x?; to é"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := peerWords(errors.New(strings.Repeat("a", 1000))); len(got) != longestReason+len("...") {
		t.Errorf("%d characters", len(got))
	}
}
