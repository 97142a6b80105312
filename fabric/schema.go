package fabric

import "maps"

// schemaWriter collects the definitions an object refers to.
type schemaWriter struct{ defs map[string]any }

// define writes o's definition once and returns a reference to it.
func define[T any](w *schemaWriter, o object[T]) map[string]any {
	ref := map[string]any{"$ref": "#/$defs/" + o.name}
	if _, done := w.defs[o.name]; done {
		return ref
	}
	w.defs[o.name] = nil // an object that refers to itself finds this
	w.defs[o.name] = describe(w, o)
	return ref
}

func describe[T any](w *schemaWriter, o object[T]) map[string]any {
	properties := map[string]any{}
	for _, k := range o.keys {
		s := map[string]any{}
		maps.Copy(s, k.value.schema(w))
		if k.doc != "" {
			s["description"] = k.doc
		}
		properties[k.name] = s
	}
	s := map[string]any{
		"description":          o.doc,
		"type":                 []string{"object", "null"},
		"properties":           properties,
		"additionalProperties": o.rest != nil,
	}
	if len(o.required) > 0 {
		s["required"] = o.required
		s["type"] = "object"
	}
	return s
}

// Schema returns the fabric file's JSON schema (draft 2020-12), made from the
// same tables that Parse decodes with.
func Schema() []byte {
	w := &schemaWriter{defs: map[string]any{}}
	return schemaText(w, describe(w, fileKeys), "urn:linerate:fabric:"+Version, "linerate fabric "+Version)
}
