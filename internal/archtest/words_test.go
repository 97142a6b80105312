package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// refused is a word that is private to this project, or that has two meanings
// here, and the field's word for it.
type refused struct {
	pattern string // a regular expression, whole words, any case; a blank is any space
	say     string
	// unless are expressions around the word with which it is right: a kernel's or a format's term.
	unless string
}

// refusedWords is the one list. A word in an ordinary sense is no fault: the
// expression has to be narrow enough, or unless says where the word is right.
var refusedWords = []refused{
	{`put(?:s|ting)? (?:[\w']+ ){0,3}?back`, "roll back", ``},
	{`(?:take|takes|taken|taking|took) (?:[\w']+ ){0,4}?back`, "roll back; revoke (a token)", ``},
	{`(?:go|goes|going|gone|went) (?:as one )?back`, "is rolled back; return", `^going back$`}, // BOND_LINK_BACK
	{`ways? back`, "rollback; return path", ``},
	// `undo` and `undone` are keys and values of the JSON.
	{`undo|undoes|undone|undoing|undid`, "roll back, rolled back", "`undo(?:ne)?`|\"undo(?:ne)?\"|^undo(?:ne)?$"},
	{`whole (?:runs?|hosts?)`, "full run; host", ``},
	{`held|(?:what|who|that) holds|holds? (?:the|a|its|all its|every|both|these|one) (?:hosts?|rates?|tune|lock)|holds? (?:it|them|this|\w+) (?:against|below|to)`, "locked by (a host); limited by (a rate); compare with", "`held`|^held$"}, // a verdict in the JSON
	{`(?:a|an|the|one|each|every|first|last|second|third|next|short|long|another|this|that|per|two|three|four|more|many|few|all|such|no|single|its|of|[0-9]+) looks?`, "measurement, sample", `look-?alikes?|its look-alikes?|that looks? like`},
	{`looks (?:of|at one|that|are|were|taken|differ)`, "measurements, samples", ``},
	{`stations?`, "NATS agent", ``},
	{`(?:a|the|one|each|every|no|its|this|that|of|open) talks?`, "session", ``},
	{`(?:a|an|the|one|each|every|no|its|of|first|last|next|missed|heart|[0-9]+) beats?|beats (?:that|are|of|come|stop|end)`, "heartbeat", ``},
	{`rigs?`, "test cluster", ``},
	{`errands?`, "job", ``},
	{`(?:a|the|our|one|its|at|front) doors?`, "authenticator; access list", ``},
	{`doorman|doormen|greeters?`, "access list, acceptor", ``},
	{`shelf|shelves`, "run store", ``},
	{`visitors?`, "user", ``},
	{`wish|wishes|wished`, "measure request; wanted state", ``},
	{`deputy|deputies`, "signer", ``},
	{`seldom`, "rarely", ``},
	{`tellers?`, "collector", ``},
	{`tables? of places|lists? of places|places? (?:is|are) (?:free|left|taken)|free places?`, "slots; paths", ``},
	{`onlook|onlookers?`, "live statistics", ``},
	{`surveys?|surveyed`, "hash survey", `hash ?survey`},
	{`recipes?`, "snippet", ``},
	// A stream of JetStream has replicas.
	{`replicas?|replicated`, "lab report", `--replicas|stream replicas|^replicas$`},
	{`rehears(?:als?|e|es|ed|ing)`, "scenario run", ``},
	{`foreign`, "external; imported; another program's", `bond-foreign-mac|foreign_keys|\|Foreign\|`}, // a kind of finding; SQLite's; a word of EOS's tables
	{`dealt(?: out)?|deals?|dealing`, "striped (round robin); spread", ``},
	{`striped in pieces`, "striped (round robin)", ``},
	{`(?:hold|holds|held|holding) (?:\w+ )?back`, "receiver-limited, sender-limited", ``},
	{`standing queues?`, "bufferbloat", ``},
	{`beside a full link`, "queue shared with a full link", ``},
	{`pours?|poured|pouring`, "send at full rate", ``},
	{`drips?|dripped|dripping`, "send paced", ``},
	{`outlets?`, "writer", ``},
	{`inlets?`, "reader", ``},
	{`eager|eagerly`, "SetReceiveLowWater", ``},
	{`sound|sounder|soundness`, "valid", ``},
	{`mend|mends|mended|mending`, "repair", ``},
	{`cannot say|file can say|has no words? for`, "not representable in FORMAT; does not report", ``},
	{`stands? there`, "is listed", ``},
	{`not said how to reach`, "has no address: write reach: ssh://root@...", ``},
	{`nobody is here`, "standard input is not a terminal: use --yes", ``},
	{`cannot be asked for`, "invalid request", ``},
	{`who reaches whom`, "Throughput matrix", ``},
	{`may watch|who may (?:what|look)`, "role: watch", ``},
	{`the main job`, "(say what it does)", ``},
	{`(?:is|are) had by`, "use", ``},
	{`elegant(?:ly)?|beautiful(?:ly)?|powerful|seamless(?:ly)?|effortless(?:ly)?|blazing(?:ly)?|world-class|state-of-the-art|delightful|amazing(?:ly)?|awesome|clever(?:ly)?|sophisticated|cutting-edge|best-in-class|robust(?:ly)?|comprehensive(?:ly)?|rich`, "(no praise: say what it does)", `tx-gso-robust`},
}

// rule is a refused word, compiled.
type rule struct {
	refused
	match, unless *regexp.Regexp
}

// compileWords returns the rules, after one that any of them matches: most texts
// are read once.
func compileWords(words []refused) []rule {
	var all []string
	for _, w := range words {
		all = append(all, w.pattern)
	}
	rules := []rule{{match: regexp.MustCompile(`(?i)\b(?:` + strings.ReplaceAll(strings.Join(all, "|"), " ", `\s+`) + `)\b`)}}
	for _, w := range words {
		r := rule{refused: w, match: regexp.MustCompile(`(?i)\b(?:` + strings.ReplaceAll(w.pattern, " ", `\s+`) + `)\b`)}
		if w.unless != "" {
			r.unless = regexp.MustCompile(`(?i)` + strings.ReplaceAll(w.unless, " ", `\s+`))
		}
		rules = append(rules, r)
	}
	return rules
}

// text is something a person reads, and where it begins.
type text struct {
	file string
	line int
	body string
}

// hits are the refused words of a text, as problems.
func (t text) hits(rules []rule) []string {
	var out []string
	if !rules[0].match.MatchString(t.body) {
		return nil
	}
	for _, r := range rules[1:] {
		var right [][]int
		if r.unless != nil {
			right = r.unless.FindAllStringIndex(t.body, -1)
		}
		for _, at := range r.match.FindAllStringIndex(t.body, -1) {
			if slices.ContainsFunc(right, func(u []int) bool { return u[0] <= at[0] && at[1] <= u[1] }) {
				continue
			}
			around := t.body[max(0, at[0]-40):min(len(t.body), at[1]+40)]
			out = append(out, fmt.Sprintf("%s:%d: %q, say %q: ...%s...", t.file, t.line+strings.Count(t.body[:at[0]], "\n"),
				strings.Join(strings.Fields(t.body[at[0]:at[1]]), " "), r.say, strings.Join(strings.Fields(strings.ToValidUTF8(around, "")), " ")))
		}
	}
	return out
}

// literals are the string literals of a file that a person may read: not what it
// imports, a struct's tags, or a key. Literals that are added are one.
func literals(s source) []text {
	skip := make(map[ast.Node]bool)
	var out []text
	ast.Inspect(s.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			if n.Tag != nil {
				skip[n.Tag] = true
			}
		case *ast.BinaryExpr:
			if n.Op == token.ADD && !skip[n] {
				if body := sum(n, skip); body != "" {
					out = append(out, text{s.name, s.fset.Position(n.Pos()).Line, body})
				}
			}
		case *ast.BasicLit:
			if body := literal(n); body != "" && !skip[n] {
				out = append(out, text{s.name, s.fset.Position(n.Pos()).Line, body})
			}
		}
		return true
	})
	return out
}

// key is a JSON key, a path or a flag: one word with what only programs write.
var key = regexp.MustCompile(`^\S*[_/]\S*$|^[a-z]+[A-Z]\w*$`)

func literal(n *ast.BasicLit) string {
	if n.Kind != token.STRING {
		return ""
	}
	body, err := strconv.Unquote(n.Value)
	if err != nil || key.MatchString(body) {
		return ""
	}
	return body
}

// sum is the text of literals that are added, with what is not one left out.
func sum(e ast.Expr, seen map[ast.Node]bool) string {
	seen[e] = true
	switch e := e.(type) {
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return sum(e.X, seen) + sum(e.Y, seen)
		}
	case *ast.BasicLit:
		return literal(e)
	}
	delete(seen, e)
	return ""
}

// comments are those of a file, each group one text.
func comments(s source) []text {
	var out []text
	for _, group := range s.ast.Comments {
		var body strings.Builder
		for _, c := range group.List {
			line := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(c.Text, "//"), "/*"), "*/")
			body.WriteString(line + "\n")
		}
		out = append(out, text{s.name, s.fset.Position(group.Pos()).Line, body.String()})
	}
	return out
}

// pages are the texts outside of Go: documents, templates, roles and units.
func pages(tree fs.FS) (docs, texts []text, err error) {
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			if name != "." && (base[0] == '.' || base == "testdata") || name == "docs/proofs" || name == "build" {
				return fs.SkipDir
			}
			return nil
		}
		into := &texts
		switch path.Ext(base) {
		case ".md":
			into = &docs
		case ".tmpl", ".html", ".yml", ".yaml", ".service", ".j2", ".mk":
		default:
			if base != "Makefile" && !strings.HasPrefix(name, "internal/web/assets/") || strings.Contains(base, ".min.") || strings.Contains(base, ".iife.") || strings.HasSuffix(base, "LICENSE") {
				return nil
			}
		}
		b, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		*into = append(*into, text{name, 1, string(b)})
		return nil
	})
	return docs, texts, err
}

// mostInComments are the refused words that comments may still have: it only
// gets smaller. People read messages and pages; comments follow.
const mostInComments = 959

func TestWords(t *testing.T) {
	tree := os.DirFS("../..")
	rules := compileWords(refusedWords)
	sources, err := parseTree(tree)
	if err != nil {
		t.Fatal(err)
	}
	kinds := make(map[string][]text)
	for _, s := range sources {
		if s.pkg == "internal/archtest" {
			continue // the list itself
		}
		if !s.test {
			kinds["messages"] = append(kinds["messages"], literals(s)...)
		}
		kinds["comments"] = append(kinds["comments"], comments(s)...)
	}
	docs, texts, err := pages(tree)
	if err != nil {
		t.Fatal(err)
	}
	kinds["templates"] = texts
	kinds["docs"] = docs
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		t.Run(kind, func(t *testing.T) {
			if len(kinds[kind]) < 30 {
				t.Fatalf("%d texts: they are not where this looks", len(kinds[kind]))
			}
			var found []string
			for _, text := range kinds[kind] {
				found = append(found, text.hits(rules)...)
			}
			t.Logf("refused words in %s: %d", kind, len(found))
			most := 0
			if kind == "comments" {
				most = mostInComments
			}
			if len(found) > most {
				t.Errorf("more than %d:\n%s", most, strings.Join(found, "\n"))
			} else if os.Getenv("WORDS") != "" { // a list to work from
				t.Log("\n" + strings.Join(found, "\n"))
			}
		})
	}
}

// TestWordsSees: a list that is never seen to refuse may not work.
func TestWordsSees(t *testing.T) {
	rules := compileWords(refusedWords)
	for body, want := range map[string]int{
		"the change is rolled back, and the lock ends":         0,
		"it puts the\n\thosts back":                            1,
		"Taken back":                                           1,
		"`undo` is a key; undo it":                             1,
		"what does that look like? a look at one":              1,
		"a measurement in place":                               0,
		"locked by root@ctl, held by root@ctl":                 1,
		"`lab run --replicas 3`, and a replica":                1,
		"talk to a host, next door, and look at it":            0,
		"what holds the rate":                                  1,
		"the file holds a record":                              0,
		"a robust, powerful tool that mends every bond seldom": 4,
	} {
		if got := (text{"x", 1, body}).hits(rules); len(got) != want {
			t.Errorf("%q: %d, want %d: %q", body, len(got), want, got)
		}
	}
	src := "package x\n\nimport _ \"undo\"\n\n// It is put back.\ntype T struct {\n\tA int `json:\"held_by\"`\n}\n\nvar a = \"held \" + b +\n\t\"back\"\n\nconst k, b = \"held_by\", \"x\"\n"
	sources, err := parseTree(fstest.MapFS{"x/x.go": {Data: []byte(src)}})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, text := range append(literals(sources[0]), comments(sources[0])...) {
		found = append(found, text.hits(rules)...)
	}
	if all := strings.Join(found, "\n"); len(found) != 3 || !strings.Contains(all, "x.go:5") || !strings.Contains(all, "x.go:10") {
		t.Errorf("%d:\n%s", len(found), all)
	}
}
