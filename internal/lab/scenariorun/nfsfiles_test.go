package scenariorun

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestContent: what was written is found again, and a file with one bit turned,
// two blocks exchanged, a block missing, or that is another's is not.
func TestContent(t *testing.T) {
	c := newContent(1, 3*fileBlock)
	name := filepath.Join(t.TempDir(), "data")
	if err := c.write(name); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(name)
	if err != nil || int64(len(good)) != c.length() {
		t.Fatalf("%d bytes, %v", len(good), err)
	}
	if err := c.verify("good", bytes.NewReader(good)); err != nil {
		t.Error(err)
	}
	if err := newContent(2, 3*fileBlock).verify("another's", bytes.NewReader(good)); !errors.Is(err, errChecksum) {
		t.Errorf("another's: %v", err)
	}
	turned := bytes.Clone(good)
	turned[2*fileBlock+77] ^= 1
	exchanged := append(append(bytes.Clone(good[fileBlock:2*fileBlock]), good[:fileBlock]...), good[2*fileBlock:]...)
	for what, bad := range map[string][]byte{"a bit turned": turned, "blocks exchanged": exchanged, "cut": good[:2*fileBlock], "longer": append(bytes.Clone(good), 0), "empty": nil} {
		if err := c.verify(what, bytes.NewReader(bad)); !errors.Is(err, errChecksum) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
