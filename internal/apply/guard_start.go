package apply

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// guardEnv is set in a guard's process. A program that does not know the guard
// command, such as a test binary, would run whatever it is for instead, and
// that might start guards again: a guard starts none.
const guardEnv = "LINERATE_GUARD"

// armTimeout is how long a guard may take to start on a busy host.
const armTimeout = 10 * time.Second

// StartGuard starts this program again as
//
//	linerate guard --dir DIR --id ID [--netns NAME]
//
// in a session of its own, without a terminal and in the root directory, and
// returns when it is armed. The guard outlives its starter. One goroutine
// waits for it and ends with it.
func StartGuard(ctx context.Context, c Config, id string) error {
	if os.Getenv(guardEnv) != "" {
		return errors.New("a guard starts no guard")
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find own program: %w", err)
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
	// No context: the guard must not end with the call that started it.
	cmd := exec.Command(self, args...)
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), guardEnv+"="+id)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	timeout := time.NewTimer(armTimeout)
	defer timeout.Stop()
	for {
		if g, err := journal.readArmed(id); err == nil && g.PID == cmd.Process.Pid {
			return nil
		}
		select {
		case err := <-ended:
			return fmt.Errorf("guard ended before it was armed: %w", errors.Join(err, errGuardEnded))
		case <-timeout.C:
			_ = cmd.Process.Kill()
			return fmt.Errorf("guard is not armed after %v", armTimeout)
		case <-ctx.Done():
			_ = cmd.Process.Kill()
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

var errGuardEnded = errors.New("no journal entry to look after, or the journal cannot be written")
