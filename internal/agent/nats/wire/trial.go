package wire

import (
	"encoding/json"
	"fmt"

	"github.com/linerate/linerate/internal/plaintext"
	"github.com/linerate/linerate/record"
)

// ParseTrial reads a trial that somebody else wrote: one with no more values than can
// be read, and with no number that no measurement has. Its texts are of one line each.
// Errors: ErrParts.
func ParseTrial(text []byte) (record.Trial, error) {
	var t record.Trial
	err := CheckValues(text)
	if err == nil {
		err = json.Unmarshal(text, &t)
	}
	if err == nil {
		err = record.CheckRates(t)
	}
	if err != nil {
		return record.Trial{}, fmt.Errorf("%w: a trial: %w", ErrParts, err)
	}
	plaintext.Fields(&t)
	return t, nil
}
