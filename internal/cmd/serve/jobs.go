package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/web"
)

// jobs are the measurements that users of the page have started: each is a
// `linerate measure` of its own, so that one that is stuck or dies takes nothing
// along. Its words are the program's own flags, made from checked values.
type jobs struct {
	ctx    context.Context
	cancel context.CancelFunc
	dir    string // for their records
	store  string // place; in the environment, for it may hold a password
	log    *slog.Logger

	mu   sync.Mutex
	next int
	all  []*job // the oldest first
	wait sync.WaitGroup
}

// job is one measurement.
type job struct {
	web.Measuring
	cancel context.CancelFunc
	said   bytes.Buffer // its last words
}

// Bounds of jobs.
const (
	mostJobs    = 4  // at a time
	jobsShown   = 20 // of those that have ended too
	jobsLast    = 2 * time.Hour
	jobPatience = 15 * time.Second // after it was told to end
	mostWords   = 8 << 10
)

// start begins a measurement, with the identity that the environment names.
// Errors: web.ErrBusy.
func (e *jobs) start(who string, w web.Request, environment []string) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("start a measurement: %w", err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ctx.Err() != nil {
		return fmt.Errorf("start a measurement: %w", e.ctx.Err())
	}
	running := 0
	for _, one := range e.all {
		if !one.Ended {
			running++
		}
	}
	if running >= mostJobs {
		return fmt.Errorf("%w: %d measurements run already: wait, or stop one", web.ErrBusy, running)
	}
	e.next++
	one := &job{Measuring: web.Measuring{ID: strconv.Itoa(e.next), Who: who, Request: w, Started: time.Now(), Line: "it starts"}}
	ctx, cancel := context.WithTimeout(e.ctx, jobsLast)
	one.cancel = cancel
	file := filepath.Join(e.dir, "run-"+one.ID+".json")
	c := exec.CommandContext(ctx, program, jobWords(w, file)...)
	c.Env = append(append(os.Environ(), environment...), console.EnvStore+"="+e.store)
	c.Stderr = jobText{e, one}
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) } // it keeps what it has measured
	c.WaitDelay = jobPatience
	if err := c.Start(); err != nil {
		cancel()
		return fmt.Errorf("start a measurement: %w", err)
	}
	e.all = append(e.all, one)
	if len(e.all) > jobsShown && e.all[0].Ended {
		e.all = e.all[1:]
	}
	e.wait.Go(func() {
		err := c.Wait()
		cancel()
		e.over(one, file, err)
	})
	return nil
}

// jobWords are the words of `linerate measure`.
func jobWords(w web.Request, file string) []string {
	counts := make([]string, len(w.Streams))
	for i, n := range w.Streams {
		counts[i] = strconv.Itoa(n)
	}
	return []string{"measure", console.OnNATS + w.From, console.OnNATS + w.To, "--streams", strings.Join(counts, ","), "--directions", string(w.Direction),
		"--duration", w.Duration.String(), "--plain", "-o", file}
}

// over keeps how a measurement ended.
func (e *jobs) over(one *job, file string, err error) {
	run := ""
	if text, readErr := os.ReadFile(file); readErr == nil {
		var kept struct {
			ID string `json:"id"`
		}
		if json.Unmarshal(text, &kept) == nil {
			run = kept.ID
		}
		_ = os.Remove(file) // the store has it
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	one.Ended, one.Run = true, run
	if err != nil {
		one.Error = "it ended: " + err.Error()
		if words := complaintIn(one.said.String()); words != "" {
			one.Error = words
		}
		e.log.Warn("a measurement of the web page", "user", one.Who, "from", one.Request.From, "to", one.Request.To, "error", one.Error)
	}
}

// complaintIn is what the program said of its failure.
func complaintIn(said string) string {
	words := console.LastLine{}
	_, _ = words.Write([]byte(said)) // takes all
	return words.Text
}

// jobText takes in what a measurement says.
type jobText struct {
	of  *jobs
	one *job
}

func (t jobText) Write(text []byte) (int, error) {
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	t.one.said.Write(text)
	if extra := t.one.said.Len() - mostWords; extra > 0 {
		t.one.said.Next(extra)
	}
	lines := strings.Split(strings.TrimRight(t.one.said.String(), "\n"), "\n")
	if line := strings.TrimSpace(lines[len(lines)-1]); line != "" {
		t.one.Line = console.OneLine(line)
	}
	return len(text), nil
}

// Measuring are the measurements, the newest first.
func (e *jobs) Measuring() []web.Measuring {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := make([]web.Measuring, 0, len(e.all))
	for _, one := range slices.Backward(e.all) {
		out = append(out, one.Measuring)
	}
	return out
}

// stop ends one. Errors: web.ErrNothing where there is none of that name.
func (e *jobs) stop(id string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, one := range e.all {
		if one.ID == id {
			one.cancel()
			return nil
		}
	}
	return fmt.Errorf("%w: measurement %.20q", web.ErrNothing, id)
}

// end ends all, and waits until they have.
func (e *jobs) end() {
	e.cancel()
	e.wait.Wait()
}
