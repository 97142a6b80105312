package root

import (
	"encoding/json"
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
)

// TestLabList: the lab's own networks and the scenarios of files are listed, and
// no name means two.
func TestLabList(t *testing.T) {
	o := run(t, "", "lab", "list", "--json")
	var doc struct {
		Scenarios []struct{ Name, Title string }
	}
	if err := json.Unmarshal([]byte(o.stdout), &doc); err != nil || o.status != console.ExitDone {
		t.Fatalf("exit %d: %v", o.status, err)
	}
	seen := map[string]bool{}
	for _, s := range doc.Scenarios {
		if seen[s.Name] || s.Title == "" {
			t.Errorf("%+v is there twice, or without a title", s)
		}
		seen[s.Name] = true
	}
	for _, want := range []string{"two-links", "ip-alias", "ovh-vrack", "ibm-vpc"} {
		if !seen[want] {
			t.Errorf("no %s", want)
		}
	}
}

// TestLabRunRefuses: what is wrong is said before anything is built.
func TestLabRunRefuses(t *testing.T) {
	bad := file(t, "bad.yaml", "linerate: v1\nhosts:\n  a: {reach: 'local:'}\nscenario: {name: x y, steps: [{name: s, measure: []}]}\n")
	refused(t, "", console.ExitUsage, "unknown scenario nonsense", "ip-alias", "lab", "run", "nonsense")
	refused(t, "", console.ExitUsage, bad+`:4:18: scenario.name: "x y" is no name`, "letters, digits and dashes", "lab", "run", bad)
	refused(t, "", console.ExitUsage, "read scenario "+bad+".yaml: no such file", "", "lab", "run", bad+".yaml")
	refused(t, "", console.ExitUsage, "lab run: --what-if is for scenarios of files", "FILE.yaml", "lab", "run", "two-links", "--what-if", "mtu=9000")
	refused(t, "", console.ExitUsage, "lab run: --what-if: streams is not changed in a lab that stands", "mtu, policy", "lab", "run", "ip-alias", "--what-if", "streams=4")
	refused(t, "", console.ExitUsage, "lab run: --what-if: mode=802.3ad: no host has a bond", "mtu, policy", "lab", "run", "ip-alias", "--what-if", "mode=802.3ad")
	refused(t, "", console.ExitUsage, "lab run all: --what-if is for one scenario", "lab run SCENARIO", "lab", "run", "all", "--what-if", "mtu=9000")
	refused(t, "", console.ExitUsage, `lab run: --what-if: unknown key "nonsense"`, "mtu, policy", "lab", "run", "ip-alias", "--what-if", "nonsense=4")
}
