package yamldoc

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
)

// What nests without end is refused before a token is made of each bracket.
func TestEndlessNesting(t *testing.T) {
	for name, text := range map[string][]byte{
		"lists":            bytes.Repeat([]byte("["), 3<<20),
		"maps":             bytes.Repeat([]byte(`{"a":`), 1<<20),
		"balanced":         append(bytes.Repeat([]byte("["), 1<<20), bytes.Repeat([]byte("]"), 1<<20)...),
		"entries":          bytes.Repeat(append(bytes.Repeat([]byte("- "), 3000), "a\n"...), 500),
		"behind a mapping": append([]byte("a: 1\nb: "), bytes.Repeat([]byte("["), 1<<20)...),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse("x.yaml", text)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "nesting deeper") {
			t.Errorf("%s: %v", name, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
			t.Errorf("%s: took %d MB", name, took>>20)
		}
	}
	for name, text := range map[string]string{
		"brackets that are closed": "a: " + "[" + strings.Repeat("[1], ", 3000) + "[2]]\n",
		"a ruler in a text":        "a: |\n  " + strings.Repeat("- ", 200) + "\n",
	} {
		if _, err := Parse("x.yaml", []byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
