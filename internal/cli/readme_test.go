package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReadmeSamples run README's samples: what the file shows is what the
// program prints.
func TestReadmeSamples(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("../..") // samples name files of the project
	const prompt = "    $ linerate "
	for command, more := range map[string][]string{"steer pick": {"--byte-order", "little"}, "predict": nil} {
		samples := strings.Split(string(text), prompt+command+" ")
		if len(samples) == 1 {
			t.Errorf("README.md has no sample of %s", command)
		}
		for _, sample := range samples[1:] {
			arguments, shown := sampleOf(sample, prompt)
			args := append(append(strings.Fields(command), more...), arguments...)
			o := run(t, "", args...)
			if diff := cmp.Diff(shown, strings.TrimSpace(o.stdout)); diff != "" {
				t.Errorf("%v (-README +printed):\n%s%s", args, diff, o.stderr)
			}
		}
	}
}

// sampleOf is a sample's arguments and what it shows.
func sampleOf(sample, prompt string) (arguments []string, shown string) {
	var lines []string
	continued := true
	for line := range strings.Lines(sample) {
		line = strings.TrimRight(line, "\n")
		if continued {
			var part string
			part, continued = strings.CutSuffix(line, "\\")
			arguments = append(arguments, strings.Fields(part)...)
			continue
		}
		if line != "" && !strings.HasPrefix(line, "    ") || strings.HasPrefix(line, prompt) {
			break
		}
		lines = append(lines, strings.TrimPrefix(line, "    "))
	}
	return arguments, strings.TrimSpace(strings.Join(lines, "\n"))
}
