package archtest

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

// rooms are names that say nothing about what a package knows.
var rooms = [...]string{"util", "utils", "common", "helper", "helpers", "types", "base", "misc"}

func checkRoom(s source) []string {
	name := strings.TrimSuffix(s.ast.Name.Name, "_test")
	for _, room := range rooms {
		if name == room || path.Base(s.pkg) == room {
			return []string{fmt.Sprintf("%s: a package named %s: name it by what it knows", s.pkg, room)}
		}
	}
	return nil
}

// nameWords bounds a file's name: its folder says the rest.
const nameWords = 2

// suffixes say for whom a file is built, and are no words of its name.
var suffixes = [...]string{"test", "linux", "darwin", "freebsd", "aix", "windows", "unix", "amd64", "arm64", "other", "portable"}

// checkNames finds files that are named by more than two words, glued or joined
// by underscores. A word is what the tree itself writes somewhere, in an identifier
// or in a comment; a part that is nowhere written, and is no glue of what is, is one.
func checkNames(sources []source) []string {
	words := vocabulary(sources)
	var problems []string
	for _, s := range sources {
		parts := strings.Split(strings.TrimSuffix(path.Base(s.name), ".go"), "_")
		for len(parts) > 1 && slices.Contains(suffixes[:], parts[len(parts)-1]) {
			parts = parts[:len(parts)-1]
		}
		n := 0
		for _, p := range parts {
			n += glued(p, words)
		}
		if n > nameWords {
			problems = append(problems, fmt.Sprintf("%s: a name of %d words, more than %d: its folder may say some of them", s.name, n, nameWords))
		}
	}
	return problems
}

var (
	written = regexp.MustCompile(`[A-Za-z][A-Za-z0-9]*`)
	humps   = regexp.MustCompile(`[A-Z]+[0-9]*(?:[^A-Za-z0-9]|$)|[A-Z]?[a-z]+[0-9]*|[A-Z]+[0-9]*`)
)

// vocabulary is every word of the tree in lower case: fooBar is two, foo and bar.
func vocabulary(sources []source) map[string]bool {
	words, seen := make(map[string]bool), make(map[string]bool)
	note := func(text string) {
		for _, w := range written.FindAllString(text, -1) {
			if seen[w] {
				continue
			}
			seen[w] = true
			for _, hump := range humps.FindAllString(w, -1) {
				words[strings.ToLower(hump)] = true
			}
		}
	}
	for _, s := range sources {
		ast.Inspect(s.ast, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && !seen[id.Name] {
				note(id.Name)
			}
			return true
		})
		for _, group := range s.ast.Comments {
			note(group.Text())
		}
	}
	return words
}

// glued is the smallest number of words that text is when they stand without a
// space; 1 where it is none of them. Two letters and more are a word here.
func glued(text string, words map[string]bool) int {
	few := make([]int, len(text)+1) // of the first so many letters; 0 is none
	for end := 2; end <= len(text); end++ {
		for start := range end - 1 {
			if n := few[start] + 1; words[text[start:end]] && (start == 0 || n > 1) && (few[end] == 0 || n < few[end]) {
				few[end] = n
			}
		}
	}
	return max(1, few[len(text)])
}
