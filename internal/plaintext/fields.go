package plaintext

import (
	"net/netip"
	"reflect"
	"strings"
)

// Fields takes the ends of lines out of every string that v points to, and of
// every key of its maps, at any depth; v is a pointer. It is for what was decoded
// and comes from others: a name that ends a line could go on with lines that the
// program seems to say. What else a terminal obeys stays, for JSON to say it
// exactly; a Writer lets none of it through. Slices of bytes and unexported
// fields stay as they are. Text of several lines belongs into no such value.
func Fields(v any) { fields(reflect.ValueOf(v)) }

// lineEnds is what ends a line somewhere (Unicode Standard Annex 14, class BK, CR,
// LF and NL), and a blank for each.
var lineEnds = strings.NewReplacer("\n", " ", "\v", " ", "\f", " ", "\r", " ", "\u0085", " ", "\u2028", " ", "\u2029", " ")

var (
	addressType  = reflect.TypeFor[netip.Addr]()
	endpointType = reflect.TypeFor[netip.AddrPort]()
)

func fields(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fields(v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() && v.CanSet() {
			v.Set(copied(v.Elem()))
		}
	case reflect.String:
		if v.CanSet() {
			if s := v.String(); strings.ContainsAny(s, "\n\v\f\r\u0085\u2028\u2029") {
				v.SetString(lineEnds.Replace(s))
			}
		}
	case reflect.Struct:
		structFields(v)
	case reflect.Array, reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			fields(v.Index(i))
		}
	case reflect.Map:
		mapFields(v)
	}
}

// structFields sees to the fields. The zone of an address is anybody's text
// (RFC 4007, section 11).
func structFields(v reflect.Value) {
	switch {
	case v.Type() == addressType && v.CanSet():
		v.Set(reflect.ValueOf(inLine(v.Interface().(netip.Addr))))
		return
	case v.Type() == endpointType && v.CanSet():
		at := v.Interface().(netip.AddrPort)
		v.Set(reflect.ValueOf(netip.AddrPortFrom(inLine(at.Addr()), at.Port())))
		return
	}
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			fields(v.Field(i))
		}
	}
}

func inLine(a netip.Addr) netip.Addr {
	if a.Zone() == "" {
		return a
	}
	return a.WithZone(lineEnds.Replace(a.Zone()))
}

func mapFields(v reflect.Value) {
	if v.IsNil() {
		return
	}
	changed := reflect.MakeMapWithSize(v.Type(), v.Len())
	for at := v.MapRange(); at.Next(); {
		changed.SetMapIndex(copied(at.Key()), copied(at.Value()))
	}
	v.Clear()
	for at := changed.MapRange(); at.Next(); {
		v.SetMapIndex(at.Key(), at.Value())
	}
}

// copied is a value that can be set, seen to.
func copied(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	fields(c)
	return c
}
