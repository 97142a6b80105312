package changing

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// seed is the proof's, or what is drawn.
func seed(t *testing.T) uint64 {
	t.Helper()
	if n, err := strconv.ParseUint(os.Getenv("PROVE_SEED"), 10, 64); err == nil {
		return n
	}
	return floor.Draw(t)
}

// interrupted presses Ctrl-C at random moments of a change: both hosts are
// as they were then.
func interrupted(t *testing.T) {
	lacp := "mode: 802.3ad, transmit-hash-policy: layer3+4, mii-monitor-interval: 100"
	g := newGround(t, plainPair(), pairFile(bondFile("10.0.0.1/24", lacp, ", mtu: 9000"), bondFile("10.0.0.2/24", lacp, ", mtu: 9000")))
	groups(t, "alpha", "beta")
	before := g.both()
	r := rand.New(rand.NewPCG(seed(t), 8))
	const whole = 9 * time.Second // about what the change takes
	for range 4 {
		after := time.Duration(r.Int64N(int64(whole)))
		self, err := os.Executable()
		floor.Must(t, err)
		cmd := exec.Command(self, "apply", g.file, "--yes", "--journal", g.journal)
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &said
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		floor.Must(t, cmd.Start())
		timer := time.AfterFunc(after, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) })
		err = cmd.Wait()
		timer.Stop()
		var exit *exec.ExitError
		switch {
		case err == nil:
			t.Logf("interrupted after %v: it was through by then", after)
			g.rollbackNewest()
		case !errors.As(err, &exit) || exit.ExitCode() != 130:
			t.Errorf("interrupted after %v: %v, want exit status 130:\n%s", after, err, said.String())
		default:
			t.Logf("interrupted after %v: exit status 130", after)
		}
		g.unchanged(before)
	}
}
