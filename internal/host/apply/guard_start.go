package apply

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/process"
)

// guardEnv is set in a guard's process. A program that does not know the guard
// command, such as a test binary, would run whatever it is for instead, and
// that might start guards again: a guard starts none.
const guardEnv = "LINERATE_GUARD"

// armTimeout is how long a guard may take to start on a busy host.
const armTimeout = 10 * time.Second

// StartGuard starts this program again as
//
//	linerate guard --dir DIR --id ID [--netns NAME] [--detach]
//
// and returns when it is armed. Where systemd runs, that is a transient unit,
// linerate-guard-ID.service: it is in a control group of its own, which no end
// of a session or of another service touches, and systemd starts it again when
// it is killed. Elsewhere, and where that does not work, it is a process in a
// session of its own, without a terminal and in the root directory, whose
// parent is the machine's first process. The guard outlives its starter.
func StartGuard(ctx context.Context, c Config, id string) error {
	if os.Getenv(guardEnv) != "" {
		return errors.New("a guard starts no guard")
	}
	journal := OpenJournal(c.Dir)
	dir, err := filepath.Abs(journal.dir)
	if err != nil {
		return fmt.Errorf("find journal: %w", err)
	}
	args := []string{"guard", "--dir", dir, "--id", id}
	if c.Namespace != "" {
		args = append(args, "--netns", c.Namespace)
	}
	// A unit is in the machine's first namespace: of the others it finds only
	// those that have a name.
	if systemdRuns(ctx) && (c.Namespace != "" || !netns.Inside()) {
		if err = startUnit(ctx, journal, id, args); err == nil || ctx.Err() != nil {
			return err
		}
	}
	if own := startDetached(ctx, journal, id, args); own != nil {
		return errors.Join(own, err)
	}
	return nil
}

// waitArmed waits until the entry's guard says that it is there. ended, which
// may be nil, is asked for a guard that is there no more.
func waitArmed(ctx context.Context, j *Journal, id string, ended func() error) error {
	timeout := time.NewTimer(armTimeout)
	defer timeout.Stop()
	for {
		if g, err := j.readArmed(id); err == nil && g.Alive() {
			return nil
		}
		if ended != nil {
			if err := ended(); err != nil {
				return err
			}
		}
		select {
		case <-timeout.C:
			return fmt.Errorf("guard is not armed after %v", armTimeout)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// errGuardEnded is what is left when the journal was written to just before.
var errGuardEnded = errors.New("guard ended before it was armed: it did not find its journal entry, or could not write its word beside it")

// startDetached starts the guard by a process in between, which ends at once:
// who looks for the children of a process, or of its group, does not find it.
func startDetached(ctx context.Context, j *Journal, id string, args []string) error {
	between := guardCommand(ctx, id, append(args, "--detach"))
	out, err := process.Await(ctx, between.Output)
	if err != nil {
		return fmt.Errorf("in a session of its own: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		return fmt.Errorf("in a session of its own: it said %.80q", out)
	}
	err = waitArmed(ctx, j, id, func() error {
		if _, alive := startTicks(pid); !alive {
			return errGuardEnded
		}
		return nil
	})
	if err != nil {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return err
}

// guardCommand is this very program, also when its file has been replaced or
// removed meanwhile.
func guardCommand(ctx context.Context, id string, args []string) *exec.Cmd {
	self := "/proc/self/exe"
	if _, err := os.Stat(self); err != nil {
		if self, err = os.Executable(); err != nil {
			self = os.Args[0]
		}
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), guardEnv+"="+id)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.WaitDelay = time.Second
	return cmd
}

// Detach starts the guard command itself, with the given arguments, in a
// session of its own, and returns its process id without waiting for it. It is
// what `guard --detach` does before it ends.
func Detach(args []string) (pid int, err error) {
	// No context: the guard must not end with the one that started it.
	cmd := guardCommand(context.Background(), os.Getenv(guardEnv), args)
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start guard: %w", err)
	}
	return cmd.Process.Pid, nil
}

// systemdDir is there where systemd is the machine's first process
// (sd_booted(3)).
const systemdDir = "/run/systemd/system"

// systemctlTimeout bounds each call of systemd's programs.
const systemctlTimeout = 10 * time.Second

// systemdRuns reports whether systemd runs the machine and answers.
func systemdRuns(ctx context.Context) bool {
	if info, err := os.Stat(systemdDir); err != nil || !info.IsDir() {
		return false
	}
	out, err := systemd(ctx, "systemctl", "show", "--property=Version")
	return err == nil && bytes.HasPrefix(out, []byte("Version="))
}

// systemd runs one of systemd's programs.
func systemd(ctx context.Context, program string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, systemctlTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = "/"
	cmd.WaitDelay = time.Second
	out, err := process.Await(ctx, cmd.Output)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("%w: %.200s", err, bytes.TrimSpace(exit.Stderr))
	}
	if err != nil {
		return out, fmt.Errorf("%s: %w", program, err)
	}
	return out, nil
}

// unitName names the guard's unit.
func unitName(id string) string { return "linerate-guard-" + id + ".service" }

// startUnit starts the guard as a transient unit (systemd-run(1)). It has no
// default dependencies, so that it starts also before the machine is all up and
// is among the last to be stopped. Killed, it is started again.
func startUnit(ctx context.Context, j *Journal, id string, args []string) error {
	self, err := ownFile()
	if err != nil {
		return err
	}
	run := []string{
		"--unit=" + unitName(id), "--description=linerate: rolls back change " + id + " unless it is confirmed",
		"--collect", "--quiet", "--no-ask-password", "--setenv=" + guardEnv + "=" + id,
		"--property=DefaultDependencies=no", "--property=KillMode=mixed", "--property=TimeoutStopSec=120",
		"--property=Restart=on-failure", "--property=RestartSec=200ms",
		"--property=StartLimitIntervalSec=60", "--property=StartLimitBurst=20", "--property=OOMScoreAdjust=-900",
		"--", self,
	}
	if _, err = systemd(ctx, "systemd-run", append(run, args...)...); err == nil {
		err = waitArmed(ctx, j, id, nil)
	}
	if err != nil {
		_, _ = systemd(context.WithoutCancel(ctx), "systemctl", "stop", unitName(id))
		return fmt.Errorf("as a unit: %w", err)
	}
	return nil
}
