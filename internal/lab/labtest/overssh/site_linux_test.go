package overssh

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/nats/testcluster"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/unit"
)

// deployed is what a user of Ansible takes from the repository.
const deployed = "../../../../deploy/ansible"

// site is a rack whose hosts Ansible reaches, with `linerate serve` at the desk.
type site struct {
	*rack
	state string // of serve
	nats  string
	who   []string // flags with which somebody at the desk asks
	vars  map[string]string
	more  []string // environment of Ansible
}

// newSite makes a site; each host has files of its own.
func newSite(t *testing.T, as ...hosting) *site {
	t.Helper()
	if _, err := exec.LookPath("ansible-playbook"); err != nil {
		t.Skip("there is no ansible-playbook: make deps-ansible installs it")
	}
	for i := range as {
		as[i].disk = true
	}
	s := &site{rack: newRackCalled(t, "an", 0, as...), vars: make(map[string]string)}
	t.Cleanup(s.hangUp)
	s.state, s.nats = filepath.Join(s.path, "serve"), fmt.Sprintf("tls://%s:4222", s.addr(254))
	s.serve()
	t.Logf("a site on kernel %s", strings.TrimSpace(own(t, "/proc/sys/kernel/osrelease")))
	creds := filepath.Join(s.path, "eve")
	token := s.linerate("serve", "token", "--role", "measure", "--user", "eve", "--state", s.state, "--nats", s.nats)
	enroll := s.atDesk(program, "enroll", "-", "--dir", creds)
	enroll.Stdin = strings.NewReader(token.out)
	if got := s.finish(enroll); got.status != 0 {
		t.Fatalf("eve is not enrolled: %s", got.err)
	}
	s.who = []string{"--nats", s.nats, "--creds", filepath.Join(creds, "nats.creds")}
	return s
}

// atDesk is a program that runs at the desk.
func (s *site) atDesk(name string, args ...string) *exec.Cmd {
	cmd := exec.Command("nsenter", append([]string{"--net=/run/netns/" + s.desk.NS.Name, name}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+s.path, "XDG_RUNTIME_DIR=", "TMPDIR="+s.temp, "ANSIBLE_CONFIG="+filepath.Join(deployed, "ansible.cfg"),
		"ANSIBLE_NOCOLOR=1", "ANSIBLE_SSH_CONTROL_PATH_DIR="+filepath.Join(s.temp, "cp"))
	return cmd
}

func (s *site) linerate(args ...string) said {
	s.t.Helper()
	return s.finish(s.atDesk(program, args...))
}

// serve runs the server until the test ends.
func (s *site) serve() {
	s.t.Helper()
	var log testcluster.Text
	s.daemon(s.atDesk(program, "serve", "--state", s.state, "--listen", fmt.Sprintf("%s:4222", s.addr(254))), &log, "ready for tokens")
}

// daemon starts a program that runs until the test ends, and waits until it says
// a word.
func (s *site) daemon(cmd *exec.Cmd, log *testcluster.Text, word string) {
	s.t.Helper()
	cmd.Stdout, cmd.Stderr = log, log
	floor.Must(s.t, cmd.Start())
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	for range 1000 {
		if strings.Contains(log.String(), word) {
			return
		}
		floor.Pause()
	}
	s.t.Fatalf("%q does not say %q: %s", cmd.Args, word, log.String())
}

// agent starts the program that was installed on a host, with what it was
// enrolled with.
func (s *site) agent(h *host) *testcluster.Text {
	s.t.Helper()
	var log testcluster.Text
	s.daemon(h.inside("/usr/local/bin/linerate", "agent"), &log, "answering")
	s.t.Cleanup(h.stop) // which ends the agent, and so whoever waits for it
	return &log
}

// inside is a program that runs on the host.
func (h *host) inside(name string, args ...string) *exec.Cmd {
	return exec.Command("nsenter", append([]string{"--target", fmt.Sprint(h.pid), "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", name}, args...)...)
}

// hangUp ends what ssh keeps open for the next playbook.
func (s *site) hangUp() {
	sockets, _ := filepath.Glob(filepath.Join(s.temp, "cp", "*"))
	for _, socket := range sockets {
		_ = exec.Command("ssh", "-o", "ControlPath="+socket, "-O", "exit", "any").Run() // it may be gone
	}
}

// inventory is the site's, as a user would write it: h1 is reached as root, the
// others as ann, who becomes root by sudo.
func (s *site) inventory() string {
	s.t.Helper()
	hosts := make(map[string]any)
	for i, h := range s.hosts {
		user := "ann"
		if i == 0 {
			user = "root"
		}
		of := map[string]string{"ansible_host": h.addr.String(), "ansible_user": user}
		for key, value := range s.vars {
			if name, variable, ok := strings.Cut(key, "."); ok && name == h.name {
				of[variable] = value
			}
		}
		hosts[h.name] = of
	}
	text, err := json.Marshal(map[string]any{"fleet": map[string]any{"hosts": hosts, "vars": map[string]any{
		"ansible_python_interpreter": "/usr/bin/python3", "ansible_ssh_common_args": "-F " + s.config,
		"linerate_nats": s.nats, "linerate_serve_program": program, "linerate_serve_state": s.state, "linerate_watch_creds": s.who[3],
		"linerate_binaries": map[string]string{"x86_64": s.program(), "aarch64": s.program()},
	}}})
	floor.Must(s.t, err)
	file := filepath.Join(s.path, "inventory.yml") // JSON is YAML
	floor.Must(s.t, os.WriteFile(file, text, 0o600))
	return file
}

func (s *site) program() string {
	if other := s.vars["program"]; other != "" {
		return other
	}
	return program
}

// tally is what Ansible counts of one host.
type tally struct{ changed, unreachable, failed int }

var recap = regexp.MustCompile(`(?m)^(\S+) +: ok=\d+ +changed=(\d+) +unreachable=(\d+) +failed=(\d+)`)

// play runs the playbook of the repository.
func (s *site) play(args ...string) (map[string]tally, said) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := s.atDesk("ansible-playbook", append([]string{"-i", s.inventory(), filepath.Join(deployed, "fleet.yml")}, args...)...)
	cmd.Env = append(cmd.Env, s.more...)
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer stop()
	got := s.finish(cmd)
	all := make(map[string]tally)
	for _, m := range recap.FindAllStringSubmatch(got.out, -1) {
		var c tally
		for i, to := range []*int{&c.changed, &c.unreachable, &c.failed} {
			_, err := fmt.Sscan(m[i+2], to)
			floor.Must(s.t, err)
		}
		all[m[1]] = c
	}
	return all, got
}

// want runs the playbook, and fails the test unless every host came to what is
// wanted of it.
func (s *site) want(what string, want map[string]tally, args ...string) said {
	s.t.Helper()
	begin := time.Now()
	got, output := s.play(args...)
	if !maps.Equal(got, want) {
		s.t.Fatalf("%s: came to %+v, want %+v\n%s%s", what, got, want, output.out, output.err)
	}
	s.t.Logf("%s: %s by Ansible in %.0f s", what, unit.Counted(len(got), "host"), time.Since(begin).Seconds())
	return output
}

// alike wants the same of every host.
func (s *site) alike(w tally) map[string]tally {
	out := make(map[string]tally)
	for _, h := range s.hosts {
		out[h.name] = w
	}
	return out
}

// aToken is any token, wherever it stands.
var aToken = regexp.MustCompile(`linerate1\.[A-Za-z0-9_-]{60,}`)

// ofAnsible are files of Ansible, sudo and systemd, which stay for their next run
// or go with it.
var ofAnsible = regexp.MustCompile(`/\.ansible(/|$)|^/run/(sudo|systemd)(/|$)|^/var/lib/sudo|^/var/(lib|log)/private$|/systemd-private-|^/etc/\.pwd\.lock$`)

// files are the checksums of what is on a host and not of this machine, with
// directories; it fails the test where one of them has a token.
func (h *host) files(t testing.TB) map[string]string {
	t.Helper()
	out := make(map[string]string)
	for _, at := range []string{"/mnt/etc", "/usr/local/bin", "/var/lib", "/var/log", "/var/tmp", "/run", "/root", "/home", "/tmp"} {
		from, name := filepath.Join(h.root, at), strings.TrimPrefix(at, "/mnt") // what is over the machine's /etc
		floor.Must(t, filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			of, sum := name+strings.TrimPrefix(path, from), "directory"
			if d.Type().IsRegular() {
				b, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				if aToken.Match(b) {
					t.Errorf("%s: a token is in %s", h.name, of)
				}
				sum = fmt.Sprintf("%x", sha256.Sum256(b))
			}
			if !ofAnsible.MatchString(of) {
				out[of] = sum
			}
			return nil
		}))
	}
	return out
}

// differ are the names of files that came, went or are others.
func differ(a, b map[string]string) (out []string) {
	for name := range a {
		if a[name] != b[name] {
			out = append(out, name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			out = append(out, name)
		}
	}
	return out
}
