package formats

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/render"
)

// TestNmstateProgram lets nmstatectl turn what is written of drawn hosts into
// NetworkManager's connections: it refuses none, and they hold all that the host is to
// have, bonds, VLANs, bridges' ports, addresses, routes, rules and name servers among it,
// unless a warning names it.
func TestNmstateProgram(t *testing.T) {
	dir := os.Getenv("LINERATE_LAB_CONFIG")
	if dir == "" {
		dir = "../../.lab-config"
	}
	program := filepath.Join(dir, "nmstate", "nmstatectl")
	if _, err := os.Stat(program); err != nil {
		t.Skip("no nmstatectl here: make deps-config builds it, where cargo is")
	}
	for i := range 16 {
		text := drawn(t, i)
		in, err := oneHost(text)
		if err != nil {
			t.Fatal(err)
		}
		out, err := Write(render.FormatNmstate, in)
		if err != nil {
			t.Fatal(err)
		}
		state := filepath.Join(t.TempDir(), "state.yml")
		if err := os.WriteFile(state, []byte(out.Files[0].Text), 0o600); err != nil {
			t.Fatal(err)
		}
		said, err := exec.Command(program, "-q", "gc", state).CombinedOutput()
		if err != nil {
			t.Errorf("nmstatectl refuses it: %s\n%s", said, out.Files[0].Text)
			continue
		}
		files := connectionsOf(t, said)
		found, err := Read(render.FormatKeyfile, files)
		if err != nil {
			t.Errorf("%v\n%s", err, said)
			continue
		}
		back, err := oneHost(string(found.FabricFile("h")))
		if err != nil {
			t.Errorf("%v\n%s", err, found.FabricFile("h"))
			continue
		}
		for _, lost := range lostEntries(render.FormatNmstate, in, back) {
			if lost.Key == "absent" { // connections that are not there are not generated
				continue
			}
			if !named(lost, out, found) {
				t.Errorf("%s %s of %q is lost\n%s\nof\n%s", lost.Key, lost.Value, lost.Where, said, out.Files[0].Text)
			}
		}
	}
}

// connectionsOf are the files that nmstatectl gc prints.
func connectionsOf(t *testing.T, text []byte) map[string]string {
	t.Helper()
	root, err := yamldoc.Parse("gc", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	files := map[string]string{}
	for _, pair := range root.Get("NetworkManager").Items {
		if len(pair.Items) == 2 {
			// Routes that lead nowhere are lo's there.
			files[pair.Items[0].Text] = strings.Replace(pair.Items[1].Text, "type=loopback\n", "type=dummy\n", 1)
		}
	}
	return files
}
