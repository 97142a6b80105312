package overssh

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/nats/testcluster"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// busAt is where the desk serves NATS: agents reach it over the same cables.
const busAt = "10.97.0.254:4222"

// Where a host has what its agent is run from, and what it writes.
const (
	agentProgram = "/usr/local/bin/linerate"
	agentDir     = "/var/lib/linerate"
)

// onBus is a rack whose desk runs `linerate serve`, with identities for its hosts
// and for eve, who measures.
type onBus struct {
	r          *rack
	state, eve string
}

// serve serves NATS at the desk until the test ends.
func (r *rack) serve(t *testing.T) *onBus {
	t.Helper()
	b := &onBus{r: r, state: filepath.Join(r.path, "serve"), eve: filepath.Join(r.path, "eve")}
	b.start(t, "serve", "--listen", busAt)
	enroll := b.desk("enroll", "-", "--dir", b.eve)
	b.enroll(t, enroll, "--role", "measure", "--user", "eve")
	return b
}

// start runs the server at the desk, as it is typed, until the test ends.
func (b *onBus) start(t *testing.T, typed ...string) {
	t.Helper()
	cmd := b.desk(append(typed, "--state", b.state)...)
	var log testcluster.Text
	cmd.Stderr = &log
	floor.Must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	awaitWord(t, &log, "ready for tokens")
}

// desk is the program in the desk's namespace.
func (b *onBus) desk(args ...string) *exec.Cmd {
	cmd := exec.Command("nsenter", append([]string{"--net=/run/netns/" + b.r.desk.NS.Name, program}, args...)...)
	cmd.Env, cmd.Dir = b.r.env(), b.r.path
	return cmd
}

// enroll gives whoever cmd enrols an identity, by a token of its own.
func (b *onBus) enroll(t *testing.T, cmd *exec.Cmd, who ...string) {
	t.Helper()
	token, err := b.desk(append([]string{"serve", "token", "--state", b.state, "--nats", "tls://" + busAt}, who...)...).Output()
	floor.Must(t, err)
	cmd.Stdin = strings.NewReader(string(token))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("enroll %q: %v\n%s", who, err, out)
	}
}

// agents enrols every host and runs an agent on each until end is called, which
// leaves nothing of them behind.
func (b *onBus) agents(t *testing.T) (end func()) {
	t.Helper()
	var ends []func()
	for _, h := range b.r.hosts {
		floor.Must(t, copyFile(program, filepath.Join(h.root, agentProgram)))
		id := filepath.Join(agentDir, "identity")
		b.enroll(t, h.run("enroll", "-", "--dir", id), "--role", "agent", "--host", h.name, "--replace")
		ends = append(ends, h.agent(t, "--creds", filepath.Join(id, "nats.creds")))
	}
	return func() {
		for _, e := range ends {
			e()
		}
		for _, h := range b.r.hosts {
			floor.Must(t, os.Remove(filepath.Join(h.root, agentProgram)))
			floor.Must(t, os.RemoveAll(filepath.Join(h.root, agentDir)))
		}
	}
}

// run is the program on the host, in all its namespaces.
func (h *host) run(args ...string) *exec.Cmd {
	return exec.Command("nsenter", append([]string{"--target", strconv.Itoa(h.pid), "--all", agentProgram}, args...)...)
}

// agent runs the host's agent until end is called.
func (h *host) agent(t *testing.T, args ...string) (end func()) {
	t.Helper()
	cmd := h.run(append([]string{"agent", "--nats", "tls://" + busAt, "--most", "measure", "--audit-log", agentDir + "/audit.log"}, args...)...)
	var log testcluster.Text
	cmd.Stderr = &log
	floor.Must(t, cmd.Start())
	awaitWord(t, &log, "msg=answering host="+h.name)
	return func() {
		// nsenter waits for the agent and hands no signal on.
		floor.Must(t, syscall.Kill(childOf(cmd.Process.Pid), syscall.SIGTERM))
		if err := cmd.Wait(); err != nil {
			t.Errorf("agent of %s: %v\n%s", h.name, err, log.String())
		}
	}
}

// awaitWord waits until a log has a word.
func awaitWord(t *testing.T, log *testcluster.Text, word string) {
	t.Helper()
	for range 1500 {
		if strings.Contains(log.String(), word) {
			return
		}
		floor.Pause()
	}
	t.Fatalf("in 30 s it does not say %q:\n%s", word, log.String())
}

// measure measures at the desk as eve.
func (b *onBus) measure(args ...string) said {
	b.r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	args = append(args, "--nats", "tls://"+busAt, "--creds", filepath.Join(b.eve, "nats.creds"))
	cmd := exec.CommandContext(ctx, "nsenter", append([]string{"--net=/run/netns/" + b.r.desk.NS.Name, program}, args...)...)
	cmd.Env, cmd.Dir = b.r.env(), b.r.path
	return b.r.finish(cmd)
}

// byBus is how a host is reached over NATS.
func byBus(i int) string { return fmt.Sprintf("{reach: \"nats:h%d\"", i) }

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	defer out.Close()
	_, err = io.Copy(out, in)
	return err
}
