package measure

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

func trialsIn(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	var r record.Record
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatalf("the record is half written: %v", err)
	}
	return len(r.Trials)
}

// Whatever ends a run, what it has is kept or shown, once.
func TestConclude(t *testing.T) {
	r := record.Record{Schema: record.Schema, Asked: &record.Asked{Trials: 3, Digest: "x"}, Trials: []record.Trial{{From: "a", To: "b", Direction: flow.Forward, Streams: 1, Goodput: unit.Gbps}}}
	for name, c := range map[string]struct {
		json, file  bool
		err         error
		shown, kept bool
		told        string
	}{
		"interrupted":               {err: context.Canceled, shown: true, told: "1 of 3 trials were measured\n"},
		"interrupted, JSON":         {err: context.Canceled, json: true, shown: true, told: "1 of 3 trials were measured\n"},
		"interrupted, a file":       {err: context.Canceled, file: true, shown: true, kept: true, told: "goes on\n"},
		"interrupted, JSON, a file": {err: context.Canceled, json: true, file: true, kept: true, told: "goes on\n"},
		"at its end":                {shown: true},
		"at its end, JSON, a file":  {json: true, file: true, shown: true, kept: true},
		"a host ended it, no file":  {err: campaign.ErrWatch, shown: true, told: "1 of 3"},
	} {
		var out, errs bytes.Buffer
		con := &console.Console{Stdout: &out, Stderr: &errs, JSON: c.json}
		run := &RunFlags{}
		if c.file {
			run.out = filepath.Join(t.TempDir(), "r.json")
		}
		if keep := run.keep(); keep != nil { // as a campaign does after each trial
			if err := keep(r); err != nil {
				t.Fatal(err)
			}
		}
		if err := conclude(context.Background(), con, r, run, c.err); !errors.Is(err, c.err) {
			t.Errorf("%s: %v", name, err)
		}
		if got := out.Len() > 0; got != c.shown || json.Valid(out.Bytes()) != (c.json && c.shown) {
			t.Errorf("%s: printed %.60q", name, out.String())
		}
		if c.kept && trialsIn(t, run.out) != 1 {
			t.Errorf("%s: not kept", name)
		}
		if told := strings.ReplaceAll(errs.String(), "\n", " "); !strings.Contains(told, strings.TrimSpace(c.told)) || c.told == "" && told != "" {
			t.Errorf("%s: told %q, want %q", name, errs.String(), c.told)
		}
	}
}

// A record that cannot be written is printed: else it would be lost.
func TestConcludeFullDisk(t *testing.T) {
	r := record.Record{Schema: record.Schema, Asked: &record.Asked{Trials: 1}, Trials: []record.Trial{{From: "a", To: "b", Direction: flow.Forward, Streams: 1, Goodput: unit.Gbps}}}
	var out, errs bytes.Buffer
	con := &console.Console{Stdout: &out, Stderr: &errs, JSON: true}
	run := &RunFlags{out: filepath.Join(file(t, "file", ""), "r.json")}
	if err := conclude(context.Background(), con, r, run, nil); err == nil || !json.Valid(out.Bytes()) {
		t.Errorf("%v, printed %.60q", err, out.String())
	}
}
