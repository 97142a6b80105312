package switchside

import (
	"fmt"
	"slices"

	"github.com/linerate/linerate/fabric/topology"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/switchlines"
)

// Trunks writes a switch's channels to other switches, in its system's lines. The error is
// render.ErrEmpty for a switch without one, render.ErrText for a port that is no name.
func Trunks(format render.Format, n *topology.Network, name string) (render.Output, error) {
	var out render.Output
	system, _ := switchlines.SystemOf(string(format))
	w := &writer{out: &out, names: format == render.FormatOVS}
	peer, _, paired := n.Peer(name)
	hash := ""
	for _, c := range channels(n, name) {
		first, _ := n.Port(topology.At{Switch: name, Port: c.Members[0]})
		switch {
		case first.Switch == "":
			out.Warn(c.Name, "channels", "leads to host "+first.Host+": `linerate render --host "+first.Host+"` has its lines")
			continue
		case paired && first.Switch == peer:
			out.Warn(c.Name, "mlag", "holds the pair together: change it only as its maker's documentation of pairs says")
			continue
		}
		lines := switchlines.Channel{Host: plain(first.Switch), Bond: "trunk", LACP: c.Mode != "static", Trunk: true}
		if far, ok := n.ChannelOf(topology.At{Switch: first.Switch, Port: first.Port}); ok && portName.MatchString(far.Name) {
			lines.Bond = far.Name
		}
		if c.Mode == "" {
			out.Warn(c.Name, "mode", "is not said: LACP is written; both ends must have the same")
		}
		for _, m := range c.Members {
			p, _ := n.Port(topology.At{Switch: name, Port: m})
			if !portName.MatchString(m) {
				return render.Output{}, fmt.Errorf("%w: the switch's port %q", render.ErrText, m)
			}
			lines.Ports = append(lines.Ports, switchlines.Port{Link: plain(p.Port), Name: m})
		}
		w.add(lines, c.Name)
		if word := n.Balance(name, c).Hash; len(w.channels) == 1 || word == hash {
			hash = word
		} else {
			hash = ""
		}
	}
	if len(w.channels) == 0 && len(out.Warnings) == 0 {
		return render.Output{}, fmt.Errorf("%w channel of switch %s to another", errNone, name)
	}
	w.files(system, plain(name), hash)
	return out, nil
}

// channels are a switch's, by either end's word, in the file's order.
func channels(n *topology.Network, name string) []topology.Channel {
	var all []topology.Channel
	for _, port := range n.Ports(name) {
		c, ok := n.ChannelOf(topology.At{Switch: name, Port: port})
		if ok && !slices.ContainsFunc(all, func(o topology.Channel) bool { return o.Name == c.Name }) {
			all = append(all, c)
		}
	}
	return all
}
