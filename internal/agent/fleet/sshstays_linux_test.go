package fleet

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/switchwatch/cli"
)

// An ssh that is frozen, as one that waits for a disk that does not answer, stays when it
// is killed. Whoever waits for it hears so, and goes on.
func TestSSHStays(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	const answer = 500 * time.Millisecond
	place := &SSH{Dir: t.TempDir(), most: &sshLimits{answer: answer, all: 2 * answer, bytes: 1 << 20, words: 64, rate: 1 << 20}}
	freeze := `echo $$ >"$GROUP/cgroup.procs"; echo FROZEN >"$GROUP/freezer.state"; sleep 60`
	for name, c := range map[string]struct {
		ssh string
		do  func() error
		say string
	}{
		"while the host is reached": {"case $* in *-G*) exit;; esac; " + freeze, func() error {
			_, err := Dial(t.Context(), "h", "ssh://h.invalid", Config{SSH: place})
			return err
		}, "its shell did not answer"},
		"asked for the user's configuration": {"case $* in *-G*) " + freeze + ";; esac; exit 255", func() error {
			_, err := Dial(t.Context(), "h", "ssh://h.invalid", Config{SSH: place})
			return err
		}, "ssh ended without a word"},
		"its own program outlives it": {"case $* in *-G*) sleep 60 & exit;; esac; exit 255", func() error {
			_, err := Dial(t.Context(), "h", "ssh://h.invalid", Config{SSH: place})
			return err
		}, "ssh ended without a word"},
		"while a switch is asked": {"case $* in *-G*) exit;; esac; " + freeze, func() error {
			_, err := place.Show(t.Context(), "ssh://h.invalid", cli.Command{})
			return err
		}, "it was killed and does not end"},
		"at the end of a connection": {freeze, func() error {
			p, err := startSSH(nil, place.limits())
			if err != nil {
				return err
			}
			_ = p.in.Close()
			return p.end()
		}, "it was killed and does not end"},
		"at the end of a run": {"case $* in *exit*) " + freeze + ";; esac; exit 255", func() error {
			s := &SSH{Dir: place.Dir}
			s.control(t.Context(), sshReach{host: "h.invalid"})
			return errors.Join(s.Close(), errors.New("over"))
		}, "over"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			group := frozenGroup(t)
			if err := os.WriteFile(filepath.Join(dir, "ssh"), []byte("#!/bin/sh\n"+c.ssh+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			t.Setenv("GROUP", group)
			t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
			said := make(chan error, 1)
			go func() { said <- c.do() }()
			select {
			case err := <-said:
				if !strings.Contains(fmt.Sprint(err), c.say) {
					t.Errorf("it says: %v", err)
				}
			case <-time.After(40 * time.Second):
				t.Error("it waits still after 40 s")
			}
		})
	}
}

// frozenGroup is a control group of version 1, thawed and removed with the test.
func frozenGroup(t *testing.T) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("making a control group needs root")
	}
	dir := filepath.Join("/sys/fs/cgroup/freezer", fmt.Sprintf("linerate-test-ssh-%d", os.Getpid()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skip("no version 1 of the freezer here")
	}
	t.Cleanup(func() {
		if err := os.WriteFile(filepath.Join(dir, "freezer.state"), []byte("THAWED"), 0o644); err != nil {
			t.Error(err)
		}
		for end := time.Now().Add(10 * time.Second); os.Remove(dir) != nil; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Error("the control group stays")
				return
			}
		}
	})
	return dir
}
