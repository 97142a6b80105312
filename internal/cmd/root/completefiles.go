package root

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// fileWords are the words of a usage line that stand for a file of a kind, with the
// extensions that the shell completes.
var fileWords = []struct {
	word       string
	extensions []string
}{
	{"FABRIC", []string{"yaml", "yml"}}, {"FILE.yaml", []string{"yaml", "yml"}},
	{"RECORD", []string{"json"}}, {"RUN.json", []string{"json"}}, {"BEFORE", []string{"json"}},
}

// completeFiles completes the arguments of commands by what their usage lines say:
// fabrics where a FABRIC is wanted, records where a RECORD is. A command that takes
// files of any kind, or says itself what completes, is left alone.
func completeFiles(c *cobra.Command) {
	for _, sub := range c.Commands() {
		completeFiles(sub)
	}
	if c.ValidArgsFunction != nil || strings.Contains(c.Use, "FILE...") {
		return
	}
	words := strings.FieldsFunc(c.Use, func(r rune) bool { return strings.ContainsRune(" |[]", r) })
	var extensions []string
	for _, f := range fileWords {
		if slices.ContainsFunc(words, func(w string) bool { return strings.TrimSuffix(w, "...") == f.word }) {
			extensions = append(extensions, f.extensions...)
		}
	}
	if len(extensions) == 0 {
		return
	}
	extensions = slices.Compact(extensions)
	c.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
}
