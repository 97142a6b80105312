package record_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// makers fill records and read no finding out of them.
var makers = regexp.MustCompile(`^\.\./(record|internal/(run/measure|kernel|traffic|agent|evidence/resultfile))/`)

// TestFieldsAreReadOrKept: every number of a record is read by some package that
// judges, compares or shows records, or its words say that it is kept for others
// (code 4.7b). Fields are told by their names, so that a field which shares its name
// with one that is read passes.
func TestFieldsAreReadOrKept(t *testing.T) {
	read := namesRead(t, "..")
	packages, err := parser.ParseDir(token.NewFileSet(), ".", func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	kept := 0
	ast.Inspect(packages["record"], func(n ast.Node) bool {
		s, ok := n.(*ast.StructType)
		if !ok {
			return true
		}
		for _, f := range s.Fields.List {
			if f.Tag == nil {
				continue
			}
			words := strings.Join(strings.Fields(f.Doc.Text()+" "+f.Comment.Text()), " ")
			for _, name := range f.Names {
				says := strings.Contains(words, "ept for") || strings.Contains(words, "not judged")
				if says {
					kept++
				} else if !read[name.Name] {
					t.Errorf("%s: nobody reads it and its words do not say that it is kept for other readers (%s)", name.Name, words)
				}
			}
		}
		return true
	})
	if kept < 2 || len(read) < 500 {
		t.Errorf("%d fields are kept, %d names are read: that is too few to believe", kept, len(read))
	}
}

// namesRead are the selectors of the tree's program and templates that are not
// assigned to.
func namesRead(t *testing.T, root string) map[string]bool {
	read := make(map[string]bool)
	inTemplate := regexp.MustCompile(`\.([A-Z]\w+)`)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch slash := filepath.ToSlash(path); {
		case err != nil || d.IsDir() || makers.MatchString(slash) || strings.HasSuffix(slash, "_test.go"):
		case strings.HasSuffix(slash, ".tmpl") || strings.HasSuffix(slash, ".html"):
			text, err := os.ReadFile(path)
			for _, m := range inTemplate.FindAllSubmatch(text, -1) {
				read[string(m[1])] = true
			}
			return err
		case strings.HasSuffix(slash, ".go"):
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			assigned := make(map[ast.Expr]bool)
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					for _, to := range n.Lhs {
						assigned[to] = n.Tok == token.ASSIGN
					}
				case *ast.SelectorExpr:
					read[n.Sel.Name] = read[n.Sel.Name] || !assigned[n]
				}
				return true
			})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return read
}
