package floor

import "testing"

// Sample is one of the samples of large proofs that take turns in the suite,
// which has no time for all of them.
type Sample int

// The samples, in the order of their turns.
const (
	Explaining Sample = iota
	Tuning
	Live
	Evidence
	Standing
	Rehearsing
	samples
)

// EnvDraw is the number that samples are drawn by: make has it from the commit, so
// that one source is tested alike on every day.
const EnvDraw = "PROVE_DRAW"

// Draw is the number that a sample is drawn by, 0 without EnvDraw.
func Draw(t *testing.T) uint64 {
	t.Helper()
	return Number(t, EnvDraw, 0)
}

// Turn skips a test whose sample is not drawn. A proof that was asked for has no
// turn and does not come here.
func Turn(t *testing.T, s Sample) {
	t.Helper()
	if Sample(Draw(t)%uint64(samples)) != s {
		t.Skipf("another sample is drawn: this one's turns are those with %s %% %d = %d", EnvDraw, samples, s)
	}
}
