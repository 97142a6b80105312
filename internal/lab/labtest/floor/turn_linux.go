package floor

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// Sample is one of the samples of large proofs that take turns in the suite,
// which has no time for all of them.
type Sample int

// The samples, in the order of their days.
const (
	Explaining Sample = iota
	Tuning
	Live
	Evidence
	Standing
	Rehearsing
	samples
)

// EnvDay is the number of the day that samples are drawn by; without it it is
// today's, since 1970.
const EnvDay = "PROVE_DAY"

// Turn skips a test whose sample is not the day's. A proof that was asked for
// has no turn and does not come here.
func Turn(t *testing.T, s Sample) {
	t.Helper()
	day := int(time.Now().Unix() / 86400)
	if text := os.Getenv(EnvDay); text != "" {
		var err error
		day, err = strconv.Atoi(text)
		Must(t, err)
	}
	if turn := Sample(day % int(samples)); turn != s {
		t.Skipf("the day's sample is another one: its days are those with %s %% %d = %d", EnvDay, samples, s)
	}
}
