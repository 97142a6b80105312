package root

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/linerate/linerate/internal/cmd/console"
)

// schemaOf is a document's schema.
func schemaOf(t *testing.T, document string) []byte {
	t.Helper()
	text, err := SchemaOf(document)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// fitsSchema validates each document that a command prints.
func fitsSchema(t *testing.T) func(console.Described, []byte) {
	return func(d console.Described, printed []byte) {
		name, _, _ := d.Described()
		text, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemaOf(t, name)))
		if err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		if err := c.AddResource(name, text); err != nil {
			t.Fatal(err)
		}
		compiled, err := c.Compile(name)
		if err != nil {
			t.Fatalf("compile the schema of %s: %v", name, err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(printed))
		if err != nil {
			t.Fatalf("%s is no JSON: %v", name, err)
		}
		if err := compiled.Validate(doc); err != nil {
			t.Errorf("%s does not fit its schema: %v", name, err)
		}
	}
}
