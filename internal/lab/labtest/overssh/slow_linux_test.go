package overssh

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/unit"
)

// How long a user waits at the most for the first answer of a host behind a link of
// 20 Mbit/s, and for the first rate of a pair of hosts.
const (
	mostToAnswer = 6 * time.Second
	mostToRate   = 10 * time.Second
)

// aRate is a line that says what was measured.
var aRate = regexp.MustCompile(`[0-9] [MG]bit/s`)

// TestFirstAnswer times how long hosts take to answer over slow links, each from the
// command line to the line that is looked for.
func TestFirstAnswer(t *testing.T) {
	size := func(path string) float64 {
		info, err := os.Stat(path)
		floor.Must(t, err)
		return float64(info.Size()) / 1e6
	}
	t.Logf("kernel %s; the agent has %.1f MB on its way, where the whole program has %.1f, compared", strings.TrimSpace(own(t, "/proc/sys/kernel/osrelease")), size(agent), size(bare))
	for _, rate := range []unit.BitRate{20 * unit.Mbps, 100 * unit.Mbps} {
		if rate != 20*unit.Mbps && !proving() {
			continue
		}
		t.Run(rate.String(), func(t *testing.T) {
			r := newRackCalled(t, "slow", rate, hosting{}, hosting{})
			hosts := []string{"ssh://root@h1", "ssh://root@h2"}
			r.within(t, mostToAnswer, fmt.Sprintf("%v: inspect of a host: first answer", rate), program, nil, "inspect", hosts[0])
			r.within(t, mostToRate, fmt.Sprintf("%v: measure of a pair: first rate", rate), program, aRate, append([]string{"measure"}, hosts...)...)
			if proving() {
				took, _ := r.first(t, bare, nil, "inspect", hosts[0])
				t.Logf("%v: inspect of a host, as compared with the whole program copied: %.1f s", rate, took.Seconds())
			}
			r.clean()
		})
	}
}

// within times a program, and fails the test where it takes too long.
func (r *rack) within(t *testing.T, most time.Duration, what, program string, pattern *regexp.Regexp, args ...string) {
	t.Helper()
	took, text := r.first(t, program, pattern, args...)
	t.Logf("%s after %.1f s, compared with %v at the most", what, took.Seconds(), most)
	if took > most {
		t.Errorf("that is too late:\n%s", text)
	}
}

// first is how long a program takes to its first line on standard output, or with a
// pattern to the first line anywhere that matches. Then it is interrupted.
func (r *rack) first(t *testing.T, program string, pattern *regexp.Regexp, args ...string) (took time.Duration, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := r.command(ctx, args...)
	cmd.Path = program
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	read, write, err := os.Pipe()
	floor.Must(t, err)
	defer read.Close()
	cmd.Stdout = write
	if pattern != nil {
		cmd.Stderr = write
	}
	begin := time.Now()
	floor.Must(t, cmd.Start())
	floor.Must(t, write.Close())
	for lines := bufio.NewScanner(read); lines.Scan(); {
		text += fmt.Sprintf("%.1f s: %s\n", time.Since(begin).Seconds(), lines.Text())
		if took == 0 && (pattern == nil || pattern.MatchString(lines.Text())) {
			took = time.Since(begin)
			cancel()
		}
	}
	_ = cmd.Wait() // it was interrupted
	if took == 0 {
		t.Fatalf("%s %q says nothing: %s", filepath.Base(program), args, text)
	}
	return took, text
}
