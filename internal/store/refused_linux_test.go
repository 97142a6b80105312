package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
)

// refusals are what a database may answer besides yes.
func refusals(t *testing.T, c *cluster) {
	c.sql(t, "CREATE ROLE reader LOGIN")
	kept := c.database(t)
	s := open(t, kept)
	at := day0
	mustAdd(t, s, recordOf(at, trialOf(flow.Forward, 1, at, 5e8)), New)
	execute(t, kept, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
	reader := strings.Replace(kept, "linerate@", "reader@", 1)
	server, err := url.Parse(c.url)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		place string
		want  error
	}{
		"nobody listens":    {fmt.Sprintf("postgres://linerate:geheim@127.0.0.1:%d/x", freePort(t)), ErrUnreachable},
		"no such host":      {"postgres://linerate:geheim@linerate.invalid/x", ErrUnreachable},
		"no such database":  {c.url + "none", ErrUnreachable},
		"no such role":      {"postgres://nobody:geheim@" + server.Host + "/postgres", ErrUnreachable},
		"may not make it":   {strings.Replace(c.database(t), "linerate@", "reader@", 1), fs.ErrPermission},
		"no URL":            {"postgres://linerate:geheim@127.0.0.1:99999/x", ErrURL},
		"unknown parameter": {"postgres://linerate:geheim@127.0.0.1/x?sslmode=perhaps", ErrURL},
	} {
		begin := time.Now()
		_, err := Open(context.Background(), Config{Place: tt.place, Create: true})
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
		if err != nil && (strings.Contains(err.Error(), "geheim") || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: %q", name, err)
		}
		if took := time.Since(begin); took > 2*connecting {
			t.Errorf("%s: took %v", name, took)
		}
		t.Logf("%s: %v", name, err)
	}
	// A role that may only read reads.
	r, err := Open(context.Background(), Config{Place: reader})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, all, err := r.Runs(context.Background(), Span{}, 0); err != nil || all != 1 {
		t.Errorf("%d runs, %v", all, err)
	}
	if _, err := r.Add(context.Background(), recordOf(at.Add(1), trialOf(flow.Forward, 1, at, 5e8)), nil); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a reader writes: %v", err)
	}
	// Connections that the server ended are made anew.
	c.sql(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname IS NOT NULL")
	if _, _, err := s.Runs(context.Background(), Span{}, 0); err != nil {
		if _, _, err := s.Runs(context.Background(), Span{}, 0); err != nil {
			t.Errorf("after the connection was lost: %v", err)
		}
	}
}

// TestFilesRefused: what is no store of ours is named, left alone, and one line.
func TestFilesRefused(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	whole := filepath.Join(dir, "whole.db")
	s := open(t, whole)
	for i := range 50 {
		at := day0.AddDate(0, 0, i)
		mustAdd(t, s, recordOf(at, trialOf(flow.Forward, 1, at, 5e8)), New)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "other.db")
	execute(t, other, "CREATE TABLE songs (title TEXT)")
	scribbled := append([]byte(nil), content...)
	for i := 100; i < len(scribbled); i++ {
		scribbled[i] ^= 0x5a
	}
	for name, place := range map[string]string{
		"a text": file("text", []byte("linerate: v1\nhosts: and much more than the hundred bytes that a database begins with, so that it is read as one\n")), "scribbled on": file("scribbled", scribbled),
		"cut": file("cut", content[:len(content)/3]), "another program's": other, "a directory": dir, "a device": "/dev/null",
	} {
		before, _ := os.ReadFile(place)
		s, err := Open(context.Background(), Config{Place: place, Create: true})
		if err == nil { // the damage is further on
			_, _, err = s.Runs(context.Background(), Span{}, 0)
			if err == nil {
				_, err = s.Lines(context.Background(), Query{From: "alpha", To: "beta"})
			}
			_ = s.Close()
		}
		if !errors.Is(err, ErrNotStore) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
		if after, _ := os.ReadFile(place); string(after) != string(before) {
			t.Errorf("%s: was changed", name)
		}
		t.Logf("%s: %v", name, err)
	}
	odd := filepath.Join(dir, "a b?mode=memory#c%20d", "history.db")
	mustAdd(t, open(t, odd), recordOf(day0), New)
	if _, err := os.Stat(odd); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestReadOnlyFile: root may write everything, so another user tries.
func TestReadOnlyFile(t *testing.T) {
	if place := os.Getenv("LINERATE_TEST_READONLY"); place != "" {
		s, err := Open(context.Background(), Config{Place: place, Create: true})
		if err == nil {
			_, err = s.Add(context.Background(), recordOf(day0.Add(time.Hour)), nil)
		}
		if !errors.Is(err, fs.ErrPermission) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v", err)
		}
		t.Logf("%v", err)
		return
	}
	dir, err := os.MkdirTemp("", "linerate-readonly-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	place := filepath.Join(dir, "history.db")
	mustAdd(t, open(t, place), recordOf(day0), New)
	for path, mode := range map[string]fs.FileMode{place: 0o444, dir: 0o555} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	self := filepath.Join(t.TempDir(), "test") // where the other user can run it
	program, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = os.WriteFile(self, program, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	for up := filepath.Dir(self); up != os.TempDir() && up != "/"; up = filepath.Dir(up) {
		_ = os.Chmod(up, 0o755)
	}
	as, err := unprivileged(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{place, filepath.Join(dir, "new", "history.db")} {
		cmd := exec.Command(self, "-test.run", "^TestReadOnlyFile$", "-test.v")
		cmd.SysProcAttr, cmd.Dir, cmd.Env = as, "/", []string{"LINERATE_TEST_READONLY=" + place}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		t.Logf("%s", out)
	}
	_ = os.Chmod(dir, 0o755)
}
