package trial_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/linerate/linerate/diagnose/trial"
	"github.com/linerate/linerate/predict/declared"
	"github.com/linerate/linerate/record"
)

// injected is what internal/lab/labtest/explaining and field keep of a network with a
// fault: what was measured, which causes are right (those whose removal raised the rate
// most), and a pattern of what is right to say whatever the cause.
type injected struct {
	Setup  string         `json:"setup"`
	Truth  []record.Cause `json:"truth"`
	Says   string         `json:"says,omitempty"`
	Record record.Record  `json:"record"`
}

// right reports a finding that names the truth.
func (f injected) right(found record.Finding) bool {
	if slices.Contains(f.Truth, found.Cause) {
		return true
	}
	text := found.Summary + found.Remedy
	for _, e := range found.Evidence {
		text += e.What + e.Value
	}
	return f.Says != "" && regexp.MustCompile("(?i)"+f.Says).MatchString(text)
}

// leastRight is the share that must be named right.
const leastRight = 0.97

// TestFaults judges measured networks with known faults anew: those in
// testdata, or those of the directory LINERATE_FAULTS_DIR.
func TestFaults(t *testing.T) {
	if dir := os.Getenv("LINERATE_FAULTS_DIR"); dir != "" {
		judgeAll(t, directory(t, dir))
		return
	}
	for _, name := range []string{"faults.json.gz", "field.json.gz"} {
		t.Run(name, func(t *testing.T) { judgeAll(t, corpus(t, filepath.Join("testdata", name))) })
	}
}

// TestTwoFaults: of two limits that both bind the one is named whose end alone brings more,
// as was measured with either taken away.
func TestTwoFaults(t *testing.T) {
	all := corpus(t, filepath.Join("testdata", "twofaults.json.gz"))
	if len(all) == 0 {
		t.Fatal("no instance is here")
	}
	for name, f := range all {
		if found := judged(f.Record); !f.right(found) {
			t.Errorf("%s: %s: truth %v, named %s: %s", name, f.Setup, f.Truth, found.Cause, found.Summary)
		}
	}
}

func judgeAll(t *testing.T, all map[string]injected) {
	t.Helper()
	if len(all) == 0 {
		t.Fatal("no instance is here")
	}
	right, matrix := 0, map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		f := all[name]
		found := judged(f.Record)
		named, row := found.Cause, f.Truth[0]
		if f.right(found) {
			right++
			row = named
		} else {
			t.Logf("%s: %s: truth %v, named %s", name, f.Setup, f.Truth, named)
		}
		matrix[fmt.Sprintf("%-17s named %s", row, named)]++
	}
	for _, line := range slices.Sorted(maps.Keys(matrix)) {
		t.Logf("%4d %s", matrix[line], line)
	}
	share := float64(right) / float64(len(all))
	t.Logf("%d of %d right (%.1f %%)", right, len(all), 100*share)
	if share < leastRight {
		t.Errorf("%.3f right, want %.3f", share, leastRight)
	}
}

// TestKeepFaults writes a corpus (LINERATE_FAULTS_FILE, or faults.json.gz) anew from
// LINERATE_FAULTS_DIR, so many of each cause as LINERATE_FAULTS_KEEP says; without it
// nothing is written.
func TestKeepFaults(t *testing.T) {
	most, _ := strconv.Atoi(os.Getenv("LINERATE_FAULTS_KEEP"))
	if most == 0 {
		t.Skip("no instances to keep: make prove-explain, with LINERATE_FAULTS_KEEP set")
	}
	all, seen, small := directory(t, os.Getenv("LINERATE_FAULTS_DIR")), map[string]int{}, map[string]injected{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		cause := name[:strings.LastIndex(name[:strings.LastIndex(name, "-")], "-")]
		if strings.HasPrefix(name, "healthy-") {
			cause = "healthy"
		}
		if seen[cause]++; seen[cause] > most && cause != "healthy" || seen[cause] > 2*most {
			continue
		}
		f := all[name]
		f.Record.Trials[0].Finding, f.Record.Fabric.Text, f.Record.Environment.After = nil, "", nil
		small[name] = f
	}
	text, err := json.Marshal(small)
	if err != nil {
		t.Fatal(err)
	}
	var zipped bytes.Buffer
	w, _ := gzip.NewWriterLevel(&zipped, gzip.BestCompression) // the level is a known one
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("testdata", cmp.Or(os.Getenv("LINERATE_FAULTS_FILE"), "faults.json.gz")), zipped.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d instances in %d bytes", len(small), zipped.Len())
}

// judged is what is found of a record's first trial, in the state that its hosts were
// found in; of a record without trial nothing.
func judged(r record.Record) record.Finding {
	if len(r.Trials) == 0 {
		return record.Finding{}
	}
	return trial.Judge(declared.Recorded(r), r.Trials[0])
}

func directory(t *testing.T, dir string) map[string]injected {
	t.Helper()
	all := map[string]injected{}
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	only := os.Getenv("LINERATE_FAULTS_ONLY")
	for _, name := range names {
		if !strings.Contains(name, only) {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var f injected
		if err := json.Unmarshal(text, &f); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[filepath.Base(name)] = f
	}
	return all
}

// corpus is a file of instances by name; none where it is not there.
func corpus(t *testing.T, name string) (all map[string]injected) {
	t.Helper()
	file, err := os.Open(name)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(unzipped)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestFitsAndStarts: what a machine without time for it sends by fits and starts is no
// limit of the way, and no more streams are asked for, which would be as slow.
func TestFitsAndStarts(t *testing.T) {
	starved := 0
	for name, f := range corpus(t, filepath.Join("testdata", "field.json.gz")) {
		if !slices.Contains(f.Truth, record.Unknown) {
			continue
		}
		starved++
		if found := judged(f.Record); found.Cause != record.Unknown || found.Decide.Probe != record.ProbeIdle {
			t.Errorf("%s: %s, decided by %q", name, found.Cause, found.Decide.Probe)
		}
	}
	if starved < 3 {
		t.Errorf("%d instances", starved)
	}
}
