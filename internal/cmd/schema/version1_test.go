package schema

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/linerate/linerate/record"
)

// TestVersion1: records of version 1 as they were written by earlier programs, on
// real kernels, open: no key of theirs is unknown, none is lost when they are
// written again, and they fit the schema. Files are added here and never changed.
func TestVersion1(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "record", "testdata", "v1", "*.json"))
	if err != nil || len(files) < 3 {
		t.Fatalf("%d fixtures, %v", len(files), err)
	}
	root := schemaOfRecord(t)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var r record.Record
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&r); err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if r.Schema != "linerate.record/v1" || len(r.Trials) == 0 || r.Trials[0].Finding == nil {
			t.Errorf("%s: %s, %d trials", file, r.Schema, len(r.Trials))
		}
		var was map[string]any
		if err := json.Unmarshal(text, &was); err != nil {
			t.Fatal(err)
		}
		now := document(t, r)
		if diff := cmp.Diff(was, keysOf(was, now)); diff != "" {
			t.Errorf("%s written again (-was +now):\n%s", file, diff)
		}
		if err := problems(t, root, now); err != nil {
			t.Errorf("%s:\n%v", file, err)
		}
	}
}

// keysOf is the part of now that was has keys for: a newer program may add some.
func keysOf(was, now any) any {
	switch w := was.(type) {
	case map[string]any:
		n, ok := now.(map[string]any)
		if !ok {
			return now
		}
		out := make(map[string]any)
		for key, value := range w {
			if got, there := n[key]; there {
				out[key] = keysOf(value, got)
			}
		}
		return out
	case []any:
		n, ok := now.([]any)
		if !ok || len(n) != len(w) {
			return now
		}
		out := make([]any, len(w))
		for i := range w {
			out[i] = keysOf(w[i], n[i])
		}
		return out
	}
	return now
}
