package nmstate

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/root"
	"github.com/linerate/linerate/internal/host/apply/testjournal"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// The host and the switch that its two links lead to.
const (
	near = "linerate-test-near"
	far  = "linerate-test-far"
)

// Without PROVE_CASES=all a run takes a sample, of PROVE_SEED or as it is drawn.
const (
	envCases = "PROVE_CASES"
	envSeed  = "PROVE_SEED"
	sample   = 6
)

// TestCases brings a host to what nmstate's tests ask for, case by case, and back.
// A row of the table is logged for each.
func TestCases(t *testing.T) {
	all := slices.DeleteFunc(cases(t), func(c testCase) bool { return c.mptcp() != onHost })
	if os.Getenv(envCases) != "all" {
		seed, err := strconv.ParseUint(os.Getenv(envSeed), 10, 64)
		if err != nil {
			seed = floor.Draw(t)
		}
		t.Logf("seed %d", seed)
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:sample]
	}
	rows, rolledBack := []string{}, 0
	for _, c := range all {
		word, ran := c.verdict(), false
		if !t.Run(c.Test, func(t *testing.T) { ran = true; rolledBack += c.run(t) }) {
			word = "FAILED"
		}
		if !ran {
			continue // -run left it out
		}
		rows = append(rows, fmt.Sprintf("%-76s %s", c.Test, word))
	}
	for _, row := range rows {
		t.Logf("row: %s", row)
	}
	t.Logf("%d cases in a row, %d changes rolled back, each to exactly what was before", len(rows), rolledBack)
}

func ip(t *testing.T, words string) {
	t.Helper()
	if out, err := exec.Command("ip", strings.Fields(words)...).CombinedOutput(); err != nil {
		t.Fatalf("ip %s: %v: %s", words, err, out)
	}
}

// stand makes a host with the links eth1 and eth2 to a switch, which has three
// addresses, and groups its ports by LACP where a case wants it.
func stand(t *testing.T, partner bool) {
	t.Helper()
	clear := func() {
		_ = exec.Command("ip", "netns", "del", near).Run()
		_ = exec.Command("ip", "netns", "del", far).Run()
	}
	clear()
	t.Cleanup(clear)
	ip(t, "netns add "+near)
	ip(t, "netns add "+far)
	ip(t, "-n "+near+" link set lo up")
	master := "br0"
	if partner {
		master = "lag0"
		ip(t, "-n "+far+" link add lag0 type bond mode 802.3ad miimon 100 lacp_rate fast")
	} else {
		ip(t, "-n "+far+" link add br0 type bridge")
	}
	for _, e := range []string{"eth1", "eth2"} {
		ip(t, "-n "+near+" link add "+e+" type veth peer name s"+e+" netns "+far)
		ip(t, "-n "+far+" link set s"+e+" master "+master)
		ip(t, "-n "+far+" link set s"+e+" up")
		ip(t, "-n "+near+" link set "+e+" up")
	}
	ip(t, "-n "+far+" link set "+master+" up")
	ip(t, "-n "+far+" addr add 192.0.2.1/24 dev "+master)
	ip(t, "-n "+far+" addr add 192.0.2.2/24 dev "+master)
	ip(t, "-n "+far+" addr add 2001:db8:1::b/64 dev "+master+" nodad")
}

// run carries a case out and returns how many changes were rolled back.
func (c testCase) run(t *testing.T) (rolledBack int) {
	stand(t, c.Partner)
	own := map[string]string{}
	for name := range look(t).links {
		own[name] = look(t).mac(name)
	}
	journal := testjournal.Dir(t)
	for i, s := range c.Steps {
		file := filepath.Join(t.TempDir(), "fabric.yaml")
		floor.Must(t, os.WriteFile(file, s.file(t, own), 0o600))
		before := look(t)
		m := memory{own: own, before: map[string]string{}}
		for name := range before.links {
			m.before[name] = before.mac(name)
		}
		id := s.apply(t, file, journal, before, m)
		if id == "" {
			continue
		}
		linerate(t, 0, "rollback", id, "--host", "netns:"+near, "--journal", journal)
		rolledBack++
		if diff := cmp.Diff(before.state(), settled(t, before)); diff != "" {
			t.Errorf("step %d: after rollback the host is not what it was (-before +after):\n%s", i, diff)
		}
		if s.Rollback {
			s.judge(t, m)
		} else if i < len(c.Steps)-1 {
			s.apply(t, file, journal, look(t), m)
		}
	}
	return rolledBack
}

// settled is the host once it is what it was, or when it had time enough for that.
func settled(t *testing.T, before seen) []string {
	t.Helper()
	var now []string
	for begun := time.Now(); time.Since(begun) < 5*time.Second; floor.Pause() {
		if now = look(t).state(); slices.Equal(now, before.state()) {
			break
		}
	}
	return now
}

// apply carries a step out, judges the host, and returns the journal's entry; ""
// where there was nothing to change.
func (s step) apply(t *testing.T, file, journal string, before seen, m memory) string {
	t.Helper()
	args := []string{"apply", file, "--yes", "--persist", "none", "--journal", journal, "--deadline", "60s"}
	if s.Exact {
		args = append(args, "--exact")
	}
	if s.Refused != "" {
		out := linerate(t, 2, args...)
		if !strings.Contains(out, s.Refused) {
			t.Errorf("refused, but not for %q:\n%s", s.Refused, out)
		}
		if diff := cmp.Diff(before.state(), look(t).state()); diff != "" {
			t.Errorf("a refused change left (-before +after):\n%s", diff)
		}
		return ""
	}
	out := linerate(t, 0, args...)
	if s.Nothing != strings.Contains(out, "nothing to change") {
		t.Errorf("nothing to change: want %v:\n%s", s.Nothing, out)
	}
	if !s.Rollback {
		s.judge(t, m)
	}
	if found := entry.FindStringSubmatch(out); found != nil {
		return found[1]
	}
	return ""
}

// entry is the journal's, as apply says how to roll back.
var entry = regexp.MustCompile(`rollback \S+\.yaml (?:--\S+ \S+ )*(\d{8}T[0-9.]+Z)`)

func (s step) judge(t *testing.T, m memory) {
	t.Helper()
	now := look(t)
	for _, line := range s.Want {
		if wrong := now.holds(line, m); wrong != "" {
			t.Error(wrong)
		}
	}
}

// linerate is one command line, as in a shell without a terminal.
func linerate(t *testing.T, want int, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	app := &console.Console{Version: "test", Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }}
	if status := root.Run(app, args); status != want {
		t.Fatalf("linerate %s: exit status %d, want %d:\n%s", strings.Join(args, " "), status, want, out.String())
	}
	return out.String()
}
