package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/whatif"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// whatIfFlag holds the changes to compare, one list of them a flag.
type whatIfFlag struct{ texts []string }

func (w *whatIfFlag) add(c *cobra.Command) {
	names, _ := whatif.Keys()
	c.Flags().StringArrayVar(&w.texts, "what-if", nil, "compare with changes such as mtu=9000,links=4 (repeat for more): "+strings.Join(names, ", "))
}

func (w *whatIfFlag) read() ([]whatif.Changes, error) {
	var all []whatif.Changes
	for _, text := range w.texts {
		one, err := whatif.Parse(text)
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
	names, _ := whatif.Keys()
	why, hint := strings.TrimSuffix(err.Error(), ": "+whatif.ErrChange.Error()), ""
	var unknown *whatif.UnknownKeyError
	if errors.As(err, &unknown) {
		hint = orMeant(unknown.Key, names, "", "keys are "+strings.Join(names, ", "))
	} else if change, _, found := strings.Cut(why, ": "); found {
		key, value, _ := strings.Cut(change, "=")
		if words := wordsOf(key); len(words) > 0 {
			hint = orMeant(value, words, key+"=", "write one of: "+strings.Join(words, ", "))
		}
	}
	return usage("--what-if "+text+": "+strings.TrimPrefix(why, text+": "), hint)
}

// wordsOf are the words that a key's value is one of; none for a number.
func wordsOf(key string) []string {
	var words []string
	switch key {
	case "mode":
		for _, m := range netstate.BondModes() {
			words = append(words, m.String())
		}
	case "policy", "switch_hash":
		for _, p := range netstate.HashPolicies() {
			words = append(words, p.String())
		}
	case "ports":
		words = []string{predict.PortsChosen, predict.PortsKernel}
	case "protocol":
		words = []string{"tcp", "udp", "mptcp"}
	}
	return words
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
func (a *App) compareWhatIf(s *foresight, m fabric.Measure, changes []whatif.Changes) error {
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
func (s *foresight) whatIf(w whatif.Changes, m fabric.Measure, before []predict.Prediction) (supposed, error) {
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
