package standing

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/docpage"
	"github.com/linerate/linerate/internal/lab/guest"
)

// longestStep is the tuning.
const longestStep = 5 * time.Minute

// TestTutorial follows docs/tutorial.md by its own commands, in an empty
// directory, with the program alone: what they print is what the page shows,
// numbers aside (UPDATE=1 writes it there). What a lab's kernel says depends on it,
// so it is an emulated one for everybody.
func TestTutorial(t *testing.T) {
	if err := guest.Installed(); err != nil {
		t.Skip(err)
	}
	const page = "../../../docs/tutorial.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "lr-") // short: sockets are made below it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	bin, work := filepath.Join(dir, "bin"), filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-o", filepath.Join(bin, "linerate"), "github.com/linerate/linerate/cmd/linerate").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	kernels, err := filepath.Abs("../../../.lab-kernels")
	if err != nil {
		t.Fatal(err)
	}
	var environment []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "PATH=") {
			environment = append(environment, v)
		}
	}
	environment = append(environment, "PATH="+bin+":"+os.Getenv("PATH"), "TMPDIR="+dir, "XDG_RUNTIME_DIR="+dir, "NO_COLOR=1", "COLUMNS=80", "LINERATE_LAB_KERNELS="+kernels)
	follow := func(command string) (string, error) {
		ctx, cancel := context.WithTimeout(context.Background(), longestStep)
		defer cancel()
		c := exec.CommandContext(ctx, "bash", "-c", command)
		c.Dir, c.Env = work, environment
		out, err := c.CombinedOutput()
		return string(out), err
	}
	t.Cleanup(func() { _, _ = follow("linerate lab down two-links") }) // where a step failed
	var outputs [][]string
	for _, s := range docpage.Samples(string(text)) {
		out, err := follow(s.Command)
		if err != nil {
			t.Fatalf("%s: %v\n%s", s.Command, err, out)
		}
		outputs = append(outputs, docpage.Lines(out))
		if !docpage.Alike(s.Output, outputs[len(outputs)-1]) && os.Getenv("UPDATE") == "" {
			t.Errorf("%s prints\n%s\nthe page has\n%s", s.Command, out, strings.Join(s.Output, "\n"))
		}
	}
	if len(outputs) < 6 {
		t.Errorf("only %d commands", len(outputs))
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(page, []byte(docpage.Fill(string(text), outputs)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
