package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReadmeSample runs README's sample of steer pick: what the file shows is
// what the program prints.
func TestReadmeSample(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	const prompt = "    $ linerate "
	_, sample, found := strings.Cut(string(text), prompt+"steer pick ")
	if !found {
		t.Fatal("README.md has no sample of steer pick")
	}
	var command, shown []string
	continued := true
	for line := range strings.Lines(sample) {
		line = strings.TrimRight(line, "\n")
		if continued {
			var part string
			part, continued = strings.CutSuffix(line, "\\")
			command = append(command, strings.Fields(part)...)
			continue
		}
		if line != "" && !strings.HasPrefix(line, "    ") || strings.HasPrefix(line, prompt) {
			break
		}
		shown = append(shown, strings.TrimPrefix(line, "    "))
	}
	o := run(t, "", append([]string{"steer", "pick", "--byte-order", "little"}, command...)...)
	if diff := cmp.Diff(strings.TrimSpace(strings.Join(shown, "\n")), strings.TrimSpace(o.stdout)); diff != "" {
		t.Errorf("steer pick %v (-README +printed):\n%s", command, diff)
	}
}
