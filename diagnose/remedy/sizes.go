package remedy

import (
	"net/netip"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/routing"
	"github.com/linerate/linerate/record"
)

// usualMTU is Ethernet's own, leastMTU what every IPv4 host takes (RFC 791).
const usualMTU, leastMTU = 1500, 576

// Lowered sets both hosts' links to a size that passes, which holds at once; else, and
// where there is none, what others can do. Link is near's.
func Lowered(near, far netstate.Host, link string, lane flow.Lane, size int, others string) record.Remedy {
	in, byHand := routing.FacingOne(far, lane.Dst, lane.Src), record.Ask(others)
	w := MTU(near, link, size)
	if size < leastMTU || in.Name == "" || len(w) == 0 {
		return record.Do(byHand)
	}
	if in.MTU > size {
		w = append(w, MTU(far, in.Name, size)...)
	}
	return record.Remedy{w}.Or(byHand)
}

// Unclamped takes the bound of a window off the routes by which a host answers.
func Unclamped(h netstate.Host, lanes []record.Lane) (w record.Way) {
	for _, l := range lanes {
		w = w.Joined(WithoutMetric(h, "window", l.Src))
	}
	return w
}

// FullPackets raises what the two hosts themselves keep small between addresses, near's
// first; nil where neither does.
func FullPackets(near, far netstate.Host, lanes []record.Lane) (w record.Way) {
	for _, l := range lanes {
		out, in := routing.FacingOne(near, l.Src, l.Dst), routing.FacingOne(far, l.Dst, l.Src)
		w = w.Joined(WithoutMetric(far, "advmss", l.Src))
		if out.MTU > 0 && out.MTU < usualMTU {
			w = w.Joined(MTU(near, out.Name, max(usualMTU, in.MTU)))
		}
		if in.MTU > 0 && in.MTU < usualMTU {
			w = w.Joined(MTU(far, in.Name, max(usualMTU, out.MTU)))
		}
	}
	return w
}

// OwnTables gives a host's addresses a table each, by which they reach a peer.
func OwnTables(h netstate.Host, own []netip.Addr, lanes []record.Lane) (w record.Way) {
	for _, a := range own {
		for _, l := range lanes {
			if l.Src == a {
				w = w.Joined(OwnTable(h, []netip.Addr{a}, l.Dst))
				break
			}
		}
	}
	return w
}

// OwnAnswers has a host answer ARP for an address on its own link only, and the peer ask
// again: while traffic flows it keeps what it was told (neigh_confirm). Entries that
// somebody made permanent go too: one of them is wrong.
func OwnAnswers(host, peer string, own netip.Addr) record.Way {
	const conf = "net.ipv4.conf.all.arp_"
	return record.Way{record.Sysctl(host, conf+"ignore", "1"), record.Sysctl(host, conf+"announce", "2"), record.Run(peer, "ip", "neigh", "flush", "to", own.String(), "nud", "all")}
}

// Else is the way where there is one, else the words.
func Else(w record.Way, words string) record.Remedy {
	if len(w) == 0 {
		return record.ByHand(words)
	}
	return record.Remedy{w}
}

// OtherPorts lets streams fall otherwise on so many links: by chosen ports, where they
// were not; else by more streams.
func (t Traffic) OtherPorts(links int) record.Remedy {
	many := t.More(4 * links)
	if t.Chosen {
		return record.Remedy{many}.Or(record.Ask("find out how the switch hashes (`linerate steer probe`), and choose ports for that"))
	}
	return record.Remedy{t.ChosenToo(), many}
}

// OwnBuffer is of a program on a host that asked for its buffer: for more it is given no
// more than the host's maximum.
func (t Traffic) OwnBuffer(host, option, most string) record.Remedy {
	return t.Without("--socket-buffer", "let the program on "+host+" ask for no "+option+", so that the kernel tunes it; or for a larger one, with "+most+" on "+host+" as large")
}
