package lab

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/internal/host/apply"
	"github.com/linerate/linerate/internal/lab/scenario"
)

// TestTopologyTravels: a lab's kernel builds what was asked for here.
func TestTopologyTravels(t *testing.T) {
	for _, s := range Scenarios() {
		b := Blueprint{Lab: "play", Topology: &s.Net}
		text, err := b.encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeBlueprint(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(b.topology().Fabric(s.Streams, s.Ports), got.topology().Fabric(s.Streams, s.Ports)); diff != "" {
			t.Errorf("%s: fabric changed on the way\n%s", s.Name, diff)
		}
		again, err := got.encode()
		if err != nil || again != text {
			t.Errorf("%s: %s became %s, %v", s.Name, text, again, err)
		}
	}
	for _, text := range []string{"{", "{}", `{"topology": {}, "file": {}}`} {
		if _, err := DecodeBlueprint(text); err == nil {
			t.Errorf("%s was read as a blueprint", text)
		}
	}
}

// TestFileTravels: a scenario's file, as a lab's kernel gets it, is the network
// that `lab run` builds, in namespaces of the lab's own.
func TestFileTravels(t *testing.T) {
	all, err := scenario.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		source, err := scenario.Source(s.Name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		text, err := Blueprint{Lab: "play", File: &File{Name: s.Name, Text: string(source)}}.encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeBlueprint(text)
		if err != nil {
			t.Fatal(err)
		}
		n, err := got.network()
		if err != nil {
			t.Fatal(err)
		}
		want := NetworkOf(s, nil)
		if n.MTU != want.MTU || !reflect.DeepEqual(want.Switches, n.Switches) || !reflect.DeepEqual(want.Fabric.Paths, n.Fabric.Paths) || len(n.Fabric.Hosts) != len(want.Fabric.Hosts) {
			t.Errorf("%s: %+v became %+v", s.Name, want, n)
		}
		members, err := got.Members()
		if err != nil || len(members) != len(want.Fabric.Hosts)+1 {
			t.Fatalf("%s: members %v, %v", s.Name, members, err)
		}
		for i, h := range want.Fabric.Hosts {
			state, err := want.Fabric.State(h.Name)
			if err != nil {
				t.Fatal(err)
			}
			now, err := n.Fabric.State(h.Name)
			if err != nil || !reflect.DeepEqual(state.Links, now.Links) {
				t.Errorf("%s: host %s changed on the way: %+v became %+v, %v", s.Name, h.Name, state.Links, now.Links, err)
			}
			if reach := n.Fabric.Hosts[i].Reach; reach != "netns:linerate-play-"+h.Name || members[i].Namespace != "linerate-play-"+h.Name || len(members[i].Addresses) == 0 {
				t.Errorf("%s: host %s is reached as %s, member %+v", s.Name, h.Name, reach, members[i])
			}
		}
	}
	big := Blueprint{File: &File{Text: strings.Repeat("#", maxBlueprint)}}
	if _, err := big.encode(); err == nil {
		t.Error("a blueprint too large for an argument was encoded")
	}
}

func TestCheckName(t *testing.T) {
	for _, name := range []string{"a", "two-links", "my.lab_2"} {
		if err := CheckName(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"", "all", "..", ".new-1", "a/b", "A", "a b", strings.Repeat("a", 33)} {
		if err := CheckName(name); !errors.Is(err, ErrLabName) {
			t.Errorf("%q: %v, want ErrLabName", name, err)
		}
	}
}

// deadOwner is a process that has ended.
func deadOwner(t *testing.T) apply.Owner {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	o := apply.OwnerOf(cmd.Process.Pid)
	if !o.Alive() {
		t.Fatal("a running process is taken for dead")
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	return o
}

func TestCondition(t *testing.T) {
	me, dead := apply.CurrentOwner(), deadOwner(t)
	earlier, reused := me, me
	earlier.Boot, reused.Start = "another boot", me.Start+1
	for _, c := range []struct {
		name string
		lab  Standing
		want string
	}{
		{"up", Standing{BackEnd: UML, Up: true, Keeper: me}, "up"},
		{"starting", Standing{BackEnd: UML, Keeper: me}, "starting"},
		{"killed keeper", Standing{BackEnd: UML, Up: true, Keeper: dead}, "was killed"},
		{"its number is another's", Standing{BackEnd: UML, Up: true, Keeper: reused}, "was killed"},
		{"killed start", Standing{BackEnd: UML, Keeper: dead}, "its start was cut short"},
		{"reboot", Standing{BackEnd: UML, Up: true, Keeper: earlier}, "the machine was started again since"},
		{"kernel died", Standing{BackEnd: UML, Keeper: dead, Failed: "its kernel went down"}, "its kernel went down"},
		{"no namespace", Standing{BackEnd: Local, Up: true, Keeper: dead, Members: []Member{{Namespace: "linerate-no-such-lab-switch"}}}, "its namespace linerate-no-such-lab-switch is gone"},
	} {
		if got := c.lab.Condition(); !strings.HasSuffix(got, c.want) && !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		} else if fallen := strings.HasPrefix(got, "fallen: "); fallen != (c.want != "up" && c.want != "starting") {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// labHome gives the test labs of its own. Root's are the machine's: as root the
// files are tested in the lab's kernel.
func labHome(t *testing.T) string {
	t.Helper()
	if os.Getuid() == 0 {
		t.Skip("root's labs are in /run: run it as an ordinary user")
	}
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	dir, err := makeStandingDir()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestClaimAndTakeDown(t *testing.T) {
	dir := labHome(t)
	tell := func(string) { t.Error("told of a fallen lab where none was") }
	s, err := claimName(t.Context(), Standing{Name: "play", BackEnd: UML}, tell)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("directory of labs: %v, %v; want it for its owner alone", info.Mode(), err)
	}
	if _, err := claimName(t.Context(), Standing{Name: "play"}, tell); !errors.Is(err, ErrStands) {
		t.Errorf("a name in use: %v, want ErrStands", err)
	}
	s.Keeper = deadOwner(t)
	if err := s.save(); err != nil {
		t.Fatal(err)
	}
	told := ""
	next, err := claimName(t.Context(), Standing{Name: "play", BackEnd: UML}, func(s string) { told = s })
	if err != nil || !strings.Contains(told, "cut short") || next.ID == s.ID {
		t.Errorf("a dead lab's name: %v, told %q", err, told)
	}
	// What no program can read is said, and ended.
	if err := os.WriteFile(filepath.Join(next.dir, stateFile), []byte(`{"id":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "lost"), 0o700); err != nil {
		t.Fatal(err)
	}
	all, err := List()
	if err != nil || len(all) != 2 || !strings.Contains(all[0].Condition(), "lost") || !strings.Contains(all[1].Condition(), "unreadable") {
		t.Errorf("labs %v, %v; want one lost and one unreadable", all, err)
	}
	for _, name := range []string{"lost", "play"} {
		if err := TakeDown(t.Context(), name); err != nil {
			t.Error(err)
		}
	}
	if err := TakeDown(t.Context(), "play"); !errors.Is(err, ErrNoLab) {
		t.Errorf("ended twice: %v, want ErrNoLab", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v; want the lock only", left, err)
	}
}

// TestLockIsWaitedFor: whoever waits for another's can be interrupted.
func TestLockIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	unlock, err := lockLabs(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := lockLabs(ctx, dir); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the second has it: %v", err)
	}
	unlock()
	if unlock, err := lockLabs(t.Context(), dir); err != nil {
		t.Error(err)
	} else {
		unlock()
	}
}
