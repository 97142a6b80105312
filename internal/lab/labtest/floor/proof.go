package floor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// KeptProof is the text of the proof that `make prove-NAME` keeps in docs/proofs: the
// files that match, in their order. It is false where none is kept, which is said; while
// one is made (PROVE_RUN) it is an empty one, which proves nothing.
func KeptProof(t *testing.T, name, files string) (string, bool) {
	t.Helper()
	names, err := filepath.Glob("../../../../docs/proofs/" + files)
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 && os.Getenv("PROVE_RUN") == "" {
		t.Logf("no proof is kept: `make prove-%s` makes one", name)
		return "", false
	}
	var all strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String(), true
}
