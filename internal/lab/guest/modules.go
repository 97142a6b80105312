package guest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// moduleFiles are the files of the named modules of a directory, each after
// those it needs, as modules.dep lists them (last dependency first), and
// relative to the directory. A name that is not in the list is taken for built
// in, and one whose files are not all there is left out: what it would bring, the
// kernel lacks.
func moduleFiles(dir string, names []string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(dir, "modules.dep"))
	if err != nil {
		return nil, fmt.Errorf("read module list: %w", err)
	}
	needs := make(map[string][]string)
	for line := range strings.Lines(string(text)) {
		module, deps, ok := strings.Cut(strings.TrimSpace(line), ":")
		if ok {
			needs[moduleName(module)] = append([]string{module}, strings.Fields(deps)...)
		}
	}
	var files []string
	seen := make(map[string]bool)
	for _, name := range names {
		chain := needs[moduleName(name)]
		if !there(dir, chain) {
			continue
		}
		for i := len(chain) - 1; i >= 0; i-- {
			if !seen[chain[i]] {
				seen[chain[i]] = true
				files = append(files, chain[i])
			}
		}
	}
	return files, nil
}

// there reports whether the files are; a packed one is another's to refuse.
func there(dir string, files []string) bool {
	for _, f := range files {
		if !strings.HasSuffix(f, ".ko") {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, f)); errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

func moduleName(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	return strings.ReplaceAll(name, "-", "_")
}
