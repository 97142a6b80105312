package record

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/linerate/linerate/internal/plaintext"
	"github.com/linerate/linerate/unit"
)

// Decode reads a record's JSON. Its names and notes come from whoever wrote it:
// each is one line afterwards. The fabric's text keeps its lines. Errors are
// those of encoding/json; it does not look at the schema.
func Decode(text []byte) (Record, error) {
	var r Record
	if err := json.Unmarshal(text, &r); err != nil {
		return r, err
	}
	declared := r.Fabric.Text
	plaintext.Fields(&r)
	r.Fabric.Text = declared
	return r, nil
}

// CheckRates refuses a record or a trial with a rate that no link can carry, or another
// such number, by its place in the JSON: it was not measured, whoever wrote it. A goodput
// is not below zero either.
func CheckRates[T Record | Trial](of T) error { return checkRates("", reflect.ValueOf(of)) }

func checkRates(at string, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Float64: // also of seconds and shares no more
		n := v.Float()
		if !(math.Abs(n) <= float64(unit.MaxBitRate)) || n < 0 && strings.HasSuffix(at, "goodput_bps") {
			if strings.HasSuffix(at, "_bps") {
				return fmt.Errorf("%s is %g bit/s, which no link carries", at, n)
			}
			return fmt.Errorf("%s is %g, which no measurement has", at, n)
		}
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return checkRates(at, v.Elem())
	case reflect.Struct:
		return checkFields(at, v)
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if err := checkRates(fmt.Sprintf("%s[%d]", at, i), v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		for k := v.MapRange(); k.Next(); {
			if err := checkRates(at, k.Value()); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkFields(at string, v reflect.Value) error {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if err := checkRates(strings.TrimPrefix(at+"."+name, "."), v.Field(i)); err != nil {
			return err
		}
	}
	return nil
}
