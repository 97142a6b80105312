//go:build unix

package fleet

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestControl: a run has its sockets to itself, unless the user shares
// connections already.
func TestControl(t *testing.T) {
	ssh, err := exec.LookPath("ssh")
	if err != nil {
		t.Skip("there is no ssh")
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "config")
	write := func(path, text string, mode os.FileMode) {
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write(config, "Host theirs\n  ControlMaster auto\n  ControlPath ~/.ssh/%C\nHost off\n  ControlPath none\n", 0o600)
	write(filepath.Join(dir, "ssh"), fmt.Sprintf("#!/bin/sh\nexec %s -F %s \"$@\"\n", ssh, config), 0o755)
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	for host, ours := range map[string]bool{"theirs": false, "off": true, "any": true} {
		s := &SSH{}
		args := s.control(t.Context(), sshReach{host: host})
		if !ours {
			if len(args) > 0 || s.own != "" {
				t.Errorf("%s: %q over the user's own", host, args)
			}
			continue
		}
		info, err := os.Stat(s.own)
		if !slices.Contains(args, "ControlMaster=auto") || !slices.Contains(args, "ControlPersist="+persist) || err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %q in %v, %v", host, args, info, err)
		}
		own := s.own
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if _, err := os.Stat(own); !os.IsNotExist(err) {
			t.Errorf("%s is left", own)
		}
	}
}

// A directory for temporary files with a long name holds no sockets.
func TestControlInALongDirectory(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 100))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	s := &SSH{Dir: long}
	if !s.make() || len(s.own) > longestDir {
		t.Errorf("sockets in %q", s.own)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(long); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
