package trial_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/linerate/linerate/diagnose/trial"
	"github.com/linerate/linerate/diagnose/trial/decided"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
)

// spoiltRounds is how many spoilt records are judged where LINERATE_SPOILT does
// not say more.
const spoiltRounds = 60

// TestSpoiltRecords judges measured records in which numbers, words and lists
// were replaced at random: a record may come from anywhere, and what is found
// in it must still be a finding.
func TestSpoiltRecords(t *testing.T) {
	all := corpus(t, filepath.Join("testdata", "faults.json.gz"))
	names := slices.Sorted(maps.Keys(all))
	seed, _ := strconv.ParseUint(os.Getenv("RAPID_SEED"), 10, 64) // as the properties have theirs
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	rounds := spoiltRounds
	if n, err := strconv.Atoi(os.Getenv("LINERATE_SPOILT")); err == nil {
		rounds = n
	}
	for i := range rounds {
		absurd := i%4 == 0
		name := names[r.IntN(len(names))]
		spoilt, ok := spoil(t, r, all[name].Record, absurd)
		if !ok {
			continue // no record any more
		}
		if !sane(t, spoilt, absurd) {
			t.Fatalf("round %d of seed %d, from %s", i, seed, name)
		}
	}
}

// sane judges every trial of a record, with whatever else of it as its probe.
func sane(t *testing.T, r record.Record, absurd bool) (ok bool) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("panic: %v", p)
			panic(p)
		}
	}()
	state := predict.Fabric{Hosts: make(map[string]netstate.Host), Paths: r.Fabric.Paths}
	for _, h := range r.Environment.Hosts {
		state.Hosts[h.Name] = h
	}
	ok = true
	for _, measured := range r.Trials {
		f := trial.Judge(state, measured)
		ok = saneFinding(t, f, absurd) && ok
		for _, kind := range []record.ProbeKind{f.Decide.Probe, record.ProbeSlower, record.ProbeStreams} {
			f.Decide = record.Decision{Probe: kind, Value: f.Decide.Value}
			probe, same := measured, measured
			probe.Variant, same.Variant = f.Decide.Variant(measured.Streams), record.Decision{Probe: record.ProbeSame}.Variant(measured.Streams)
			ok = saneFinding(t, decided.By(state, f, measured, []record.Trial{same, probe}), absurd) && ok
		}
	}
	return ok
}

func saneFinding(t *testing.T, f record.Finding, absurd bool) bool {
	t.Helper()
	b, err := json.Marshal(f)
	if err != nil {
		t.Errorf("cannot be written: %v", err)
		return false
	}
	wrong := ""
	for _, word := range []string{"NaN", "+Inf", "-Inf"} {
		if !absurd && strings.Contains(string(b), word) {
			wrong = word + " in it"
		}
	}
	last := f.Confidence
	if f.Cause == record.Unknown {
		last = 1 // what may be is more likely than that nothing is
	}
	for i, c := range append([]record.Alternative{{Confidence: f.Confidence}}, f.Also...) {
		if !(c.Confidence >= 0 && c.Confidence <= 1) {
			wrong = fmt.Sprintf("confidence %v", c.Confidence)
		}
		if i > 0 && c.Confidence > last {
			wrong = fmt.Sprintf("alternatives not in order: %v behind %v", c.Confidence, last)
		}
		if i > 0 {
			last = c.Confidence
		}
	}
	if f.Cause == "" || f.Summary == "" {
		wrong = "no cause, or no words"
	}
	if wrong != "" {
		t.Errorf("%s: %s", wrong, b)
	}
	return wrong == ""
}

// spoil replaces some values of a record's JSON, and reports whether it is a
// record still.
func spoil(t *testing.T, r *rand.Rand, clean record.Record, absurd bool) (record.Record, bool) {
	t.Helper()
	b, err := json.Marshal(clean)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(b, &tree); err != nil {
		t.Fatal(err)
	}
	var places []func(any) // each puts something in one place
	var values []any
	walk(tree, func(v any, put func(any)) { places, values = append(places, put), append(values, v) })
	for range 1 + r.IntN(40) {
		i := r.IntN(len(places))
		places[i](another(r, values[i], absurd))
	}
	if b, err = json.Marshal(tree); err != nil {
		t.Fatal(err)
	}
	var out record.Record
	err = json.Unmarshal(b, &out)
	return out, err == nil
}

func walk(v any, each func(v any, put func(any))) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			each(v[key], func(n any) { v[key] = n })
			walk(v[key], each)
		}
	case []any:
		for i := range v {
			each(v[i], func(n any) { v[i] = n })
			walk(v[i], each)
		}
	}
}

// another is a value of the same kind that nobody expects there; of absurd ones
// sums and products are no finite numbers any more.
func another(r *rand.Rand, v any, absurd bool) any {
	switch v := v.(type) {
	case float64:
		if absurd && r.IntN(4) == 0 {
			return []float64{-1e300, 1e-300, 1e300, math.MaxFloat64}[r.IntN(4)]
		}
		return []any{0.0, -1.0, 1.0, -v, v * 1e-3, v * 1e3, 1e18}[r.IntN(7)]
	case string:
		return []any{"", "x", v + "x"}[r.IntN(3)]
	case bool:
		return !v
	case []any:
		return [][]any{{}, v[:len(v)/2], append(slices.Clone(v), v...)}[r.IntN(3)]
	}
	return nil
}
