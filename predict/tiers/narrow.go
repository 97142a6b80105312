package tiers

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric/topology"
	"github.com/linerate/linerate/predict/maxflow"
	"github.com/linerate/linerate/unit"
)

// Narrow is the links of a switch that a flow may leave it by.
type Narrow struct {
	First int // the fullest one's number
	// Used and Idle are their ports, by whether they carry anything.
	Used, Idle []string
	All        unit.BitRate // of all of them
	Switch     string       // its name
	Where, Why string
}

// Narrowest is the switch whose links are the fullest, of those that ways cross; loads
// are what each link of the network has, as it counts. False where the links' rates are
// unknown or nothing is on them.
func Narrowest(ways []*Way, loads []float64) (Narrow, bool) {
	n, fullest := Narrow{First: -1}, 0.0
	for i, load := range loads {
		if rate := float64(ways[0].Net.Links[i].Rate); rate > 0 && load/rate > fullest*(1+1e-9) {
			n.First, fullest = i, load/rate
		}
	}
	if n.First < 0 {
		return n, false
	}
	w := ways[0]
	for _, o := range ways {
		if slices.Contains(o.Beside(n.First), n.First) {
			w = o
			break
		}
	}
	links := w.Net.Links
	beside := w.Beside(n.First)
	for _, i := range beside {
		n.All += links[i].Rate
		if loads[i] > 0 {
			n.Used = append(n.Used, links[i].From.Port)
		} else {
			n.Idle = append(n.Idle, links[i].From.Port)
		}
	}
	l := links[n.First]
	n.Switch = l.From.Switch
	n.Where = "switch " + l.From.Switch + ": " + strings.Join(slices.Concat(n.Used, n.Idle), ", ")
	n.Why = "its links to " + farEnds(links, beside)
	if len(beside) == 1 {
		n.Why = "its link to " + farEnds(links, beside)
	}
	if len(n.Idle) > 0 {
		n.Why += fmt.Sprintf(": %s carries all and %s nothing, for %s", strings.Join(n.Used, ", "), strings.Join(n.Idle, ", "), w.why(n.First, beside))
	}
	return n, true
}

// Beside are the links that a switch may choose instead of one, that one among them.
func (w *Way) Beside(link int) []int {
	k := walk{Way: w}
	l := w.Net.Links[link]
	same := func(o topology.Link) bool { return o.To.Switch == l.To.Switch }
	here, known := w.dist[l.From.Switch]
	far, reached := w.dist[l.To.Switch]
	if known && reached && far < here {
		same = func(o topology.Link) bool {
			d, ok := w.dist[o.To.Switch]
			return ok && d < here
		}
	}
	return slices.Concat(k.towards(l.From.Switch, same)...)
}

// farEnds are the switches at the other end of links.
func farEnds(links []topology.Link, some []int) string {
	var names []string
	for _, n := range some {
		if name := links[n].To.Switch; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// why says why a switch leaves links beside one idle.
func (w *Way) why(link int, beside []int) string {
	net := w.Net
	l := net.Links[link]
	sw, _ := net.Switch(l.From.Switch)
	members := 0
	for _, n := range beside {
		if net.Links[n].Channel == l.Channel {
			members++
		}
	}
	b := topology.Balance{}
	switch c, channel := net.ChannelOf(l.From); {
	case channel && members > 1:
		b = net.Balance(sw.Name, c)
	case sw.ECMP == nil:
		return "it does not route (no ecmp), and the spanning tree leaves one way"
	default:
		b = net.Routes(sw.Name)
	}
	switch topology.FieldsOf(b.Hash) {
	case topology.ByMAC:
		return b.Hash + " puts all flows between two hosts on one link"
	case topology.ByAddress:
		return b.Hash + " puts all flows between two addresses on one link"
	case topology.OneOfAll:
		return "it has no channel there and sends all to the port where it hears the guests, the bond's active one"
	case topology.ByPort:
		return b.Hash + " with the hash and seed of an earlier choice finds the same answer for all that arrives (polarisation)"
	}
	return "how it spreads flows is unknown (hash)"
}

// Most is what the switches carry between the two hosts at most, whatever the hashes:
// share is how much of a link is payload, from and to what the hosts' links carry. +Inf
// where nothing bounds it.
func (w *Way) Most(share func(link int) float64, from, to []float64) float64 {
	net := maxflow.New()
	source, sink := net.Node(" from"), net.Node(" to") // no switch's name has a blank
	pipes := map[[2]int]float64{}
	for i, l := range w.Net.Links {
		rate := math.Inf(1)
		if l.Rate > 0 {
			rate = float64(l.Rate) * share(i)
		}
		pipes[[2]int{net.Node(l.From.Switch), net.Node(l.To.Switch)}] += rate
	}
	for i, at := range w.from {
		pipes[[2]int{source, net.Node(at.Switch)}] += from[i]
	}
	for i, at := range w.to {
		pipes[[2]int{net.Node(at.Switch), sink}] += to[i]
	}
	for ends, rate := range pipes {
		net.Pipe(ends[0], ends[1], rate, "")
	}
	return net.Fill(source, sink)
}
