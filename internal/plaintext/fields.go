package plaintext

import (
	"net/netip"
	"reflect"
)

// Fields makes every string that v points to, and every key of its maps, fit
// for a line, at any depth; v is a pointer. Text of several lines belongs into
// no such value. Slices of bytes and unexported fields stay as they are.
func Fields(v any) { fields(reflect.ValueOf(v)) }

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
			v.SetString(Line(v.String()))
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
	return a.WithZone(Line(a.Zone()))
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
