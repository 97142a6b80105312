package predict

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/whatif"
	"github.com/linerate/linerate/unit"
)

// togetherFlags say whether pairs are predicted all at once.
type togetherFlags struct{ on bool }

func (f *togetherFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.on, "together", false, "all pairs at the same time: what each gets beside the others (without\n--streams: with the largest stream count)")
}

// check refuses what does not go with --together.
func (f *togetherFlags) check(calibrated bool) error {
	if f.on && calibrated {
		return console.BadUsage("--together: does not go with --calibrate", "calibrate one pair at a time")
	}
	return nil
}

// supposedTogether is what all pairs get at once with one set of changes.
type supposedTogether struct {
	Change string          `json:"change"`
	Notes  []string        `json:"notes,omitempty"`
	Rows   []predict.Joint `json:"predictions"`
}

// predictTogether predicts all pairs at once, for each direction and stream
// count, as they are and with each set of changes, and prints it. Where no stream
// count was asked for it is the largest one alone: one table a direction, not five.
func predictTogether(con *console.Console, s *foresight, m fabric.Measure, asked bool, changes []whatif.Changes) error {
	if !asked && len(m.Streams) > 0 {
		m.Streams = []int{slices.Max(m.Streams)}
	}
	all, err := s.together(m)
	if err != nil {
		return err
	}
	var supposed []supposedTogether
	for _, w := range changes {
		state, then, notes, err := w.Apply(s.state, m)
		if err != nil {
			return badWhatIf(w.String(), err)
		}
		changed := *s
		changed.state = state
		rows, err := changed.together(then)
		if err != nil {
			return err
		}
		supposed = append(supposed, supposedTogether{w.String(), notes, rows})
	}
	if con.JSON {
		return togetherDocument.Print(con, predictedTogether{all, supposed})
	}
	printTables(con, all)
	for _, c := range supposed {
		fmt.Fprint(con.Stdout, console.Wrapped("", "with "+c.Change+":", con.Width()))
		for _, n := range c.Notes {
			fmt.Fprint(con.Stdout, console.Wrapped("  ", n, con.Width()))
		}
		printTables(con, c.Rows)
	}
	if slices.ContainsFunc(s.state.Paths, func(p fabric.Path) bool { return p.Switches != nil }) {
		return nil
	}
	fmt.Fprint(con.Stdout, console.Wrapped("", "Links between switches are not in the file, and are taken to bind nothing.", con.Width()))
	return nil
}

// together is every pair at once, for each direction and stream count.
func (s *foresight) together(m fabric.Measure) ([]predict.Joint, error) {
	all := []predict.Joint{}
	for _, d := range m.Directions {
		for _, n := range m.Streams {
			rows, err := predict.Together(s.state, predict.EveryPair(s.state, m, d, n))
			if err != nil {
				return nil, s.unpredictable(err)
			}
			all = append(all, rows...)
		}
	}
	return all, nil
}

// printTables prints a table for each direction and stream count.
func printTables(con *console.Console, all []predict.Joint) {
	for i := 0; i < len(all); {
		end := i
		for end < len(all) && all[end].Direction == all[i].Direction && all[end].Streams == all[i].Streams {
			end++
		}
		printTogether(con.Stdout, all[i:end], con.Width())
		fmt.Fprintln(con.Stdout)
		i = end
	}
}

// mostPairs is how many pairs are listed one by one; of more a summary is.
const mostPairs = 40

// printTogether prints what pairs of one direction and stream count get.
func printTogether(w io.Writer, rows []predict.Joint, width int) {
	first := rows[0]
	fmt.Fprint(w, console.Wrapped("", fmt.Sprintf("%s at once, %s, %s each, %s", count(len(rows), "pair"), first.Direction,
		count(first.Streams, "stream"), first.Protocol), width))
	t := jointTable{numbers: map[string]int{}}
	if len(rows) <= mostPairs {
		t.rows(rows)
		t.total(rows)
		t.print(w, width)
		t.printWhy(w, len(rows), width)
		return
	}
	const worst = 10
	known := slices.DeleteFunc(slices.Clone(rows), func(r predict.Joint) bool { return r.Together == 0 })
	t.number(rows)
	t.quartiles(known)
	t.total(rows)
	t.print(w, width)
	slices.SortStableFunc(known, func(a, b predict.Joint) int { return cmp.Compare(b.Rate-b.Together, a.Rate-a.Together) })
	if len(known) > 0 && known[0].Shared() {
		fmt.Fprintln(w, "  who loses most:")
		t.lines = nil
		t.rows(known[:min(worst, len(known))])
		t.print(w, width)
	}
	t.printWhy(w, worst, width)
}

// jointTable is pairs and what each gets alone and together.
type jointTable struct {
	lines []jointLine
	// shared are what several pairs share and that binds them; numbers by
	// cause and place, as the table shows them.
	shared  []sharedLine
	numbers map[string]int
}

type jointLine struct{ name, alone, together, limit string }

type sharedLine struct {
	text  string
	pairs int
}

// number gives what binds its number, that which binds most pairs first.
func (t *jointTable) number(rows []predict.Joint) {
	for _, r := range rows {
		if !r.Shared() {
			continue
		}
		i, known := t.numbers[sharedKey(r)]
		if !known {
			i = len(t.shared)
			t.numbers[sharedKey(r)] = i
			t.shared = append(t.shared, sharedLine{text: fmt.Sprintf("%s, %s: %s", r.TogetherLimit, r.TogetherWhere, r.TogetherWhy)})
		}
		t.shared[i].pairs++
	}
	order := make([]int, len(t.shared))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(t.shared[b].pairs, t.shared[a].pairs) })
	place := make([]int, len(order))
	sorted := make([]sharedLine, len(order))
	for to, from := range order {
		place[from], sorted[to] = to, t.shared[from]
	}
	for key, i := range t.numbers {
		t.numbers[key] = place[i]
	}
	t.shared = sorted
}

func sharedKey(r predict.Joint) string { return string(r.TogetherLimit) + " " + r.TogetherWhere }

func (t *jointTable) rows(rows []predict.Joint) {
	if len(t.numbers) == 0 {
		t.number(rows)
	}
	for _, r := range rows {
		t.lines = append(t.lines, t.line(pairName(r), r))
	}
}

func (t *jointTable) line(name string, r predict.Joint) jointLine {
	limit := string(r.TogetherLimit)
	if r.Shared() {
		limit += fmt.Sprintf(" [%d]", t.numbers[sharedKey(r)]+1)
	}
	return jointLine{name, orUnknown(r.Rate), orUnknown(r.Together), limit}
}

// quartiles are the least, the middle and the most that pairs get.
func (t *jointTable) quartiles(known []predict.Joint) {
	if len(known) == 0 {
		return
	}
	slices.SortStableFunc(known, func(a, b predict.Joint) int { return cmp.Compare(a.Together, b.Together) })
	for _, q := range []struct {
		word string
		row  predict.Joint
	}{{"least", known[0]}, {"median", known[len(known)/2]}, {"most", known[len(known)-1]}} {
		t.lines = append(t.lines, t.line(q.word+": "+pairName(q.row), q.row))
	}
}

// total adds the sums.
func (t *jointTable) total(rows []predict.Joint) {
	var alone, together unit.BitRate
	name, unknown := "sum", 0
	for _, r := range rows {
		alone, together = alone+r.Rate, together+r.Together
		if r.Together == 0 {
			unknown++
		}
	}
	if unknown > 0 {
		name = fmt.Sprintf("sum, without %d unknown", unknown)
	}
	t.lines = append(t.lines, jointLine{name: name, alone: alone.String(), together: together.String()})
}

// print prints the lines; names give way where a line would not fit.
func (t *jointTable) print(w io.Writer, width int) {
	lines := append([]jointLine{{"PAIR", "ALONE", "TOGETHER", "LIMIT"}}, t.lines...)
	var name, alone, together, limit int
	for _, l := range lines {
		name, alone = max(name, len([]rune(l.name))), max(alone, len(l.alone))
		together, limit = max(together, len(l.together)), max(limit, len(l.limit))
	}
	name = max(8, min(name, width-(2+2+alone+2+together+2+limit)))
	for _, l := range lines {
		if r := []rune(l.name); len(r) > name {
			l.name = string(r[:name-3]) + "..."
		}
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("  %-*s  %-*s  %-*s  %s", name, l.name, alone, l.alone, together, l.together, l.limit), " "))
	}
}

// printWhy says what the numbers stand for.
func (t *jointTable) printWhy(w io.Writer, most, width int) {
	for i, s := range t.shared {
		if i == most {
			fmt.Fprintf(w, "  and %d more that bind fewer pairs\n", len(t.shared)-most)
			break
		}
		lead := fmt.Sprintf("  [%d] ", i+1)
		fmt.Fprint(w, console.Wrapped(lead, fmt.Sprintf("%s, and it binds %d of them", s.text, s.pairs), width))
	}
}

func pairName(r predict.Joint) string {
	arrow := " -> "
	switch r.Direction {
	case flow.Reverse:
		arrow = " <- "
	case flow.Both:
		arrow = " <-> "
	}
	return r.From + arrow + r.To
}

func count(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return fmt.Sprintf("%d %s", n, word)
}
