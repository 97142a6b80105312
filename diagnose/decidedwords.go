package diagnose

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/record"
)

// inWords is a finding of a cause in the words that a judgement of it has
// found already: the probes' own first, then the trial's, then what can be said
// of every such case.
func inWords(cause record.Cause, old record.Finding, again []record.Finding) record.Finding {
	for _, f := range append(append([]record.Finding(nil), again...), old) {
		if f.Cause == cause {
			f.Missing, f.Decide, f.Also = nil, record.Decision{}, nil
			return f
		}
	}
	out := record.Finding{Cause: cause, Remedy: remedies[cause]}
	for _, f := range append(append([]record.Finding(nil), again...), old) {
		for _, a := range f.Also {
			if a.Cause == cause && out.Summary == "" {
				out.Summary, out.Evidence, out.Against, out.Expected = a.Summary, a.For, a.Against, a.Expected
			}
		}
	}
	if out.Summary == "" {
		out.Summary = plainly[cause]
	}
	return out
}

// plainly says of a cause what is true wherever it binds, remedies what helps
// there; for causes that were not judged before a probe named them.
var plainly = map[record.Cause]string{
	record.LineRate:        "The links in use are full.",
	record.HashImbalance:   "The streams share links while others idle.",
	record.SingleLink:      "Only one link can be used for this traffic.",
	record.ReceiveWindow:   "The receiver's window is the limit of each stream.",
	record.SendBuffer:      "The sender's buffer is the limit of each stream.",
	record.Congestion:      "Something on the way drops packets, whatever the rate, and the senders slow down for it.",
	record.Reordering:      "Packets overtake each other on the way, and the senders take that for loss.",
	record.SenderCPU:       "The sender's processor is the limit.",
	record.ReceiverCPU:     "The receiver's processor is the limit.",
	record.CardSlot:        "The card, or its slot, carries no more.",
	record.Shaper:          "Something on the way lets no more through than this rate, and no link is full: a shaper.",
	record.MTU:             "Packets of the full size are lost on the way.",
	record.LACPDown:        "Ports of the bond are not in use.",
	record.AsymmetricRoute: "Traffic leaves by the wrong link.",
	record.Pacing:          "The sender paces its streams.",
	record.Application:     "The program sends, or reads, no faster.",
}

var remedies = map[record.Cause]string{
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

const stillUnknown = "measure with both hosts observed and the fabric declared (speeds, rates, round trip), and look at the switches' own counters"

// leftOver names what is still possible.
func leftOver(order []record.Cause, c chances) string {
	var words []string
	for _, cause := range order {
		if cause != record.Unknown && c[cause] >= worthKeeping && len(words) < 3 {
			words = append(words, fmt.Sprintf("%s (%.0f %%)", cause, 100*c[cause]))
		}
	}
	if len(words) == 0 {
		return "None of the causes that were thought of shows it."
	}
	return "Still possible: " + strings.Join(words, ", ") + "."
}
