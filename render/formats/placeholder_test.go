package formats

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/render"
)

// saysNothing are keys whose values are names for people, or said by others too.
var saysNothing = map[render.Format][]string{
	render.FormatKeyfile:  {"id", "uuid", "slave-type", "num_unsol_na"},
	render.FormatIfcfg:    {"TYPE", "SLAVE", "BONDING_MASTER", "BOOTPROTO", "VLAN"},
	render.FormatNetworkd: {"NamePolicy", "AlternativeNamesPolicy"},
	render.FormatIfupdown: {"auto"},
}

// TestPlaceholders: a value that a template has not filled in is told at its line, or by
// its text, whatever key it belongs to, or is in the fabric.
func TestPlaceholders(t *testing.T) {
	separators := map[render.Format]string{render.FormatKeyfile: "=", render.FormatIfcfg: "=", render.FormatNetworkd: "=", render.FormatIfupdown: " "}
	for _, fixture := range []string{"settings", "full"} {
		in := input(t, "testdata/"+fixture+"/fabric.yaml", "a")
		for format, separator := range separators {
			unfilledValues(t, format, separator, byPath(mustRender(t, format, in).Files))
		}
	}
}

// unfilledValues puts the placeholder in place of each value of the files in turn.
func unfilledValues(t *testing.T, format render.Format, separator string, files map[string]string) {
	const unfilled = "{{x}}"
	for file, text := range files {
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			key, value, ok := strings.Cut(strings.TrimLeft(line, " "), separator)
			if !ok || strings.HasPrefix(key, "#") || strings.HasPrefix(key, "[") || strings.TrimSpace(value) == "" || slices.Contains(saysNothing[format], key) {
				continue
			}
			changed := maps.Clone(files)
			rest := append(append([]string{}, lines[:i]...), line[:len(line)-len(value)]+unfilled)
			changed[file] = strings.Join(append(rest, lines[i+1:]...), "\n")
			found, err := Read(format, changed)
			if err != nil {
				t.Errorf("%s %s:%d: %s: %v", format, file, i+1, key, err)
				continue
			}
			told := strings.Contains(string(found.FabricFile("h")), unfilled)
			for _, u := range found.Unread {
				told = told || u.Path == file && u.Line == i+1 || strings.Contains(u.String()+u.Value, unfilled)
				if u.Path == "" || u.Line == 0 {
					t.Errorf("%s %s:%d: %s is told without its place: %s", format, file, i+1, key, u)
				}
			}
			for _, w := range found.Warnings {
				told = told || strings.HasPrefix(w.Why, fmt.Sprintf("%s:%d:", file, i+1))
			}
			if !told {
				t.Errorf("%s %s:%d: %s is not told: %v", format, file, i+1, key, found.Unread)
			}
		}
	}
}
