package tuning

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/root"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// tuned is what a run of tune came to.
type tuned struct {
	windows    int
	traffic    time.Duration // that the links carried something for
	took       time.Duration
	after      map[string]netstate.Host // the hosts as tune left them
	load       record.TunedLoad
	claimed    unit.BitRate // of the result, both ways at once
	kept       []string     // settings
	stopped    string
	rolledBack bool // one rollback roll all back
}

// linerate runs a command of the program.
func (s *stand) linerate(args ...string) (status int, stdout, stderr string) {
	s.t.Helper()
	var out, errs bytes.Buffer
	app := &console.Console{Version: "test", Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }}
	status = root.Run(app, args)
	if status != 0 {
		s.t.Logf("$ linerate %s\n%s%sexit status %d", strings.Join(args, " "), out.String(), errs.String(), status)
	}
	return status, out.String(), errs.String()
}

// tune lets linerate tune the hosts as they were found, notes what it did and
// puts it back; flags are more of the command's.
func (s *stand) tune(flags ...string) tuned {
	s.t.Helper()
	s.lay(asFound(s.what))
	before := map[string]netstate.Host{}
	for _, h := range hosts {
		before[h] = s.seen(h)
	}
	file := filepath.Join(s.t.TempDir(), "record.json")
	watch, begun := s.watch(), time.Now()
	status, out, _ := s.linerate(append([]string{"tune", s.file, "--yes", "--json", "-o", file}, flags...)...)
	result := tuned{traffic: watch.end(), took: time.Since(begun), after: map[string]netstate.Host{}}
	if status != 0 {
		s.t.Fatalf("tune: exit status %d", status)
	}
	result.read(s, file, out)
	for _, h := range hosts {
		result.after[h] = s.seen(h)
	}
	s.forget()
	if result.rolledBack = len(result.kept) == 0; !result.rolledBack {
		result.rolledBack = s.undo()
	}
	for _, h := range hosts {
		if left := differences(s.seen(h), before[h]); len(left) > 0 {
			result.rolledBack = false
			s.t.Errorf("%s is not as it was after the rollback: %v", h, left)
		}
	}
	return result
}

// read takes what is wanted of tune's record and document.
func (r *tuned) read(s *stand, file, document string) {
	s.t.Helper()
	text, err := os.ReadFile(file)
	s.must(err)
	var rec record.Record
	s.must(json.Unmarshal(text, &rec))
	var doc struct {
		After        unit.BitRate `json:"after_bps"`
		Measurements int          `json:"measurements_count"`
	}
	s.must(json.Unmarshal([]byte(document), &doc))
	r.windows, r.claimed = doc.Measurements, doc.After
	if rec.Tuning == nil {
		s.t.Fatal("tune: the record does not say what it came to")
	}
	r.windows = max(r.windows, rec.Tuning.Windows, len(rec.Trials))
	r.load, r.stopped = rec.Tuning.Load, rec.Tuning.Stopped
	for _, set := range rec.Tuning.Settings {
		what := set.What + " " + set.New
		if set.Kept && !slices.Contains(r.kept, what) {
			r.kept = append(r.kept, what)
		}
	}
	s.tell(rec)
}

// tell tells a reader who looks for why what tune did.
func (s *stand) tell(rec record.Record) {
	for _, t := range rec.Trials {
		cause := ""
		if t.Finding != nil {
			cause = string(t.Finding.Cause)
		}
		s.details(fmt.Sprintf("%s %s: %s, %d streams, %s ports: %.1f [%.1f, %.1f] of %.1f Mbit/s over %.1f s after %.1f; %s", t.Phase, t.Step, t.Direction, t.Streams, t.Ports,
			mega(t.Goodput), mega(t.GoodputLow), mega(t.GoodputHigh), mega(t.Ceiling), t.Window, t.WarmUp, cause))
	}
	for _, step := range rec.Steps {
		s.details(fmt.Sprintf("step: %s: %.1f, then %.1f: %s", step.Change, mega(step.Before), mega(step.After), step.Verdict))
	}
	s.details(fmt.Sprintf("stopped: %s, %d windows, %.1f s; left: %q", rec.Tuning.Stopped, rec.Tuning.Windows, rec.Tuning.Traffic, rec.Tuning.Left))
}

// undo is one rollback for everything that tune changed, on all hosts.
func (s *stand) undo() bool {
	s.t.Helper()
	status, _, _ := s.linerate("rollback", s.file)
	return status == 0
}

// differences are the steps that lead from one state to the other.
func differences(from, to netstate.Host) (steps []string) {
	for _, way := range [][2]netstate.Host{{from, to}, {to, from}} {
		pl, err := plan.Between(way[0], way[1])
		if err != nil {
			return append(steps, err.Error())
		}
		for _, st := range pl.Steps {
			steps = append(steps, st.Command())
		}
	}
	return steps
}

// wear makes the hosts what tune left, and returns how to take it off.
func (s *stand) wear(r tuned) (off func()) {
	s.t.Helper()
	var undo []func()
	for _, name := range hosts {
		pl, err := plan.Between(s.seen(name), r.after[name])
		s.must(err)
		if len(pl.Steps) == 0 {
			continue
		}
		pl.Host = name
		reply, err := ask.Call(s.t.Context(), s.hosts[name], agentapi.Apply, agentapi.ApplyRequest{Plan: pl, Deadline: 3 * time.Minute})
		s.must(err)
		if reply.RolledBack != "" {
			s.t.Fatalf("what tune left cannot be set again on %s: %s", name, reply.RolledBack)
		}
		undo = append(undo, func() {
			back, err := ask.Call(s.t.Context(), s.hosts[name], agentapi.Rollback, agentapi.RollbackRequest{Journal: reply.Journal})
			s.must(err)
			if len(back.Left) > 0 {
				s.t.Fatalf("%s kept %v", name, back.Left)
			}
		})
	}
	s.observe()
	return func() {
		for _, u := range slices.Backward(undo) {
			u()
		}
		s.observe()
	}
}

// again measures tune's own traffic on hosts that wear its settings.
func (s *stand) again(r tuned, window time.Duration) (record.Trial, error) {
	s.t.Helper()
	spec := measure.Spec{
		From: "near", To: "far", Direction: flow.Both, Streams: r.load.Streams, Ports: r.load.Ports,
		Socket: record.Socket{SndBuf: r.load.SocketBuffer, RcvBuf: r.load.SocketBuffer, Congestion: r.load.Congestion, Pacing: r.load.Pace}, Duration: window, LongestWarm: longestWarm, Once: true,
	}
	return measure.Run(s.t.Context(), measure.Config{Network: s.network}, spec)
}

// details are what a reader wants who looks for why.
func (s *stand) details(text string) {
	if os.Getenv("PROVE_DETAILS") != "" {
		s.t.Log("   " + text)
	}
}

// summary of what tune did.
func (r tuned) summary() string {
	kept := "kept nothing"
	if len(r.kept) > 0 {
		kept = "kept " + strings.Join(r.kept, ", ")
	}
	pace := ""
	if r.load.Pace > 0 {
		pace = fmt.Sprintf(" paced at %.1f", mega(r.load.Pace))
	}
	if r.load.SocketBuffer > 0 {
		pace += fmt.Sprintf(" with buffers of %v", r.load.SocketBuffer)
	}
	return fmt.Sprintf("%d streams on %s ports%s; %s; %s", r.load.Streams, r.load.Ports, pace, kept, r.stopped)
}
