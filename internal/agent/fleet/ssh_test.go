//go:build unix

package fleet

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSSHTellsWhy checks that what ssh says before it gives up is in the error,
// however late it says it and whichever of its pipes closes first.
func TestSSHTellsWhy(t *testing.T) {
	const why = "ssh: Could not resolve hostname nope.invalid: Name or service not known"
	for name, body := range map[string]string{
		"at once":                  "echo '" + why + "' >&2; exit 255",
		"after its output closed":  "exec 1>&-; sleep 0.05; echo '" + why + "' >&2; exit 255",
		"with its input shut":      "exec 0<&-; sleep 0.05; echo '" + why + "' >&2; exit 255",
		"after its whole greeting": "echo banner >&2; echo '" + why + "' >&2; exec 1>&-; exit 255",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "ssh"), []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
			for range 20 {
				_, err := Dial(t.Context(), "h", "ssh://nope.invalid", Config{})
				if !errors.Is(err, ErrUnreachable) || !strings.HasSuffix(err.Error(), why) {
					t.Fatalf("error %v, want it to end %q", err, why)
				}
			}
		})
	}
}
