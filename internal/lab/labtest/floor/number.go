package floor

import (
	"os"
	"strconv"
	"testing"
)

// Number is a number that the environment gives, such as PROVE_SEED, or otherwise
// where it gives none; what is no number fails the test.
func Number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}
