package overssh

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/nats/authority"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// TestAnsibleFails: what is wrong with a host is said of it, in one line, and the
// rest goes on; nobody is let in with a token that was used or is of another
// place.
func TestAnsibleFails(t *testing.T) {
	longFor(t, "prove-ansible")
	s := newSite(t, hosting{}, hosting{}, hosting{}, hosting{}, hosting{machine: "i686"}, hosting{}, hosting{}, hosting{})
	token := func(host string) string {
		got := s.linerate("serve", "token", "--role", "agent", "--host", host, "--state", s.state, "--nats", s.nats)
		if got.status != 0 || !aToken.MatchString(got.out) {
			t.Fatalf("no token: %s", got.err)
		}
		return strings.TrimSpace(got.out)
	}
	used := token("h3")
	s.redeem(t, used, "h3")
	if got := s.linerate("serve", "revoke", "--host", "h3", "--state", s.state, "--nats", s.nats); got.status != 0 {
		t.Fatal(got.err)
	}
	s.redeem(t, token("h6"), "h6")
	other := filepath.Join(s.path, "other")
	_, err := authority.Open(other)
	floor.Must(t, err)
	s.hosts[1].stop()
	s.vars["h3.linerate_token"] = used
	s.vars["h4.linerate_serve_state"] = other
	s.vars["h7.linerate_name"] = "../../h1"
	s.vars["h8.linerate_nats"] = "tls://10.97.0.254:4223"
	failed := map[string]string{
		"h3": "h3 is not enrolled: linerate: enroll h3: the token is not good: it was used before",
		"h4": "h4 is not enrolled: linerate: enroll h4: connect to " + s.nats + ": nats: tls error: the server is not of our certificate authority, which the token names",
		"h5": "linerate_binaries has no program for i386: it has aarch64, x86_64",
		"h6": "localhost makes no token for h6: linerate: serve token: agent h6",
		"h7": "linerate_name: want at most 63 letters, digits, - and _, not ../../h1",
		"h8": "h8 is not enrolled: linerate: enroll h8: connect to tls://10.97.0.254:4223",
	}
	want := map[string]tally{"h1": {changed: 3}, "h2": {unreachable: 1}, "h5": {failed: 1}, "h7": {failed: 1}}
	for _, name := range []string{"h3", "h4", "h6", "h8"} {
		want[name] = tally{changed: 2, failed: 1} // the program and the directory
	}
	got := s.want("one is well, one dead, six with a fault each", want, "-v")
	lines := strings.ReplaceAll(got.out, `\"`, `"`)
	for name, why := range failed {
		if n := strings.Count(lines, why); n != 1 {
			t.Errorf("%s: %d times, want once: %s", name, n, why)
		}
	}
	if aToken.MatchString(got.out + got.err) {
		t.Error("a token is in the output")
	}
	for _, h := range s.hosts[2:] {
		for name := range h.files(t) {
			if strings.HasPrefix(name, "/etc/linerate/") {
				t.Errorf("%s has %s", h.name, name)
			}
		}
	}
	if t.Failed() {
		t.Log(got.out)
	}
	s.repaired(t)
}

// redeem uses a token as whoever was quicker than Ansible would.
func (s *site) redeem(t *testing.T, token, name string) {
	t.Helper()
	enroll := s.atDesk(program, "enroll", "-", "--dir", filepath.Join(s.path, "taken-"+name))
	enroll.Stdin = strings.NewReader(token)
	if got := s.finish(enroll); got.status != 0 {
		t.Fatalf("the token of %s is not taken: %s", name, got.err)
	}
}

// mended mends what was wrong with some hosts: they are let in then.
func (s *site) repaired(t *testing.T) {
	t.Helper()
	for _, name := range []string{"h3.linerate_token", "h4.linerate_serve_state", "h8.linerate_nats"} {
		delete(s.vars, name)
	}
	s.vars["h6.linerate_replace"] = "true"
	want := map[string]tally{"h1": {}}
	for _, name := range []string{"h3", "h4", "h6", "h8"} {
		want[name] = tally{changed: 1}
	}
	got := s.want("mended", want, "--limit", "h1,h3,h4,h6,h8")
	if aToken.MatchString(got.out + got.err) {
		t.Error("a token is in the output")
	}
	s.agent(s.hosts[5])
	s.listed(t, "h6")
}

// TestAnsibleWaits: a host is not taken out of the fleet while a change on it
// waits for its confirmation.
func TestAnsibleWaits(t *testing.T) {
	longFor(t, "prove-ansible")
	s := newSite(t, hosting{})
	s.more = []string{"ANSIBLE_KEEP_REMOTE_FILES=1"}
	got := s.want("Ansible keeps its files", s.alike(tally{changed: 2, failed: 1}))
	if why := "would leave the token on the host"; !strings.Contains(got.out, why) {
		t.Errorf("it does not say: %s\n%s", why, got.out)
	}
	s.more = nil
	s.want("install and enrol", s.alike(tally{changed: 1}))
	one := s.hosts[0]
	h := s.dial(t, "ssh://root@h1", false, s.rack.atDesk(t))
	id := mtu(t, h, 1400, time.Minute)
	got = s.want("removed while a change waits", map[string]tally{"h1": {failed: 1}}, "-e", "linerate_state=absent")
	if why := "a change on h1 is not at its end"; !strings.Contains(got.out, why) {
		t.Errorf("it does not say: %s\n%s", why, got.out)
	}
	s.revoked(t)
	if one.mtu(t) != "1400" {
		t.Errorf("MTU %s", one.mtu(t))
	}
	_, err := ask.Call(t.Context(), h, agentapi.Rollback, agentapi.RollbackRequest{Journal: id})
	floor.Must(t, err)
	floor.Must(t, h.Close())
	s.want("a dry run of removing", map[string]tally{"h1": {changed: 3}}, "-e", "linerate_state=absent", "--check")
	s.revoked(t)
	s.want("removed, records kept", map[string]tally{"h1": {changed: 3}}, "-e", "linerate_state=absent", "-e", "linerate_keep_records=true")
	s.revoked(t, "h1")
	if name := "/var/lib/linerate/journal"; one.files(t)[name] == "" {
		t.Errorf("%s is gone, and was to be kept", name)
	}
}
