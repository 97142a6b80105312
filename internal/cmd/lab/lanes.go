package lab

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/progress"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/guest"
	"github.com/linerate/linerate/internal/lab/scenario"
)

// mostLabs is how many labs stand side by side unless asked: more share what cores
// have in common, memory above all.
const mostLabs = 2

// labsBeside is how many labs stand side by side: as many as asked, each with a core
// of its own.
func labsBeside(asked int) (int, error) {
	cores, err := lab.Cores()
	if err != nil {
		return 0, err
	}
	if asked == 0 {
		asked = min(mostLabs, len(cores))
	}
	if asked > 0 && asked <= len(cores) {
		return asked, nil
	}
	return 0, console.BadUsage(fmt.Sprintf("--labs %d: this machine has %d cores for them", asked, len(cores)), "each lab has a core of its own")
}

// job is a scenario, or a part of one, that is run by itself.
type job struct {
	named int // its place among those that are run
	part  part
}

// outcomes runs scenarios, those with a kernel of their own side by side, each on a
// core of its own and the longest first, what takes long in parts, and then those on the
// running kernel alone: these have the whole machine. The outcomes are in the order of named.
func outcomes(ctx context.Context, con *console.Console, named []labNetwork, place Place, how scenarioOf, labs int) ([]scenario.Outcome, error) {
	labs, err := labsBeside(labs)
	if err != nil {
		return nil, err
	}
	parts := make([][]scenario.Outcome, len(named))
	for i, what := range named {
		parts[i] = make([]scenario.Outcome, partsOf(what, place, how, labs))
	}
	run := func(j job, con *console.Console) {
		if ctx.Err() != nil {
			return
		}
		what, how := named[j.named], how
		how.part = j.part
		o, err := outcomeOf(ctx, con, what, place, how)
		o.Scenario, o.Title, o.Source = what.file.Name, what.file.Title, what.file.Source
		if err != nil {
			o.Error = err.Error()
			if len(named) > 1 { // of one it is said at the end
				progress.New(con).Say("%s failed: %v", what.file.Name, err)
			}
		}
		parts[j.named][max(j.part.number, 1)-1] = o
	}
	beside, alone := sideBySide(named, place, how, labs)
	queue := make(chan job, len(beside))
	for _, j := range beside {
		queue <- j
	}
	close(queue)
	var lanes errgroup.Group
	var said sync.Mutex
	for range labs {
		lanes.Go(func() error {
			for j := range queue {
				one := *con
				prefix := strings.TrimSpace(named[j.named].file.Name+" "+j.part.String()) + ": "
				one.Terminal, one.Stderr = false, &prefixed{to: con.Stderr, mu: &said, prefix: prefix}
				run(j, &one)
			}
			return nil
		})
	}
	_ = lanes.Wait() // what failed is in its outcome
	for _, j := range alone {
		run(j, con)
	}
	var all []scenario.Outcome
	for i, of := range parts {
		if o := how.of(*named[i].file).Whole(of); o.Scenario != "" {
			all = append(all, o)
		}
	}
	return all, nil
}

// sideBySide tells what can stand side by side, the longest first, from scenarios that are
// run alone.
func sideBySide(named []labNetwork, place Place, how scenarioOf, labs int) (beside, alone []job) {
	for i, what := range named {
		choice, err := what.place(place).choose()
		if labs < 2 || err != nil || choice.BackEnd != lab.UML {
			alone = append(alone, job{named: i})
			continue
		}
		n := partsOf(what, place, how, labs)
		for k := range n {
			beside = append(beside, job{i, part{k + 1, n}})
		}
	}
	length := func(j job) time.Duration {
		how := how
		how.part = j.part
		return how.of(*named[j.named].file).Length()
	}
	slices.SortStableFunc(beside, func(x, y job) int { return cmp.Compare(length(y), length(x)) })
	return beside, alone
}

// outcomeOf runs one scenario as `lab run NAME --json` would, in a kernel of its
// own where it needs one.
func outcomeOf(ctx context.Context, con *console.Console, what labNetwork, place Place, how scenarioOf) (o scenario.Outcome, err error) {
	var said bytes.Buffer
	var words console.LastLine
	one := *con
	one.Stdout, one.Stderr, one.JSON = &said, io.MultiWriter(con.Stderr, &words), true
	in := guest.Command{Args: append(how.again(&one), "--", what.argument), Files: what.files()}
	how.out = ""
	err = runLab(ctx, &one, what, what.place(place), in, how)
	if err != nil {
		err = words.Of(err)
	}
	if said.Len() == 0 && err != nil {
		return o, err
	}
	if broken := json.Unmarshal(said.Bytes(), &o); broken != nil {
		err = errors.Join(err, fmt.Errorf("read what %s showed: %w", what.name(), broken))
	}
	return o, err
}

// prefixed writes whole lines, each with a word before it, so that what several
// say at once can be told apart.
type prefixed struct {
	to     io.Writer
	mu     *sync.Mutex // of to
	prefix string
	rest   []byte
}

func (p *prefixed) Write(text []byte) (int, error) {
	p.rest = append(p.rest, text...)
	for {
		end := bytes.IndexByte(p.rest, '\n')
		if end < 0 {
			return len(text), nil
		}
		p.mu.Lock()
		_, err := fmt.Fprintf(p.to, "%s%s", p.prefix, p.rest[:end+1])
		p.mu.Unlock()
		p.rest = p.rest[end+1:]
		if err != nil {
			return 0, err
		}
	}
}

// allScenarios is the argument of `lab run` that means every scenario of a file.
const allScenarios = "all"

// allDocument is what `lab run all --json` prints.
type allDocument struct {
	Scenarios []scenario.Outcome `json:"scenarios"`
}

// errNotGreen: the page says which rows.
var errNotGreen = errors.New("not all as published")

// runAll runs every scenario of the program's own, several labs at a time, and
// goes on when one fails.
func runAll(ctx context.Context, con *console.Console, place Place, how scenarioOf, labs int) error {
	files, err := scenario.Builtin()
	if err != nil {
		return err
	}
	var named []labNetwork
	for _, s := range files {
		what, err := Find(ctx, s.Name)
		if err != nil {
			return err
		}
		named = append(named, what)
	}
	all, err := outcomes(ctx, con, named, place, how, labs)
	if err != nil {
		return err
	}
	doc := allDocument{listed(all)}
	if how.out != "" {
		err = console.WriteJSON(context.WithoutCancel(ctx), how.out, doc)
	}
	failed := 0
	for _, o := range all {
		if o.Error != "" {
			failed++
		}
	}
	switch {
	case err == nil && ctx.Err() != nil:
		err = ctx.Err()
	case err == nil && failed > 0:
		err = fmt.Errorf("run all scenarios: %d of %d failed", failed, len(all))
	case err == nil && !scenario.Green(all):
		err = fmt.Errorf("run all scenarios: %w", errNotGreen)
	}
	switch {
	case !con.JSON:
		fmt.Fprint(con.Stdout, scenario.Page(all))
	case err == nil:
		return runAllDocument.Print(con, doc)
	}
	return err
}

// runLab builds a file's network where it can be built, and rehearses.
func runLab(ctx context.Context, con *console.Console, what labNetwork, place Place, in guest.Command, how scenarioOf) error {
	return Inside(ctx, con, place, in, func(choice lab.Choice) error { return runScenario(ctx, con, *what.file, choice, how) })
}
