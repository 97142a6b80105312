package predict

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/predict"
)

// alikePairs are pairs whose tables differ in the hosts' names alone.
type alikePairs struct {
	first []predict.Prediction
	body  string
	// others are the names of the pairs after the first.
	others []string
}

// foldPairs puts pairs together that say the same; in order of the first. One
// table for each of a fleet's pairs would bury the few that differ.
func foldPairs(con *console.Console, pairs [][]predict.Prediction) []*alikePairs {
	var folds []*alikePairs
	at := map[string]*alikePairs{}
	for _, pair := range pairs {
		key := nameless(pair)
		if f := at[key]; f != nil {
			f.others = append(f.others, pair[0].From+"->"+pair[0].To)
			continue
		}
		f := &alikePairs{first: pair, body: pairBody(con, pair)}
		at[key] = f
		folds = append(folds, f)
	}
	return folds
}

// mostAlike is how many pairs are named that say the same as another.
const mostAlike = 12

// print prints the first pair, and names the others.
func (f *alikePairs) print(w io.Writer, width int) {
	p := f.first[0]
	fmt.Fprintf(w, "%s -> %s, %s, payload in %s\n", p.From, p.To, p.Protocol, scaleOf(f.first).name)
	if len(f.others) > 0 {
		named := f.others[:min(mostAlike, len(f.others))]
		text := strings.Join(named, ", ")
		if more := len(f.others) - len(named); more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		fmt.Fprint(w, console.Wrapped("  the same: ", text, width))
	}
	fmt.Fprint(w, f.body)
}

// nameless is all that a pair's text says, with stand-ins for its hosts' names.
func nameless(pair []predict.Prediction) string {
	u := scaleOf(pair)
	var b strings.Builder
	fmt.Fprintln(&b, pair[0].Protocol, u.name)
	for _, r := range rowsOf(pair, u) {
		fmt.Fprintln(&b, r.direction, r.streams, r.expected, r.span, r.unchosen, r.ceiling, r.up)
	}
	for _, l := range toldLimits(pair) {
		fmt.Fprintln(&b, l.Cause, standIns(l.Where, pair[0]), l.Why)
	}
	of := strings.NewReplacer(pair[0].From+"'s", "\x00from's", pair[0].To+"'s", "\x00to's")
	for _, why := range rangeReasons(pair) {
		fmt.Fprintln(&b, of.Replace(why))
	}
	return b.String()
}

// standIns is a limit's place without names: "a: eth0", "a to b", "a, b".
func standIns(where string, pair predict.Prediction) string {
	places := strings.Split(where, "; ")
	for i, place := range places {
		host, rest, inside := strings.Cut(place, ": ")
		ends := strings.Split(host, " to ")
		both := strings.Split(host, ", ")
		for _, names := range [][]string{ends, both} {
			for j, name := range names {
				switch name {
				case pair.From:
					names[j] = "\x00from"
				case pair.To:
					names[j] = "\x00to"
				}
			}
		}
		slices.Sort(both) // as listed they are in the order of their names
		places[i] = strings.Join(ends, " to ")
		if len(both) > 1 {
			places[i] = strings.Join(both, ", ")
		}
		if inside {
			places[i] += ": " + rest
		}
	}
	return strings.Join(places, "; ")
}
