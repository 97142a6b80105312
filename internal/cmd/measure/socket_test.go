package measure

import (
	"strconv"
	"strings"
	"testing"
)

// TestDSCPWords: each name and each number is read, in any case and base, and
// no name stands there twice.
func TestDSCPWords(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range codePoints {
		if seen[c.name] || c.value < 0 || c.value > 63 {
			t.Errorf("%s: twice, or %d out of range", c.name, c.value)
		}
		seen[c.name] = true
		for _, s := range []string{c.name, strings.ToUpper(c.name), strconv.Itoa(c.value), "0x" + strconv.FormatInt(int64(c.value), 16)} {
			if got, err := parseDSCP(s); err != nil || got != c.value {
				t.Errorf("%s: %d, %v, want %d", s, got, err, c.value)
			}
		}
	}
	// RFC 2597: AFxy is 8x+2y; RFC 2474: CSx is 8x.
	for x := 1; x <= 4; x++ {
		for y := 1; y <= 3; y++ {
			if got, err := parseDSCP("af" + strconv.Itoa(10*x+y)); err != nil || got != 8*x+2*y {
				t.Errorf("af%d%d: %d, %v", x, y, got, err)
			}
		}
	}
	for x := range 8 {
		if got, err := parseDSCP("cs" + strconv.Itoa(x)); err != nil || got != 8*x {
			t.Errorf("cs%d: %d, %v", x, got, err)
		}
	}
	for _, s := range []string{"", "-1", "64", "ef ", "gold", "1e1"} {
		if got, err := parseDSCP(s); err == nil {
			t.Errorf("%q is read as %d", s, got)
		}
	}
}
