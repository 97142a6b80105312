package lab

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/guest"
	"github.com/linerate/linerate/internal/lab/scenario"
)

// Place is the user's word on where a lab stands.
type Place struct {
	backEnd, kernel string
	// needs are what the lab needs of its kernel, besides what each does.
	needs []scenario.Feature
	// wants are what it can do without, though not whole.
	wants []scenario.Feature
}

// AddFlags adds the flags that say where a lab is built.
func (p *Place) AddFlags(c *cobra.Command) {
	c.Flags().StringVar(&p.backEnd, "back-end", "auto", "auto, host (namespaces), uml (a kernel of its own)\nor qemu (emulated)")
	c.Flags().StringVar(&p.kernel, "kernel", "", "series of the emulated kernel, such as 5.10\n(without: the newest there is)")
}

func (p Place) choose() (lab.Choice, error) {
	want, err := lab.ParseBackEnd(p.backEnd)
	switch {
	case err != nil:
		return lab.Choice{}, console.BadUsage(err.Error(), "")
	case p.kernel == "":
		return lab.ChooseFor(want, p.needs)
	case want != lab.Auto && want != lab.QEMU:
		return lab.Choice{}, console.BadUsage(fmt.Sprintf("--kernel %s: back end %s has one kernel only", p.kernel, want), "leave --back-end out, or say --back-end qemu")
	}
	return lab.ChooseKernel(p.kernel)
}

// inLab runs f where a lab can be built: here, or, in a lab kernel, this
// program again with the arguments of cmd. Writable are directories outside
// the working directory that it writes to.
func Inside(ctx context.Context, con *console.Console, place Place, cmd guest.Command, f func(lab.Choice) error) error {
	choice, err := place.choose()
	if err != nil {
		return err
	}
	cmd.Modules = append(cmd.Modules, lab.Modules(slices.Concat(place.needs, place.wants))...)
	if cmd.Dir, err = os.Getwd(); err != nil {
		return fmt.Errorf("find working directory: %w", err)
	}
	cmd.Env = []string{fmt.Sprintf("COLUMNS=%d", con.Width())}
	if con.Terminal {
		cmd.Env = append(cmd.Env, console.EnvTerminal+"="+con.Live.Size())
	}
	if con.Plain {
		cmd.Env = append(cmd.Env, "NO_COLOR=1")
	}
	cmd.Stdout, cmd.Stderr, cmd.Logger = console.Bare(con.Stdout), console.Bare(con.Stderr), con.Logger()
	exit, entered, err := lab.Enter(ctx, choice, cmd)
	if !entered {
		return f(choice)
	}
	if err != nil && exit.Status != console.ExitInterrupted { // that one has said so itself
		return err
	}
	if exit.Status != 0 {
		return console.StatusError(exit.Status)
	}
	return nil
}

// filesOf are the files that a command line names: its program, and arguments
// that are regular files. A kernel that does not see the host's files is
// given them.
func filesOf(args []string) (files []string) {
	for i, arg := range args {
		path := arg
		if found, err := exec.LookPath(arg); i == 0 && err == nil {
			path = found
		}
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if path, err = filepath.Abs(path); err == nil {
			files = append(files, path)
		}
	}
	return files
}

// Outside names a directory for results when it is not in the working
// directory, which a lab kernel can write to anyway.
func Outside(dir string) ([]string, error) {
	if filepath.IsLocal(dir) {
		return nil, nil
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", dir, err)
	}
	return []string{path}, nil
}
