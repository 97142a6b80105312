package explain

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// User A12: twelve results that are explained alike are one block, not 3,679 words.
func TestAlike(t *testing.T) {
	finding := func(streams int, d flow.Direction, cause record.Cause, summary string, rate unit.BitRate) record.Finding {
		f := record.Finding{From: "a", To: "b", Direction: d, Streams: streams}
		f.Cause, f.Summary, f.Remedy, f.Rate = cause, summary, "look for a rate limit", rate
		return f
	}
	var all []record.Finding
	for _, d := range []flow.Direction{flow.Forward, flow.Reverse, flow.Both} {
		all = append(all, finding(1, d, record.Shaper, "Something lets through 95.5 Mbit/s a link.", 95.5*unit.Mbps), finding(8, d, record.Shaper, "Something lets through 287 Mbit/s a link.", 287*unit.Mbps))
	}
	all = append(all, finding(16, flow.Forward, record.SenderCPU, "A core of a is full.", 287*unit.Mbps))
	groups := alike(all)
	if len(groups) != 2 || len(groups[0]) != 6 {
		t.Fatalf("%d groups", len(groups))
	}
	lines := headlines(groups[0])
	if len(lines) != 3 || lines[0] != "a to b, forward: 1 stream 95.5 Mbit/s, 8 streams 287 Mbit/s" || !strings.HasPrefix(lines[2], "a to b, both") {
		t.Errorf("%q", lines)
	}
}

// What is said of each side alike is one block, with what to do on both sides.
func TestAlikeOnBothSides(t *testing.T) {
	side := func(d flow.Direction, host string) record.Finding {
		f := record.Finding{From: "192.0.2.11", To: "192.0.2.12", Direction: d, Streams: 4}
		f.Cause, f.Summary, f.Remedy = record.SingleLink, "All 4 streams from "+host+" leave by eth0.", "set the policy of bond0 on "+host
		return f
	}
	both := []record.Finding{side(flow.Forward, "192.0.2.11"), side(flow.Reverse, "192.0.2.12"), side(flow.Both, "192.0.2.11")}
	groups := alike(both)
	if len(groups) != 1 {
		t.Fatalf("%d groups", len(groups))
	}
	if others := otherRemedies(groups[0]); len(others) != 1 || others[0].Direction != flow.Reverse {
		t.Errorf("remedies: %+v", others)
	}
}

// oneCommand is a line that is one command in backticks, which is never broken.
var oneCommand = regexp.MustCompile("^ *`[^`]+`[^ ]*$")

// What a terminal shows of a record is a screen: twelve results that are explained
// alike are at most 40 lines, the demo's record at most 60, at 80 columns; no line is
// wider than the terminal.
func TestLinesOfAnswer(t *testing.T) {
	twelve := readRecord(t, "record/testdata/v1/measure.json")
	for _, trial := range twelve.Trials {
		trial.Streams *= 2
		twelve.Trials = append(twelve.Trials, trial)
	}
	demo := readRecord(t, "report/testdata/sample.json")
	for _, c := range []struct {
		what string
		r    record.Record
		most int
	}{{"twelve results", twelve, 40}, {"the demo's record", demo, 60}} {
		for _, width := range []int{80, 60} {
			var out bytes.Buffer
			con := &console.Console{Stdout: &out, Stderr: &out, Columns: width}
			findings := explain(c.r)
			printFindings(con, c.r, findings, false)
			lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
			if width == 80 && len(lines) > c.most {
				t.Errorf("%s: %d lines, more than %d:\n%s", c.what, len(lines), c.most, out.String())
			}
			for _, line := range lines {
				if utf8.RuneCountInString(line) > width && !oneCommand.MatchString(line) {
					t.Errorf("%s: wider than %d columns: %q", c.what, width, line)
				}
			}
			for _, f := range findings {
				if text := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(text, f.Remedy) && f.Cause != record.LineRate && f.Direction != flow.Both && f.Streams > 1 {
					t.Errorf("%s, %s: its remedy is not shown: %s", c.what, f.Direction, f.Remedy)
				}
			}
		}
	}
	if len(twelve.Trials) != 12 {
		t.Errorf("%d trials", len(twelve.Trials))
	}
}

// TestManyBlocks: of many results that are explained each in its own way a screen shows
// the one from which most is to be won in full, and names the cause of every other.
func TestManyBlocks(t *testing.T) {
	causes := []record.Cause{record.SingleLink, record.ReceiveWindow, record.SendBuffer, record.Congestion, record.Shaper, record.MTU, record.LACPDown, record.SenderCPU, record.ReceiverCPU, record.Pacing, record.Application, record.Reordering, record.CardSlot}
	var findings []record.Finding
	for i, cause := range causes {
		f := record.Finding{From: "alpha", To: "beta", Direction: flow.Forward, Streams: i + 1, Cause: cause, Confidence: 0.8, Rate: 100 * unit.Mbps, Expected: 110 * unit.Mbps,
			Summary: "It is " + string(cause) + ", " + strings.Repeat("as can be seen by this and that, ", 4) + "and by nothing else.", Remedy: "do what ends " + string(cause)}
		for range 6 {
			f.Evidence = append(f.Evidence, record.Evidence{What: "counted", Value: strings.Repeat("so much ", 12)})
		}
		findings = append(findings, f)
	}
	findings[9].Expected = 400 * unit.Mbps
	for _, width := range []int{60, 80, 132} {
		var out bytes.Buffer
		con := &console.Console{Stdout: &out, Stderr: &out, Columns: width}
		printFindings(con, record.Record{}, findings, false)
		if n := strings.Count(out.String(), "\n"); n > 60*80/min(width, 80) {
			t.Errorf("%d columns: %d lines:\n%s", width, n, out.String())
		}
		if text := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(text, findings[9].Remedy) {
			t.Errorf("%d columns: what brings most is not shown:\n%s", width, out.String())
		}
		for _, cause := range causes {
			if !strings.Contains(out.String(), string(cause)) {
				t.Errorf("%d columns: %s is not named", width, cause)
			}
		}
		out.Reset()
		printFindings(con, record.Record{}, findings, true)
		for _, f := range findings {
			if text := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(text, f.Remedy) {
				t.Errorf("--all leaves out %q", f.Remedy)
			}
		}
	}
}

func readRecord(t *testing.T, path string) record.Record {
	t.Helper()
	r, err := console.ReadRecord(t.Context(), filepath.Join("..", "..", "..", filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What changes led to is said before and after them; what was measured between them is
// counted, and --all has it.
func TestStepsAreCounted(t *testing.T) {
	finding := func(phase record.Phase, streams int, cause record.Cause) record.Finding {
		f := record.Finding{From: "a", To: "b", Direction: flow.Forward, Streams: streams, Phase: phase}
		f.Cause, f.Summary, f.Remedy, f.Rate = cause, "Because of "+string(cause)+".", "mend it", 95.5*unit.Mbps
		return f
	}
	findings := []record.Finding{
		finding(record.PhaseBefore, 1, record.SingleLink), finding(record.PhaseStep, 2, record.Unknown), finding(record.PhaseStep, 4, record.Unknown),
		finding(record.PhaseStep, 8, record.Shaper), finding(record.PhaseAfter, 2, record.LineRate),
	}
	for all, want := range map[bool]int{false: 0, true: 3} {
		var out bytes.Buffer
		printFindings(&console.Console{Stdout: &out, Stderr: &out}, record.Record{}, findings, all)
		if got := strings.Count(out.String(), "step: a to b"); got != want {
			t.Errorf("%d results of steps, want %d:\n%s", got, want, out.String())
		}
		if counted := "while changes were tried: 3 results (2 unknown, 1 shaper)"; strings.Contains(out.String(), counted) == all {
			t.Errorf("all %v:\n%s", all, out.String())
		}
	}
}
