package root

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/docpage"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// pageRun is the page's run of a day: the last of twelve lost a tenth.
func pageRun(day int) record.Record {
	r := storedRecord(time.Date(2026, 3, 1+day, 3, 0, 0, 0, time.UTC))
	kernel := "6.1.0"
	rates := map[int]unit.BitRate{1: 478e6, 8: 930e6}
	if day == 11 {
		kernel, rates[8] = "6.12.0", 836e6
	}
	r.Environment.Hosts = []netstate.Host{{Name: "rbx", Kernel: netstate.Kernel{OS: "linux", Release: kernel}}}
	r.Trials = nil
	for i, streams := range []int{1, 8} {
		rate := rates[streams] * unit.BitRate(1+0.003*math.Sin(float64(7*day+3*i)))
		cause, ceiling := record.SingleLink, unit.BitRate(496e6)
		if streams == 8 {
			cause, ceiling = record.LineRate, 993e6
		}
		r.Trials = append(r.Trials, record.Trial{
			From: "rbx", To: "lim", Direction: flow.Forward, Streams: streams, Protocol: "tcp", Tool: "linerate", Ports: "chosen", Started: r.Started, Goodput: rate, GoodputLow: rate * 0.997, GoodputHigh: rate * 1.003,
			Ceiling: ceiling, Finding: &record.Finding{From: "rbx", To: "lim", Direction: flow.Forward, Streams: streams, Cause: cause},
		})
	}
	return r
}

// TestHistoryPage runs the commands of docs/history.md: samples print what the
// page shows, the others end well, or for want of hosts alone.
func TestHistoryPage(t *testing.T) {
	text, err := os.ReadFile("../../../docs/history.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	t.Setenv(console.EnvStore, "history.db")
	for day := range 12 {
		file := fmt.Sprintf("run%02d.json", day)
		if err := console.WriteJSON(context.Background(), file, pageRun(day)); err != nil {
			t.Fatal(err)
		}
		if o := run(t, "", "history", "add", file); o.status != console.ExitDone {
			t.Fatal(o.stderr)
		}
	}
	for _, file := range []string{"record.json", "other.json"} { // of the newest day once more
		if err := console.WriteJSON(context.Background(), file, pageRun(11)); err != nil {
			t.Fatal(err)
		}
	}
	samples := docpage.Samples(string(text))
	if len(samples) != 2 {
		t.Errorf("%d samples", len(samples))
	}
	for _, s := range samples {
		arguments := strings.Fields(strings.TrimPrefix(s.Command, "linerate "))
		o := run(t, "", arguments...)
		if diff := cmp.Diff(s.Output, docpage.Lines(o.stdout)); diff != "" {
			t.Errorf("%v (-page +printed):\n%s%s", arguments, diff, o.stderr)
		}
	}
	commands := 0
	for line := range strings.Lines(string(text)) {
		command, found := strings.CutPrefix(line, "    linerate ")
		if !found {
			continue
		}
		commands++
		command, _, _ = strings.Cut(command, "#")
		o := run(t, "", strings.Fields(command)...)
		switch {
		case strings.HasPrefix(command, "measure"), strings.HasPrefix(command, "tune"):
			if !strings.Contains(o.stderr, "read fabric fabric.yaml: no such file") {
				t.Errorf("%s: %d %s", command, o.status, o.stderr)
			}
		case strings.Contains(command, "--fail-on-regression"):
			if o.status != console.ExitFailed || !strings.Contains(o.stderr, "1 result became worse") {
				t.Errorf("%s: %d %s", command, o.status, o.stderr)
			}
		case o.status != console.ExitDone:
			t.Errorf("%s: %d %s", command, o.status, o.stderr)
		}
	}
	if commands != 9 {
		t.Errorf("%d commands", commands)
	}
	if _, err := os.Stat(filepath.Join(".", "back.json")); err != nil {
		t.Error(err)
	}
}
