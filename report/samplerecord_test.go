package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/record"
)

// TestSampleRecord: a real tune of two lab hosts, in every form that a report has.
func TestSampleRecord(t *testing.T) {
	text, err := os.ReadFile("testdata/sample.json")
	if err != nil {
		t.Fatal(err)
	}
	var r record.Record
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{"sample.md": string(Markdown(r)), "sample.csv": string(CSV(r)), "sample.txt": Text(r, 80)} {
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if page, err := HTML(r, Options{}); err != nil || len(page) < 20000 {
		t.Errorf("%d bytes, %v", len(page), err)
	}
	if plots, err := Plots(r); err != nil || len(plots) < 3 {
		t.Errorf("%d drawings, %v", len(plots), err)
	}
}
