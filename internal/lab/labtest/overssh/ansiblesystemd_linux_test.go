package overssh

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// TestAnsibleSystemd: where systemd runs, the role runs the agent by the unit of
// deploy/systemd, and the other unit takes its place when a host is to be
// measured only.
func TestAnsibleSystemd(t *testing.T) {
	longFor(t, "prove-ansible")
	if _, err := os.Stat("/lib/systemd/systemd"); err != nil {
		t.Skip("there is no systemd here")
	}
	s := newSite(t, hosting{systemd: true}, hosting{systemd: true})
	before := s.look(t)
	s.want("a dry run, systemd", s.alike(tally{changed: 4}), "--check")
	s.want("install, enrol and start", s.alike(tally{changed: 6}), "-vvv")
	for _, h := range s.hosts {
		s.runs(t, h, "linerate-agent", "root")
	}
	s.measured(t)
	s.want("a second run", s.alike(tally{}))
	first := s.mainPID(t, s.hosts[0], "linerate-agent")
	s.replaced(t, 2)
	if again := s.mainPID(t, s.hosts[0], "linerate-agent"); again == first {
		t.Error("the agent was not started again with another program")
	}
	s.vars["h2.linerate_measure_only"] = "true"
	s.want("h2 measured only", map[string]tally{"h1": {}, "h2": {changed: 5}})
	s.runs(t, s.hosts[1], "linerate-agent-measure", "linerate-agent-measure")
	s.measured(t)
	s.want("a second run, h2 measured only", s.alike(tally{}))
	s.want("all removed, systemd", map[string]tally{"h1": {changed: 5}, "h2": {changed: 6}}, "-e", "linerate_state=absent")
	for i, h := range s.hosts {
		if d := differ(before[i], h.files(t)); len(d) > 0 {
			t.Errorf("%s is left with %q", h.name, d)
		}
	}
	s.revoked(t, "h1", "h2")
}

// systemctl asks a host's systemd.
func (h *host) systemctl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := h.inside("systemctl", args...).CombinedOutput()
	if err != nil && args[0] != "is-enabled" {
		t.Errorf("%s: systemctl %q: %v: %s", h.name, args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (s *site) mainPID(t *testing.T, h *host, unit string) string {
	t.Helper()
	return h.systemctl(t, "show", "--value", "--property", "MainPID", unit)
}

// runs checks that a unit is as it is in the repository, enabled, active, alone,
// and what user it runs as.
func (s *site) runs(t *testing.T, h *host, unit, user string) {
	t.Helper()
	want, err := os.ReadFile(filepath.Join("../../../../deploy/systemd", unit+".service"))
	floor.Must(t, err)
	if got := own(t, filepath.Join(h.root, "etc/systemd/system", unit+".service")); got != string(want) {
		t.Errorf("%s has another unit than deploy/systemd", h.name)
	}
	if state := h.systemctl(t, "is-active", unit) + " " + h.systemctl(t, "is-enabled", unit); state != "active enabled" {
		t.Errorf("%s: %s is %s", h.name, unit, state)
	}
	if units, _ := filepath.Glob(filepath.Join(h.root, "etc/systemd/system/linerate-*")); len(units) != 1 {
		t.Errorf("%s has units %q", h.name, units)
	}
	if got := h.systemctl(t, "show", "--value", "--property", "NRestarts", unit); got != "0" {
		t.Errorf("%s: %s was started again %s times", h.name, unit, got)
	}
	uid, err := h.inside("stat", "--format", "%u", "/proc/"+s.mainPID(t, h, unit)).Output()
	floor.Must(t, err)
	if root := strings.TrimSpace(string(uid)) == "0"; root != (user == "root") {
		t.Errorf("%s: %s runs as user %s, want %s", h.name, unit, uid, user)
	}
}

// TestAnsibleUnits: the role has no copy of a unit that could drift.
func TestAnsibleUnits(t *testing.T) {
	units, err := filepath.Glob("../../../../deploy/systemd/*.service")
	if err != nil || len(units) == 0 {
		t.Fatalf("no units: %v", err)
	}
	for _, unit := range units {
		its := filepath.Join(deployed, "roles/linerate/files", filepath.Base(unit))
		at, err := filepath.EvalSymlinks(its)
		if err != nil || at != unit {
			t.Errorf("%s is %s, want a link to %s: %v", its, at, unit, err)
		}
	}
	if files, _ := filepath.Glob(filepath.Join(deployed, "roles/linerate/files/*")); len(files) != len(units) {
		t.Errorf("the role has %q beside the units", files)
	}
}

// TestAnsibleSyntax has Ansible read what is deployed, and its linter where there
// is one.
func TestAnsibleSyntax(t *testing.T) {
	for _, check := range [][]string{
		{"ansible-playbook", "--syntax-check", "fleet.yml"},
		{"ansible-lint", "-q", "--nocolor", "--offline", "--profile", "production", "fleet.yml", "inventory.yml", "roles/linerate"},
	} {
		if _, err := exec.LookPath(check[0]); err != nil {
			t.Logf("there is no %s here: make deps-ansible installs it", check[0])
			continue
		}
		cmd := exec.Command(check[0], check[1:]...)
		cmd.Dir, cmd.Env = deployed, append(os.Environ(), "HOME="+t.TempDir())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%q: %v\n%s", check, err, out)
		}
	}
}
