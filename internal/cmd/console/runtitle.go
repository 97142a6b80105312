package console

import (
	"strings"

	"github.com/linerate/linerate/internal/plaintext"
)

// longestTitle is in characters, of at most four bytes each: journals take 200
// bytes.
const longestTitle = 50

// RunTitle is what journals call a run of a command over a file: one line that
// prints, with the file's end where it is too long, as that names it.
func RunTitle(command, file string) string {
	words := []rune(plaintext.Line(strings.ReplaceAll(command+" "+file, "\n", "?")))
	if lead := command + " ..."; len(words) > longestTitle {
		words = append([]rune(lead), words[len(words)-longestTitle+len(lead):]...)
	}
	return string(words)
}
