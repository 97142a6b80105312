package archtest

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// pageLines is what ARCHITECTURE.md stays below: it is read in one go.
const pageLines = 250

// checked are the pages that name only what is there.
var checked = [...]string{"ARCHITECTURE.md", "CONTRIBUTING.md"}

// checkPages finds an ARCHITECTURE.md that is too long, and paths in backticks and
// pictures that are not there: of those that begin with a folder of the root. A part with a letter
// that no path has, such as <name> or *, stands for anything.
func checkPages(tree fs.FS, sources []source) ([]string, error) {
	roots := slices.Clone(foundations[:])
	for _, s := range sources {
		top, _, _ := strings.Cut(s.pkg, "/")
		roots = append(roots, top)
	}
	var problems []string
	for _, page := range checked {
		b, err := fs.ReadFile(tree, page)
		if err != nil {
			return nil, err
		}
		text := string(b)
		if n := strings.Count(text, "\n"); page == checked[0] && n >= pageLines {
			problems = append(problems, fmt.Sprintf("%s: %d lines, want fewer than %d", page, n, pageLines))
		}
		for _, word := range mentioned(text) {
			name, given := pathIn(word)
			top, _, _ := strings.Cut(name, "/")
			if !given && !slices.Contains(roots, top) {
				continue
			}
			if _, err := fs.Stat(tree, name); err != nil {
				problems = append(problems, fmt.Sprintf("%s: `%s` is not there", page, name))
			}
		}
	}
	return problems, nil
}

// mentioned are the words in backticks, and of pictures those that begin with
// internal/.
func mentioned(text string) []string {
	var words []string
	prose := fenced.ReplaceAllStringFunc(text, func(picture string) string {
		words = append(words, inPicture.FindAllString(picture, -1)...)
		return ""
	})
	for _, m := range backticked.FindAllStringSubmatch(prose, -1) {
		words = append(words, strings.Fields(m[1])...)
	}
	return words
}

var (
	fenced    = regexp.MustCompile("(?m)^```(?s:.*?)^```|^    .*")
	inPicture = regexp.MustCompile(`\binternal/[^\s\]]*`)
)

var noPath = regexp.MustCompile(`[^A-Za-z0-9_./-]`)

// pathIn is the path that a word names, as far as it is given, and whether it says
// by ./ that it is one.
func pathIn(word string) (string, bool) {
	name, given := strings.CutPrefix(strings.TrimRight(word, ",;:."), "./")
	if at := noPath.FindStringIndex(name); at != nil {
		name = path.Dir(name[:at[0]] + "x")
	}
	return path.Clean(strings.TrimSuffix(name, "...")), given
}

// checkComments finds packages that do not say what they are.
func checkComments(sources []source) []string {
	said := make(map[string]bool)
	for _, s := range sources {
		begins := "Package " + s.ast.Name.Name + " "
		if s.ast.Name.Name == "main" {
			begins = "Command " + path.Base(s.pkg) + " "
		}
		said[s.pkg] = said[s.pkg] || !s.test && strings.HasPrefix(s.ast.Doc.Text(), begins)
	}
	var problems []string
	for pkg, says := range said {
		if !says {
			problems = append(problems, fmt.Sprintf("%s: no comment says what the package is (// Package %s ...)", pkg, path.Base(pkg)))
		}
	}
	return problems
}
