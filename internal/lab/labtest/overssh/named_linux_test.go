package overssh

import (
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// TestA2SSHLinkIsLeftOut: two hosts that are reached over eth0, as users who
// become root, and joined by ens1 and ens2 as well. eth0 carries no traffic and is
// not tuned, though `reach` names the hosts by names; one line says so.
func TestA2SSHLinkIsLeftOut(t *testing.T) {
	r := newRack(t, 100*unit.Mbps, hosting{}, hosting{})
	for n, link := range []string{"ens1", "ens2"} {
		floor.Must(t, r.spaces[0].Builder.Veth(link, r.spaces[1].Builder, link))
		for i, s := range r.spaces {
			floor.Must(t, s.Builder.Address(link, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 98, byte(n), byte(i + 1)}), 24)))
			floor.Must(t, s.Builder.Up(link))
			floor.Must(t, s.Builder.Shape(link, 100*unit.Mbps, floor.Bucket(100*unit.Mbps), 0))
		}
	}
	file := filepath.Join(t.TempDir(), "f.yaml")
	if got := r.run("discover", "ssh://ann@h1", "ssh://ann@h2", "--become", "sudo", "-o", file); got.status != 0 {
		t.Fatalf("discover: status %d\n%s", got.status, got.err)
	}
	text, err := os.ReadFile(file)
	floor.Must(t, err)
	if want := "# use: [eth0, ens1, ens2]  # without it eth0 is left out: ssh comes in by it"; !strings.Contains(string(text), want) {
		t.Errorf("it has no %q:\n%s", want, text)
	}
	const line = "h1, h2: eth0 is left out: ssh comes in by it; `use:` includes it"
	for what, c := range map[string]struct {
		args []string
		eth0 bool
	}{
		"the file":         {[]string{file}, false},
		"use names it":     {[]string{withUse(t, file)}, true},
		"hosts by command": {[]string{"ssh://ann@h1", "ssh://ann@h2", "--become", "sudo"}, false},
	} {
		got := r.run(append([]string{"measure", "--json", "--streams", "3", "--directions", "forward", "--duration", "500ms"}, c.args...)...)
		var rec record.Record
		if err := json.Unmarshal([]byte(got.out), &rec); err != nil || got.status != 0 {
			t.Errorf("%s: status %d, %v\n%s", what, got.status, err, got.err)
			continue
		}
		eth0 := false
		for _, trial := range rec.Trials {
			for _, l := range trial.Links {
				eth0 = eth0 || l.Link == "eth0"
			}
		}
		if said := strings.Contains(strings.Join(strings.Fields(got.err), " "), line); eth0 != c.eth0 || said == c.eth0 {
			t.Errorf("%s: eth0 carried traffic: %v, it was said to be left out: %v\n%s", what, eth0, said, got.err)
		}
	}
	dry := r.run("tune", file, "--dry-run")
	if dry.status != 0 || strings.Contains(dry.out, "eth0 ") || strings.Contains(dry.out, "dev eth0") {
		t.Errorf("tune --dry-run: status %d\n%s%s", dry.status, dry.out, dry.err)
	}
	if got := r.run("predict", file, "--live", "--streams", "1"); !strings.Contains(strings.Join(strings.Fields(got.out), " "), line) {
		t.Errorf("predict --live: status %d\n%s%s", got.status, got.out, got.err)
	}
	r.clean()
}

// withUse is a copy of a fabric with its lines for `use` uncommented.
func withUse(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	floor.Must(t, err)
	used := filepath.Join(t.TempDir(), "used.yaml")
	floor.Must(t, os.WriteFile(used, []byte(strings.ReplaceAll(string(text), "# use:", "use:")), 0o644))
	return used
}
