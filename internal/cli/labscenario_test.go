package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/scenario"
)

// TestLabList: the lab's own networks and the scenarios of files are listed, and
// no name means two.
func TestLabList(t *testing.T) {
	o := run(t, "", "lab", "list", "--json")
	var doc struct {
		Scenarios []struct{ Name, Title string }
	}
	if err := json.Unmarshal([]byte(o.stdout), &doc); err != nil || o.status != exitDone {
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
	refused(t, "", exitUsage, "unknown scenario nonsense", "ip-alias", "lab", "run", "nonsense")
	refused(t, "", exitUsage, bad+`:4:18: scenario.name: "x y" is no name`, "letters, digits and dashes", "lab", "run", bad)
	refused(t, "", exitUsage, "read scenario "+bad+".yaml: no such file", "", "lab", "run", bad+".yaml")
	refused(t, "", exitUsage, "lab run: --what-if is for scenarios of files", "FILE.yaml", "lab", "run", "two-links", "--what-if", "mtu=9000")
	refused(t, "", exitUsage, "lab run: --what-if: streams is not changed in a lab that stands", "mtu, policy", "lab", "run", "ip-alias", "--what-if", "streams=4")
	refused(t, "", exitUsage, "lab run: --what-if: mode=802.3ad: no host has a bond", "mtu, policy", "lab", "run", "ip-alias", "--what-if", "mode=802.3ad")
	refused(t, "", exitUsage, "lab run all: --what-if is for one scenario", "lab run SCENARIO", "lab", "run", "all", "--what-if", "mtu=9000")
	refused(t, "", exitUsage, `lab run: --what-if: unknown key "nonsense"`, "mtu, policy", "lab", "run", "ip-alias", "--what-if", "nonsense=4")
}

// TestLabPlace: the scenario's word on where it stands counts where the user
// says nothing.
func TestLabPlace(t *testing.T) {
	n := labNetwork{file: &scenario.Scenario{BackEnd: "qemu", Kernel: "5.10"}}
	for _, c := range []struct{ asked, want labPlace }{
		{labPlace{backEnd: "auto"}, labPlace{backEnd: "qemu", kernel: "5.10"}},
		{labPlace{backEnd: "uml"}, labPlace{backEnd: "uml"}},
		{labPlace{backEnd: "auto", kernel: "6.12"}, labPlace{backEnd: "auto", kernel: "6.12"}},
	} {
		if got := n.place(c.asked); got.backEnd != c.want.backEnd || got.kernel != c.want.kernel {
			t.Errorf("asked %+v: %+v, want %+v", c.asked, got, c.want)
		}
	}
	built := labNetwork{built: &lab.Scenario{}}
	if got := built.place(labPlace{backEnd: "auto"}); got.backEnd != "auto" || strings.TrimSpace(got.kernel) != "" {
		t.Errorf("a network of the lab's own is placed at %+v", got)
	}
}
