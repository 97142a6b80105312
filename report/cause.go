package report

import "github.com/linerate/linerate/record"

// causeWords is the one table of what each cause means in plain words, the
// end of a sentence such as "limited because ...".
var causeWords = map[record.Cause]string{
	record.LineRate:        "the links in use are full: nothing left to gain",
	record.HashImbalance:   "flows share links while other links idle",
	record.SingleLink:      "all of this traffic takes part of the links, and the others idle",
	record.ReceiveWindow:   "the receiver's window is too small for this distance",
	record.SendBuffer:      "the sender's buffer is too small for this distance",
	record.Congestion:      "packets are lost on the path",
	record.Reordering:      "packets arrive out of order",
	record.SenderCPU:       "the sender's processor is busy",
	record.ReceiverCPU:     "the receiver's processor is busy",
	record.CardSlot:        "the card or its PCIe slot is the limit",
	record.Shaper:          "something on the way limits the rate to less than the links' speed",
	record.MTU:             "headers of small packets take a share of the links",
	record.LACPDown:        "ports are outside the active aggregator",
	record.AsymmetricRoute: "traffic leaves by the wrong link",
	record.Pacing:          "the sender paces itself",
	record.Application:     "the program does not offer more",
	record.Unknown:         "no cause was proven",
}

// Meaning is a cause in plain words, the end of a sentence such as "limited
// because ..."; the cause itself when it is none of the contract's.
func Meaning(c record.Cause) string {
	if w, ok := causeWords[c]; ok {
		return w
	}
	return string(c)
}

// causeActions is the one table of what to do about each cause, in a sentence
// that is true wherever it binds; the finding's remedy says how.
var causeActions = map[record.Cause]string{
	record.LineRate:        "Nothing to change: more needs faster links, or more of them.",
	record.HashImbalance:   "Spread the flows over all links.",
	record.SingleLink:      "Let the traffic use every link.",
	record.ReceiveWindow:   "Raise the receiver's window.",
	record.SendBuffer:      "Raise the sender's buffer.",
	record.Congestion:      "Find where packets are lost.",
	record.Reordering:      "Keep each flow on one way.",
	record.SenderCPU:       "Share the sender's work between more cores.",
	record.ReceiverCPU:     "Share the receiver's work between more cores.",
	record.CardSlot:        "Give the card more lanes.",
	record.Shaper:          "Find the rate limit on the way.",
	record.MTU:             "Let larger packets pass on the whole way.",
	record.LACPDown:        "Bring every port into the active aggregator.",
	record.AsymmetricRoute: "Give each address a route of its own.",
	record.Pacing:          "Raise the rate that the sender is paced at.",
	record.Application:     "Look at what the program waits for.",
	record.Unknown:         "Measure once more to find the cause.",
}
