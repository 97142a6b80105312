package gnmi

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	pb "github.com/openconfig/gnmi/proto/gnmi"
)

// place is where a value stands: names from the root, without the modules before them, and
// the keys of the lists on the way, by the list's name and the key's.
type place struct {
	names []string
	keys  map[string]string
}

// path is a path of the models; a name may have one key, which is all of a list: interface[name].
func path(text string) *pb.Path {
	p := &pb.Path{}
	for _, name := range strings.Split(text, "/") {
		e := &pb.PathElem{Name: name}
		if at := strings.IndexByte(name, '['); at > 0 {
			e.Name, e.Key = name[:at], map[string]string{strings.Trim(name[at:], "[]"): "*"}
		}
		p.Elem = append(p.Elem, e)
	}
	return p
}

// placeOf is a path behind its prefix.
func placeOf(parts ...*pb.Path) place {
	at := place{keys: make(map[string]string)}
	for _, p := range parts {
		for _, e := range p.GetElem() {
			name := bare(e.GetName())
			at.names = append(at.names, name)
			for k, v := range e.GetKey() {
				at.keys[name+"."+bare(k)] = v
			}
		}
	}
	return at
}

// bare is a name without its module.
func bare(name string) string { return name[strings.IndexByte(name, ':')+1:] }

// last is where a value stands, from one of the names on; "" that name is none of them.
func (p place) last(from string) string {
	for i := len(p.names) - 1; i >= 0; i-- {
		if p.names[i] == from {
			return strings.Join(p.names[i+1:], "/")
		}
	}
	return ""
}

// deepest is how far objects in JSON may nest.
const deepest = 16

// flatten gives each a value as uint64, bool or string, of an object in JSON each of its
// members' that is no list.
func flatten(at place, v *pb.TypedValue, each func(place, any)) {
	switch v := v.GetValue().(type) {
	case *pb.TypedValue_UintVal:
		each(at, v.UintVal)
	case *pb.TypedValue_IntVal:
		if v.IntVal >= 0 {
			each(at, uint64(v.IntVal))
		}
	case *pb.TypedValue_StringVal:
		each(at, v.StringVal)
	case *pb.TypedValue_BoolVal:
		each(at, v.BoolVal)
	case *pb.TypedValue_AsciiVal:
		each(at, v.AsciiVal)
	case *pb.TypedValue_JsonVal:
		parsed(at, v.JsonVal, each)
	case *pb.TypedValue_JsonIetfVal:
		parsed(at, v.JsonIetfVal, each)
	}
}

func parsed(at place, text []byte, each func(place, any)) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value any
	if d.Decode(&value) == nil {
		members(at, value, deepest, each)
	}
}

func members(at place, value any, depth int, each func(place, any)) {
	switch v := value.(type) {
	case map[string]any:
		if depth == 0 {
			return
		}
		for name, member := range v {
			members(place{append(append([]string{}, at.names...), bare(name)), at.keys}, member, depth-1, each)
		}
	case json.Number:
		if n, err := strconv.ParseUint(v.String(), 10, 64); err == nil {
			each(at, n)
		} else if f, err := v.Float64(); err == nil && f >= 0 && f < math.MaxInt64 && f == math.Trunc(f) {
			each(at, uint64(f))
		}
	case string:
		each(at, v)
	case bool:
		each(at, v)
	}
}

// number is a value as a count: JSON has those of 64 bits as text (RFC 7951, 6.1).
func number(value any) (uint64, bool) {
	switch v := value.(type) {
	case uint64:
		return v, true
	case string:
		n, err := strconv.ParseUint(v, 10, 64)
		return n, err == nil
	}
	return 0, false
}
