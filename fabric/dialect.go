package fabric

import (
	"encoding/json"
	"time"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/unit"
)

// A part of the file that another package gives its meaning, such as the steps
// of a rehearsal, is read by tables like those here: one row a key, decoder and
// schema from the same rows.
type (
	// Object is a mapping with known keys that fills a T.
	Object[T any] = object[T]
	// Key is one row of an Object.
	Key[T any] = key[T]
	// Reader reads a key's value into a T and describes it.
	Reader[T any] = reader[T]
	// Scalar is a kind of single value.
	Scalar[V any] = scalar[V]
)

// NewObject is a mapping by its rows. Name is the schema's definition; alias
// names, by what people write elsewhere, the key they mean.
func NewObject[T any](name, doc string, required []string, alias map[string]string, rows ...Key[T]) Object[T] {
	return Object[T]{name: name, doc: doc, keys: rows, required: required, alias: alias}
}

// NewKey is a row.
func NewKey[T any](name, doc string, value Reader[T]) Key[T] {
	return Key[T]{name: name, doc: doc, value: value}
}

// Value is a key that holds a scalar.
func Value[T, V any](s Scalar[V], at func(*T) *V) Reader[T] { return one(s, at) }

// ValueOrList is a key that holds one scalar, or a list of them.
func ValueOrList[T, V any](s Scalar[V], at func(*T) *[]V) Reader[T] {
	several := many(s, at)
	return Reader[T]{
		schema: func(w *schemaWriter) map[string]any { return either(s.schema, several.schema(w)) },
		read: func(d *decoder, p place, n *yamldoc.Node, into *T) {
			if n.Kind != yamldoc.ScalarNode {
				several.read(d, p, n, into)
			} else if v, ok := s.decode(d, p, n); ok {
				*at(into) = []V{v}
			}
		},
	}
}

// Texts is a key that holds scalars by name.
func Texts[T, V any](s Scalar[V], at func(*T) *map[string]V) Reader[T] { return texts(s, at) }

// List is a key that holds a list of objects.
func List[T, V any](o Object[V], at func(*T) *[]V) Reader[T] { return list(o, at) }

// The kinds of single values that the file's own keys have too.

// Rate is bits per second: 25G.
func Rate() Scalar[unit.BitRate] { return rate }

// Duration is a time: 8.9ms.
func Duration() Scalar[time.Duration] { return duration }

// Buffer is a size, or "default", which is zero.
func Buffer() Scalar[unit.Bytes] { return buffer }

// Ratio is from 0 to below 1, or a percentage.
func Ratio() Scalar[float64] { return ratio }

// Share is from 0 to 1, or a percentage: a part that may be all.
func Share() Scalar[float64] { return share }

// Amount is a number without a unit, from zero on.
func Amount() Scalar[float64] { return amount }

// Integer is a whole number from low to high.
func Integer(low, high int) Scalar[int] { return integer(low, high) }

// Text is any text.
func Text() Scalar[string] { return free }

// Truth is true or false.
func Truth() Scalar[bool] { return truth }

// Word is one of a list of words.
func Word[V ~string](all ...V) Scalar[V] {
	plain := make([]string, len(all))
	for i, v := range all {
		plain[i] = string(v)
	}
	one := word(plain...)
	return Scalar[V]{schema: one.schema, hint: one.hint, parse: func(s string) (V, error) {
		v, err := one.parse(s)
		return V(v), err
	}}
}

// Direction is forward, reverse or both.
func Direction() Scalar[flow.Direction] { return direction }

// Parsed is text that a function makes a value of; hint says how to write it.
func Parsed[V any](hint string, parse func(string) (V, error)) Scalar[V] {
	return Scalar[V]{schema: map[string]any{"type": []string{"string", "number"}}, parse: parse, hint: hint}
}

// ReadPart reads a part of a fabric file, n, that stands at a key, and checks
// it; check tells what is wrong by the node it is wrong with. The error is
// Problems.
func ReadPart[T any](f Fabric, key string, n *yamldoc.Node, o Object[T], into *T, check func(complain func(n *yamldoc.Node, what, hint string))) error {
	ps := &yamldoc.Collector{File: f.File}
	o.decode(&decoder{Collector: ps}, place(key), n, into)
	if len(ps.All) == 0 && check != nil {
		check(func(n *yamldoc.Node, what, hint string) { ps.At(n, key+": "+what, hint) })
	}
	return ps.All.Err()
}

// ScenarioSchema is Schema of files whose scenario is read by o.
func ScenarioSchema[T any](o Object[T], title string) []byte {
	w := &schemaWriter{defs: map[string]any{}}
	root := describe(w, fileKeys)
	s := define(w, o)
	s["description"] = o.doc
	root["properties"].(map[string]any)[scenarioKey] = s
	return schemaText(w, root, "urn:linerate:scenario:"+Version, title)
}

// schemaText is a schema's document.
func schemaText(w *schemaWriter, root map[string]any, id, title string) []byte {
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["$id"] = id
	root["title"] = title
	root["$defs"] = w.defs
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil // maps of strings and bools always marshal
	}
	return append(text, '\n')
}
