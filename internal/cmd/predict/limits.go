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
// unknown that might bind before it. Where one cause binds for several reasons, each
// says with how many streams.
func printLimits(w io.Writer, pair []predict.Prediction, width int) {
	all := toldLimits(pair)
	for _, l := range all {
		where := l.Where
		if slices.ContainsFunc(all, func(o toldLimit) bool { return o.Cause == l.Cause && !slices.Equal(o.streams, l.streams) }) && len(l.streams) > 0 {
			where += fmt.Sprintf(", with %s", streamsWords(l.streams))
		}
		fmt.Fprint(w, console.Wrapped("  ", fmt.Sprintf("%s, %s: %s", l.Cause, where, l.Why), width))
	}
}

func streamsWords(counts []int) string {
	if len(counts) == 1 && counts[0] == 1 {
		return "1 stream"
	}
	return countsOf(counts) + " streams"
}

// toldLimit is a limit that text tells, with the numbers of streams that it binds with;
// of what is unknown none.
type toldLimit struct {
	predict.Limit
	streams []int
}

// toldLimits are the limits that printLimits tells: of each cause every reason.
func toldLimits(pair []predict.Prediction) []toldLimit {
	var told []toldLimit
	var keys []string
	for _, p := range pair {
		l := p.Limits[0]
		key := string(p.Limit) + ": " + reasonOf(l)
		i := slices.Index(keys, key)
		if i < 0 {
			l.Why = placeless(l)
			i, keys, told = len(keys), append(keys, key), append(told, toldLimit{Limit: l})
		}
		if !slices.Contains(told[i].streams, p.Streams) {
			told[i].streams = append(told[i].streams, p.Streams)
		}
	}
	var unknown []predict.Limit
	for _, p := range pair {
		for _, l := range p.Limits[1:] {
			if l.Cause == record.Unknown && !slices.ContainsFunc(unknown, func(o predict.Limit) bool { return o.Where == l.Where }) && !slices.ContainsFunc(told, func(o toldLimit) bool { return o.Where == l.Where && o.Cause == l.Cause }) {
				unknown = append(unknown, l)
			}
		}
	}
	for _, l := range folded(unknown) {
		told = append(told, toldLimit{Limit: l})
	}
	return told
}

// reasonOf is why a limit is there, without its place, its way and its numbers: what
// two rows have in common that say the same.
func reasonOf(l predict.Limit) string {
	why := placeless(l)
	for _, way := range []flow.Direction{flow.Forward, flow.Reverse} {
		why = strings.TrimPrefix(why, string(way)+": ")
	}
	if _, rest, found := strings.Cut(why, ": "); found && !strings.Contains(why[:len(why)-len(rest)], " ") {
		why = rest // the bond's name
	}
	why, _, _ = strings.Cut(why, ";")
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r == '.' {
			return -1
		}
		return r
	}, why)
}
