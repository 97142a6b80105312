package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/guest"
	"github.com/linerate/linerate/internal/lab/scenario"
)

// allScenarios is the argument of `lab run` that means every scenario of a file.
const allScenarios = "all"

// allDocument is what `lab run all --json` prints.
type allDocument struct {
	Scenarios []scenario.Outcome `json:"scenarios"`
}

// errNotGreen: the page says which rows.
var errNotGreen = errors.New("not all as published")

// labRunAll runs every scenario of the program's own, several labs at a time, and
// goes on when one fails.
func (a *App) labRunAll(ctx context.Context, place labPlace, how rehearsalOf, labs int) error {
	named, err := scenario.Builtin()
	if err != nil {
		return err
	}
	all, err := a.outcomes(ctx, named, place, how, labs)
	if err != nil {
		return err
	}
	doc := allDocument{listed(all)}
	if how.out != "" {
		err = writeJSON(context.WithoutCancel(ctx), how.out, doc)
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
	case !a.json:
		fmt.Fprint(a.Stdout, scenario.Page(all))
	case err == nil:
		return a.printJSON(doc)
	}
	return err
}

// lastLine keeps the complaint of a program that is run in a lab's kernel, of which
// this one sees nothing but its status.
type lastLine struct{ text string }

func (l *lastLine) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		if why, is := strings.CutPrefix(line, complaint); is {
			l.text = strings.TrimSpace(why)
		}
	}
	return len(p), nil
}

// complaint is how an error's line begins.
const complaint = "linerate: "

func (l *lastLine) of(err error) error {
	if l.text == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, l.text)
}

// runLab builds a file's network where it can be built, and rehearses.
func (a *App) runLab(ctx context.Context, what labNetwork, place labPlace, in guest.Command, how rehearsalOf) error {
	return a.inLab(ctx, place, in, func(choice lab.Choice) error { return a.rehearse(ctx, *what.file, choice, how) })
}
