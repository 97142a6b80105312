package tiers

import (
	"slices"
)

// Hop is one switch that a flow crosses.
type Hop struct {
	Switch string `json:"switch"`
	// Ports are the ports that the flow may leave it by: one, where the hash is known.
	Ports []string `json:"ports"`
	// To are what hangs on them: switches, or the receiver's links.
	To []string `json:"to"`
}

// Known reports that one port alone is possible.
func (h Hop) Known() bool { return len(h.Ports) == 1 }

// Trace is the switches that one flow crosses when it leaves by one of the sender's
// links, or by any of them where it is not known by which: in order, until what is not
// known may lead to several switches. Exact and the frame's ports are the caller's to set.
func (w *Way) Trace(outs []int, a Ask) []Hop {
	var routes []Route
	for _, o := range outs {
		a.Out = o
		some, _ := w.Routes(a)
		routes = append(routes, some...)
	}
	var hops []Hop
	at := func(depth int) bool {
		h := Hop{}
		add := func(name, port, to string) bool {
			if h.Switch == "" {
				h.Switch = name
			}
			if !slices.Contains(h.Ports, port) {
				h.Ports = append(h.Ports, port)
			}
			if !slices.Contains(h.To, to) {
				h.To = append(h.To, to)
			}
			return h.Switch == name
		}
		more := false
		for _, r := range routes {
			one := false
			if depth < len(r.Links) {
				l := w.Net.Links[r.Links[depth]]
				one, more = add(l.From.Switch, l.From.Port, l.To.Switch), true
			} else if depth == len(r.Links) {
				end := w.to[r.In]
				p, _ := w.Net.Port(end)
				one = add(end.Switch, end.Port, p.Host+" "+p.Link)
			}
			if !one {
				return false
			}
		}
		if h.Switch != "" {
			hops = append(hops, h)
		}
		return more
	}
	for depth := 0; at(depth); depth++ {
	}
	return hops
}
