//go:build unix && !aix

package console

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// someRecord is a record on the disk.
func someRecord(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "..", "report", "testdata", "sample.json"))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOutputForce is the one rule when --force is asked for, by what a command
// writes and what the file holds.
func TestOutputForce(t *testing.T) {
	rec, err := os.ReadFile(someRecord(t))
	if err != nil {
		t.Fatal(err)
	}
	held := map[string]string{"nothing": "", "other": "<!doctype html>old", "record": string(rec), "fabric": "# mine\nlinerate: v1\nhosts: {}\n", "archive": "\x1f\x8b\x08..."}
	replaced := map[Content]string{OtherText: "nothing other", RecordFile: "nothing record", FabricFile: "nothing", Archive: "nothing"}
	for writes, without := range replaced {
		for holds, text := range held {
			path := file(t, "f", text)
			err := Output{path, false}.Check("x -o", writes)
			if asked := err != nil; asked == strings.Contains(without, holds) {
				t.Errorf("content %d over %s: %v", writes, holds, err)
			}
			if err != nil && (!errors.Is(err, ErrUsage) || !strings.Contains(HintFor(err), "--force")) {
				t.Errorf("content %d over %s: %v, hint %q", writes, holds, err, HintFor(err))
			}
			if err := (Output{path, true}).Check("x -o", writes); err != nil {
				t.Errorf("content %d over %s with --force: %v", writes, holds, err)
			}
		}
	}
}

// TestOutputDash is standard output by the name that every other tool gives it,
// not a file called so.
func TestOutputDash(t *testing.T) {
	for text, want := range map[string]string{"-": "/dev/stdout", "f.json": "f.json", "./-": "./-"} {
		c, o := &cobra.Command{}, Output{}
		o.Add(c, "file")
		if err := c.ParseFlags([]string{"-o", text}); err != nil || o.Path != want {
			t.Errorf("-o %s writes to %q, %v; want %q", text, o.Path, err, want)
		}
	}
}
