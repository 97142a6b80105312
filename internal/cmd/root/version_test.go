package root

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/lab/scenario"
)

func TestVersion(t *testing.T) {
	doc := document(t, run(t, "", "version", "--json"))
	wantKeys(t, "document", doc, "linerate go os arch engine kernel protocol lab_back_ends")
	if doc["linerate"] != "test" || doc["os"] != runtime.GOOS || doc["go"] != runtime.Version() {
		t.Errorf("document %v", doc)
	}
	var names []string
	for _, b := range doc["lab_back_ends"].([]any) {
		wantKeys(t, "back end", b, "name usable why")
		m := b.(map[string]any)
		names = append(names, m["name"].(string))
		if m["why"] == "" {
			t.Errorf("back end %v has no reason", m)
		}
	}
	if strings.Join(names, " ") != "host uml qemu" {
		t.Errorf("back ends %v", names)
	}
	o := run(t, "", "version")
	if o.status != console.ExitDone || !strings.HasPrefix(o.stdout, "linerate test (go") || !strings.Contains(o.stdout, "lab back end uml: ") {
		t.Errorf("exit %d:\n%s", o.status, o.stdout)
	}
	fits(t, o.stdout)
}

// Without the program that runs it, a back end is said to be missing.
func TestVersionWithoutALabKernel(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	missing := map[string]string{"uml": "linux.uml", "qemu": "qemu-system-x86_64"}
	for _, b := range document(t, run(t, "", "version", "--json"))["lab_back_ends"].([]any) {
		m := b.(map[string]any)
		if program := missing[m["name"].(string)]; program != "" && (m["usable"] != false || !strings.Contains(m["why"].(string), program)) {
			t.Errorf("back end %v, want unusable for want of %s", m, program)
		}
	}
}

func TestSchema(t *testing.T) {
	recordSchema := schemaOf(t, "record")
	for args, want := range map[string][]byte{"schema": fabric.Schema(), "schema fabric": fabric.Schema(), "schema record": recordSchema, "schema record --json": recordSchema, "schema scenario": scenario.Schema()} {
		o := run(t, "", strings.Fields(args)...)
		if o.status != console.ExitDone || o.stdout != string(want) || !json.Valid([]byte(o.stdout)) {
			t.Errorf("%s: exit %d, %d bytes, want %d", args, o.status, len(o.stdout), len(want))
		}
	}
	refused(t, "", console.ExitUsage, "schema: unknown schema plans", "plan", "schema", "plans")
	refused(t, "", console.ExitUsage, "schema: unknown schema nothing", "`linerate schema list` has them", "schema", "nothing")
	refused(t, "", console.ExitUsage, "schema: want one NAME", "schema list", "schema", "fabric", "record")
	if o := run(t, "", "schema", "list"); o.status != console.ExitDone || !strings.Contains(o.stdout, "explain-paste") {
		t.Errorf("schema list: exit %d:\n%s", o.status, o.stdout)
	} else {
		fits(t, o.stdout)
	}
}

// Every command's help says what its exit status means and shows how to use
// it.
func TestHelp(t *testing.T) {
	for _, args := range []string{"predict", "steer", "steer show", "steer pick", "inspect", "discover", "report", "schema", "version"} {
		o := run(t, "", append(strings.Fields(args), "--help", "--all")...)
		if o.status != console.ExitDone || !strings.Contains(o.stdout, console.ExitHelp+"\n\nUsage:") || !strings.Contains(o.stdout, "Examples:\n  linerate ") {
			t.Errorf("%s --help: exit %d, no exit status at the end or no example:\n%s", args, o.status, o.stdout)
		}
		fits(t, strings.Split(o.stdout, "Usage:")[0])
	}
}
