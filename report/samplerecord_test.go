package report

import (
	"encoding/json"
	"os"
	"testing"

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
	golden(t, map[string]string{"sample.md": string(Markdown(r)), "sample.csv": string(CSV(r)), "sample.txt": Text(r, 80)})
	if page, err := HTML(r, Options{}); err != nil || len(page) < 20000 {
		t.Errorf("%d bytes, %v", len(page), err)
	}
	if plots, err := Plots(r); err != nil || len(plots) < 3 {
		t.Errorf("%d drawings, %v", len(plots), err)
	}
}
