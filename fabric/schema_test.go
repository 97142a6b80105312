package fabric

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
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

// TestSchemaTakesGoodFiles checks the shape of every good file and example
// against the schema, as an editor that reads YAML 1.2 does: each key known,
// each type, word and pattern allowed.
func TestSchemaTakesGoodFiles(t *testing.T) {
	root := loadSchema(t)
	files, _ := filepath.Glob("testdata/good/*.yaml")
	examples, _ := filepath.Glob("../docs/examples/*.yaml")
	if len(files) < 5 || len(examples) < 4 {
		t.Fatalf("%d good files and %d examples", len(files), len(examples))
	}
	for _, file := range slices.Concat(files, examples, []string{"testdata/ovh.yaml", "testdata/described.yaml"}) {
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
	types, ok := s["type"]
	if !ok {
		return true
	}
	if v, err := strconv.ParseFloat(n.Text, 64); err == nil && !n.Quoted {
		low, bounded := s["minimum"].(float64)
		high, topped := s["maximum"].(float64)
		if bounded && v < low || topped && v > high {
			return false
		}
	}
	for _, kind := range jsonTypes(n) {
		if strings.Contains(fmt.Sprint(types), kind) {
			return true
		}
	}
	return false
}

// jsonTypes are the types of JSON that a node has in YAML 1.2's core schema
// (10.3.2).
func jsonTypes(n *yamldoc.Node) []string {
	switch n.Kind {
	case yamldoc.MappingNode:
		return []string{"object"}
	case yamldoc.SequenceNode:
		return []string{"array"}
	case yamldoc.NullNode:
		return []string{"null"}
	}
	switch {
	case n.Quoted:
		return []string{"string"}
	case regexp.MustCompile(`^(true|True|TRUE|false|False|FALSE)$`).MatchString(n.Text):
		return []string{"boolean"}
	case regexp.MustCompile(`^([-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$`).MatchString(n.Text):
		return []string{"integer", "number"}
	case regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`).MatchString(n.Text):
		return []string{"number"}
	}
	return []string{"string"}
}

// TestSchemaBooleans holds the schema to the reader: a word for yes or no that
// one takes the other takes, and what one refuses the other refuses.
func TestSchemaBooleans(t *testing.T) {
	root := loadSchema(t)
	for _, place := range []string{
		"links: {e: {offloads: {gro: %s}}}", "links: {e: {coalesce: {adaptive-rx: %s}}}", "links: {e: {rings: {rx: 1}}}, bonding: {b: {lacp_active: %s}}",
		"bonding: {b: {use_carrier: %s}}", "network: {ethernets: {e: {routes: [{to: default, via: 10.0.0.1, on-link: %s}]}}}",
		"network: {bonds: {b: {interfaces: [e, f], parameters: {all-members-active: %s}}}}",
	} {
		for _, word := range []string{"true", "True", "false", "on", "off", "yes", "No", "y", "N", `"on"`, `"true"`, "0", "1", "2", "enabled", "oN", "onn", `""`, "1.0", "[]"} {
			text := "linerate: v1\nhosts: {h: {" + fmt.Sprintf(place, word) + "}}\n"
			tree := yamldoc.Read(&yamldoc.Collector{}, []byte(text))
			faults := root.faults("f", root, tree.Root)
			_, err := Parse("f", []byte(text))
			var ps yamldoc.Problems
			errors.As(err, &ps)
			refused := slices.ContainsFunc(ps, func(p yamldoc.Problem) bool {
				return strings.Contains(p.What, "neither true nor false") || strings.Contains(p.What, "is empty") || strings.Contains(p.What, "must be a value")
			})
			if refused != (len(faults) > 0) {
				t.Errorf("%s: the reader says %v, the schema %q", text, err, faults)
			}
		}
	}
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
