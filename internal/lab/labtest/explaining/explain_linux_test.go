package explaining

import (
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/lab/guest"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/record"
)

// perRun is how many instances one run of the proof makes.
const perRun = 6

// TestExplain is a part of the proof, the PROVE_RUN-th of PROVE_HALF (0 or 1),
// whose verdict is over all of it, see TestProof. Else PROVE_COUNT instances of
// PROVE_CAUSE, from number PROVE_FIRST on; or one of each of so many kinds, from
// the PROVE_EACH-th on; or a sample.
func TestExplain(t *testing.T) {
	if onUML() { // sockets may ask for as much as they are given
		for _, key := range []string{"rmem_max", "wmem_max"} {
			floor.Must(t, os.WriteFile("/proc/sys/net/core/"+key, []byte("8388608"), 0o644))
		}
	}
	seed, run := floor.Number(t, "PROVE_SEED", 1), floor.Number(t, "PROVE_RUN", 0)
	kinds := kindsHere()
	here := causesOf(kinds)
	switch only := os.Getenv("PROVE_CAUSE"); {
	case os.Getenv("PROVE_EACH") != "":
		first := floor.Number(t, "PROVE_EACH", 0)
		for n, k := range kinds {
			if n := uint64(n); n >= first && n < first+floor.Number(t, "PROVE_COUNT", 1) && !k.anywhere {
				prove(t, seed, 500+n, k.cause, []*kind{k})
			}
		}
	case only != "":
		for n := range floor.Number(t, "PROVE_COUNT", 1) {
			prove(t, seed, floor.Number(t, "PROVE_FIRST", 0)+n, record.Cause(only), kinds)
		}
	case run > 0:
		first := (2*(run-1) + floor.Number(t, "PROVE_HALF", 0)) * perRun
		if !onUML() {
			first = (run - 1) * perRun
		}
		for j := first; j < first+perRun && j < perCause*uint64(len(here)); j++ {
			prove(t, seed, j/uint64(len(here)), here[j%uint64(len(here))], kinds)
		}
	default:
		sample(t)
	}
}

// causesOf are the causes that instances are made of here.
func causesOf(kinds []*kind) []record.Cause {
	return slices.DeleteFunc(causes(), func(c record.Cause) bool {
		return !slices.ContainsFunc(kinds, func(k *kind) bool { return k.cause == c && k.onHost != onUML() })
	})
}

func onUML() bool { return os.Getenv(guest.EnvGuest) != "" }

// kindsHere are those that this kernel can show, of PROVE_KIND alone where
// that is set.
func kindsHere() []*kind {
	only := os.Getenv("PROVE_KIND")
	return slices.DeleteFunc(allKinds(), func(k *kind) bool {
		elsewhere := k.onHost == onUML()
		return elsewhere && !k.anywhere || only != "" && k.String() != only
	})
}

// prove makes one instance and says what came of it, its healthy network
// first.
func prove(t *testing.T, seed, n uint64, cause record.Cause, kinds []*kind) (right bool) {
	t.Helper()
	t.Run(string(cause)+"-"+strconv.FormatUint(n, 10), func(t *testing.T) {
		begun := time.Now()
		fault, healthy := run(t, seed, uint64(slices.Index(record.Causes(), cause))*1000+n, cause, kinds)
		for _, k := range healthy {
			t.Log(rowOf(*k, record.LineRate))
		}
		if fault == nil {
			t.Errorf("%s: no instance in %d draws", cause, mostDraws)
			return
		}
		r := rowOf(*fault, cause)
		right = r.right()
		t.Log(r)
		said := ""
		if f := fault.finding(); f != nil {
			said = f.Summary
		}
		t.Logf("gains %v, %.1f s, %s", fault.Gains, time.Since(begun).Seconds(), said)
	})
	return right
}

// What a sample may take: instances are begun until so much time is over.
const sampleTime = 13 * time.Second

// sample is a few instances whose networks are quick to build, as they are drawn;
// one of them may be missed.
func sample(t *testing.T) {
	floor.Turn(t, floor.Explaining)
	quick := []record.Cause{record.ReceiveWindow, record.SendBuffer, record.Shaper, record.Pacing, record.Application, record.AsymmetricRoute, record.SingleLink}
	begun, drawn := time.Now(), floor.Draw(t)
	wrong, tried := 0, 0
	for n := uint64(0); time.Since(begun) < sampleTime; n++ {
		tried++
		if !prove(t, drawn, n, quick[(drawn+n)%uint64(len(quick))], kindsHere()) {
			wrong++
		}
	}
	if wrong > 1 {
		t.Errorf("%d of %d named wrong", wrong, tried)
	}
}
