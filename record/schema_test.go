package record

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// fill sets every field below v to something that is not its zero value, so
// that every optional key is written.
func fill(v reflect.Value) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)))
		return
	case netip.Addr:
		v.Set(reflect.ValueOf(netip.MustParseAddr("10.0.0.1")))
		return
	case netip.Prefix:
		v.Set(reflect.ValueOf(netip.MustParsePrefix("10.0.0.0/24")))
		return
	case flow.Direction:
		v.Set(reflect.ValueOf(flow.Both))
		return
	case Cause:
		v.Set(reflect.ValueOf(HashImbalance))
		return
	case Phase:
		v.Set(reflect.ValueOf(PhaseStep))
		return
	case netstate.Scope:
		v.Set(reflect.ValueOf(netstate.ScopeGlobal))
		return
	case netstate.Framing:
		v.Set(reflect.ValueOf(netstate.FramingL2))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") != "-" {
				fill(v.Field(i))
			}
		}
	default:
		panic(fmt.Sprintf("no sample of %s", v.Type()))
	}
}

func full() Record {
	var r Record
	fill(reflect.ValueOf(&r).Elem())
	r.Schema = Schema
	return r
}

// validator checks a document against the parts of JSON schema that
// JSONSchema writes, and complains of a part that it does not know.
type validator struct {
	root   map[string]any
	errors []string
	strict bool // keys that the schema does not name are wrong
}

func (v *validator) wrong(at, format string, args ...any) {
	v.errors = append(v.errors, at+": "+fmt.Sprintf(format, args...))
}

func (v *validator) check(at string, s map[string]any, doc any) {
	for key, rule := range s {
		switch key {
		case "$ref":
			name := strings.TrimPrefix(rule.(string), "#/$defs/")
			def, ok := v.root["$defs"].(map[string]any)[name].(map[string]any)
			if !ok {
				v.wrong(at, "no definition %s", name)
				continue
			}
			v.check(at, def, doc)
		case "type":
			v.checkType(at, rule, doc)
		case "const":
			if doc != rule {
				v.wrong(at, "%v is not %v", doc, rule)
			}
		case "enum":
			if !slices.Contains(rule.([]any), doc) {
				v.wrong(at, "%v is none of %v", doc, rule)
			}
		case "pattern":
			if text, ok := doc.(string); ok && !regexp.MustCompile(rule.(string)).MatchString(text) {
				v.wrong(at, "%q does not match %s", text, rule)
			}
		case "anyOf":
			v.checkAny(at, rule.([]any), doc)
		case "minimum":
			if n, ok := doc.(float64); ok && n < rule.(float64) {
				v.wrong(at, "%v is below %v", n, rule)
			}
		case "format":
			if _, err := time.Parse(time.RFC3339, doc.(string)); rule != "date-time" || err != nil {
				v.wrong(at, "%v is no %v", doc, rule)
			}
		case "properties", "required":
			v.checkObject(at, s, doc)
		case "items":
			list, _ := doc.([]any)
			for i, item := range list {
				v.check(fmt.Sprintf("%s[%d]", at, i), rule.(map[string]any), item)
			}
		case "additionalProperties":
			object, _ := doc.(map[string]any)
			for k, value := range object {
				v.check(at+"."+k, rule.(map[string]any), value)
			}
		case "description", "title", "$schema", "$id", "$defs":
		default:
			v.wrong(at, "rule %q is unknown to the test", key)
		}
	}
}

func (v *validator) checkType(at string, rule, doc any) {
	allowed, ok := rule.([]any)
	if !ok {
		allowed = []any{rule}
	}
	for _, t := range allowed {
		n, isNumber := doc.(float64)
		switch t {
		case "object":
			_, ok = doc.(map[string]any)
		case "array":
			_, ok = doc.([]any)
		case "string":
			_, ok = doc.(string)
		case "boolean":
			_, ok = doc.(bool)
		case "null":
			ok = doc == nil
		case "number":
			ok = isNumber
		case "integer":
			ok = isNumber && n == float64(int64(n))
		default:
			ok = false
		}
		if ok {
			return
		}
	}
	v.wrong(at, "%v (%T) is not of type %v", doc, doc, rule)
}

func (v *validator) checkAny(at string, rules []any, doc any) {
	for _, rule := range rules {
		one := validator{root: v.root}
		if one.check(at, rule.(map[string]any), doc); len(one.errors) == 0 {
			return
		}
	}
	v.wrong(at, "%v fits none of %v", doc, rules)
}

func (v *validator) checkObject(at string, s map[string]any, doc any) {
	object, ok := doc.(map[string]any)
	if !ok {
		return // the type rule says it
	}
	properties := s["properties"].(map[string]any)
	for _, key := range s["required"].([]any) {
		if _, there := object[key.(string)]; !there {
			v.wrong(at, "%s is missing", key)
		}
	}
	for key, value := range object {
		p, known := properties[key].(map[string]any)
		if !known {
			if v.strict {
				v.wrong(at, "key %s is not in the schema", key)
			}
			continue
		}
		v.check(at+"."+key, p, value)
	}
}

func schema(t *testing.T) map[string]any {
	t.Helper()
	text, err := JSONSchema()
	if err != nil {
		t.Fatal(err)
	}
	var s map[string]any
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatalf("the schema is no JSON: %v", err)
	}
	return s
}

func document(t *testing.T, r Record) map[string]any {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func problems(root map[string]any, doc any) []string {
	v := validator{root: root, strict: true}
	v.check("record", root, doc)
	sort.Strings(v.errors)
	return v.errors
}

func TestRecordsFitTheirSchema(t *testing.T) {
	root := schema(t)
	newer := full()
	newer.Environment.Hosts[0].Links[0].Bond.Mode = 9
	for name, r := range map[string]Record{
		"every key":              full(),
		"only what must be":      {Schema: Schema},
		"a kernel newer than us": newer,
	} {
		if wrong := problems(root, document(t, r)); wrong != nil {
			t.Errorf("%s:\n%s", name, strings.Join(wrong, "\n"))
		}
	}
}

// The schema must refuse: a validator or a schema that takes everything would
// pass the test above.
func TestSchemaRefuses(t *testing.T) {
	root := schema(t)
	trial := func(d map[string]any) map[string]any { return d["trials"].([]any)[0].(map[string]any) }
	for name, c := range map[string]struct {
		change func(map[string]any)
		want   string
	}{
		"no trials":       {func(d map[string]any) { delete(d, "trials") }, "record: trials is missing"},
		"other schema":    {func(d map[string]any) { d["schema"] = "linerate.record/v2" }, "record.schema: linerate.record/v2 is not linerate.record/v1"},
		"rate as text":    {func(d map[string]any) { trial(d)["goodput_bps"] = "1G" }, "record.trials[0].goodput_bps: 1G (string) is not of type number"},
		"unknown cause":   {func(d map[string]any) { trial(d)["finding"].(map[string]any)["cause"] = "gremlins" }, "gremlins is none of"},
		"bad direction":   {func(d map[string]any) { trial(d)["direction"] = "up" }, "up is none of [forward reverse both]"},
		"bad time":        {func(d map[string]any) { d["started"] = "yesterday" }, "yesterday is no date-time"},
		"negative port":   {func(d map[string]any) { trial(d)["lanes"].([]any)[0].(map[string]any)["sport"] = -1.0 }, "-1 is below 0"},
		"unknown policy":  {func(d map[string]any) { bondOf(d)["xmit_hash_policy"] = "layer7" }, "layer7 fits none of"},
		"fraction":        {func(d map[string]any) { trial(d)["streams"] = 1.5 }, "1.5 (float64) is not of type integer"},
		"lane without ip": {func(d map[string]any) { delete(trial(d)["lanes"].([]any)[0].(map[string]any), "src") }, "src is missing"},
		"bad MAC":         {func(d map[string]any) { linkOf(d)["mac"] = "02:00" }, "does not match"},
	} {
		doc := document(t, full())
		c.change(doc)
		wrong := problems(root, doc)
		if len(wrong) == 0 || !strings.Contains(strings.Join(wrong, "\n"), c.want) {
			t.Errorf("%s: got %q, want %q", name, wrong, c.want)
		}
	}
}

func linkOf(d map[string]any) map[string]any {
	host := d["environment"].(map[string]any)["hosts"].([]any)[0].(map[string]any)
	return host["links"].([]any)[0].(map[string]any)
}

func bondOf(d map[string]any) map[string]any { return linkOf(d)["bond"].(map[string]any) }

// TestSchemaHasEveryKey compares the schema's keys with those of a record in
// which every optional key is written.
func TestSchemaHasEveryKey(t *testing.T) {
	root := schema(t)
	var keysOf func(at string, s map[string]any, out map[string]bool)
	keysOf = func(at string, s map[string]any, out map[string]bool) {
		if ref, ok := s["$ref"].(string); ok {
			s = root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
		}
		if items, ok := s["items"].(map[string]any); ok {
			keysOf(at+"[]", items, out)
		}
		if values, ok := s["additionalProperties"].(map[string]any); ok {
			keysOf(at+".x", values, out)
		}
		properties, _ := s["properties"].(map[string]any)
		for key, p := range properties {
			out[at+"."+key] = true
			keysOf(at+"."+key, p.(map[string]any), out)
		}
	}
	inSchema := map[string]bool{}
	keysOf("record", root, inSchema)
	written := map[string]bool{}
	var walk func(at string, doc any)
	walk = func(at string, doc any) {
		switch d := doc.(type) {
		case map[string]any:
			for key, value := range d {
				if key != "x" && key != "10.0.0.0/24" && key != "1" { // a map's key, not a struct's
					written[at+"."+key] = true
				}
				walk(at+"."+key, value)
			}
		case []any:
			for _, item := range d {
				walk(at+"[]", item)
			}
		}
	}
	walk("record", document(t, full()))
	if diff := cmp.Diff(written, inSchema); diff != "" {
		t.Errorf("keys (-written +in the schema):\n%s", diff)
	}
	if len(inSchema) < 200 {
		t.Errorf("the schema names %d keys: the walk lost its way", len(inSchema))
	}
}

func TestSchemaSaysWhatIsRequired(t *testing.T) {
	root := schema(t)
	defs := root["$defs"].(map[string]any)
	required := func(def string) []any { return defs[def].(map[string]any)["required"].([]any) }
	for def, want := range map[string][2]string{
		"record.Trial":  {"goodput_bps", "forward_bps"},
		"record.Lane":   {"src", "rcvbuf_bytes"},
		"netstate.Host": {"name", "owners"},
	} {
		if !slices.Contains(required(def), any(want[0])) || slices.Contains(required(def), any(want[1])) {
			t.Errorf("%s requires %v, want %s and not %s", def, required(def), want[0], want[1])
		}
	}
}
