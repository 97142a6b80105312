package apply

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestSystemdStays: a systemctl that does not even end when it is killed, frozen or waiting
// for a disk, keeps no change waiting: the guard is started without it.
func TestSystemdStays(t *testing.T) {
	stop, _ := frozen("freezer", "freezer.state", "FROZEN", "THAWED")(t)
	dir := t.TempDir()
	pid := filepath.Join(dir, "pid")
	if err := os.WriteFile(filepath.Join(dir, "systemctl"), []byte("#!/bin/sh\necho $$ >"+pid+".new; mv "+pid+".new "+pid+"\nexec sleep 60\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	ctx, cancel := context.WithCancel(t.Context())
	said := make(chan error, 1)
	go func() {
		_, err := systemd(ctx, "systemctl", "show")
		said <- err
	}()
	waitFor(t, "systemctl to run", func() bool { _, err := os.Stat(pid); return err == nil })
	number, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	program, err := strconv.Atoi(strings.TrimSpace(string(number)))
	if err == nil {
		err = stop(program)
	}
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	select {
	case err := <-said:
		if err == nil || !strings.Contains(err.Error(), "does not end") || errors.Is(err, context.Canceled) {
			t.Errorf("it says: %v", err)
		}
	case <-time.After(15 * time.Second):
		t.Error("systemctl is waited for still")
	}
}
