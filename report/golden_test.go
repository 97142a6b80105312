package report

import (
	"encoding/csv"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/record"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestGolden(t *testing.T) {
	golden(t, map[string]string{
		"demo.md":   string(Markdown(sampleRecord())),
		"plain.md":  string(Markdown(samplePlain())),
		"demo.csv":  string(CSV(sampleRecord())),
		"demo.txt":  Text(sampleRecord(), 80),
		"plain.txt": Text(samplePlain(), 0),
		"empty.md":  string(Markdown(record.Record{})),
		"empty.txt": Text(record.Record{}, 80),
	})
}

// golden holds texts against the files of their names.
func golden(t *testing.T, texts map[string]string) {
	t.Helper()
	for name, got := range texts {
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
}

// derived are the CSV columns that no key of the record has.
var derived = map[string]bool{"ceiling_ratio": true}

func TestCSVColumnsAreTheRecordsKeys(t *testing.T) {
	keys := map[string]bool{}
	for _, v := range []any{record.Record{}, record.Trial{}, record.Finding{}, record.Lane{}} {
		typ := reflect.TypeOf(v)
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			keys[name] = true
		}
	}
	for _, c := range csvColumns {
		if !keys[c.key] && !derived[c.key] {
			t.Errorf("column %q is no key of the record", c.key)
		}
	}
}

func TestCSVRows(t *testing.T) {
	r := sampleRecord()
	r.Trials[0].From = "=cmd|' /C calc'!A0"
	r.Trials[1].Ceiling, r.Trials[1].GoodputLow = 0, 0
	rows, err := csv.NewReader(strings.NewReader(string(CSV(r)))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(r.Trials)+1 {
		t.Fatalf("%d rows, want a header and %d trials", len(rows), len(r.Trials))
	}
	column := map[string]int{}
	for i, key := range rows[0] {
		column[key] = i
	}
	var phases []string
	for _, row := range rows[1:] {
		if n := len(phases); n == 0 || phases[n-1] != row[column["phase"]] {
			phases = append(phases, row[column["phase"]])
		}
	}
	if diff := cmp.Diff([]string{"before", "step", "after"}, phases); diff != "" {
		t.Errorf("order of phases (-want +got):\n%s", diff)
	}
	text := string(CSV(r))
	if !strings.Contains(text, ",'=cmd") {
		t.Error("a formula is not disarmed")
	}
	for _, row := range rows[1:] {
		if row[column["from"]] == "a" && row[column["ceiling_bps"]] == "" && row[column["ceiling_ratio"]] == "" && row[column["goodput_low_bps"]] == "" {
			return
		}
	}
	t.Error("an unknown ceiling is not an empty field")
}
