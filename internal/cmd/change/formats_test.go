package change

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/formats"
)

// TestFormatsPage: the table of formats says of each what the program does with it, and
// the tests that it names are there.
func TestFormatsPage(t *testing.T) {
	const root = "../../.."
	page, err := os.ReadFile(filepath.Join(root, "docs/formats.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| format | read | written | applied | persisted | checked by |\n|---|---|---|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	said := map[render.Format][]string{}
	for line := range strings.Lines(table) {
		var cells []string
		for _, c := range strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|") {
			cells = append(cells, strings.TrimSpace(c))
		}
		if len(cells) != 6 {
			t.Fatalf("%d cells: %s", len(cells), line)
		}
		said[render.Format(cells[0])] = cells[1:]
	}
	word := map[bool]string{true: "yes", false: "no"}
	all := slices.DeleteFunc(append(formats.All(), formats.Readable()...), func(f render.Format) bool { return slices.Contains(render.Switches(), f) })
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) != len(said) {
		t.Errorf("the table has %d formats, the program %d: %v", len(said), len(all), all)
	}
	test := regexp.MustCompile("`([a-z0-9_/]+_test\\.go)`")
	for _, f := range all {
		cells := said[f]
		if cells == nil {
			t.Errorf("%s is not in the table", f)
			continue
		}
		persisted := slices.Contains(persistFormats(), f)
		for column, want := range map[int]string{0: word[slices.Contains(formats.Readable(), f)], 1: word[slices.Contains(formats.All(), f)], 3: word[persisted]} {
			if cells[column] != want {
				t.Errorf("%s: column %d says %s, the program %s", f, column+1, cells[column], want)
			}
		}
		if strings.HasPrefix(cells[2], "`apply`") != persisted {
			t.Errorf("%s: applied by %s", f, cells[2])
		}
		tests := test.FindAllStringSubmatch(cells[4], -1)
		if len(tests) == 0 != strings.HasPrefix(cells[4], "no program") {
			t.Errorf("%s: checked by %s", f, cells[4])
		}
		for _, name := range tests {
			if _, err := os.Stat(filepath.Join(root, name[1])); err != nil {
				t.Errorf("%s: %v", f, err)
			}
		}
	}
}
