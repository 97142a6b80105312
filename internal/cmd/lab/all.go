package lab

import (
	"context"
	"errors"
	"fmt"

	"github.com/linerate/linerate/internal/cmd/console"
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

// runAll runs every scenario of the program's own, several labs at a time, and
// goes on when one fails.
func runAll(ctx context.Context, con *console.Console, place Place, how rehearsalOf, labs int) error {
	named, err := scenario.Builtin()
	if err != nil {
		return err
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
		return con.PrintJSON(doc)
	}
	return err
}

// runLab builds a file's network where it can be built, and rehearses.
func runLab(ctx context.Context, con *console.Console, what labNetwork, place Place, in guest.Command, how rehearsalOf) error {
	return Inside(ctx, con, place, in, func(choice lab.Choice) error { return rehearse(ctx, con, *what.file, choice, how) })
}
