package record

import (
	"encoding/json"
	"fmt"
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

// CheckRates refuses a record with a rate that no link can carry, by the rate's
// place in the JSON: it was not measured, whoever wrote it.
func CheckRates(r Record) error { return checkRates("", reflect.ValueOf(r)) }

var rateType = reflect.TypeFor[unit.BitRate]()

func checkRates(at string, v reflect.Value) error {
	if v.Type() == rateType {
		if rate := unit.BitRate(v.Float()); !(rate <= unit.MaxBitRate && rate >= -unit.MaxBitRate) {
			return fmt.Errorf("%s is %g bit/s, which no link carries", at, float64(rate))
		}
		return nil
	}
	switch v.Kind() {
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
