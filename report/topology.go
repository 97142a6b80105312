package report

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Geometry of the link drawing, in the drawing's own units. It is as narrow
// as the labels allow, so that a phone can show it whole.
const (
	mapWidth   = 480.0
	mapEdge    = 4.0
	mapBox     = 70.0 // a host's width
	mapSwitch  = 58.0
	mapHead    = 58.0 // room for three lines above the hosts
	mapRow     = 66.0 // one link
	mapTrack   = 11.0 // one direction of one link, at its ceiling
	mapLinks   = 12   // links drawn of one host; the others are in the table
	boxLetters = 9    // of a link's name in the host's box
)

// topology is one drawing: hosts left and right, the network between them, and
// each physical link with the load of its two directions.
type topology struct {
	ID, Title, Desc string
	Class           string // "before", "after" or "single"
	Width, Height   float64
	Hosts           []mapHost
	Pipes           []pipe
	Switch          box
	SwitchWords     []mapText
	Omitted         []mapText
	// busiest is the largest load where no link has a ceiling; zero some has.
	busiest unit.BitRate
}

type box struct{ X, Y, W, H float64 }

// End is the lower edge.
func (b box) End() float64 { return tenth(b.Y + b.H) }

type mapText struct {
	X, Y   float64
	Anchor string
	Words  string
	// Share follows the words where there is room for it: a phone leaves it out.
	Share string
}

type mapHost struct {
	Box    box
	Name   mapText
	Setup  []mapText
	Ports  []mapText
	Sender bool
}

// pipe is one direction of one link: the track is the ceiling, the fill as
// thick as the load's share of it.
type pipe struct {
	Track box
	Fill  box
	Idle  bool
	Label mapText
	Arrow string // points of the arrow head
}

// topologyOf draws the links of a trial. ok is false when the trial has none.
func topologyOf(id, class string, t *record.Trial, hosts []netstate.Host, latency string) (topology, bool) {
	if t == nil || len(t.Links) == 0 {
		return topology{}, false
	}
	left, right := sides(t)
	m := topology{ID: id, Class: class, Width: mapWidth}
	rows := max(len(left), len(right), 1)
	m.Height = mapHead + float64(rows)*mapRow + 8
	m.Switch = box{X: (mapWidth - mapSwitch) / 2, Y: mapHead, W: mapSwitch, H: float64(rows) * mapRow}
	middle := m.Switch.Y + m.Switch.H/2
	words := []string{"network"}
	if latency != unknown {
		words = append(words, "RTT", latency)
	}
	for i, w := range words {
		m.SwitchWords = append(m.SwitchWords, mapText{X: mapWidth / 2, Y: tenth(middle + 4 + 14*(float64(i)-float64(len(words)-1)/2)), Anchor: "middle", Words: w})
	}
	m.busiest = busiestOf(append(slices.Clone(left), right...))
	m.drawSide(t, left, rows, false, hosts)
	m.drawSide(t, right, rows, true, hosts)
	m.Title = fmt.Sprintf("Load of each link, %s, %s", t.Direction, unit.Counted(t.Streams, "stream"))
	if t.Phase != "" {
		m.Title = string(t.Phase) + ": " + m.Title
	}
	m.Desc = describe(t)
	if n := len(t.Links) - len(left) - len(right); n > 0 {
		m.Height += 18
		m.Omitted = []mapText{{X: mapWidth / 2, Y: tenth(m.Height - 6), Anchor: "middle", Words: unit.Counted(n, "more link") + " in the table below"}}
	}
	return m, true
}

// busiestOf is the largest load of links without a ceiling; zero where some has one.
func busiestOf(links []record.LinkUse) unit.BitRate {
	most := 0.0
	for _, u := range links {
		if positive(float64(u.Ceiling)) {
			return 0
		}
		most = max(most, busiest(u))
	}
	return unit.BitRate(most)
}

// sides splits a trial's links: the host it is measured from on the left, all
// others on the right; of many the busiest.
func sides(t *record.Trial) (left, right []record.LinkUse) {
	for _, u := range t.Links {
		if u.Host == t.From {
			left = append(left, u)
		} else {
			right = append(right, u)
		}
	}
	return mostBusy(left), mostBusy(right)
}

func mostBusy(links []record.LinkUse) []record.LinkUse {
	if len(links) <= mapLinks {
		return links
	}
	links = append([]record.LinkUse(nil), links...)
	sort.SliceStable(links, func(i, j int) bool { return busiest(links[i]) > busiest(links[j]) })
	return links[:mapLinks]
}

// drawSide places one side's hosts from top to bottom, links in order.
func (m *topology) drawSide(t *record.Trial, links []record.LinkUse, rows int, mirrored bool, hosts []netstate.Host) {
	y := mapHead + float64(rows-len(links))*mapRow/2
	var names []string
	by := map[string][]record.LinkUse{}
	for _, u := range links {
		if by[u.Host] == nil {
			names = append(names, u.Host)
		}
		by[u.Host] = append(by[u.Host], u)
	}
	for i, name := range names {
		mine := by[name]
		h := mapHost{Box: box{X: mapEdge, Y: tenth(y + 2), W: mapBox, H: tenth(float64(len(mine))*mapRow - 4)}, Sender: sending(*t, name)}
		text := mapText{X: mapEdge, Anchor: "start"}
		if mirrored {
			h.Box.X = mapWidth - mapEdge - mapBox
			text = mapText{X: mapWidth - mapEdge, Anchor: "end"}
		}
		if i == 0 {
			h.caption(text, names, mine[0].Link, hosts)
		}
		for _, u := range mine {
			m.drawLink(&h, u, y+mapRow/2, mirrored, len(names) > 1)
			y += mapRow
		}
		m.Hosts = append(m.Hosts, h)
	}
}

// caption names the side above its topmost host and says how it is set up.
func (h *mapHost) caption(text mapText, names []string, link string, hosts []netstate.Host) {
	h.Name = text
	h.Name.Y, h.Name.Words = 15, fit(orUnknown(names[0]), 24)
	if len(names) > 1 {
		h.Name.Words = unit.Counted(len(names), "host")
		return
	}
	first, second := hostWords(hosts, names[0], link)
	for i, w := range []string{first, second} {
		text.Y, text.Words = 31+float64(i)*15, fit(w, 34)
		h.Setup = append(h.Setup, text)
	}
}

// drawLink draws one link: what goes to the right above, what goes to the left
// below, so that traffic crosses the drawing on one level.
func (m *topology) drawLink(h *mapHost, u record.LinkUse, y float64, mirrored, named bool) {
	name := u.Link
	if named {
		name = u.Host + " " + u.Link
	}
	h.Ports = append(h.Ports, mapText{X: h.Box.X + h.Box.W/2, Y: tenth(y + 4), Anchor: "middle", Words: fit(orUnknown(name), boxLetters)})
	x0, x1 := h.Box.X+h.Box.W, m.Switch.X
	right, left := txLoad(u), rxLoad(u)
	right.against, left.against = m.busiest, m.busiest
	if mirrored {
		x0, x1 = m.Switch.X+m.Switch.W, h.Box.X
		right, left = left, right
	}
	m.Pipes = append(m.Pipes,
		drawPipe(x0, x1, y-mapTrack-1, y-mapTrack-6, right, false),
		drawPipe(x0, x1, y+1, y+mapTrack+13, left, true))
}

func drawPipe(x0, x1, top, baseline float64, l load, toLeft bool) pipe {
	p := pipe{Track: box{X: x0, Y: tenth(top), W: x1 - x0, H: mapTrack}, Idle: !l.busy}
	arrow := "→ "
	if toLeft {
		arrow = "← "
	}
	p.Label = mapText{X: (x0 + x1) / 2, Y: tenth(baseline), Anchor: "middle", Words: arrow + l.amount(), Share: l.share()}
	if !l.busy {
		return p
	}
	thick := 1.0
	ratio := l.ratio
	if !l.known {
		ratio, _ = fraction(l.carried, l.against)
	}
	if ratio > still {
		thick = max(1.5, mapTrack*min(ratio, 1))
	}
	middle := top + mapTrack/2
	p.Fill = box{X: x0, Y: tenth(middle - thick/2), W: x1 - x0, H: tenth(thick)}
	tip, back := x1-6, x1-15
	if toLeft {
		tip, back = x0+6, x0+15
	}
	if thick >= 5 {
		p.Arrow = fmt.Sprintf("%.1f,%.1f %.1f,%.1f %.1f,%.1f", back, middle-3.5, tip, middle, back, middle+3.5)
	}
	return p
}

// describe is the drawing in words.
func describe(t *record.Trial) string {
	var b strings.Builder
	for i, u := range t.Links {
		if i == 2*mapLinks {
			fmt.Fprintf(&b, "And %s.", unit.Counted(len(t.Links)-i, "more link"))
			break
		}
		fmt.Fprintf(&b, "%s %s: out %s, in %s. ", orUnknown(u.Host), orUnknown(u.Link), txLoad(u).words(), rxLoad(u).words())
	}
	return strings.TrimSpace(b.String())
}

// tenth rounds a coordinate, so that pages stay small and comparable.
func tenth(v float64) float64 {
	if !finite(v) {
		return 0
	}
	return math.Round(v*10) / 10
}
