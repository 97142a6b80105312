package fabric

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric/yamldoc"
)

// FuzzParse never panics, places every problem, and what it accepts has a
// state and a network that reads back as itself.
func FuzzParse(f *testing.F) {
	for _, dir := range []string{"testdata/good/*.yaml", "testdata/bad/*.yaml", "testdata/*.yaml"} {
		files, _ := filepath.Glob(dir)
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	for _, seed := range []string{
		ovsFile,
		"linerate: v1\nhosts: {a: {reach: 'local:'}}",
		"linerate: v1\nhosts:\n  a: &a\n    network: {ethernets: {e: }}\n  b: *a\n",
		"linerate: v1\nhosts:\n  a:\n    network: |\n      text\n",
		"? [a]\n: b\n", "!!map {a: b}", "<<: {a: b}", "a: !x", "\t", "--- ---", "%YAML 1.2\n---\n{}", "&a *a", "a: 'x\n  y'",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		fabric, err := Parse("f", text)
		if err != nil {
			var ps yamldoc.Problems
			if !errors.As(err, &ps) || len(ps) == 0 {
				t.Fatalf("error %v is no Problems", err)
			}
			for _, p := range ps {
				if p.What == "" || strings.Contains(p.Error(), "\n") {
					t.Fatalf("problem %q", p.Error())
				}
			}
			return
		}
		_ = fabric.ResolveAlone()
		for _, h := range fabric.Hosts {
			if _, err := fabric.State(h.Name); err != nil {
				t.Fatalf("State: %v", err)
			}
			if h.Network.Source == "" {
				continue
			}
			again := &yamldoc.Collector{}
			tree := yamldoc.Read(again, []byte(h.Network.Source))
			if tree == nil || len(again.All) > 0 {
				t.Fatalf("the network's text does not read back: %v\n%q\nof %q", again.All, h.Network.Source, text)
			}
		}
	})
}
