// Package pipe is what a controller starts on a host by ssh, and what that starts in
// turn: an agent on standard input and output, the guard of each change, and what
// boot runs. linerate and linerate-agent are both it, so it must not import what only
// a controller needs.
package pipe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/signal"
	"syscall"

	"github.com/linerate/linerate/internal/agent"
	"github.com/linerate/linerate/internal/host/apply"
	"github.com/linerate/linerate/internal/kernel/act"
	"github.com/linerate/linerate/internal/kernel/netns"
)

// Answer answers a controller on in and out. as is this agent among those that run
// the program from a directory that it was copied into: the directory goes with
// the last of them, and of the guards that they left. "" leaves it alone.
func Answer(ctx context.Context, cfg agent.Config, as string, in io.Reader, out io.Writer) error {
	if own := apply.OwnTransient(); as != "" && own != "" {
		if err := own.Use(as); err != nil {
			return err
		}
		// The shell's own mark stays beside it until then: who looks for marks while
		// one takes the place of the other may see neither.
		defer own.Leave(as, as+".start")
		cfg.StartGuard = func(ctx context.Context, c apply.Config, id string) error {
			if err := own.Use("guard." + id); err != nil {
				return err
			}
			err := apply.StartGuard(ctx, c, id)
			if err != nil {
				own.Leave("guard." + id)
			}
			return err
		}
	}
	return agent.New(cfg).Serve(ctx, in, out)
}

// Guard is the dead man of a change, as apply.StartGuard starts it.
type Guard struct {
	Dir, ID   string // of the journal entry
	Namespace string // network namespace; "" is the program's own
	// Detach starts it in a session of its own, says its process id and ends.
	Detach bool
	Log    *slog.Logger // nil is silence
}

// Run rolls the change back unless it is confirmed in time.
func (g Guard) Run(ctx context.Context, out io.Writer) error {
	if g.Detach {
		args := []string{"guard", "--dir", g.Dir, "--id", g.ID}
		if g.Namespace != "" {
			args = append(args, "--netns", g.Namespace)
		}
		pid, err := apply.Detach(args)
		if err == nil {
			_, err = fmt.Fprintln(out, pid)
		}
		return err
	}
	// It must outlive the terminal and the program that started it; asked to end,
	// it rolls the change back at once.
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE)
	cfg := apply.Config{Kernel: act.Kernel{}, Dir: g.Dir, Namespace: g.Namespace, Log: g.Log}
	defer apply.OwnTransient().Leave("guard." + g.ID)
	return netns.Named(g.Namespace).Do(func() error { return apply.Guard(ctx, cfg, g.ID) })
}

// Recover ends the changes that a reboot interrupted, and says on out what became
// of each. dir is the journal's; "" is the default.
func Recover(ctx context.Context, dir string, log *slog.Logger, out io.Writer) error {
	a, err := apply.New(apply.Config{Kernel: act.Kernel{}, Dir: dir, Log: log})
	if err != nil {
		return err
	}
	ended, err := a.RecoverBoot(ctx)
	for _, r := range ended.Results {
		fmt.Fprintf(out, "change %s: %s\n", r.ID, r.State)
	}
	for _, p := range ended.Problems {
		err = errors.Join(err, p)
	}
	return err
}
