package schema

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
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
	case record.Cause:
		v.Set(reflect.ValueOf(record.HashImbalance))
		return
	case record.Phase:
		v.Set(reflect.ValueOf(record.PhaseStep))
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

func full() record.Record {
	var r record.Record
	fill(reflect.ValueOf(&r).Elem())
	r.Schema = record.Schema
	return r
}

func schemaOfRecord(t *testing.T) map[string]any {
	t.Helper()
	text, err := Of(recordDocument)
	if err != nil {
		t.Fatal(err)
	}
	var s map[string]any
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatalf("the schema is no JSON: %v", err)
	}
	return s
}

func document(t *testing.T, r record.Record) map[string]any {
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

var recordDocument = console.Document[record.Record]{Name: "record", About: "a record"}

// problems is what a validator has against a document; nil for none.
func problems(t *testing.T, root map[string]any, doc any) error {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("root.json", root); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("root.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled.Validate(doc)
}

func TestRecordsFitTheirSchema(t *testing.T) {
	root := schemaOfRecord(t)
	newer := full()
	newer.Environment.Hosts[0].Links[0].Bond.Mode = 9
	for name, r := range map[string]record.Record{
		"every key":              full(),
		"only what must be":      {Schema: record.Schema},
		"a kernel newer than us": newer,
	} {
		if err := problems(t, root, document(t, r)); err != nil {
			t.Errorf("%s:\n%v", name, err)
		}
	}
}

// The schema must refuse: a validator or a schema that takes everything would
// pass the test above.
func TestSchemaRefuses(t *testing.T) {
	root := schemaOfRecord(t)
	trial := func(d map[string]any) map[string]any { return d["trials"].([]any)[0].(map[string]any) }
	for name, c := range map[string]struct {
		change func(map[string]any)
		want   string
	}{
		"no trials":       {func(d map[string]any) { delete(d, "trials") }, "missing property 'trials'"},
		"other schema":    {func(d map[string]any) { d["schema"] = "linerate.record/v2" }, "at '/schema': value must be 'linerate.record/v1'"},
		"rate as text":    {func(d map[string]any) { trial(d)["goodput_bps"] = "1G" }, "at '/trials/0/goodput_bps': got string, want number"},
		"unknown cause":   {func(d map[string]any) { trial(d)["finding"].(map[string]any)["cause"] = "gremlins" }, "/finding/cause': value must be one of"},
		"bad direction":   {func(d map[string]any) { trial(d)["direction"] = "up" }, "/direction': value must be one of '', 'forward', 'reverse', 'both'"},
		"bad time":        {func(d map[string]any) { d["started"] = "yesterday" }, "'yesterday' is not valid date-time"},
		"negative port":   {func(d map[string]any) { trial(d)["lanes"].([]any)[0].(map[string]any)["sport"] = -1.0 }, "minimum: got -1, want 0"},
		"unknown policy":  {func(d map[string]any) { bondOf(d)["xmit_hash_policy"] = "layer7" }, "'layer7' does not match"},
		"fraction":        {func(d map[string]any) { trial(d)["streams"] = 1.5 }, "got number, want integer"},
		"lane without ip": {func(d map[string]any) { delete(trial(d)["lanes"].([]any)[0].(map[string]any), "src") }, "missing property 'src'"},
		"bad MAC":         {func(d map[string]any) { linkOf(d)["mac"] = "02:00" }, "does not match"},
	} {
		doc := document(t, full())
		c.change(doc)
		if err := problems(t, root, doc); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
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
	root := schemaOfRecord(t)
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
	root := schemaOfRecord(t)
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
