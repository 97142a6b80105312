package root

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// shapedPair is two hosts on a link of 100 Mbit/s, as a fabric file.
func shapedPair(t *testing.T) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	text := "linerate: v1\nhosts:\n"
	var builders []*rtnl.Builder
	for i, name := range []string{"a", "b"} {
		space := "linerate-run-" + name
		_ = netns.Delete(space) // of a test that was killed
		ns, err := netns.Create(space)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = netns.Delete(space) })
		b, err := rtnl.OpenBuilder(ns)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Close)
		builders = append(builders, b)
		text += fmt.Sprintf("  %s: {reach: \"netns:%s\", network: {version: 2, ethernets: {eth0: {addresses: [10.78.0.%d/24]}}}, hardware: {links: {eth0: {speed: 100M, framing: l2}}}}\n", name, space, i+1)
	}
	err := builders[0].Veth("eth0", builders[1], "eth0")
	for i, b := range builders {
		for _, step := range []func() error{
			func() error { return err },
			func() error { return b.Up("lo") },
			func() error { return b.Up("eth0") },
			func() error { return b.Address("eth0", netip.MustParsePrefix(fmt.Sprintf("10.78.0.%d/24", i+1))) },
			func() error { return b.Shape("eth0", 100*unit.Mbps, 256*unit.KiB, 20*time.Millisecond) },
		} {
			if err := step(); err != nil {
				t.Fatal(err)
			}
		}
	}
	return file(t, "pair.yaml", text)
}

// process is a linerate of its own.
type process struct {
	*exec.Cmd
	out, errs bytes.Buffer
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command("linerate", args...)}
	p.Stdout, p.Stderr = &p.out, &p.errs
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill() })
	return p
}

// ended is the status that the process ends with; -1 when a signal ended it.
func (p *process) ended(t *testing.T) int {
	t.Helper()
	limit := time.AfterFunc(time.Minute, func() { _ = p.Process.Kill() })
	defer limit.Stop()
	_ = p.Wait()
	return p.ProcessState.ExitCode()
}

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("waited a minute until %s", what)
		}
	}
}

func trialsIn(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	var r record.Record
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatalf("the record is half written: %v", err)
	}
	return len(r.Trials)
}

// quickly are flags for three short trials, and more.
func quickly(fabric string, more ...string) []string {
	return append([]string{"measure", fabric, "--streams", "1,2,3", "--directions", "forward", "--ping-count", "2", "--no-loaded-latency", "--duration", "300ms"}, more...)
}

// A run that is killed keeps what it has measured, lets go of its hosts, is
// not overwritten unasked, and goes on where it was.
func TestKernelKilledRunResumes(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	fabric := shapedPair(t)
	out := filepath.Join(t.TempDir(), "record.json")
	p := start(t, quickly(fabric, "-o", out)...)
	until(t, "a trial is on the disk", func() bool { return trialsIn(t, out) > 0 })

	busy := start(t, quickly(fabric, "--wait=10ms")...)
	if got := busy.ended(t); got != console.ExitUnreachable || !strings.Contains(busy.errs.String(), fmt.Sprintf("process %d (measure %s), for ", p.Process.Pid, fabric)) ||
		!strings.Contains(busy.errs.String(), "\nhint: --wait waits") || busy.out.Len() > 0 {
		t.Errorf("beside a run: exit %d\n%s", got, busy.errs.String())
	}

	if err := p.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if got := p.ended(t); got != -1 {
		t.Fatalf("it was over before it was killed: exit %d", got)
	}
	there := trialsIn(t, out)
	if there == 0 || there == 3 {
		t.Fatalf("%d trials", there)
	}

	again := start(t, quickly(fabric, "-o", out)...)
	if got := again.ended(t); got != console.ExitUsage || !strings.Contains(again.errs.String(), fmt.Sprintf("holds an interrupted run of this matrix, %d of 3 trials\nhint: --resume %s goes on", there, out)) {
		t.Errorf("the same again: exit %d\n%s", got, again.errs.String())
	}
	other := start(t, quickly(fabric, "--duration", "400ms", "--resume", out)...)
	if got := other.ended(t); got != console.ExitUsage || !strings.Contains(other.errs.String(), "the record is of another matrix: it was measured with other flags") {
		t.Errorf("with other flags: exit %d\n%s", got, other.errs.String())
	}
	if got := trialsIn(t, out); got != there {
		t.Errorf("%d trials are left of %d", got, there)
	}

	rest := start(t, quickly(fabric, "--resume", out)...)
	if got := rest.ended(t); got != console.ExitDone || trialsIn(t, out) != 3 || !strings.Contains(rest.errs.String(), fmt.Sprintf("        %d of 3 trials are there already\n", there)) ||
		!strings.Contains(rest.errs.String(), "   3/3 ") || strings.Contains(rest.errs.String(), "   1/3 ") {
		t.Errorf("gone on with: exit %d, %d trials\n%s", got, trialsIn(t, out), rest.errs.String())
	}
	fits(t, rest.errs.String())
}

// An interrupted run without a file prints what it has, as text or as JSON.
func TestKernelInterruptedRunPrints(t *testing.T) {
	fabric := shapedPair(t)
	p := &process{Cmd: exec.Command("linerate", quickly(fabric, "--json")...)}
	p.Stdout = &p.out
	told, err := p.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill() })
	for lines := bufio.NewScanner(told); lines.Scan(); {
		p.errs.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), " 1/3 ") {
			if err := p.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := p.ended(t); got != console.ExitInterrupted || !strings.HasSuffix(p.errs.String(), "1 of 3 trials were measured\nlinerate: interrupted\n") {
		t.Errorf("exit %d\n%s", got, p.errs.String())
	}
	var r record.Record
	if err := json.Unmarshal(p.out.Bytes(), &r); err != nil || len(r.Trials) != 1 || !r.Interrupted() || r.Unfinished() != 2 {
		t.Errorf("%v, %d trials, %d missing", err, len(r.Trials), r.Unfinished())
	}
}
