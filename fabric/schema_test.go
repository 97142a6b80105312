package fabric

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/fabric/yamldoc"
)

type schema map[string]any

func loadSchema(t *testing.T) schema {
	t.Helper()
	var root schema
	if err := json.Unmarshal(Schema(), &root); err != nil {
		t.Fatalf("Schema is no JSON: %v", err)
	}
	return root
}

// resolved follows $ref.
func (root schema) resolved(s map[string]any) schema {
	ref, ok := s["$ref"].(string)
	if !ok {
		return s
	}
	return root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
}

// TestSchemaTakesGoodFiles checks the shape of every good file against the
// schema: each key known, each word and pattern allowed.
func TestSchemaTakesGoodFiles(t *testing.T) {
	root := loadSchema(t)
	files, _ := filepath.Glob("testdata/good/*.yaml")
	for _, file := range append(files, "testdata/ovh.yaml", "testdata/described.yaml") {
		tree := yamldoc.Read(&yamldoc.Collector{}, read(t, file))
		for _, fault := range root.faults(file, root, tree.Root) {
			t.Error(fault)
		}
	}
}

// faults is what does not fit.
func (root schema) faults(at string, s schema, n *yamldoc.Node) []string {
	s = root.resolved(s)
	if choice, ok := s["anyOf"].([]any); ok {
		var all []string
		for _, one := range choice {
			faults := root.faults(at, one.(map[string]any), n)
			if len(faults) == 0 {
				return nil
			}
			all = append(all, faults...)
		}
		return all
	}
	if !root.allows(s, n) {
		return []string{fmt.Sprintf("%s: %q does not fit %v", at, yamldoc.OneLine(n), s)}
	}
	var all []string
	properties, _ := s["properties"].(map[string]any)
	for _, p := range n.Pairs {
		if known, ok := properties[p.Key].(map[string]any); ok {
			all = append(all, root.faults(at+"."+p.Key, known, p.Value)...)
		} else if extra, ok := s["additionalProperties"].(map[string]any); ok {
			all = append(all, root.faults(at+"."+p.Key, extra, p.Value)...)
		} else if s["additionalProperties"] == false {
			all = append(all, fmt.Sprintf("%s: key %q is not in the schema", at, p.Key))
		}
	}
	if items, ok := s["items"].(map[string]any); ok {
		for i, item := range n.Items {
			all = append(all, root.faults(fmt.Sprintf("%s[%d]", at, i), items, item)...)
		}
	}
	return all
}

// allows checks a node by itself.
func (root schema) allows(s schema, n *yamldoc.Node) bool {
	if enum, ok := s["enum"].([]any); ok {
		found := false
		for _, word := range enum {
			found = found || word == n.Text
		}
		return found
	}
	if v, ok := s["const"]; ok {
		return fmt.Sprint(v) == n.Text
	}
	if p, ok := s["pattern"].(string); ok && !regexp.MustCompile(p).MatchString(n.Text) {
		return false
	}
	kinds := map[yamldoc.NodeKind][]string{yamldoc.MappingNode: {"object"}, yamldoc.SequenceNode: {"array"}, yamldoc.NullNode: {"null"}, yamldoc.ScalarNode: {"string", "number", "integer", "boolean"}}
	types, ok := s["type"]
	if !ok {
		return true
	}
	for _, kind := range kinds[n.Kind] {
		if strings.Contains(fmt.Sprint(types), kind) {
			return true
		}
	}
	return false
}

// TestSchemaMatchesDecoder puts an unknown key into every object of the schema
// and compares the keys that the decoder says it knows there; and puts every
// key of the schema there and expects the decoder to know it.
func TestSchemaMatchesDecoder(t *testing.T) {
	root := loadSchema(t)
	objects := map[string][]string{}
	root.objects(root, "", objects, 0)
	if len(objects) < 20 {
		t.Fatalf("the schema has %d objects", len(objects))
	}
	for at, want := range objects {
		known := decoderKeys(t, at)
		if diff := cmp.Diff(want, known); diff != "" {
			t.Errorf("keys at %q (-schema +decoder):\n%s", at, diff)
		}
	}
}

const bogus = "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"

// objects collects the closed objects by their place.
func (root schema) objects(s schema, at string, into map[string][]string, depth int) {
	s = root.resolved(s)
	if depth > 12 {
		return
	}
	properties, _ := s["properties"].(map[string]any)
	if s["additionalProperties"] == false {
		var names []string
		for name := range properties {
			names = append(names, name)
		}
		sort.Strings(names)
		into[at] = names
	}
	// Of a choice only the definitions: a pasted file's own top level has one
	// key and the same mapping below it.
	choice, _ := s["anyOf"].([]any)
	for _, one := range choice {
		if one := one.(map[string]any); one["$ref"] != nil {
			root.objects(one, at, into, depth+1)
		}
	}
	for name, p := range properties {
		root.objects(p.(map[string]any), at+"/"+name, into, depth+1)
	}
	if extra, ok := s["additionalProperties"].(map[string]any); ok {
		root.objects(extra, at+"/NAME", into, depth+1)
	}
	if items, ok := s["items"].(map[string]any); ok {
		root.objects(items, at+"/ITEM", into, depth+1)
	}
}

// decoderKeys are the keys that the decoder lists when it meets an unknown one.
func decoderKeys(t *testing.T, at string) []string {
	t.Helper()
	open, end := "", ""
	for _, step := range strings.Split(strings.Trim(at, "/"), "/") {
		switch step {
		case "":
		case "ITEM":
			open, end = open+"[", "]"+end
		default:
			open, end = open+"{"+step+": ", "}"+end
		}
	}
	_, err := Parse("f", []byte("{linerate: v1, "+strings.TrimPrefix(open+"{"+bogus+": 1}"+end, "{")+"\n"))
	var ps yamldoc.Problems
	if !errors.As(err, &ps) {
		t.Fatalf("at %s: %v", at, err)
	}
	for _, p := range ps {
		if strings.Contains(p.What, "unknown key") && strings.Contains(p.What, bogus) {
			return strings.Split(strings.TrimPrefix(p.Hint, "one of: "), ", ")
		}
	}
	t.Fatalf("at %s: no unknown key in %v", at, ps)
	return nil
}

func TestSchemaDescribes(t *testing.T) {
	root := loadSchema(t)
	for name, def := range root["$defs"].(map[string]any) {
		if def.(map[string]any)["description"] == "" {
			t.Errorf("definition %s has no description", name)
		}
	}
	if root["$schema"] != "https://json-schema.org/draft/2020-12/schema" {
		t.Errorf("$schema = %v", root["$schema"])
	}
}

// TestSchemaRefuses makes sure that the check above can fail.
func TestSchemaRefuses(t *testing.T) {
	root := loadSchema(t)
	for _, text := range []string{
		"linerate: v2", "linerate: v1\nhost: {}", "hosts: {a: {rate: 25}}", "hosts: {a: {network: {ethernets: {e: {mtuu: 1}}}}}",
		"hosts: {a: {network: {bonds: {b: {parameters: {mode: nonsense}}}}}}", "paths: {}", "measure: {duration: 30}", "hosts: {a: {reach: x}}",
	} {
		tree := yamldoc.Read(&yamldoc.Collector{}, []byte(text))
		if len(root.faults("", root, tree.Root)) == 0 {
			t.Errorf("the schema takes %q", text)
		}
	}
}
