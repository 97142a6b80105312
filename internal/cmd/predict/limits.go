package predict

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// ladderFlag asks for every limit with its arithmetic.
type ladderFlag struct{ all bool }

func (l *ladderFlag) add(c *cobra.Command) {
	c.Flags().BoolVar(&l.all, "limits", false, "every limit of every row, with its arithmetic")
}

// check refuses what prints other tables.
func (l *ladderFlag) check(together bool, changes int) error {
	const hint = "leave --limits away; --json has every limit"
	switch {
	case !l.all:
	case together:
		return console.BadUsage("--limits: does not go with --together", hint)
	case changes > 0:
		return console.BadUsage("--limits: does not go with --what-if", hint)
	}
	return nil
}

// printLadders prints every limit of every row with its arithmetic, but for
// rows whose table says that they are as forward.
func printLadders(con *console.Console, pair []predict.Prediction) {
	rows := rowsOf(pair, scaleOf(pair))
	mirrored := slices.EqualFunc(ofDirection(rows, flow.Reverse), ofDirection(rows, flow.Forward), alike)
	for _, p := range pair {
		for _, r := range rows {
			if r.direction != p.Direction || !slices.Contains(r.streams, p.Streams) {
				continue
			}
			if p.Direction == flow.Reverse && mirrored || r.up == eachWay {
				continue
			}
			printLadder(con, p)
		}
	}
}

func printLadder(con *console.Console, p predict.Prediction) {
	fmt.Fprintf(con.Stdout, "\n  %s, %s: %s of %s\n", p.Direction, unit.Counted(p.Streams, "stream"), orUnknown(p.Rate), orUnknown(p.Ceiling))
	for _, l := range folded(p.Limits) {
		rate := orUnknown(l.Rate)
		if l.Low > 0 && l.High > 0 {
			rate += fmt.Sprintf(" (%s to %s)", l.Low, l.High)
		}
		fmt.Fprint(con.Stdout, console.Wrapped(fmt.Sprintf("    %-16s ", l.Cause), rate+", "+l.Where+": "+l.Why, con.Width()))
	}
}

func orUnknown(r unit.BitRate) string {
	if r == 0 {
		return "unknown"
	}
	return r.String()
}

// folded are limits as text says them: those that differ only in where they
// are share one, and none names its place twice.
func folded(limits []predict.Limit) []predict.Limit {
	var out []predict.Limit
	for _, l := range limits {
		l.Why = placeless(l)
		i := slices.IndexFunc(out, func(o predict.Limit) bool {
			return o.Cause == l.Cause && o.Rate == l.Rate && o.Low == l.Low && o.High == l.High && o.Why == l.Why
		})
		switch {
		case i < 0:
			out = append(out, l)
		default:
			out[i].Where = withPlace(out[i].Where, l.Where)
		}
	}
	return out
}

// withPlace adds a place to others, such as "a: ens2" to "a: ens1; b: ens1": a host's
// links are listed once.
func withPlace(where, more string) string {
	places := strings.Split(where, "; ")
	host, links, inside := strings.Cut(more, ": ")
	for i, place := range places {
		h, known, ok := strings.Cut(place, ": ")
		switch {
		case place == more:
			return where
		case !ok || !inside || h != host || strings.Contains(known+links, "("):
			continue
		}
		all := strings.Split(known, ", ")
		for _, l := range strings.Split(links, ", ") {
			if !slices.Contains(all, l) {
				all = append(all, l)
			}
		}
		places[i] = h + ": " + strings.Join(all, ", ")
		return strings.Join(places, "; ")
	}
	return where + "; " + more
}

// placeless is why a limit is there, without the place that Where ends in:
// "a: c0" has no need of "c0: its slot".
func placeless(l predict.Limit) string {
	_, place, found := strings.Cut(l.Where, ": ")
	if !found {
		return l.Why
	}
	place, _, _ = strings.Cut(place, " (")
	for _, way := range []string{"", string(flow.Forward) + ": ", string(flow.Reverse) + ": "} {
		if rest, found := strings.CutPrefix(l.Why, way+place+": "); found {
			return way + rest
		}
	}
	return l.Why
}

// printLimits says why each limit that binds somewhere does, once, and what is
// unknown that might bind before it.
func printLimits(w io.Writer, pair []predict.Prediction, width int) {
	for _, l := range toldLimits(pair) {
		fmt.Fprint(w, console.Wrapped("  ", fmt.Sprintf("%s, %s: %s", l.Cause, l.Where, l.Why), width))
	}
}

// toldLimits are the limits that printLimits tells.
func toldLimits(pair []predict.Prediction) []predict.Limit {
	var told []string
	once := func(key string) bool {
		if slices.Contains(told, key) {
			return false
		}
		told = append(told, key)
		return true
	}
	var limits []predict.Limit
	for _, p := range pair {
		if once(string(p.Limit)) {
			limits = append(limits, p.Limits[0])
		}
	}
	for _, p := range pair {
		for _, l := range p.Limits[1:] {
			if l.Cause == record.Unknown && once(l.Where) {
				limits = append(limits, l)
			}
		}
	}
	return folded(limits)
}
