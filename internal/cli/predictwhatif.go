package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// whatIfFlag holds the changes to compare, one list of them a flag.
type whatIfFlag struct{ texts []string }

func (w *whatIfFlag) add(c *cobra.Command) {
	names, _ := predict.WhatIfKeys()
	c.Flags().StringArrayVar(&w.texts, "what-if", nil, "compare with changes such as mtu=9000,links=4 (repeat for more): "+strings.Join(names, ", "))
}

func (w *whatIfFlag) read() ([]predict.WhatIf, error) {
	var all []predict.WhatIf
	for _, text := range w.texts {
		one, err := predict.ParseWhatIf(text)
		if err != nil {
			return nil, badWhatIf(text, err)
		}
		if one.String() == "" {
			return nil, usage("--what-if: no change", "write such as --what-if mtu=9000,links=4")
		}
		all = append(all, one)
	}
	return all, nil
}

// badWhatIf names the key that was probably meant.
func badWhatIf(text string, err error) error {
	names, _ := predict.WhatIfKeys()
	hint := ""
	var unknown *predict.UnknownKeyError
	if errors.As(err, &unknown) {
		hint = orMeant(unknown.Key, names, "", "keys are "+strings.Join(names, ", "))
	}
	return usage("--what-if "+text+": "+strings.TrimSuffix(err.Error(), ": "+predict.ErrWhatIf.Error()), hint)
}

// supposed is one set of changes: every row before and after.
type supposed struct {
	Change string        `json:"change"`
	Notes  []string      `json:"notes,omitempty"`
	Rows   []supposedRow `json:"rows"`
	// After are the predictions behind the rows, in the same order.
	After []predict.Prediction `json:"predictions"`
}

// supposedRow is one pair, direction and stream count.
type supposedRow struct {
	From          string         `json:"from"`
	To            string         `json:"to"`
	Direction     flow.Direction `json:"direction"`
	Streams       int            `json:"streams"`
	StreamsAfter  int            `json:"streams_after"`
	Before        unit.BitRate   `json:"before_bps"`
	After         unit.BitRate   `json:"after_bps"`
	CeilingBefore unit.BitRate   `json:"ceiling_before_bps"`
	CeilingAfter  unit.BitRate   `json:"ceiling_after_bps"`
	// Gain is after over before, less one; zero where before is unknown.
	Gain        float64      `json:"gain_ratio"`
	LimitBefore record.Cause `json:"limit_before"`
	LimitAfter  record.Cause `json:"limit_after"`
}

// compareWhatIf predicts as it is and as it would be.
func (a *App) compareWhatIf(s *foresight, m fabric.Measure, changes []predict.WhatIf) error {
	before, err := s.predictions(m)
	if err != nil {
		return err
	}
	var all []supposed
	for _, w := range changes {
		c, err := s.whatIf(w, m, before)
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	if a.json {
		doc := s.document(before)
		doc["what_if"] = all
		return a.printJSON(doc)
	}
	a.printLearned(s)
	for i, pair := range byPair(before) {
		if i > 0 {
			fmt.Fprintln(a.Stdout)
		}
		a.printCompared(pair, all)
	}
	return nil
}

// whatIf predicts every row of before with changes laid over fabric and
// question.
func (s *foresight) whatIf(w predict.WhatIf, m fabric.Measure, before []predict.Prediction) (supposed, error) {
	state, asked, notes, err := w.Apply(s.state, m)
	if err != nil {
		return supposed{}, badWhatIf(w.String(), err)
	}
	then := *s
	then.state = state
	after, err := then.predictions(asked)
	if err != nil {
		return supposed{}, err
	}
	c := supposed{Change: w.String(), Notes: notes}
	per := len(asked.Streams)
	for i, b := range before {
		// One count in place of all: every row of a direction is set against it.
		at := i
		if per != len(m.Streams) || !slices.Equal(asked.Streams, m.Streams) {
			at = i / len(m.Streams) * per
		}
		p := after[at]
		row := supposedRow{From: b.From, To: b.To, Direction: b.Direction, Streams: b.Streams, StreamsAfter: p.Streams,
			Before: b.Rate, After: p.Rate, CeilingBefore: b.Ceiling, CeilingAfter: p.Ceiling, LimitBefore: b.Limit, LimitAfter: p.Limit}
		if b.Rate > 0 {
			row.Gain = float64(p.Rate/b.Rate) - 1
		}
		c.Rows, c.After = append(c.Rows, row), append(c.After, p)
	}
	return c, nil
}

// rowOf is the row of a prediction.
func (c supposed) rowOf(p predict.Prediction) supposedRow {
	for _, r := range c.Rows {
		if r.From == p.From && r.To == p.To && r.Direction == p.Direction && r.Streams == p.Streams {
			return r
		}
	}
	return supposedRow{}
}

// printCompared prints one pair: with one set of changes what binds before and
// after, with several their rates side by side.
func (a *App) printCompared(pair []predict.Prediction, all []supposed) {
	u := scaleOf(append(slices.Concat(pair), allAfter(all)...))
	fmt.Fprintf(a.Stdout, "%s -> %s, %s, payload in %s\n", pair[0].From, pair[0].To, pair[0].Protocol, u.name)
	for i, c := range all {
		fmt.Fprint(a.Stdout, wrapped(fmt.Sprintf("  [%d] ", i+1), c.Change, a.width()))
	}
	head := fmt.Sprintf("  %-9s  %7s  %8s", "DIRECTION", "STREAMS", "NOW")
	for i := range all {
		head += fmt.Sprintf("  %8s  %8s", "["+strconv.Itoa(i+1)+"]", "GAIN")
	}
	if len(all) == 1 {
		head += "  LIMIT"
	}
	fmt.Fprintln(a.Stdout, head)
	var forward []string
	for _, d := range flow.Directions() {
		lines := comparedLines(pair, all, d, u, a.width())
		if d == flow.Forward {
			forward = lines
		}
		if d == flow.Reverse && len(lines) > 0 && slices.Equal(unnamed(lines), unnamed(forward)) {
			lines = []string{fmt.Sprintf("  %-9s  as forward\n", d)}
		}
		fmt.Fprint(a.Stdout, strings.Join(lines, ""))
	}
	for i, c := range all {
		for _, note := range c.Notes {
			fmt.Fprint(a.Stdout, wrapped("  ", fmt.Sprintf("[%d] %s", i+1, note), a.width()))
		}
	}
	for i, c := range all {
		if len(all) > 1 {
			fmt.Fprint(a.Stdout, wrapped(fmt.Sprintf("  [%d] then binds: ", i+1), c.binds(pair[0]), a.width()))
		}
	}
}

// comparedLines are the lines of one direction.
func comparedLines(pair []predict.Prediction, all []supposed, d flow.Direction, u scale, width int) []string {
	var lines []string
	for _, p := range pair {
		if p.Direction != d {
			continue
		}
		rows := make([]supposedRow, len(all))
		for i, c := range all {
			rows[i] = c.rowOf(p)
		}
		lines = append(lines, comparedLine(p, rows, u, width))
	}
	return lines
}

// unnamed are lines without their direction.
func unnamed(lines []string) []string {
	var out []string
	for _, l := range lines {
		out = append(out, strings.TrimLeft(strings.TrimLeft(l, " "), "abcdefghijklmnopqrstuvwxyz"))
	}
	return out
}

func comparedLine(p predict.Prediction, rows []supposedRow, u scale, width int) string {
	counts := strconv.Itoa(p.Streams)
	if len(rows) == 1 && rows[0].StreamsAfter != p.Streams {
		counts += ">" + strconv.Itoa(rows[0].StreamsAfter)
	}
	line := fmt.Sprintf("  %-9s  %7s  %8s", p.Direction, counts, u.text(p.Rate))
	for _, r := range rows {
		line += fmt.Sprintf("  %8s  %8s", u.text(r.After), gainText(r))
	}
	if len(rows) > 1 {
		return line + "\n"
	}
	limit := string(p.Limit)
	if then := rows[0].LimitAfter; then != p.Limit {
		limit += ", then " + string(then)
	}
	return wrapped(line+"  ", limit, width)
}

// gainText is "+12 %", or how many times as much where it is more than double.
func gainText(r supposedRow) string {
	switch {
	case r.Before == 0 || r.After == 0:
		return "unknown"
	case r.Gain > -0.0005 && r.Gain < 0.0005:
		return "same"
	case r.Gain >= 1:
		return fmt.Sprintf("x %.3g", 1+r.Gain)
	}
	return fmt.Sprintf("%+.1f %%", 100*r.Gain)
}

// binds are the causes that bind a pair after the changes.
func (c supposed) binds(of predict.Prediction) string {
	var causes []string
	for _, r := range c.Rows {
		if r.From == of.From && r.To == of.To && !slices.Contains(causes, string(r.LimitAfter)) {
			causes = append(causes, string(r.LimitAfter))
		}
	}
	return strings.Join(causes, ", ")
}

func allAfter(all []supposed) []predict.Prediction {
	var after []predict.Prediction
	for _, c := range all {
		after = append(after, c.After...)
	}
	return after
}
