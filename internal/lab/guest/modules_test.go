package guest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestModuleFiles: a kernel without a module that a lab asks for starts without
// it.
func TestModuleFiles(t *testing.T) {
	dir := t.TempDir()
	const list = "net/bonding.ko: net/tls.ko\nnet/tls.ko:\nnet/act-gact.ko:\nnet/cls_matchall.ko: net/gone.ko\nnet/gone.ko:\n"
	if err := os.WriteFile(filepath.Join(dir, "modules.dep"), []byte(list), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "net"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bonding", "tls", "cls_matchall"} {
		if err := os.WriteFile(filepath.Join(dir, "net", name+".ko"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		what  string
		names []string
		want  []string
	}{
		{"what it needs comes first, once", []string{"tls", "bonding"}, []string{"net/tls.ko", "net/bonding.ko"}},
		{"not in the list", []string{"ifb", "tls"}, []string{"net/tls.ko"}},
		{"in the list, and no file", []string{"act_gact", "tls"}, []string{"net/tls.ko"}},
		{"what it needs has no file", []string{"cls_matchall", "tls"}, []string{"net/tls.ko"}},
	} {
		got, err := moduleFiles(dir, c.names)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v, want %v", c.what, got, err, c.want)
		}
	}
	if _, err := moduleFiles(t.TempDir(), []string{"tls"}); err == nil {
		t.Error("a directory without a list was read")
	}
}
