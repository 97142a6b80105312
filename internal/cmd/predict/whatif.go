package predict

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/whatif"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// whatIfFlag holds the changes to compare, one list of them a flag.
type whatIfFlag struct{ texts []string }

func (w *whatIfFlag) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&w.texts, "what-if", nil, "compare with changes such as mtu=9000,links=4 (repeat for more): "+strings.Join(whatif.Keys(), ", "))
}

func (w *whatIfFlag) read() ([]whatif.Changes, error) {
	var all []whatif.Changes
	for _, text := range w.texts {
		one, err := whatif.Parse(text)
		if err != nil {
			return nil, badWhatIf(text, err)
		}
		if one.String() == "" {
			return nil, console.BadUsage("--what-if: no change", "write such as --what-if mtu=9000,links=4")
		}
		all = append(all, one)
	}
	return all, nil
}

// badWhatIf says what is taken, and names the key or the word that was probably meant.
func badWhatIf(text string, err error) error {
	why, hint := strings.TrimSuffix(err.Error(), ": "+whatif.ErrChange.Error()), ""
	var unknown *whatif.UnknownKeyError
	var value *whatif.ValueError
	if errors.As(err, &unknown) {
		hint = console.OrMeant(unknown.Key, whatif.Keys(), "", "keys are "+strings.Join(whatif.Keys(), ", "))
	} else if errors.As(err, &value) {
		hint = console.OrMeant(value.Value, value.Words, value.Key+"=", "")
		if value.Value == "" {
			hint = cmp.Or(hint, "such as --what-if mtu=9000,links=4")
		}
	}
	return console.BadUsage("--what-if "+text+": "+strings.TrimPrefix(why, text+": "), hint)
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
func compareWhatIf(ctx context.Context, con *console.Console, s *foresight, m fabric.Measure, changes []whatif.Changes) error {
	before, err := s.predictions(ctx, m)
	if err != nil {
		return err
	}
	var all []supposed
	for _, w := range changes {
		c, err := s.whatIf(ctx, w, m, before)
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	if con.JSON {
		doc := s.document(before)
		doc.WhatIf = all
		return predictDocument.Print(con, doc)
	}
	printLearned(con, s)
	for i, pair := range byPair(before) {
		if i > 0 {
			fmt.Fprintln(con.Stdout)
		}
		printCompared(con, pair, all)
	}
	return nil
}

// whatIf predicts every row of before with changes laid over fabric and
// question.
func (s *foresight) whatIf(ctx context.Context, w whatif.Changes, m fabric.Measure, before []predict.Prediction) (supposed, error) {
	state, asked, notes, err := w.Apply(s.state, m)
	if err != nil {
		return supposed{}, badWhatIf(w.String(), err)
	}
	then := *s
	then.state = state
	after, err := then.predictions(ctx, asked)
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

// comparison is one pair's table: rates as they are beside what they would be
// with each set of changes.
type comparison struct {
	pair  []predict.Prediction
	sets  []supposed
	unit  scale
	width int
	// vague: some rate shown is the middle of a range.
	vague bool
	// bound: some rate shown is no more than a bound.
	bound bool
}

// Widths of a line's beginning and of one set's two columns.
const (
	comparedLead = 30
	comparedSet  = 20
)

// printCompared prints one pair: with one set of changes what binds before and
// after, with several their rates side by side, as many as a line takes.
func printCompared(con *console.Console, pair []predict.Prediction, all []supposed) {
	c := &comparison{pair: pair, sets: all, width: con.Width(), unit: scaleOf(append(slices.Concat(pair), afterOf(pair[0], all)...))}
	fmt.Fprintf(con.Stdout, "%s -> %s, %s, payload in %s\n", pair[0].From, pair[0].To, pair[0].Protocol, c.unit.name)
	for i, s := range all {
		fmt.Fprint(con.Stdout, console.Wrapped(fmt.Sprintf("  [%d] ", i+1), s.Change, c.width))
	}
	per := max(1, (c.width-comparedLead)/comparedSet)
	for first := 0; first < len(all); first += per {
		fmt.Fprint(con.Stdout, c.table(first, min(first+per, len(all))))
	}
	for i, s := range all {
		for _, note := range s.Notes {
			fmt.Fprint(con.Stdout, console.Wrapped("  ", fmt.Sprintf("[%d] %s", i+1, note), c.width))
		}
	}
	for i, s := range all {
		if len(all) > 1 {
			fmt.Fprint(con.Stdout, console.Wrapped(fmt.Sprintf("  [%d] then binds: ", i+1), s.binds(pair[0]), c.width))
		}
	}
	if c.bound {
		fmt.Fprint(con.Stdout, console.Wrapped("  ", atMostMeans, c.width))
	}
	if c.vague {
		fmt.Fprint(con.Stdout, console.Wrapped("  ", "~ stands for a range that is wider than a tenth; --json has it", c.width))
	}
}

// table is the sets from first up to end, all directions.
func (c *comparison) table(first, end int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %-9s  %7s  %8s", "DIRECTION", "STREAMS", "NOW")
	for i := first; i < end; i++ {
		fmt.Fprintf(&b, "  %8s  %8s", "["+strconv.Itoa(i+1)+"]", "GAIN")
	}
	if len(c.sets) == 1 {
		b.WriteString("  LIMIT")
	}
	b.WriteString("\n")
	var forward []comparedRow
	for _, d := range flow.Directions() {
		rows := c.rows(d, first, end)
		if d == flow.Forward {
			forward = rows
		}
		if d == flow.Reverse && len(rows) > 0 && slices.EqualFunc(rows, forward, comparedRow.same) {
			fmt.Fprintf(&b, "  %-9s  as forward\n", d)
			continue
		}
		for _, r := range rows {
			b.WriteString(console.Wrapped(fmt.Sprintf("  %-9s  %7s  %s", d, r.counts(), r.rates), r.limit, c.width))
		}
	}
	return b.String()
}

// comparedRow is one line: rows with the same numbers share one.
type comparedRow struct {
	streams []int
	after   int // streams after the change, where they are others
	rates   string
	limit   string
}

func (r comparedRow) same(o comparedRow) bool {
	return r.alike(o) && slices.Equal(r.streams, o.streams)
}

func (r comparedRow) alike(o comparedRow) bool {
	return r.after == o.after && r.rates == o.rates && r.limit == o.limit
}

// counts are the row's streams: "4", "1-16", "2>4" where a change says so.
func (r comparedRow) counts() string {
	text := countsOf(r.streams)
	if r.after > 0 {
		text += ">" + strconv.Itoa(r.after)
	}
	return text
}

// rows are the lines of one direction, neighbours that say the same folded.
func (c *comparison) rows(d flow.Direction, first, end int) []comparedRow {
	var rows []comparedRow
	for _, p := range c.pair {
		if p.Direction != d {
			continue
		}
		r := c.row(p, first, end)
		if n := len(rows); n > 0 && rows[n-1].alike(r) {
			rows[n-1].streams = append(rows[n-1].streams, p.Streams)
			continue
		}
		rows = append(rows, r)
	}
	return rows
}

func (c *comparison) row(p predict.Prediction, first, end int) comparedRow {
	r := comparedRow{streams: []int{p.Streams}, rates: fmt.Sprintf("%8s", c.rate(p))}
	for _, s := range c.sets[first:end] {
		row, then := s.rowOf(p)
		gain := gainText(row)
		if open(p) != open(then) {
			gain = "unknown" // a bound and a rate do not compare
		}
		r.rates += fmt.Sprintf("  %8s  %8s", c.rate(then), gain)
		if len(c.sets) > 1 {
			continue
		}
		if row.StreamsAfter != p.Streams {
			r.after = row.StreamsAfter
		}
		r.limit = string(p.Limit)
		if row.LimitAfter != p.Limit {
			r.limit += ", then " + string(row.LimitAfter)
		}
	}
	if len(c.sets) == 1 {
		r.rates += "  "
	}
	return r
}

// rate is a prediction's rate, marked where it is the middle of a range that
// is worth looking up.
func (c *comparison) rate(p predict.Prediction) string {
	text := c.unit.text(p.Rate)
	if open(p) {
		c.bound = true
		return atMost + text
	}
	if p.RateLow > 0 && p.RateHigh > p.RateLow*1.1 {
		c.vague = true
		return "~" + text
	}
	return text
}

// rowOf is the row of a prediction, and the prediction after the changes.
func (s supposed) rowOf(p predict.Prediction) (supposedRow, predict.Prediction) {
	for i, r := range s.Rows {
		if r.From == p.From && r.To == p.To && r.Direction == p.Direction && r.Streams == p.Streams {
			return r, s.After[i]
		}
	}
	return supposedRow{}, predict.Prediction{}
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
func (s supposed) binds(of predict.Prediction) string {
	var causes []record.Cause
	for _, r := range s.Rows {
		if r.From == of.From && r.To == of.To && !slices.Contains(causes, r.LimitAfter) {
			causes = append(causes, r.LimitAfter)
		}
	}
	var words []string
	for _, c := range causes {
		words = append(words, string(c))
	}
	return strings.Join(words, ", ")
}

// afterOf are a pair's predictions after every set of changes.
func afterOf(pair predict.Prediction, all []supposed) []predict.Prediction {
	var after []predict.Prediction
	for _, s := range all {
		for _, p := range s.After {
			if p.From == pair.From && p.To == pair.To {
				after = append(after, p)
			}
		}
	}
	return after
}
