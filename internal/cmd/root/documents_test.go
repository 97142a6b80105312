package root

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/linerate/linerate/internal/cmd/schema"
)

// TestEveryDocument: each document has a name of its own, says what prints it,
// and a schema that names its keys.
func TestEveryDocument(t *testing.T) {
	named := map[string]bool{}
	for _, d := range Documents() {
		name, about, typ := d.Described()
		if named[name] || !regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`).MatchString(name) || about == "" {
			t.Errorf("document %q of %v: its name is taken or odd, or nothing says what prints it (%q)", name, typ, about)
		}
		named[name] = true
		text, err := schema.Of(d)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		type keys struct {
			Properties map[string]json.RawMessage
		}
		var s struct {
			keys
			Defs map[string]keys `json:"$defs"`
		}
		if err := json.Unmarshal(text, &s); err != nil || len(s.Properties) == 0 {
			t.Errorf("%s: %d keys: %v", name, len(s.Properties), err)
		}
		for of, k := range s.Defs {
			for key := range k.Properties {
				if !regexp.MustCompile(`^[a-z0-9_]+$`).MatchString(key) {
					t.Errorf("%s: %s has the key %s", name, of, key)
				}
			}
		}
	}
	if len(named) < 50 {
		t.Errorf("%d documents", len(named))
	}
}
