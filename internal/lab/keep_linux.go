package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/host/apply"
	"github.com/linerate/linerate/internal/lab/guest"
)

// envKernelDir tells a keeper the directory of an emulated lab's kernel.
const envKernelDir = "LINERATE_LAB_KERNEL_DIR"

// standsWord is what the guest's command says when the network stands; its
// kernel's release follows.
const standsWord = "stands "

// Stand builds a blueprint in a lab kernel, says so on w and keeps it until ctx
// ends.
func Stand(ctx context.Context, b Blueprint, w io.Writer) error {
	down, err := b.Up(ctx)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%s%s\n", standsWord, os.Getenv(guest.EnvGuest)); err == nil {
		<-ctx.Done()
	}
	return down()
}

// Keep is the life of a lab's keeper: it boots the lab's kernel, passes the
// commands of `lab exec` in, and ends with ctx, with the kernel, or when the
// lab's directory is gone. It leaves the directory, with the reason in it.
func Keep(ctx context.Context, name, id string) error {
	s, err := Find(name)
	if err == nil && s.ID != id {
		err = fmt.Errorf("keep lab %s: another has its name", name)
	}
	if err != nil {
		return err
	}
	k := &keeper{lab: s}
	k.lab.Keeper = apply.CurrentOwner()
	if err = k.lab.save(); err == nil {
		err = k.run(ctx)
	}
	if errors.Is(err, guest.ErrCut) {
		err = errors.New("it was ended by a signal")
	}
	k.lab.Failed = oneLine(err)
	if k.there() {
		_ = k.lab.save()
	}
	return err
}

// keeper is a lab as its keeper has it.
type keeper struct {
	lab  Standing
	said bytes.Buffer // by the guest's command, on standard error
}

// there reports whether the directory is still this lab's.
func (k *keeper) there() bool {
	now, err := Find(k.lab.Name)
	return err == nil && now.ID == k.lab.ID
}

// run always returns an error: a lab does not end by itself.
func (k *keeper) run(ctx context.Context) error {
	orders := filepath.Join(k.lab.dir, "kernel")
	if err := os.Mkdir(orders, 0o700); err != nil {
		return err
	}
	calls, err := guest.Listen(k.lab.dir)
	if err != nil {
		return err
	}
	defer calls.Close()
	blueprint, err := k.lab.Net.encode()
	if err != nil {
		return err
	}
	cut := make(chan struct{})
	go k.watch(ctx, cut)
	choice := Choice{BackEnd: k.lab.BackEnd, Why: k.lab.Why, Kernel: os.Getenv(envKernelDir)}
	var booted error
	exit, err := guest.Run(context.WithoutCancel(ctx), choice.inKernel(guest.Command{
		Args: []string{"lab", "stand", blueprint}, Calls: calls, Orders: orders, Cut: cut,
		Started: func(pid int) {
			k.lab.Machine = apply.OwnerOf(pid)
			booted = k.lab.save()
		},
		Stdout: k, Stderr: &k.said,
	}))
	switch {
	case booted != nil:
		return booted
	case err != nil:
		return err
	}
	return fmt.Errorf("its kernel went down: %s (exit status %d)", bytes.TrimSpace(k.said.Bytes()), exit.Status)
}

// Write hears the guest's command: its only word is that the network stands.
func (k *keeper) Write(p []byte) (int, error) {
	if release, ok := strings.CutPrefix(string(p), standsWord); ok {
		k.lab.Up, k.lab.Release = true, strings.TrimSpace(release)
		if err := k.lab.save(); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// watch cuts the kernel off when ctx ends or the directory goes.
func (k *keeper) watch(ctx context.Context, cut chan<- struct{}) {
	defer close(cut)
	look := time.NewTicker(time.Second)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
			if !k.there() {
				return
			}
		}
	}
}
