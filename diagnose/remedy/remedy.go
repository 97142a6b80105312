// Package remedy has what helps against a cause: what is true of every host, and
// on hosts that do not run Linux their own words for it (esxcli, PowerShell,
// rc.conf(5), chdev(1)), so that nobody is told to type a command that is not
// there. It must never judge: which cause binds is others' to say.
package remedy

import (
	"cmp"
	"slices"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/steer/system"
)

// Usual is what helps against a cause wherever it binds, in words: nothing is known of
// the hosts; nil for one that is not known.
func Usual(c record.Cause) record.Remedy {
	if usual[c] == "" {
		return nil
	}
	return record.ByHand(usual[c])
}

var usual = map[record.Cause]string{
	record.LineRate:        "faster links, or more of them",
	record.HashImbalance:   "choose ports that spread (`linerate steer pick`), or use more streams",
	record.SingleLink:      "a transmit hash that reads ports (layer3+4), or more addresses",
	record.ReceiveWindow:   "raise the third value of net.ipv4.tcp_rmem on the receiver, or the application's SO_RCVBUF, or use more streams",
	record.SendBuffer:      "raise the third value of net.ipv4.tcp_wmem on the sender, or the application's SO_SNDBUF, or use more streams",
	record.Congestion:      "find where it drops: error counters of the links, a cable, optics, a switch's buffers; until then a congestion control that bears loss (bbr), or more streams",
	record.Reordering:      "keep each stream on one way: no balance-rr, no per-packet balancing; or raise net.ipv4.tcp_reordering on the sender",
	record.SenderCPU:       "more streams so that more cores share the work, larger frames, or a faster core",
	record.ReceiverCPU:     "more streams so that more cores share the work, larger frames, receive queues on more cores",
	record.CardSlot:        "put the card into a slot with more lanes",
	record.Shaper:          "look for a rate limit on the way (a switch port, a router, the provider's contract): nothing on the two hosts passes it",
	record.MTU:             "raise the MTU of every port on the way, or lower the hosts' to what passes",
	record.LACPDown:        "look at the switch's side of the ports that are out (`linerate inspect`)",
	record.AsymmetricRoute: "give each address a routing table of its own",
	record.Pacing:          "raise the rate that the streams are paced at (SO_MAX_PACING_RATE, fq maxrate)",
	record.Application:     "look at what the program waits for: its disk, its peer, one thread",
}

// ofReceiver are causes that are repaired where traffic arrives; others where it
// leaves.
var ofReceiver = map[record.Cause]bool{record.ReceiveWindow: true, record.ReceiverCPU: true}

// On is the remedy of a cause between two hosts: the one given where the host that it
// is for runs Linux, else that system's own words. At is that host, "" what the cause
// tells. A way with a command for a host that does not run Linux is left out.
func On(hosts map[string]netstate.Host, c record.Cause, from, to, at string, r record.Remedy) record.Remedy {
	if at == "" {
		if at = from; ofReceiver[c] {
			at = to
		}
	}
	if len(r) == 0 {
		return nil
	}
	if !bondopt.Foreign(hosts[at].Kernel.OS) {
		kept := slices.DeleteFunc(slices.Clone(r), func(w record.Way) bool {
			return slices.ContainsFunc(w, func(a record.Action) bool {
				if len(a.Run) == 0 || !bondopt.Foreign(hosts[a.Host].Kernel.OS) {
					return false
				}
				at = a.Host
				return true
			})
		})
		if len(kept) > 0 {
			return kept
		}
	}
	h := hosts[at]
	words := own[h.Kernel.OS][c]
	bond, spreader := bondOf(h)
	if (c == record.HashImbalance || c == record.SingleLink) && spreader != nil {
		words = steer.RemedyFor(spreader)
		if at == to {
			if words = system.ArrivalRemedy(spreader); words == "" {
				return r // the switch spreads what comes in
			}
		}
	}
	return record.ByHand(system.Named(cmp.Or(words, usual[c], "look at it with the tools of "+bondopt.SystemTitle(h.Kernel.OS))+" (on "+h.Name+")", bond))
}

// OfTrial is On for a trial whose cause nobody judged by itself: a remedy that is not
// Usual stays.
func OfTrial(hosts map[string]netstate.Host, t record.Trial, c record.Cause, r record.Remedy) record.Remedy {
	if len(r) == 0 || r.Text() != Usual(c).Text() {
		return r
	}
	from, to := t.From, t.To
	if t.Direction == flow.Reverse {
		from, to = to, from
	}
	return On(hosts, c, from, to, "", r)
}

// bondOf is the host's bond, where it has one alone, over all its ports.
func bondOf(h netstate.Host) (string, steer.Grouper) {
	name, found := "", steer.Grouper(nil)
	for _, l := range h.Links {
		if s := system.Whole(h, l); s != nil && len(l.Bond.Ports) > 1 {
			if found != nil {
				return "", nil
			}
			name, found = l.Name, s
		}
	}
	return name, found
}
