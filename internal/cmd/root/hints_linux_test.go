package root

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
)

// Attack 17, user A10: a name of the page's own is nobody's.
func TestTokenOfThePagesNames(t *testing.T) {
	for _, args := range [][]string{{"token", "--role", "watch"}, {"login"}} {
		o := run(t, "", append([]string{"serve", "--state", t.TempDir(), "--user", "eve-web"}, args...)...)
		if o.status != console.ExitUsage || !strings.Contains(o.stderr, "the web page asks hosts") || o.stdout != "" {
			t.Errorf("%v: status %d, %s%s", args, o.status, o.stdout, o.stderr)
		}
	}
}

// Code 4.7c, user A10: a token names the server that its state directory is of, and
// the examples of the helps work as they are written.
func TestTokenNamesItsServer(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	state, at := filepath.Join(t.TempDir(), "serve"), freePort(t)
	serve := startWatched(t, "serve", "--state", state, "--listen", at)
	awaitWord(t, serve, regexp.MustCompile(`(ready for tokens)`))
	token := exec.Command("linerate", "serve", "token", "--state", state, "--role", "agent", "--host", "db1")
	enroll := exec.Command("linerate", "enroll", "--dir", t.TempDir(), "-")
	var noted strings.Builder
	token.Stderr = &noted
	out, err := token.Output()
	if err != nil || !strings.Contains(noted.String(), "good on this machine only") {
		t.Fatalf("%v: %s", err, noted.String())
	}
	enroll.Stdin = strings.NewReader(string(out))
	if said, err := enroll.CombinedOutput(); err != nil || !strings.Contains(string(said), "db1 is enrolled as agent") {
		t.Errorf("%v: %s", err, said)
	}
	// Another server cannot have the port, and says it in a line.
	o := run(t, "", "serve", "--state", filepath.Join(t.TempDir(), "serve"), "--listen", at)
	if o.status == console.ExitDone || !strings.Contains(o.stderr, "serve on "+at+": another program has the port\nhint: ") || strings.Contains(o.stderr, "linerate: start NATS") {
		t.Errorf("a taken port: status %d, %s", o.status, o.stderr)
	}

	conf := filepath.Join(state, "server.conf")
	text, err := os.ReadFile(conf)
	if err != nil {
		t.Fatal(err)
	}
	everywhere := strings.Replace(string(text), at, "0.0.0.0:"+strings.Split(at, ":")[1], 1)
	if err := os.WriteFile(conf, []byte(everywhere), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"serve", "token", "--state", state, "--role", "agent", "--host", "db2"}
	if o := run(t, "", args...); o.status != console.ExitUsage || !strings.Contains(o.stderr, "--nats tls://"+console.ThisHost()+":"+strings.Split(at, ":")[1]) {
		t.Errorf("a server of every address: status %d, %s%s", o.status, o.stdout, o.stderr)
	}
	if err := os.Remove(conf); err != nil {
		t.Fatal(err)
	}
	if o := run(t, "", args...); o.status != console.ExitUsage || !strings.Contains(o.stderr, "--nats") {
		t.Errorf("a server that was never started: status %d, %s%s", o.status, o.stdout, o.stderr)
	}
	if o := run(t, "", append(args, "--nats", "tls://192.0.2.1:4222")...); o.status != console.ExitDone || o.stderr != "" {
		t.Errorf("--nats: status %d, %s", o.status, o.stderr)
	}
}

// freePort is an address of loopback that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// User A10, A13: what is hinted at can be typed.
func TestHintsOfTargets(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	for arg, want := range map[string]string{
		"root@h:22": "ssh://user@host:port", "db1": "write ssh://root@db1,",
	} {
		if o := run(t, "", "discover", arg); o.status != console.ExitUsage || !strings.Contains(o.stderr, want) {
			t.Errorf("discover %s: status %d, %s", arg, o.status, o.stderr)
		}
	}
	if os.Geteuid() == 0 {
		if _, err := os.Stat("/etc/linerate"); err == nil {
			t.Skip("this machine is enrolled")
		}
	}
	for _, args := range [][]string{{"measure", "nats:db1", "nats:db2"}, {"inspect", "nats:db1"}, {"inspect", "nats:db1", "--nats", "tls://127.0.0.1:1"}} {
		if o := run(t, "", args...); o.status != console.ExitUnreachable || !strings.Contains(o.stderr, "no user is enrolled here") || strings.Contains(o.stderr, "must run on the host") {
			t.Errorf("%v: status %d, %s", args, o.status, o.stderr)
		}
	}
}

// User A13: two hosts without a scheme are taken for servers, and the hint says how
// to name hosts; a pair fails for its own reason.
func TestBareHostsHint(t *testing.T) {
	o := run(t, "", "measure", "127.0.0.2:1", "127.0.0.3:1", "--streams", "1", "--directions", "forward", "--ping-count", "1", "--no-loaded-latency")
	if o.status != console.ExitUnreachable || !strings.Contains(o.stderr, "linerate measure ssh://root@127.0.0.2:1 ssh://root@127.0.0.3:1") {
		t.Errorf("status %d, %s", o.status, o.stderr)
	}
	text := strings.Join(strings.Fields(o.stderr), " ")
	if !strings.Contains(text, "127.0.0.3:1 forward, 1 stream: not measured, as "+console.ThisHost()+" to 127.0.0.2:1 failed") {
		t.Errorf("the second pair fails with: %s", o.stderr)
	}
}

// User A13: a kernel that nobody named is no host called (none).
func TestUnnamedHost(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("naming a machine in a namespace of its own needs root")
	}
	out, err := exec.Command("unshare", "--uts", "sh", "-c", `echo "(none)" >/proc/sys/kernel/hostname && linerate inspect`).Output()
	if err != nil || !strings.HasPrefix(string(out), "localhost: ") {
		t.Errorf("%v: %.80s", err, out)
	}
}
