package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/host/apply"
	"github.com/linerate/linerate/internal/kernel/act"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/plan"
)

// jobCommand is the test binary's word for one job on a host, in a process of
// its own.
const jobCommand = "crash-job"

// job is what a process does, and where it dies by kill -9. Counts are from 1;
// zero is never.
type job struct {
	Op        string // "apply", "confirm", "rollback", "recover", tuneOp, undoOp
	Dir       string
	Space     string // network namespace
	Root      string // of configuration files
	Plan      plan.Plan
	Plans     []plan.Plan // of a tune, one after the other
	Guard     bool
	Deadline  time.Duration
	Temporary bool
	// DieAfter is after which change of the kernel, DieBefore before which,
	// DieMoment at which write to the disk.
	DieAfter, DieBefore, DieMoment int
	// HoldAfter stops after a change until somebody kills the process.
	HoldAfter int
	// HoldEnd stops at the end of the operation, the process alive.
	HoldEnd bool
	// Fill fills the disk of a directory at that moment.
	FillMoment int
	Fill       string
}

// outcome is what a job prints when it comes to its end.
type outcome struct {
	ID         string
	State      agentapi.ChangeState
	Left       []string
	Err        string
	Locked     bool // ErrLocked or ErrPending
	Gone       bool // fs.ErrNotExist: no such entry
	Moment     int  // how many there were
	RolledBack bool // a StepError, all taken back
}

func jobMain(text string) int {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	var out outcome
	err := netns.Named(j.Space).Do(func() error { return j.do(&out) })
	if err != nil {
		out.Err = err.Error()
		out.Locked = errors.Is(err, apply.ErrLocked) || errors.Is(err, apply.ErrPending)
		out.Gone = errors.Is(err, fs.ErrNotExist)
		var step *apply.StepError
		out.RolledBack = errors.As(err, &step) && step.RolledBack
	}
	b, _ := json.Marshal(out)
	fmt.Println(string(b))
	if j.HoldEnd {
		select {}
	}
	return 0
}

func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func (j job) do(out *outcome) error {
	c := apply.Config{Kernel: &counted{job: j}, Dir: j.Dir, Namespace: j.Space, Root: j.Root, Moment: func() {
		out.Moment++
		if out.Moment == j.FillMoment {
			_ = fill(j.Fill)
		}
		if out.Moment == j.DieMoment {
			die()
		}
	}}
	if j.Guard {
		c.StartGuard = apply.StartGuard
	}
	a, err := apply.New(c)
	if err != nil {
		return err
	}
	ctx := context.Background()
	var r apply.Result
	switch j.Op {
	case "apply":
		r, err = a.Apply(ctx, j.Plan, apply.Options{Deadline: j.Deadline, Temporary: j.Temporary})
	case "confirm":
		err = a.Confirm(ctx, "")
	case "rollback":
		entries, _, listErr := a.List()
		if listErr != nil || len(entries) == 0 {
			return errors.Join(listErr, errors.New("nothing to roll back"))
		}
		r, err = a.Rollback(ctx, entries[len(entries)-1].ID)
	case tuneOp:
		err = j.tuneRun(ctx, a)
	case undoOp:
		err = undoRun(ctx, a)
	case "recover":
		_, err = a.Recover(ctx)
	case "recover-boot":
		_, err = a.RecoverBoot(ctx)
	}
	out.ID, out.State, out.Left = r.ID, r.State, r.Left
	return err
}

// counted is the kernel, and dies at its job's moment.
type counted struct {
	act.Kernel
	job job
	n   int
}

func (k *counted) Do(ctx context.Context, s plan.Step) error {
	k.n++
	if k.n == k.job.DieBefore {
		die()
	}
	err := k.Kernel.Do(ctx, s)
	if k.n == k.job.DieAfter {
		die()
	}
	if k.n == k.job.HoldAfter {
		fmt.Println("held")
		select {}
	}
	return err
}

// fillName is the file that fills a disk.
const fillName = "filler"

// fill leaves no room on the disk of a directory.
func fill(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, fillName), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	for size := 1 << 20; size > 0; size /= 2 {
		for err == nil {
			_, err = f.Write(make([]byte, size))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			return err
		}
		err = nil
	}
	return nil
}

// spoken is what a process says, to be read while it speaks.
type spoken struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *spoken) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *spoken) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// start starts a job's process in a session of its own.
func (j job) start(t *testing.T) (*exec.Cmd, *spoken) {
	t.Helper()
	b, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self(t), jobCommand, string(b))
	out := &spoken{}
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out
}

// run runs a job to its end; killed says that it died of kill -9.
func (j job) run(t *testing.T) (out outcome, killed bool) {
	t.Helper()
	cmd, text := j.start(t)
	err := cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return out, true
	}
	if err != nil {
		t.Fatalf("%s: %v", j.Op, err)
	}
	if err := json.Unmarshal([]byte(text.String()), &out); err != nil {
		t.Fatalf("%s said %q: %v", j.Op, text, err)
	}
	return out, false
}
