package standing

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/docpage"
)

// longestStep is the tuning.
const longestStep = 5 * time.Minute

// TestTutorial follows docs/tutorial.md by its own commands, in an empty
// directory, with the program alone: what they print is what the page shows,
// numbers aside (UPDATE=1 writes it there). What a lab's kernel says depends on it,
// so it is an emulated one for everybody.
func TestTutorial(t *testing.T) {
	const page = "../../../../docs/tutorial.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	p := newPlace(t, os.Getuid() != 0)
	bin, work := filepath.Join(p.dir, "bin"), filepath.Join(p.dir, "work")
	if err := errors.Join(os.Mkdir(work, 0o755), os.Mkdir(bin, 0o755), os.Symlink(p.program, filepath.Join(bin, "linerate"))); err != nil {
		t.Fatal(err)
	}
	kernels, err := filepath.Abs("../../../../.lab-kernels")
	if err != nil {
		t.Fatal(err)
	}
	var environment []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "PATH=") {
			environment = append(environment, v)
		}
	}
	environment = append(environment, "PATH="+bin+":"+os.Getenv("PATH"), "TMPDIR="+p.dir, "XDG_RUNTIME_DIR="+p.dir, "NO_COLOR=1", "COLUMNS=80", "LINERATE_LAB_KERNELS="+kernels)
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
