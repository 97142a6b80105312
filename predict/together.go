package predict

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/linerate/linerate/predict/maxflow"
	"github.com/linerate/linerate/unit"
)

// CeilingTogether returns the TCP payload that kinds of traffic running at the
// same time may not exceed in sum, and what binds: each keeps below its own
// Ceiling, and hosts and links that several of them use carry them together,
// each way for itself. It is the largest flow through the hosts' links. Errors
// are Ceiling's; ErrUnknownSpeed when nothing bounds the sum.
func CeilingTogether(f Fabric, all []Traffic) (unit.BitRate, string, error) {
	n := maxflow.New()
	source, sink := n.Node("source"), n.Node("sink")
	for i, t := range all {
		if err := t.check(f); err != nil {
			return 0, "", err
		}
		for _, d := range t.Direction.Ways() {
			w, err := newWay(f, t, d)
			if err != nil {
				return 0, "", err
			}
			addWay(n, w, i, source, sink)
		}
	}
	sum := n.Fill(source, sink)
	if math.IsInf(sum, 1) {
		return 0, "", fmt.Errorf("ceiling of %d kinds of traffic together: %w", len(all), ErrUnknownSpeed)
	}
	return unit.BitRate(sum), strings.Join(n.Cut(source), ", "), nil
}

// addWay adds one direction of traffic: from its sender's links to itself, from
// itself to its receiver's.
func addWay(n *maxflow.Net, w *way, number, source, sink int) {
	name := fmt.Sprintf("%d %s", number, w.dir)
	in, out := n.Node(name+" in"), n.Node(name+" out")
	capacity := math.Inf(1)
	if c, _ := w.pair().ceiling(); c > 0 {
		capacity = float64(c)
	}
	n.Pipe(in, out, capacity, fmt.Sprintf("%s to %s", w.sender.Name, w.receiver.Name))
	addSide(n, w, w.sender.Name, "sends", legOut, slices.Concat(w.out.at, w.out.idle), func(host, link int) (a, b int) { return host, link }, source, in)
	addSide(n, w, w.receiver.Name, "receives", legIn, w.in.at, func(host, link int) (a, b int) { return link, host }, sink, out)
}

// addSide adds one host's links: between outer and a node for the host, the
// host and each link, each link and inner; order turns a pipe round for the
// receiving side.
func addSide(n *maxflow.Net, w *way, host, verb string, end legEnd, at []attachment, order func(host, link int) (a, b int), outer, inner int) {
	rate := w.sender.Rate
	if verb == "receives" {
		rate = w.receiver.Rate
	}
	whole := math.Inf(1)
	if rate > 0 {
		whole = float64(rate) * w.shaperShare()
	}
	h := n.Node(host + " " + verb)
	a, b := order(outer, h)
	n.Pipe(a, b, whole, fmt.Sprintf("all that %s %s", host, verb))
	for i, att := range at {
		capacity := 0.0
		for p := range att.ports {
			switch {
			case att.unknown() != "":
				capacity = math.Inf(1)
			case verb == "sends" && i >= len(w.out.at): // idle
				capacity += float64(att.payload(p, w.segment(w.legs[0]), w.legs[0].outTags))
			default:
				capacity += float64(w.portPayload(att, i, p, end))
			}
		}
		l := n.Node(host + " " + verb + " " + att.base.Name)
		a, b := order(h, l)
		n.Pipe(a, b, capacity, fmt.Sprintf("%s of %s", att.base.Name, host))
		a, b = order(l, inner)
		n.Pipe(a, b, math.Inf(1), "")
	}
}
