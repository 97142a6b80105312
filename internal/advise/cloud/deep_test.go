package cloud

import (
	"errors"
	"strings"
	"testing"
)

// TestDeep: nesting of every kind, and long lines, end in one line of error.
func TestDeep(t *testing.T) {
	var stairs strings.Builder
	for i := range 200 {
		stairs.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	texts := []string{stairs.String(), strings.Repeat("- ", maxText/2), strings.Repeat("]", 100) + strings.Repeat("[", 100)}
	for _, part := range []string{"- ", "a: ", "? ", "[", "{a: ", "!x ", "&a "} {
		texts = append(texts, strings.Repeat(part, 2000/len(part)))
	}
	for _, text := range texts {
		if _, err := (Table{}).Extend("f", []byte(text)); !errors.Is(err, ErrRules) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.20q over and over: %v", text, err)
		}
	}
}
