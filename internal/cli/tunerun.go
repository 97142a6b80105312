package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/advise/tune"
	"github.com/linerate/linerate/internal/plaintext"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// run tunes, and hands over what came of it, also when it was cut short.
func (t *tuneRun) run(ctx context.Context) error {
	begin := time.Now()
	p := newProgress(t.app)
	from, to := t.options.Path.From, t.options.Path.To
	which := ""
	if n := len(t.file.Paths); n > 1 && t.flags.path == "" {
		which = fmt.Sprintf(", the first of %d paths (--path chooses)", n)
	}
	p.told(fmt.Sprintf("reach %s and %s%s", from, to, which))
	cfg := campaign.Config{Fabric: t.narrowed(), Fleet: t.app.fleet(t.flags.journal), Tell: p.tell}
	if !t.flags.dryRun {
		t.stored = t.app.keeper(ctx, t.flags.store)
		cfg.Holding = t.app.holding(p, t.flags.wait, "tune", t.file.File)
	}
	c, err := campaign.Open(ctx, cfg)
	if err != nil {
		return withHint(err, heldHint(err))
	}
	defer c.Close()
	t.options.CeilingMTU = tune.LargestMTU(c.State(), from, to)
	if t.flags.dryRun {
		return t.dryRun(c)
	}
	t.options.Approve = t.app.approver(ctx, t.flags.yes)
	t.options.Bounce = t.flags.bounce || !t.flags.yes // asked at the terminal, step by step
	t.options.Title = titleOf("tune " + t.file.File)
	if err := c.Changeable(ctx); err != nil {
		return fmt.Errorf("tune: %w", err)
	}
	err = c.Latency(ctx)
	if err == nil {
		_, err = c.Tune(ctx, t.options)
	}
	c.Finish()
	return t.handOver(ctx, c.Record(), err, time.Since(begin))
}

// handOver writes the record and the files, persists, and says what came of
// it; cause is what cut the tune short, nil nothing. What was kept by then is
// said all the same.
func (t *tuneRun) handOver(ctx context.Context, r record.Record, cause error, elapsed time.Duration) error {
	out := outcomeOf(r, t)
	out.doc.Elapsed = elapsed.Seconds()
	problems := []error{cause}
	t.stored.keep(ctx, r)
	if t.flags.out.path != "" && len(r.Trials) > 0 {
		problems = append(problems, writeJSON(context.WithoutCancel(ctx), t.flags.out.path, r))
	}
	if cause == nil {
		problems = append(problems, t.writeFiles(ctx, &out))
	}
	if err := errors.Join(problems...); cause != nil || err != nil && t.app.json {
		if errors.Is(cause, campaign.ErrNotPutBack) {
			return withHint(err, t.wayBack(r))
		}
		if out.kept() > 0 {
			fmt.Fprintf(t.app.Stderr, "linerate: kept so far: %s; `%s` takes it back\n", unit.Counted(out.kept(), "setting"), out.doc.Rollback)
		} else if len(out.steps) > 0 {
			fmt.Fprintf(t.app.Stderr, "linerate: no setting is kept; `linerate journal %s` lists what was put back\n", t.path)
		}
		return err
	}
	if err := t.say(out); err != nil {
		return err
	}
	problems = append(problems, failures(r), t.required(out.doc))
	return errors.Join(problems...)
}

// wayBack is what to do about a host that is neither as it was found nor as it
// was wanted.
func (t *tuneRun) wayBack(r record.Record) string {
	group := r.ID
	if r.Tuning != nil {
		group = r.Tuning.Group
	}
	return fmt.Sprintf("`%s` takes all of this tune back; `linerate journal %s` shows what holds", t.rollback(group), t.path)
}

// longestTitle is in characters, of at most four bytes each: journals take 200
// bytes.
const longestTitle = 50

// titleOf is a command as a journal takes it: one line that prints, its end
// where it is too long, as that names the file.
func titleOf(command string) string {
	words := []rune(plaintext.Line(strings.ReplaceAll(command, "\n", "?")))
	if len(words) > longestTitle {
		words = append([]rune("tune ..."), words[len(words)-longestTitle+8:]...)
	}
	return string(words)
}

// required is the error of a result below --require.
func (t *tuneRun) required(doc tuned) error {
	if t.flags.require > 0 && float64(doc.After) < t.flags.require*float64(doc.Ceiling) {
		return fmt.Errorf("tune: %.1f %% of the ceiling is below the %.1f %% required", 100*float64(doc.After/doc.Ceiling), 100*t.flags.require)
	}
	return nil
}

// approver asks before each step, or approves all. An interrupt ends the
// question.
func (a *App) approver(ctx context.Context, yes bool) func(record.Step, []plan.Plan) (bool, error) {
	if yes {
		return nil
	}
	q := &asker{app: a}
	return func(s record.Step, plans []plan.Plan) (bool, error) {
		fmt.Fprintf(a.Stderr, "\n%s\n", s.Change)
		question := "make this change?"
		for _, p := range plans {
			fmt.Fprintln(a.Stderr, p.Text())
			if p.Worst() != plan.Online {
				question = fmt.Sprintf("it stops traffic on %s for seconds (%s): make this change?", p.Host, p.Worst())
			}
		}
		return q.ask(ctx, question)
	}
}
