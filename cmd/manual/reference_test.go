package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/root"
)

// TestReference: docs/reference is what the code says (`make reference` writes it),
// and its links lead somewhere.
func TestReference(t *testing.T) {
	const dir = "../../docs/reference"
	pages, err := reference(root.New(console.System("dev")), "../..")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range pages {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(got) != want {
			t.Errorf("docs/reference/%s is not what the code says (make reference writes it): %v", name, err)
		}
		anchors := make(map[string]bool)
		for _, m := range regexp.MustCompile(`(?m)^## (.+)$`).FindAllStringSubmatch(want, -1) {
			anchors[anchor(m[1])] = true
		}
		for _, m := range regexp.MustCompile(`\]\(#([^)]+)\)`).FindAllStringSubmatch(want, -1) {
			if !anchors[m[1]] {
				t.Errorf("docs/reference/%s leads to #%s, which is not there", name, m[1])
			}
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != len(pages) {
		t.Errorf("%d pages in docs/reference, want %d: %v", len(files), len(pages), err)
	}
}

// TestRecordFieldsAreDescribed: every key of a record that has a unit has words too:
// a name such as "from" or "cause" says itself what a number does not.
func TestRecordFieldsAreDescribed(t *testing.T) {
	fields, err := fieldComments("../..", "record", "netstate", "fabric", "flow")
	if err != nil {
		t.Fatal(err)
	}
	text, err := root.SchemaOf("record")
	if err != nil {
		t.Fatal(err)
	}
	var root schema
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	unit := regexp.MustCompile(`_(bps|bytes|ns|us|s|ratio|count|packets|hz|percent)$`)
	keys := 0
	for name, kind := range root.Defs {
		for key, p := range kind.Properties {
			if !unit.MatchString(key) {
				continue
			}
			keys++
			if p.Description == "" && fields[name+"."+key] == "" {
				t.Errorf("%s.%s: no words", name, key)
			}
		}
	}
	if keys < 100 {
		t.Errorf("only %d keys were looked at", keys)
	}
	for _, key := range []string{"record.CPUUse.time_squeezes_count"} { // code 4.7b
		if !strings.Contains(fields[key], "not judged") {
			t.Errorf("%s: %q", key, fields[key])
		}
	}
	if !strings.Contains(fields["record.Trial.goodput_bps"], "payload received over the common window") {
		t.Errorf("goodput: %q", fields["record.Trial.goodput_bps"])
	}
}
