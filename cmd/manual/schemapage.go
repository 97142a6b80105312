package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// schema is as much of a JSON schema as a page shows.
type schema struct {
	Ref         string             `json:"$ref"`
	Defs        map[string]*schema `json:"$defs"`
	Description string             `json:"description"`
	Type        any                `json:"type"` // a word, or several
	Enum        []any              `json:"enum"`
	Const       any                `json:"const"`
	Format      string             `json:"format"`
	Properties  map[string]*schema `json:"properties"`
	Required    []string           `json:"required"`
	Items       *schema            `json:"items"`
	Additional  json.RawMessage    `json:"additionalProperties"`
	AnyOf       []*schema          `json:"anyOf"`
}

const defs = "#/$defs/"

// schemaPage is a schema as tables: the file's own keys, then each kind of part.
// Fields say what "kind.key" means where the schema does not.
func schemaPage(title, intro string, text []byte, fields map[string]string) (string, error) {
	var root schema
	if err := json.Unmarshal(text, &root); err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s%s\n\n", title, madeBy, intro)
	root.table(&b, "record.Record", fields)
	for _, name := range slices.Sorted(maps.Keys(root.Defs)) {
		kind := root.Defs[name]
		if len(kind.Properties) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n", name)
		if d := kind.Description; d != "" {
			b.WriteString(d + "\n\n")
		} else if d := fields[name]; d != "" {
			b.WriteString(d + "\n\n")
		}
		kind.table(&b, name, fields)
	}
	return b.String(), nil
}

func (s *schema) table(b *strings.Builder, kind string, fields map[string]string) {
	b.WriteString("| key | is | means |\n|---|---|---|\n")
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[key]
		means := fields[kind+"."+key]
		if d := p.Description; d != "" && !strings.Contains(strings.ToLower(means), d) {
			means = strings.TrimSuffix(d, ".") + strings.TrimSuffix(". "+means, ". ")
		}
		is := p.is()
		if slices.Contains(s.Required, key) && fields == nil {
			is += ", required"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", key, is, cell(means))
	}
}

// is says what a value may be.
func (s *schema) is() string {
	switch {
	case s.Ref != "":
		name := strings.TrimPrefix(s.Ref, defs)
		return fmt.Sprintf("[%s](#%s)", name, anchor(name))
	case s.Const != nil:
		return fmt.Sprintf("`%v`", s.Const)
	case len(s.Enum) > 0:
		var words []string
		for _, e := range s.Enum {
			if e != "" {
				words = append(words, fmt.Sprintf("`%v`", e))
			}
		}
		return strings.Join(words, ", ")
	case s.Items != nil:
		return "list of " + s.Items.is()
	case len(s.AnyOf) > 0:
		var words []string
		for _, one := range s.AnyOf {
			if w := one.is(); !slices.Contains(words, w) {
				words = append(words, w)
			}
		}
		return strings.Join(words, " or ")
	}
	var each schema
	if json.Unmarshal(s.Additional, &each) == nil && (each.Ref != "" || each.Type != nil || each.Items != nil || each.AnyOf != nil) {
		return "by name " + each.is()
	}
	if s.Format != "" {
		return s.Format
	}
	return typeWords(s.Type)
}

// typeWords are a type's words; one that may be left empty is called as if it
// were not.
func typeWords(t any) string {
	switch t := t.(type) {
	case string:
		return t
	case []any:
		var words []string
		for _, one := range t {
			if w := fmt.Sprint(one); w != "null" {
				words = append(words, w)
			}
		}
		return strings.Join(words, " or ")
	}
	return "any"
}

// anchor is what a forge makes of a heading.
func anchor(heading string) string {
	return strings.NewReplacer(".", "", " ", "-").Replace(strings.ToLower(heading))
}

// fieldComments are the comments of structures' fields in packages of the tree,
// by "package.Type.json key", and of the structures by "package.Type".
func fieldComments(tree string, packages ...string) (map[string]string, error) {
	out := make(map[string]string)
	for _, name := range packages {
		files, err := filepath.Glob(filepath.Join(tree, name, "*.go"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ParseComments)
			if err != nil {
				return nil, err
			}
			structComments(name, parsed, out)
		}
	}
	return out, nil
}

func structComments(pkg string, file *ast.File, out map[string]string) {
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range g.Specs {
			t, ok := spec.(*ast.TypeSpec)
			if !ok {
				continue
			}
			s, ok := t.Type.(*ast.StructType)
			if !ok {
				continue
			}
			kind := pkg + "." + t.Name.Name
			out[kind] = strings.Join(strings.Fields(g.Doc.Text()), " ")
			for _, f := range s.Fields.List {
				if f.Tag == nil {
					continue
				}
				key, _, _ := strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), ",")
				out[kind+"."+key] = strings.Join(strings.Fields(f.Doc.Text()+" "+f.Comment.Text()), " ")
			}
		}
	}
}
