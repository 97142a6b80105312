package overssh

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// TestAnsible: hosts are enrolled, answer as what they were enrolled as, and a
// second run has nothing to do; then all of it is taken away, of a dead host the
// identity.
func TestAnsible(t *testing.T) {
	s := newSite(t, make([]hosting, 3)...)
	before := s.look(t)
	if proving() {
		s.want("a dry run", s.alike(tally{changed: 3}), "--check", "--diff")
		for i, h := range s.hosts {
			if d := differ(before[i], h.files(t)); len(d) > 0 {
				t.Fatalf("%s: a dry run left %q", h.name, d)
			}
		}
	}
	end := watchCommands(t)
	got := s.want("install and enrol", s.alike(tally{changed: 3}), "-vvv")
	if !end() {
		t.Error("nobody was seen to enrol: command lines were not watched")
	}
	if !strings.Contains(got.out, "'no_log: true' was specified") {
		t.Error("it does not say that a result is hidden: were tokens made at all?")
	}
	s.noToken(t, got)
	if n := strings.Count(got.out, "is not started by this role here: systemd does not run"); n < len(s.hosts) {
		t.Errorf("%d hosts say that the agent is not started by the role", n)
	}
	for _, h := range s.hosts {
		if log := s.agent(h); !strings.Contains(log.String(), "host="+h.name) {
			t.Errorf("%s answers as another: %s", h.name, log)
		}
	}
	s.listed(t, "h1", "h2", "h3")
	if got := s.linerate(append(s.who, "inspect", "nats:h2")...); got.status != 0 || !strings.Contains(got.out, "eth0") {
		t.Errorf("inspect nats:h2: status %d\n%s%s", got.status, got.out, got.err)
	}
	s.want("a second run", s.alike(tally{}))
	if proving() {
		s.measured(t)
		s.replaced(t, 1)
	}
	s.hosts[2].stop()
	want := s.alike(tally{changed: 3})
	want["h3"] = tally{changed: 1, unreachable: 1}
	s.want("all removed, one host dead", want, "-e", "linerate_state=absent")
	for i, h := range s.hosts[:2] {
		if d := differ(before[i], h.files(t)); len(d) > 0 {
			t.Errorf("%s is left with %q", h.name, d)
		}
	}
	s.revoked(t, "h1", "h2", "h3")
	if got := s.linerate(append(s.who, "inspect", "nats:h1")...); got.status == 0 {
		t.Error("h1 answers after its identity was revoked")
	}
	if proving() {
		want := s.alike(tally{})
		want["h3"] = tally{unreachable: 1}
		s.want("removed again", want, "-e", "linerate_state=absent")
	}
}

func (s *site) look(t *testing.T) (out []map[string]string) {
	t.Helper()
	for _, h := range s.hosts {
		out = append(out, h.files(t))
	}
	return out
}

// noToken holds the desk and the output to having no token.
func (s *site) noToken(t *testing.T, got said) {
	t.Helper()
	if aToken.MatchString(got.out) || aToken.MatchString(got.err) {
		t.Error("a token is in the output")
	}
	for _, at := range []string{s.path, s.temp} {
		floor.Must(t, filepath.WalkDir(at, func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			b, err := os.ReadFile(path)
			if aToken.Match(b) {
				t.Errorf("a token is in %s", path)
			}
			return err
		}))
	}
	s.look(t)
}

// listed waits until `serve hosts` lists these and no others.
func (s *site) listed(t *testing.T, want ...string) {
	t.Helper()
	var names []string
	for range 250 {
		var all struct{ Hosts []struct{ Name string } }
		got := s.linerate(append(s.who, "serve", "hosts", "--json")...)
		if got.status != 0 {
			t.Fatalf("serve hosts: %s", got.err)
		}
		floor.Must(t, json.Unmarshal([]byte(got.out), &all))
		names = nil
		for _, h := range all.Hosts {
			names = append(names, h.Name)
		}
		if slices.Equal(names, want) {
			return
		}
		floor.Pause()
	}
	t.Errorf("serve hosts lists %q, want %q", names, want)
}

// revoked checks that these hosts, and no others, have lost their identities.
func (s *site) revoked(t *testing.T, want ...string) {
	t.Helper()
	var all struct {
		Identities []struct{ Name, Role, Revoked string }
	}
	got := s.linerate("serve", "identities", "--json", "--state", s.state)
	floor.Must(t, json.Unmarshal([]byte(got.out), &all))
	var names []string
	for _, id := range all.Identities {
		if id.Revoked != "" {
			names = append(names, id.Name)
		}
	}
	if !slices.Equal(names, want) {
		t.Errorf("revoked are %q, want %q", names, want)
	}
}

// measured sends traffic between two hosts that Ansible has enrolled.
func (s *site) measured(t *testing.T) {
	t.Helper()
	got := s.linerate(append(s.who, "measure", "nats:h1", "nats:h2", "--duration", "1s", "--streams", "1", "--ping-count", "1", "--no-loaded-latency")...)
	if got.status != 0 || !strings.Contains(got.out, "bit/s") {
		t.Errorf("measure: status %d\n%s%s", got.status, got.out, got.err)
	}
}

// replaced gives the hosts another program: they get that, and nothing else.
func (s *site) replaced(t *testing.T, changed int) {
	t.Helper()
	b, err := os.ReadFile(program)
	floor.Must(t, err)
	s.vars["program"] = filepath.Join(s.path, "linerate-2")
	floor.Must(t, os.WriteFile(s.vars["program"], append(b, '\n'), 0o755))
	before := s.look(t)
	s.want("another program", s.alike(tally{changed: changed})) // what runs is restarted
	for i, h := range s.hosts {
		if d := differ(before[i], h.files(t)); !slices.Equal(d, []string{"/usr/local/bin/linerate"}) {
			t.Errorf("%s: another program changed %q", h.name, d)
		}
		if got, err := os.ReadFile(filepath.Join(h.root, "usr/local/bin/linerate")); err != nil || !bytes.Equal(got, append(b, '\n')) {
			t.Errorf("%s has another program than it was given: %v", h.name, err)
		}
	}
}
