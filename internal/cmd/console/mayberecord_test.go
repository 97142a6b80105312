package console

import "testing"

// TestMayBeRecord: JSON and fabrics, and pastes that begin with a bracket.
func TestMayBeRecord(t *testing.T) {
	for text, want := range map[string]bool{
		`{"schema":`:                      true,
		" [\n {":                          true,
		"linerate: 1\n":                   true,
		"[BUG] no jumbo frames\n":         false,
		"[  5]   0.00-1.00   sec  112 MB": false,
	} {
		if got := MayBeRecord([]byte(text)); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
