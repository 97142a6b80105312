package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/scenario"
)

// leastSplit is how long a scenario takes that is measured in parts side by side: below it
// standing up a second network gains little.
const leastSplit = 4 * time.Minute

// part is one of several parts of a scenario, its number from 1 on; zero is the whole.
type part struct{ number, of int }

func (p part) String() string {
	if p.of < 2 {
		return ""
	}
	return fmt.Sprintf("%d/%d", p.number, p.of)
}

// Set reads what String wrote.
func (p *part) Set(text string) error {
	number, of, _ := strings.Cut(text, "/")
	k, err := strconv.Atoi(number)
	n, err2 := strconv.Atoi(of)
	if err = cmp.Or(err, err2); err != nil || k < 1 || k > n {
		return fmt.Errorf("want 1/2, not %s", text)
	}
	*p = part{k, n}
	return nil
}

// Type is the value's word in help.
func (p *part) Type() string { return "K/N" }

// partsOf is in how many parts a scenario is measured: in as many as labs may stand beside
// each other where it takes long and a kernel of its own can be had for each; 1 is as a whole.
func partsOf(what labNetwork, place Place, how scenarioOf, labs int) int {
	if what.file == nil || how.part.of > 0 || labs < 2 || how.of(*what.file).Length() < leastSplit {
		return 1
	}
	if choice, err := what.place(place).choose(); err != nil || choice.BackEnd != lab.UML {
		return 1
	}
	return min(labs, how.of(*what.file).MostParts())
}

// runParts measures a scenario in parts side by side, and prints it as one.
func runParts(ctx context.Context, con *console.Console, what labNetwork, place Place, how scenarioOf, labs int) error {
	all, err := outcomes(ctx, con, []labNetwork{what}, place, how, labs)
	if err != nil {
		return err
	}
	if len(all) == 0 { // interrupted before it began
		return ctx.Err()
	}
	o := all[0]
	if o.Error != "" {
		err = fmt.Errorf("run %s: %s", o.Scenario, o.Error)
	}
	if err = cmp.Or(ctx.Err(), err); err != nil && len(o.Rows) == 0 {
		return err
	}
	return showScenario(ctx, con, scenarioDocument{o.Scenario, lab.BackEnd(o.BackEnd), o.Kernel, o.Scale, o.Slow, o.Tools, o.Rows, o.Findings, o.Notes, o.LeftOut}, how.out, false, err)
}

// showScenario keeps and prints what a run showed, also of one that ended early with err; as
// JSON a part's alone, which another run puts to the others.
func showScenario(ctx context.Context, con *console.Console, doc scenarioDocument, out string, part bool, err error) error {
	if out != "" {
		err = errors.Join(err, console.WriteJSON(context.WithoutCancel(ctx), out, doc))
	}
	switch {
	case !con.JSON:
		fmt.Fprint(con.Stdout, scenario.Text(doc.Rows)+scenario.LeftOutText(doc.LeftOut))
	case err == nil || part:
		return errors.Join(err, runDocument.Print(con, doc))
	}
	return err
}
