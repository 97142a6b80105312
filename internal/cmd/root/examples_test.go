package root

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
)

// TestJSONExamples: the examples of docs/examples/json are what the commands
// print now, which fits its schema. LINERATE_EXAMPLES=write writes them anew.
func TestJSONExamples(t *testing.T) {
	tree, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(tree, "docs", "examples"))
	for name, args := range map[string]string{
		"predict":          "predict two-hosts-lacp.yaml --streams 1,4 --directions forward",
		"predict-together": "predict leaf-spine.yaml --together --streams 4 --directions forward",
		"steer-show":       "steer show --policy layer3+4 --links 2 --src 10.0.0.1 --dst 10.0.0.2 --sport 40000-40003 --dport 5201",
		"steer-pick":       "steer pick --policy layer3+4 --links 4 --streams 4 --src 10.0.0.1 --dst 10.0.0.2 --dport 5201",
		"steer-show-ask":   "steer show --ask ios --channel Port-channel1 --src 10.0.0.1 --dst 10.0.0.2 --sport 40000 --dport 5201",
		"render":           "render two-hosts-lacp.yaml --host rbx --to networkd",
		"explain-paste":    "explain json/bond.txt",
		"lab-list":         "lab list",
	} {
		said := run(t, "", append(strings.Fields(args), "--json")...)
		if said.status != console.ExitDone {
			t.Errorf("%s: exit %d: %s", args, said.status, said.stderr)
			continue
		}
		file := filepath.Join("json", name+".json")
		if os.Getenv("LINERATE_EXAMPLES") == "write" {
			if err := os.WriteFile(file, []byte(said.stdout), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		kept, err := os.ReadFile(file)
		if err != nil || string(kept) != said.stdout {
			t.Errorf("%s --json prints another document than %s has (%v); LINERATE_EXAMPLES=write writes it anew", args, file, err)
		}
	}
}
