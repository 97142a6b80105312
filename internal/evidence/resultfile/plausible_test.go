package resultfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNumbersOfNoLink is the finding: of a document whose numbers are all 1e308
// "1000000 Tbit/s" stood beside "Nothing arrived".
func TestNumbersOfNoLink(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	changed := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Read(text); err != nil {
			continue // not one that is read
		}
		for _, number := range []string{"1e308", "9223372036854775807e9", "1e999"} {
			huge := resultNumber.ReplaceAllString(string(text), `"$1": `+number)
			if huge == string(text) {
				continue
			}
			changed++
			if _, err := Read([]byte(huge)); err == nil || !strings.Contains(err.Error(), "which no ") && !strings.Contains(err.Error(), "1e999") {
				t.Errorf("%s with %s: %v", file, number, err)
			}
		}
	}
	if changed == 0 {
		t.Error("no document had such a number")
	}
}
