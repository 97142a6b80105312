package tune

import (
	"slices"
	"strings"

	"github.com/linerate/linerate/netstate"
)

// segmentation is the offload by which a link is given large sends uncut
// (ethtool's short name).
const segmentation = "tso"

// dealer is the bond below a host's link that deals single packets out to several
// ports; none where there is no such.
func dealer(h netstate.Host, link string) []netstate.Link {
	_, _, bond := h.Below(link)
	if bond == nil || bond.Bond == nil || bond.Bond.Mode != netstate.BalanceRR || len(h.UsablePorts(bond.Name)) < 2 {
		return nil
	}
	return []netstate.Link{*bond}
}

// dealing are the pair's bonds that deal single packets out, one for each link
// over them.
func dealing(s State) (bonds []netstate.Link) {
	for host, links := range pairLinks(s) {
		for _, l := range links {
			bonds = append(bonds, dealer(s.Fabric.Hosts[host], l.Name)...)
		}
	}
	return bonds
}

// striped reports a pair with a bond that deals single packets out.
func striped(s State) bool { return len(dealing(s)) > 0 }

// segmentOptions: bonds that deal packets out cut large sends first. What the
// ports may cut themselves is dealt out uncut, up to 64 KiB to one port, which
// is what ports are then ahead of each other by (bond_fix_features lets a bond
// segment whatever its ports do). Measured over two and three ports, one stream
// with frames of 9000 bytes: 0.97 and 0.94 of the ceiling, and 0.87 and 0.79 uncut.
func segmentOptions(s State) []option {
	hosts, changed := changedLinks(s, dealer, func(host string, bond *netstate.Link) string {
		if !bond.Offloads[segmentation] || bond.Device != nil && slices.Contains(bond.Device.Fixed, segmentation) {
			return ""
		}
		bond.Offloads[segmentation] = false
		return bond.Name + " of " + host
	})
	if len(hosts) == 0 {
		return nil
	}
	return []option{{hosts: hosts, load: s.Load,
		change: "segmentation offload (tso) off on " + strings.Join(changed, " and "),
		why:    "what the bond leaves to its ports to cut into packets it sends uncut, up to 64 KiB at a time, so that ports are ahead of each other by as much",
	}}
}

// stripedCut reports bonds all of which deal large frames out after they were cut.
func stripedCut(s State) bool {
	for _, b := range dealing(s) {
		if joined, known := b.Offloads[segmentation]; joined || !known || b.MTU < largeFrame {
			return false
		}
	}
	return true
}

// stripedOut is what a bond asks for first that deals single packets out: the
// prediction does not know how much of it their disorder takes.
func stripedOut(s State) []Proposal {
	t, ok := newest(s, s.Traffic.Direction)
	if !ok || !striped(s) || s.reached(t) || s.Traffic.SocketBuffer > 0 || s.Traffic.Congestion != "" {
		return nil
	}
	all := together(s, t, stripedTogether(s))
	for i := range all {
		all[i].Disordered = true
	}
	return all
}

// stripedTogether are the sets for a bond that deals single packets out. Large
// frames that are cut before they are dealt out carry most, also of a single
// stream, which large frames alone make slower; small ones cut one by one cost a
// core more than they bring. Then comes what the sockets alone can do. Where
// large frames are cut little disorder is left to mend.
func stripedTogether(s State) [][]Name {
	if stripedCut(s) {
		return nil
	}
	sets := [][]Name{{Streams, SocketControl}, {Streams, Windows}}
	switch {
	case len(mtuOptions(s)) > 0:
		sets = append([][]Name{{MTU, Segmentation}, {MTU, Streams, Windows}}, sets...)
	case largestFrame(s) >= largeFrame:
		sets = append([][]Name{{Segmentation}}, sets...)
	}
	return sets
}

// joint are the sets of moves that may pay only together, the most first: one
// stream that loses its place gains as little by large frames alone as many
// streams do by small ones.
func joint(s State) [][]Name {
	sets := [][]Name{{MTU, Congestion, Streams}, {MTU, Streams}, {Congestion, Streams}}
	if !striped(s) {
		return sets
	}
	return append(stripedTogether(s), sets...)
}
