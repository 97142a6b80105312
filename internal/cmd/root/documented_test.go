package root

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/docpage"
)

// pages are README and those of docs/, from the project's directory, by path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	files := []string{"README.md"}
	err := filepath.WalkDir("docs", func(path string, _ fs.DirEntry, err error) error {
		// The reference's examples are the commands' own.
		if filepath.Ext(path) == ".md" && filepath.Base(filepath.Dir(path)) != "reference" {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[file] = string(text)
	}
	return all
}

// TestDocumentedCommands: every command that a page shows is one, with flags that
// it has.
func TestDocumentedCommands(t *testing.T) {
	t.Chdir("../../..")
	n := 0
	for page, text := range pages(t) {
		for _, words := range docpage.Commands(text) {
			n++
			c, rest, err := New(console.System("test")).Find(words)
			if err == nil {
				err = c.ParseFlags(rest)
			}
			if err != nil || c.HasSubCommands() && !c.Runnable() {
				t.Errorf("%s: linerate %s is no command: %v", page, strings.Join(words, " "), err)
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d commands were found", n)
	}
}

// TestLinks: what a page leads to is there.
func TestLinks(t *testing.T) {
	t.Chdir("../../..")
	link := regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	n := 0
	for page, text := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			n++
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s leads to %s: %v", page, m[1], err)
			}
		}
	}
	if n < 50 {
		t.Errorf("only %d links", n)
	}
}

// TestHowTo runs what the how-to pages and the explanations show with a prompt:
// what they print is what the page says (UPDATE=1 writes it there).
func TestHowTo(t *testing.T) {
	t.Chdir("../../..")
	n := 0
	for page, text := range pages(t) {
		if dir := filepath.Dir(page); dir != "docs/howto" && dir != "docs/explained" {
			continue
		}
		var outputs [][]string
		for _, s := range docpage.Samples(text) {
			n++
			words, is := strings.CutPrefix(s.Command, "linerate ")
			if !is {
				t.Fatalf("%s: %s is not run here", page, s.Command)
			}
			o := run(t, "", strings.Fields(words)...)
			outputs = append(outputs, docpage.Lines(o.stdout))
			if !slices.Equal(s.Output, outputs[len(outputs)-1]) {
				t.Errorf("%s: %s (status %d) prints\n%s%s\nthe page has\n%s", page, s.Command, o.status, o.stdout, o.stderr, strings.Join(s.Output, "\n"))
			}
		}
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(page, []byte(docpage.Fill(text, outputs)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d samples were run", n)
	}
}
