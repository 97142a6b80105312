package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/root"
)

// documentsPage lists what commands print with --json.
func documentsPage(tree string) string {
	documents := root.Documents()
	slices.SortFunc(documents, func(a, b console.Described) int {
		one, _, _ := a.Described()
		other, _, _ := b.Described()
		return cmp.Compare(one, other)
	})
	var page strings.Builder
	page.WriteString("# What --json prints\n\nOne document each. `linerate schema NAME` prints its JSON schema; a newer program may add keys.\n\n| name | printed by | example |\n|---|---|---|\n")
	for _, d := range documents {
		name, about, _ := d.Described()
		example := ""
		if file := "docs/examples/json/" + name + ".json"; exists(filepath.Join(tree, file)) {
			example = fmt.Sprintf("[%s.json](../examples/json/%s.json)", name, name)
		}
		fmt.Fprintf(&page, "| `%s` | %s | %s |\n", name, about, example)
	}
	return page.String()
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
