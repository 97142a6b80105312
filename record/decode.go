package record

import (
	"encoding/json"

	"github.com/linerate/linerate/internal/plaintext"
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
