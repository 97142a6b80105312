package tune

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/host/apply"
	"github.com/linerate/linerate/internal/host/apply/testjournal"
	"github.com/linerate/linerate/internal/kernel/act"
)

// tuneEnv makes this test program a tune of a fabric file: FILE JOURNAL.
const tuneEnv = "LINERATE_TEST_TUNE"

func tuneMain(what string) int {
	file, journal, _ := strings.Cut(what, " ")
	return execute(context.Background(), console.System("test"), []string{"tune", file, "--yes", "--fabric-out", "none", "--journal", journal})
}

// TestKernelTuneKilled kills a tune with SIGKILL while it proves a step: nobody else
// can prove it, so that the host is as it was within seconds, and not when three
// minutes are over.
func TestKernelTuneKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	script := `set -e; for n in a b; do ip netns del linerate-killed-$n 2>/dev/null || true; ip netns add linerate-killed-$n; done
ip -n linerate-killed-a link add eth0 type veth peer name eth0 netns linerate-killed-b
ip -n linerate-killed-a addr add 10.79.0.1/24 dev eth0; ip -n linerate-killed-b addr add 10.79.0.2/24 dev eth0
for n in a b; do ip -n linerate-killed-$n link set lo up; ip -n linerate-killed-$n link set eth0 up
tc -n linerate-killed-$n qdisc add dev eth0 root tbf rate 100mbit burst 64k latency 50ms
ip netns exec linerate-killed-$n sysctl -qw net.ipv4.tcp_rmem="4096 16384 32768" net.ipv4.tcp_wmem="4096 16384 32768"; done`
	if out, err := exec.Command("sh", "-c", script).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() {
		_ = exec.Command("sh", "-c", "ip netns del linerate-killed-a; ip netns del linerate-killed-b").Run()
	})
	file, journal := filepath.Join(t.TempDir(), "fab.yaml"), testjournal.Dir(t)
	text := "linerate: v1\nhosts:\n"
	for name, digit := range map[string]string{"a": "1", "b": "2"} {
		text += "  " + name + ": {reach: \"netns:linerate-killed-" + name + "\", network: {version: 2, ethernets: {eth0: {addresses: [10.79.0." + digit + "/24]}}}, hardware: {links: {eth0: {speed: 100M, framing: l2}}}}\n"
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	tune := exec.Command("/proc/self/exe")
	tune.Env = append(os.Environ(), tuneEnv+"="+file+" "+journal)
	var said strings.Builder
	tune.Stderr = &said
	if err := tune.Start(); err != nil {
		t.Fatal(err)
	}
	is := func(state agentapi.ChangeState) (found bool) {
		for _, space := range []string{"linerate-killed-a", "linerate-killed-b"} {
			a, err := apply.New(apply.Config{Kernel: act.Kernel{}, Dir: journal, Namespace: space})
			if err != nil {
				t.Fatal(err)
			}
			entries, _, err := a.List()
			if n := len(entries); err == nil && n > 0 && entries[n-1].State == state {
				found = true
			}
		}
		return found
	}
	for end := time.Now().Add(90 * time.Second); !is(agentapi.ChangeApplied); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			_ = tune.Process.Kill()
			_ = tune.Wait()
			t.Fatalf("the tune changes nothing:\n%s", said.String())
		}
	}
	_ = tune.Process.Kill()
	_ = tune.Wait()
	killed := time.Now()
	for ; is(agentapi.ChangeApplied) || !is(agentapi.ChangeRolledBack); time.Sleep(10 * time.Millisecond) { // one is on the way between them
		if time.Since(killed) > 20*time.Second {
			t.Fatal("the change of a tune that was killed is not rolled back after 20 s")
		}
	}
	t.Logf("rolled back after %v", time.Since(killed).Round(time.Millisecond))
}
