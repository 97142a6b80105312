package fabric

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
)

// The keys of the file stand in tables of this form, one row a key. The
// decoder and the JSON schema both come from the rows: there is no second
// place that knows a key.

// object is a mapping with known keys that fills a T.
type object[T any] struct {
	name string // of the schema's definition: "host"
	doc  string
	keys []key[T]
	// begin is told of a mapping before its keys are read; nil nothing.
	begin func(d *decoder, n *yamldoc.Node) *decoder
	// required names the keys that must be there.
	required []string
	// alias names, by what people write elsewhere, the key they mean here.
	alias map[string]string
	// rest takes keys that are in no row; nil makes them errors.
	rest func(into *T, p yamldoc.Pair)
	// finish checks what several keys say together.
	finish func(d *decoder, at place, n *yamldoc.Node, into *T)
}

// key is one key of an object.
type key[T any] struct {
	name, doc string
	value     reader[T]
}

// reader reads a key's value into T and describes it.
type reader[T any] struct {
	schema func(*schemaWriter) map[string]any
	read   func(d *decoder, at place, n *yamldoc.Node, into *T)
}

// place is where in the file a value is, as a person would say it.
type place string

func (p place) key(name string) place {
	if p == "" {
		return place(name)
	}
	return p + "." + place(name)
}

func (p place) item(i int) place { return place(fmt.Sprintf("%s[%d]", p, i)) }

// of is "X in P", or X alone at the top.
func (p place) of(what string) string {
	if p == "" {
		return what
	}
	return what + " in " + string(p)
}

// decoder walks the tree; every problem has a position.
type decoder struct {
	*yamldoc.Collector
	// system is that of the host whose network is read; "" Linux.
	system string
}

func (d *decoder) wrong(at place, n *yamldoc.Node, why, hint string) {
	d.At(n, string(at)+": "+why, hint)
}

// want checks a node's shape; a key without a value stands for an empty
// mapping or list.
func (d *decoder) want(at place, n *yamldoc.Node, kind yamldoc.NodeKind) bool {
	switch {
	case n.Kind == kind:
		return true
	case n.Kind == yamldoc.NullNode && kind != yamldoc.ScalarNode:
		return false
	}
	d.wrong(at, n, fmt.Sprintf("is %s, must be %s", n.Kind, kind), "")
	return false
}

func (o object[T]) decode(d *decoder, at place, n *yamldoc.Node, into *T) {
	if !d.want(at, n, yamldoc.MappingNode) && n.Kind != yamldoc.NullNode {
		return
	}
	if o.begin != nil {
		d = o.begin(d, n)
	}
	given := map[string]bool{}
	for _, p := range n.Pairs {
		k, ok := o.row(p.Key)
		if !ok && o.rest != nil {
			o.rest(into, p)
			continue
		}
		if !ok {
			o.unknown(d, at, p)
			continue
		}
		given[k.name] = true
		k.value.read(d, at.key(p.Key), p.Value, into)
	}
	for _, name := range o.required {
		if k, _ := o.row(name); !given[name] {
			d.At(n, at.of("missing key "+yamldoc.Quote(name)), name+": "+k.doc)
		}
	}
	if o.finish != nil {
		o.finish(d, at, n, into)
	}
}

func (o object[T]) row(name string) (key[T], bool) {
	for _, k := range o.keys {
		if k.name == name {
			return k, true
		}
	}
	return key[T]{}, false
}

func (o object[T]) names() []string {
	names := make([]string, len(o.keys))
	for i, k := range o.keys {
		names[i] = k.name
	}
	return names
}

func (o object[T]) unknown(d *decoder, at place, p yamldoc.Pair) {
	names := o.names()
	sort.Strings(names)
	near := o.alias[strings.ToLower(p.Key)]
	if near == "" {
		near = yamldoc.Closest(p.Key, names)
	}
	what := at.of("unknown key " + yamldoc.Quote(p.Key))
	if near == "" {
		d.Add(p.Line, p.Column, what, yamldoc.Choices(names))
		return
	}
	d.Add(p.Line, p.Column, fmt.Sprintf("%s (nearest: %s)", what, near), "write "+near)
}

// sub is a key that holds an object.
func sub[T, V any](o object[V], at func(*T) *V) reader[T] {
	return reader[T]{
		schema: func(w *schemaWriter) map[string]any { return define(w, o) },
		read:   func(d *decoder, p place, n *yamldoc.Node, into *T) { o.decode(d, p, n, at(into)) },
	}
}

// named is a key that holds objects by name; add makes room for one.
func named[T, V any](what string, o object[V], add func(into *T, name string) *V) reader[T] {
	return namedBeside(what, nil, o, add)
}

// namedBeside is named where some names hold a plain value beside the objects
// (netplan allows "renderer" among the devices).
func namedBeside[T, V any](what string, beside []string, o object[V], add func(into *T, name string) *V) reader[T] {
	return reader[T]{
		schema: func(w *schemaWriter) map[string]any {
			s := map[string]any{"type": []string{"object", "null"}, "additionalProperties": define(w, o)}
			if len(beside) > 0 {
				plain := map[string]any{}
				for _, name := range beside {
					plain[name] = map[string]any{"type": "string"}
				}
				s["properties"] = plain
			}
			return s
		},
		read: func(d *decoder, at place, n *yamldoc.Node, into *T) {
			if !d.want(at, n, yamldoc.MappingNode) {
				return
			}
			for _, p := range n.Pairs {
				if slices.Contains(beside, p.Key) && p.Value.Kind == yamldoc.ScalarNode {
					sectionRenderer.decode(d, at.key(p.Key), p.Value)
					continue
				}
				if why := BadName(p.Key); why != "" {
					d.Add(p.Line, p.Column, at.of(what+" "+yamldoc.Quote(p.Key))+" "+why, "")
					continue
				}
				o.decode(d, at.key(p.Key), p.Value, add(into, p.Key))
			}
		},
	}
}

// BadName says what keeps a name from being a host's or a device's; names
// become file names and arguments.
func BadName(s string) string {
	if s == "" {
		return "is empty"
	}
	if s[0] == '-' || s == "." || s == ".." {
		return "is no name"
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == '/' || r == 0x7f }) {
		return "holds a blank or a slash"
	}
	return ""
}

// list is a key that holds a list of objects.
func list[T, V any](o object[V], at func(*T) *[]V) reader[T] {
	return reader[T]{
		schema: func(w *schemaWriter) map[string]any {
			return map[string]any{"type": []string{"array", "null"}, "items": define(w, o)}
		},
		read: func(d *decoder, p place, n *yamldoc.Node, into *T) {
			if !d.want(p, n, yamldoc.SequenceNode) {
				return
			}
			for i, item := range n.Items {
				var v V
				o.decode(d, p.item(i), item, &v)
				*at(into) = append(*at(into), v)
			}
		},
	}
}

// one is a key that holds a scalar.
func one[T, V any](s scalar[V], at func(*T) *V) reader[T] {
	return reader[T]{
		schema: func(*schemaWriter) map[string]any { return s.schema },
		read: func(d *decoder, p place, n *yamldoc.Node, into *T) {
			if v, ok := s.decode(d, p, n); ok {
				*at(into) = v
			}
		},
	}
}

// many is a key that holds a list of scalars.
func many[T, V any](s scalar[V], at func(*T) *[]V) reader[T] {
	return reader[T]{
		schema: func(*schemaWriter) map[string]any {
			return map[string]any{"type": []string{"array", "null"}, "items": s.schema}
		},
		read: func(d *decoder, p place, n *yamldoc.Node, into *T) {
			if !d.want(p, n, yamldoc.SequenceNode) {
				return
			}
			*at(into) = []V{} // an empty list is something said
			for i, item := range n.Items {
				if v, ok := s.decode(d, p.item(i), item); ok {
					*at(into) = append(*at(into), v)
				}
			}
		},
	}
}

// texts is a key that holds scalars by name.
func texts[T, V any](s scalar[V], at func(*T) *map[string]V) reader[T] {
	return reader[T]{
		schema: func(*schemaWriter) map[string]any {
			return map[string]any{"type": []string{"object", "null"}, "additionalProperties": s.schema}
		},
		read: func(d *decoder, p place, n *yamldoc.Node, into *T) {
			if !d.want(p, n, yamldoc.MappingNode) {
				return
			}
			m := at(into)
			if *m == nil {
				*m = map[string]V{}
			}
			for _, pair := range n.Pairs {
				if v, ok := s.decode(d, p.key(pair.Key), pair.Value); ok {
					(*m)[pair.Key] = v
				}
			}
		},
	}
}

// lifted are an inner struct's rows as rows of the outer one.
func lifted[T, V any](rows []key[V], at func(*T) *V) []key[T] {
	out := make([]key[T], len(rows))
	for i, r := range rows {
		out[i] = key[T]{name: r.name, doc: r.doc, value: reader[T]{
			schema: r.value.schema,
			read:   func(d *decoder, p place, n *yamldoc.Node, into *T) { r.value.read(d, p, n, at(into)) },
		}}
	}
	return out
}
