package campaign

import (
	"strings"
	"testing"
)

// TestOtherwise: nobody is told that a host puts back by itself what it was
// told to keep.
func TestOtherwise(t *testing.T) {
	for want, ch := range map[string]change{
		"by itself within":            {},
		"by itself when this program": {temporary: true},
		"`linerate rollback` does it": {confirmed: true},
	} {
		if got := ch.otherwise(); !strings.Contains(got, want) {
			t.Errorf("%+v: %q, want %q", ch, got, want)
		}
	}
}
