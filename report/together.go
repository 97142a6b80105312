package report

import (
	"fmt"
	"slices"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// textGroups is the sum of every group beside what hosts and links let through
// together.
func textGroups(r record.Record, width int) []string {
	if len(r.Groups) == 0 {
		return nil
	}
	rows := [][]string{{"together", "streams", "pairs", "measured", "ceiling", "%", "what binds"}}
	for _, g := range r.Groups {
		ceiling := g.Ceiling
		if !positive(float64(ceiling)) {
			ceiling = g.CeilingSum
		}
		rows = append(rows, []string{
			printable(string(g.Direction)), fmt.Sprint(g.Streams), fmt.Sprint(g.Trials), rate(g.Goodput), rate(ceiling),
			percent(g.Goodput, ceiling), printable(g.Limit),
		})
	}
	out := append([]string{""}, columns(rows, width)...)
	for _, g := range r.Groups {
		for _, n := range g.Notes {
			out = append(out, wrap("  ", "    ", n, width)...)
		}
	}
	return out
}

// textSweeps is every sweep's table by value, with its verdict.
func textSweeps(r record.Record, width int) []string {
	var out []string
	for _, s := range r.Sweeps {
		head := fmt.Sprintf("%s → %s %s, by turns", printable(s.From), printable(s.To), printable(string(s.Direction)))
		if s.Streams > 0 {
			head = fmt.Sprintf("%s → %s %s, %s, by turns", printable(s.From), printable(s.To), printable(string(s.Direction)), unit.Counted(s.Streams, "stream"))
		}
		table := sweepTable(s)
		if claims(s) {
			head = fmt.Sprintf("%s → %s %s, one stream from each address", printable(s.From), printable(s.To), printable(string(s.Direction)))
			table = claimTable(s)
		}
		out = append(out, "", fit(head, width))
		out = append(out, columns(table, width)...)
		out = append(out, wrap("", "", s.Verdict, width)...)
	}
	return out
}

// claims reports a sweep in which senders' own counts stand beside the
// receiver's.
func claims(s record.Sweep) bool {
	return slices.ContainsFunc(s.Values, func(v record.SweepValue) bool { return positive(float64(v.Claimed)) })
}

func sweepTable(s record.Sweep) [][]string {
	rows := [][]string{{printable(s.Setting), "measured", "from", "to", "runs", "against " + firstValue(s)}}
	for i, v := range s.Values {
		against := ""
		if first := s.Values[0].Goodput; i > 0 && positive(float64(first)) {
			against = fmt.Sprintf("%+.1f %%", 100*(float64(v.Goodput/first)-1))
		}
		rows = append(rows, []string{printable(v.Value), rate(v.Goodput), rate(v.Low), rate(v.High), fmt.Sprint(v.Trials), against})
	}
	return rows
}

func firstValue(s record.Sweep) string {
	if len(s.Values) == 0 {
		return unknown
	}
	return printable(s.Values[0].Value)
}

// claimTable sets what senders claim beside what arrived.
func claimTable(s record.Sweep) [][]string {
	rows := [][]string{{printable(s.Setting), "clients' sum", "arrived", "on the wire", "ceiling", "claimed too much"}}
	for _, v := range s.Values {
		excess := unknown
		if positive(float64(v.Goodput)) {
			excess = fmt.Sprintf("%+.1f %%", 100*(float64(v.Claimed/v.Goodput)-1))
		}
		rows = append(rows, []string{printable(v.Value), rate(v.Claimed), rate(v.Goodput), rate(v.Wire), rate(v.Ceiling), excess})
	}
	return rows
}
