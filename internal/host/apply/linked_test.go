//go:build unix

package apply

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/statefile"
)

// anothers is a file that no journal may touch, such as /etc/shadow; the test
// fails when it is written.
func anothers(t *testing.T) string {
	t.Helper()
	const text = "root:*:19000:0:99999:7:::\n"
	path := filepath.Join(tempDir(t), "shadow")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if now, err := os.ReadFile(path); err != nil || string(now) != text {
			t.Errorf("another's file has become %.200q, %v", now, err)
		}
	})
	return path
}

// link gives the file of a journal that ends so a link's place.
func link(dir, suffix, to string, how func(old, new string) error) bool {
	found, _ := filepath.Glob(filepath.Join(dir, "*"+suffix))
	return len(found) > 0 && os.Remove(found[0]) == nil && how(to, found[0]) == nil
}

// TestLinkedEntry swaps the entry, its spare or the lock for a link to another
// file at every moment of a change and its confirmation: that file is never
// written, and the host is as it was or changed.
func TestLinkedEntry(t *testing.T) {
	p := testPlans(t)["online"]
	changed := &fakeKernel{host: testHost()}
	if _, err := applier(t, tempDir(t), changed).Apply(context.Background(), p, Options{}); err != nil {
		t.Fatal(err)
	}
	for kind, how := range map[string]func(string, string) error{"symbolic": os.Symlink, "hard": os.Link} {
		for _, what := range []string{entrySuffix, spareSuffix, "lock"} {
			moments := 0
			for through := false; !through; moments++ {
				k := &fakeKernel{host: testHost()}
				through = !linkedAt(t, k, what, how, moments)
				if !reflect.DeepEqual(k.host, testHost()) && !reflect.DeepEqual(k.host, changed.host) {
					t.Errorf("%s link as %s, moment %d: the host is neither as it was nor changed", kind, what, moments)
				}
			}
			if moments < 10 {
				t.Errorf("%s link as %s: only %d moments", kind, what, moments)
			}
		}
	}
}

// linkedAt applies, and confirms where that went well; false when the change
// was through before that moment.
func linkedAt(t *testing.T, k *fakeKernel, what string, how func(string, string) error, moment int) bool {
	t.Helper()
	ctx, dir, victim := context.Background(), tempDir(t), anothers(t)
	a := applier(t, dir, k)
	n, reached := 0, false
	pass := func() {
		if n == moment {
			reached = true
			link(dir, what, victim, how)
		}
		n++
	}
	a.journal.moment = pass
	k.before = func(int) error { pass(); return nil }
	k.after = k.before
	r, err := a.Apply(ctx, testPlans(t)["online"], Options{})
	if err == nil {
		_ = a.Confirm(ctx, r.ID)
	}
	k.before, k.after = nil, nil
	// Once more through every file, as the next command does.
	_, _ = applier(t, dir, k).Recover(ctx)
	_, _, _ = a.List()
	return reached
}

// TestGuardOfLinkedEntry: a guard whose entry became a link goes by the copy
// that it has, takes the change back and writes the entry anew, beside what the
// link leads to.
func TestGuardOfLinkedEntry(t *testing.T) {
	ctx, dir, victim := context.Background(), tempDir(t), anothers(t)
	k := &fakeKernel{host: testHost()}
	a := applier(t, dir, k)
	ended := make(chan error, 1)
	a.cfg.StartGuard = func(_ context.Context, _ Config, id string) error {
		c := a.cfg
		c.StartGuard = nil
		go func() { ended <- Guard(ctx, c, id) }()
		for {
			if _, err := a.journal.readArmed(id); err == nil {
				return nil
			}
			time.Sleep(time.Millisecond)
		}
	}
	r, err := a.Apply(ctx, testPlans(t)["online"], Options{Deadline: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if reflect.DeepEqual(k.now(), testHost()) {
		t.Fatal("nothing was changed")
	}
	time.Sleep(2 * guardPause) // it has read the entry that says so
	if !link(dir, entrySuffix, victim, os.Symlink) {
		t.Fatal("no entry to swap")
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	sameHost(t, "after the guard", testHost(), k.now())
	e, err := a.journal.Read(r.ID)
	if err != nil || e.State != agentapi.ChangeRolledBack {
		t.Errorf("the entry says %v, %v", e.State, err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*"+spareSuffix)); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestSharedJournal: a directory that others may write, or that is another
// user's, is refused before anything is touched, with the reason and what to do.
func TestSharedJournal(t *testing.T) {
	for want, make := range map[string]func(dir string) error{
		"others may write it (mode 0777); see who wrote there, then: chmod go-w": func(dir string) error { return os.Chmod(dir, 0o777) },
		"it belongs to user 65534": func(dir string) error { return os.Chown(dir, 65534, 65534) },
	} {
		if strings.Contains(want, "belongs") && os.Geteuid() != 0 {
			continue
		}
		dir := tempDir(t)
		if err := make(dir); err != nil {
			t.Fatal(err)
		}
		k := &fakeKernel{host: testHost()}
		a := applier(t, dir, k)
		a.cfg.StartGuard = func(context.Context, Config, string) error { t.Error("a guard was started"); return nil }
		for name, do := range map[string]func() error{
			"apply":      func() error { _, err := a.Apply(context.Background(), testPlans(t)["online"], Options{}); return err },
			"changeable": func() error { return a.Changeable(context.Background()) },
		} {
			err := do()
			if !errors.Is(err, ErrForged) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), dir) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
		sameHost(t, want, testHost(), k.host)
	}
}

// TestForeignConfigurationLink: a configuration file is written through a link
// only where nobody else can have made it or can move what it leads to.
func TestForeignConfigurationLink(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("giving a file away takes root")
	}
	for name, spoil := range map[string]func(root string) error{
		"the target is another's": func(root string) error {
			return os.Chown(filepath.Join(root, "/etc/netplan/real/a.yaml"), 65534, 65534)
		},
		"the target's directory is another's":   func(root string) error { return os.Chown(filepath.Join(root, "/etc/netplan/real"), 65534, 65534) },
		"the target's directory is everybody's": func(root string) error { return os.Chmod(filepath.Join(root, "/etc/netplan/real"), 0o777) },
		"the link's directory is everybody's":   func(root string) error { return os.Chmod(filepath.Join(root, "/etc/netplan"), 0o777) },
	} {
		root, p := withFiles(t, testPlans(t)["online"])
		if _, err := filesAsPlanned(root, p.Files); err != nil {
			t.Fatalf("before: %v", err)
		}
		if err := spoil(root); err != nil {
			t.Fatal(err)
		}
		if _, err := filesAsPlanned(root, p.Files); !errors.Is(err, statefile.ErrUntrusted) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDraftThroughLink: what has the draft's name already is not written
// through.
func TestDraftThroughLink(t *testing.T) {
	root, p := withFiles(t, testPlans(t)["online"])
	victim := anothers(t)
	states, err := filesAsPlanned(root, p.Files)
	if err != nil {
		t.Fatal(err)
	}
	const id = "20260101T000000-00000001"
	path := draftPath(states[0].Real, id)
	if err := os.Symlink(victim, path); err != nil {
		t.Fatal(err)
	}
	if err := draft(p.Files[0], states[0], id, p.Files[0].New); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode() != 0o640 {
		t.Errorf("the draft is %v, %v", info, err)
	}
}

// TestNoteFits: a note is whole characters, and in JSON never longer than the
// room that was set aside for it.
func TestNoteFits(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("ü", 300), "x" + strings.Repeat("ü", 300), strings.Repeat(`"\`, 300), strings.Repeat("<\n\x00", 200), strings.Repeat("日", 133) + "本語",
		strings.Repeat("\xff", 500), strings.Repeat("a", 399) + "ü", "plain", strings.Repeat("a", 400),
	} {
		got := note(text)
		b, err := json.Marshal(got)
		if err != nil || !utf8.ValidString(got) || strings.ContainsRune(got, utf8.RuneError) || len(b)-2 > maxNote {
			t.Errorf("a note of %.20q...: %d bytes of JSON, %v: %q", text, len(b)-2, err, got)
		}
		if short := encodedLen(text) <= maxNote && utf8.ValidString(text); short && got != text {
			t.Errorf("%q was cut to %q", text, got)
		}
	}
}
