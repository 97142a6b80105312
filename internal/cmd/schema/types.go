package schema

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"strings"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/hashsurvey"
	"github.com/linerate/linerate/internal/advise/snippet"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/unit"
)

// schemaOf is the one table of types that encode themselves as something that
// their Go kind does not say.
var schemaOf = map[reflect.Type]map[string]any{
	reflect.TypeFor[unit.BitRate]():        {"type": "number"},
	reflect.TypeFor[unit.Bytes]():          {"type": "integer"},
	reflect.TypeFor[time.Time]():           {"type": "string", "format": "date-time"},
	reflect.TypeFor[netip.Addr]():          {"type": "string"},
	reflect.TypeFor[netip.Prefix]():        {"type": "string"},
	reflect.TypeFor[netip.AddrPort]():      {"type": "string"},
	reflect.TypeFor[flow.Proto]():          {"type": "string"},
	reflect.TypeFor[steer.Side]():          {"type": "string"},
	reflect.TypeFor[hashsurvey.Side]():     {"type": "string"},
	reflect.TypeFor[snippet.Program]():     {"type": "string"},
	reflect.TypeFor[snippet.NFSVersion]():  {"type": "string"},
	reflect.TypeFor[flow.MAC]():            {"type": "string", "pattern": "^([0-9a-f]{2}(:[0-9a-f]{2}){5})?$"},
	reflect.TypeFor[flow.Direction]():      words(append([]flow.Direction{""}, flow.Directions()...)),
	reflect.TypeFor[record.Cause]():        words(record.Causes()),
	reflect.TypeFor[record.Phase]():        words([]record.Phase{record.PhaseBefore, record.PhaseStep, record.PhaseAfter}),
	reflect.TypeFor[netstate.Scope]():      words([]netstate.Scope{netstate.ScopeNamespace, netstate.ScopeGlobal}),
	reflect.TypeFor[netstate.Framing]():    words([]netstate.Framing{netstate.FramingL2}),
	reflect.TypeFor[netstate.BondMode]():   kernelWords(netstate.BondModes()),
	reflect.TypeFor[netstate.HashPolicy](): kernelWords(netstate.HashPolicies()),
	reflect.TypeFor[netstate.LACPRate]():   kernelWords(netstate.LACPRates()),
	// Words separated by a blank, numbers for those newer than this program.
	reflect.TypeFor[netstate.MPTCPFlags](): {"type": "string", "pattern": "^([a-z]+|0x[0-9a-f]+)?( ([a-z]+|0x[0-9a-f]+))*$"},
}

// unitOf is what the end of a key says of its number.
var unitOf = [...]struct{ suffix, unit string }{
	{"_bps", "bits per second"}, {"_bytes", "bytes"}, {"_ms", "milliseconds"}, {"_s", "seconds"},
	{"_ns", "nanoseconds"}, {"_ratio", "a share, 0 to 1"}, {"_cores", "processor cores"}, {"_count", "a count"},
}

func words[T ~string](all []T) map[string]any {
	list := make([]string, len(all))
	for i, w := range all {
		list[i] = string(w)
	}
	return map[string]any{"type": "string", "enum": list}
}

// kernelWords are the kernel's words, and "unknown-N" for a number that is
// newer than this program.
func kernelWords[T fmt.Stringer](all []T) map[string]any {
	list := make([]string, len(all))
	for i, w := range all {
		list[i] = w.String()
	}
	return map[string]any{"type": "string", "anyOf": []any{
		map[string]any{"enum": list}, map[string]any{"pattern": "^unknown-[0-9]+$"},
	}}
}

// Of returns the JSON schema (draft 2020-12) of a document, made from the Go
// type that it is written with. Keys that it does not name are allowed: a newer
// program may add some.
func Of(d console.Described) ([]byte, error) {
	name, about, typ := d.Described()
	w := schemaWriter{defs: map[string]any{}}
	if _, err := w.typ(typ); err != nil {
		return nil, fmt.Errorf("describe %s: %w", name, err)
	}
	id, title := "linerate:"+name, about
	of := defName(typ)
	root, _ := w.defs[of].(map[string]any)
	delete(w.defs, of)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	if typ == reflect.TypeFor[record.Record]() {
		id, title = strings.ReplaceAll(record.Schema, "/", ":"), record.Schema
		if properties, ok := root["properties"].(map[string]any); ok {
			properties["schema"] = map[string]any{"const": record.Schema}
		}
	}
	root["$id"], root["title"], root["$defs"] = "urn:"+id, title, w.defs
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode schema: %w", err)
	}
	return append(text, '\n'), nil
}

// schemaWriter collects the definitions of named structs.
type schemaWriter struct{ defs map[string]any }

func defName(t reflect.Type) string { return t.String() }

// typ is the schema of a Go type as encoding/json writes it.
func (w schemaWriter) typ(t reflect.Type) (map[string]any, error) {
	if s, ok := schemaOf[t]; ok {
		return s, nil
	}
	if t.Kind() == reflect.Pointer {
		return w.typ(t.Elem())
	}
	if t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return nil, fmt.Errorf("type %s encodes itself and the table does not say as what", t)
	}
	switch t.Kind() {
	case reflect.String:
		return map[string]any{"type": "string"}, nil
	case reflect.Bool:
		return map[string]any{"type": "boolean"}, nil
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return map[string]any{"type": "integer"}, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return map[string]any{"type": "integer", "minimum": 0}, nil
	case reflect.Interface:
		return map[string]any{}, nil // anything
	case reflect.Array:
		items, err := w.typ(t.Elem())
		return map[string]any{"type": "array", "items": items, "minItems": t.Len(), "maxItems": t.Len()}, err
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return map[string]any{"type": []string{"string", "null"}, "contentEncoding": "base64"}, nil
		}
		items, err := w.typ(t.Elem())
		return map[string]any{"type": []string{"array", "null"}, "items": items}, err
	case reflect.Map:
		values, err := w.typ(t.Elem())
		return map[string]any{"type": []string{"object", "null"}, "additionalProperties": values}, err
	case reflect.Struct:
		return w.define(t)
	}
	return nil, fmt.Errorf("type %s has no JSON form", t)
}

// define writes a struct's definition once and refers to it.
func (w schemaWriter) define(t reflect.Type) (map[string]any, error) {
	name := defName(t)
	ref := map[string]any{"$ref": "#/$defs/" + name}
	if _, done := w.defs[name]; done {
		return ref, nil
	}
	w.defs[name] = nil // a struct that refers to itself finds this
	properties := map[string]any{}
	required := []string{}
	for _, f := range jsonFields(t) {
		s, err := w.typ(f.typ)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		if s = withUnit(f.name, s); f.typ.Kind() == reflect.Pointer && !f.optional {
			s = map[string]any{"anyOf": []any{s, map[string]any{"type": "null"}}}
		}
		properties[f.name] = s
		if !f.optional {
			required = append(required, f.name)
		}
	}
	w.defs[name] = map[string]any{"type": "object", "properties": properties, "required": required}
	return ref, nil
}

func withUnit(key string, s map[string]any) map[string]any {
	if s["type"] != "number" && s["type"] != "integer" {
		return s
	}
	for _, u := range unitOf {
		if strings.HasSuffix(key, u.suffix) {
			described := map[string]any{"description": u.unit}
			maps.Copy(described, s)
			return described
		}
	}
	return s
}

// jsonField is one key of a struct.
type jsonField struct {
	name     string
	typ      reflect.Type
	optional bool // left out when empty
}

// jsonFields are a struct's keys as encoding/json writes them: an embedded
// struct's are its own.
func jsonFields(t reflect.Type) []jsonField {
	var out []jsonField
	for i := range t.NumField() {
		f := t.Field(i)
		tag, tagged := f.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case f.Anonymous && !tagged && f.Type.Kind() == reflect.Struct:
			out = append(out, jsonFields(f.Type)...)
		case !f.IsExported() || name == "-":
		default:
			if name == "" {
				name = f.Name
			}
			out = append(out, jsonField{name, f.Type, strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")})
		}
	}
	return out
}
