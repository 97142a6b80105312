package report

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Geometry of a heat map.
const (
	heatLabel  = 170.0 // a row's name at most
	heatCell   = 58.0
	heatLetter = 7.6 // a letter of a name, in bold
	heatRow    = 24.0
	heatHead   = 34.0
	heatSmall  = 15.0 // a cell's edge where there are too many for words
	heatColumn = 12   // characters of a column's name that a cell makes room for
	heatName   = 25   // and of a row's
	heatWords  = 14   // columns up to which cells have words
)

// mostHeatRows bounds a heat map's table, and mostHeatCells what is drawn of
// one by stream count: of more pairs the hosts' grid shows all.
const (
	mostHeatRows  = 400
	mostHeatCells = 400
)

// heat is shares of the ceiling as a grid: pairs by stream count, or hosts by
// hosts.
type heat struct {
	ID, Title, Desc, Name string
	Width, Height         float64
	Columns, Rows         []mapText
	Cells                 []heatCellView
	Areas                 []heatArea // the cells that have no words, in the order of their shares
	Corner                mapText
	Table                 [][]string
	// InRates is the unit of the cells where no ceiling is known: they are rates
	// then, and colours are shares of the fastest. "" is shares of the ceiling.
	InRates string
	// Worded cells have words in them.
	Worded bool
}

// bestOf is the fastest of the values, and the unit to print them in.
func bestOf(values []heatValue) (unit.BitRate, rateUnit) {
	best := 0.0
	for _, v := range values {
		best = max(best, amount(v.trial.Goodput))
	}
	return unit.BitRate(best), unitOf(unit.BitRate(best))
}

// rateUnit is a unit that several rates are printed in.
type rateUnit struct {
	of   unit.BitRate
	name string
}

// unitOf is the largest unit in which a rate is one or more.
func unitOf(most unit.BitRate) rateUnit {
	out := rateUnit{1, "bit/s"}
	for _, u := range []rateUnit{{unit.Kbps, "kbit/s"}, {unit.Mbps, "Mbit/s"}, {unit.Gbps, "Gbit/s"}, {unit.Tbps, "Tbit/s"}} {
		if most >= u.of {
			out = u
		}
	}
	return out
}

type heatCellView struct {
	Box   box
	Level int // 0 to 10, tenths of the ceiling; -1 where it is not known
	Label mapText
	Light bool // words on it are light
}

// heatArea are all cells of one share, as one path: a browser lays out a few paths at
// once, and ten thousand squares in a second.
type heatArea struct {
	Level int
	Path  string
}

// heatAreas are cells without words by their share.
func heatAreas(cells []heatCellView) []heatArea {
	var paths [12]strings.Builder // from -1, unknown, to 10
	for _, c := range cells {
		fmt.Fprintf(&paths[c.Level+1], "M%v %vh%vv%vh-%[3]vz", c.Box.X, c.Box.Y, c.Box.W, c.Box.H)
	}
	var out []heatArea
	for i := range paths {
		if paths[i].Len() > 0 {
			out = append(out, heatArea{i - 1, paths[i].String()})
		}
	}
	return out
}

// heatValue is one cell before it is drawn.
type heatValue struct {
	row, column int
	trial       *record.Trial
	ceiling     unit.BitRate
}

// heatByStreams has a row for each pair and direction.
func heatByStreams(id string, all []series) (heat, bool) {
	var streams []int
	for _, s := range all {
		for _, n := range s.streams {
			if !slices.Contains(streams, n) {
				streams = append(streams, n)
			}
		}
	}
	sort.Ints(streams)
	var rows, columns []string
	var values []heatValue
	for _, n := range streams {
		columns = append(columns, fmt.Sprint(n))
	}
	for _, s := range all {
		for _, d := range s.directions {
			for i, n := range streams {
				c, ok := s.cells[at{d, n}]
				if !ok {
					continue
				}
				limit, _ := c.ceiling()
				values = append(values, heatValue{len(rows), i, c.last(), limit})
			}
			rows = append(rows, joinWith(" ", s.way(d), parenthesis(s.qualifier)))
		}
	}
	if len(values) < 2 || len(values) > mostHeatCells {
		return heat{}, false
	}
	h := drawHeat(id, rows, columns, values, "streams")
	h.Name = "Share of the ceiling by stream count"
	h.Title = h.Name
	return h, true
}

func parenthesis(words string) string {
	if words == "" {
		return ""
	}
	return "(" + words + ")"
}

// heatsByHost are the grids of sender by receiver, one for each stream count
// that was measured between three hosts or more.
func heatsByHost(id string, all []series) []heat {
	type key struct {
		streams   int
		qualifier string
	}
	hosts := map[key][]string{}
	grid := map[key]map[[2]string]heatValue{}
	var keys []key
	put := func(k key, from, to string, v heatValue) {
		if grid[k] == nil {
			grid[k], keys = map[[2]string]heatValue{}, append(keys, k)
		}
		for _, h := range []string{from, to} {
			if !slices.Contains(hosts[k], h) {
				hosts[k] = append(hosts[k], h)
			}
		}
		grid[k][[2]string{from, to}] = v
	}
	for _, s := range all {
		for place, c := range s.cells {
			limit, _ := c.ceiling()
			k, v := key{place.streams, s.qualifier}, heatValue{trial: c.last(), ceiling: limit}
			switch place.direction {
			case flow.Forward:
				put(k, s.from, s.to, v)
			case flow.Reverse:
				put(k, s.to, s.from, v)
			}
		}
	}
	sort.Slice(keys, func(i, j int) bool {
		return keys[i].qualifier < keys[j].qualifier || keys[i].qualifier == keys[j].qualifier && keys[i].streams < keys[j].streams
	})
	var out []heat
	for i, k := range keys {
		names := hosts[k]
		if len(names) < 3 {
			continue
		}
		sort.Strings(names)
		var values []heatValue
		for row, from := range names {
			for column, to := range names {
				if v, ok := grid[k][[2]string{from, to}]; ok {
					v.row, v.column = row, column
					values = append(values, v)
				}
			}
		}
		h := drawHeat(fmt.Sprintf("%s-%d", id, i), names, names, values, "to")
		h.Name = joinWith(" ", "From each host to each, "+unit.Counted(k.streams, "stream"), parenthesis(k.qualifier))
		h.Title = h.Name
		out = append(out, h)
	}
	return out
}

func drawHeat(id string, rows, columns []string, values []heatValue, corner string) heat {
	wide, high, words := heatCell, heatRow, true
	if len(columns) > heatWords {
		wide, high, words = heatSmall, heatSmall, false
	}
	left := heatLabel
	if words {
		left = min(heatLabel, 22+heatLetter*float64(longest(append([]string{corner}, rows...), heatName)))
		wide = max(wide, 6+heatLetter*float64(longest(columns, heatColumn)))
	}
	h := heat{ID: id, Worded: words, Width: tenth(left + wide*float64(len(columns))), Height: tenth(heatHead + high*float64(len(rows)) + 4)}
	h.Corner = mapText{X: left - 10, Y: heatHead - 12, Anchor: "end", Words: corner}
	for i, name := range columns {
		if words {
			h.Columns = append(h.Columns, mapText{X: tenth(left + wide*(float64(i)+0.5)), Y: heatHead - 12, Anchor: "middle", Words: squeeze(name, heatColumn)})
		}
	}
	if !words {
		h.Columns = []mapText{{X: left, Y: heatHead - 12, Anchor: "start", Words: "the columns are the rows' hosts, in the same order"}}
	}
	for i, name := range rows {
		h.Rows = append(h.Rows, mapText{X: left - 10, Y: tenth(heatHead + high*(float64(i)+0.5) + 4), Anchor: "end", Words: fit(name, heatName)})
	}
	h.Table = [][]string{{"where", corner, "measured", "of the ceiling"}}
	low, lowest := 2.0, ""
	ceilings := slices.ContainsFunc(values, func(v heatValue) bool { return positive(float64(v.ceiling)) })
	best, scale := bestOf(values)
	if !ceilings {
		h.InRates, h.Table[0] = scale.name, []string{"where", corner, "measured", "of the fastest"}
	}
	for _, v := range values {
		if !ceilings {
			v.ceiling = best
		}
		c := heatCellView{Box: box{X: tenth(left + wide*float64(v.column) + 1), Y: tenth(heatHead + high*float64(v.row) + 1), W: tenth(wide - 2), H: high - 2}, Level: -1}
		if f, ok := fraction(v.trial.Goodput, v.ceiling); ok {
			c.Level = int(min(f, 1)*10 + 0.5)
			c.Light = c.Level >= 9
			if f < low {
				low, lowest = f, rows[v.row]+", "+corner+" "+columns[v.column]
			}
		}
		if words {
			c.Label = mapText{X: tenth(c.Box.X + c.Box.W/2), Y: tenth(c.Box.Y + c.Box.H/2 + 4), Anchor: "middle", Words: shortShare(v.trial, v.ceiling)}
			if !ceilings {
				c.Label.Words = number(amount(v.trial.Goodput) / float64(scale.of))
			}
		}
		h.Cells = append(h.Cells, c)
		if len(h.Table) > mostHeatRows {
			continue
		}
		h.Table = append(h.Table, []string{rows[v.row], columns[v.column], goodput(v.trial), ofCeiling(v.trial, v.ceiling)})
	}
	if !words {
		h.Areas, h.Cells = heatAreas(h.Cells), nil
	}
	h.Desc = fmt.Sprintf("%s of %d by %d.", unit.Counted(len(values), "result"), len(rows), len(columns))
	if lowest != "" && ceilings {
		h.Desc += fmt.Sprintf(" The lowest is %s of the ceiling, %s.", wholePercent(low), lowest)
	}
	return h
}

// longest is how many letters the longest of the names has, at most most.
func longest(names []string, most int) int {
	n := 0
	for _, name := range names {
		n = max(n, min(most, utf8.RuneCountInString(name)))
	}
	return n
}

// shortShare is a share without decimals, for a small cell.
func shortShare(t *record.Trial, ceiling unit.BitRate) string {
	if f, ok := fraction(t.Goodput, ceiling); ok {
		return wholePercent(f)
	}
	return "?"
}
