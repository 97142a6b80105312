package diagnose

import "github.com/linerate/linerate/record"

// The words for what a probe showed.
const (
	sawUnclear   = "unclear"
	sawGrew      = "grew"
	sawKept      = "kept"
	sawFell      = "fell"
	sawClean     = "clean"
	sawLossy     = "lossy"
	sawShort     = "short"
	sawCarried   = "carried"
	sawCapped    = "capped"
	sawHeld      = "held"
	sawDropped   = "dropped"
	sawReordered = "reordered"
	sawVanish    = "vanish"
	sawPass      = "pass"
	sawLinks     = "links"
	sawSender    = "sender"
	sawReceiver  = "receiver"
	sawQuiet     = "quiet"
)

// sight is one thing that a probe may show.
type sight struct {
	kind record.ProbeKind
	word string
}

// How likely something is seen where a cause binds: as good as always, mostly,
// as likely as not, seldom, hardly ever. Finer shades would be invented.
const (
	always = 0.95
	mostly = 0.80
	even   = 0.50
	seldom = 0.20
	hardly = 0.05
	// elsewhere is of a cause that nobody thought of.
	elsewhere = 0.40
)

// likelihood is how likely a sight is where a cause binds; a cause that is not
// named is even.
type likelihood map[record.Cause]float64

// given is how likely the outcome is where the cause binds.
func (o outcome) given(c record.Cause) float64 {
	if o.word == sawUnclear {
		return even
	}
	if c == record.Unknown {
		return elsewhere
	}
	if p, ok := shows[sight{o.kind, o.word}][c]; ok {
		return p
	}
	return even
}

// shows is the table: by what is seen, the causes that would show it and those
// that would not.
var shows = map[sight]likelihood{
	// A limit of each stream grows with their number, one of the way or of the
	// links does not; a processor's does while cores are left.
	{record.ProbeStreams, sawGrew}: {
		record.ReceiveWindow: always, record.SendBuffer: always, record.Congestion: always, record.Pacing: mostly, record.Reordering: mostly,
		record.SenderCPU: even, record.ReceiverCPU: even, record.HashImbalance: even, record.Application: even,
		record.Shaper: hardly, record.LineRate: hardly, record.CardSlot: hardly, record.LACPDown: hardly, record.SingleLink: seldom,
		record.AsymmetricRoute: seldom, record.MTU: seldom,
	},
	{record.ProbeStreams, sawKept}: {
		record.ReceiveWindow: hardly, record.SendBuffer: hardly, record.Congestion: hardly, record.Pacing: seldom, record.Reordering: seldom,
		record.SenderCPU: even, record.ReceiverCPU: even, record.HashImbalance: even, record.Application: even,
		record.Shaper: always, record.LineRate: always, record.CardSlot: always, record.LACPDown: always, record.SingleLink: mostly,
		record.AsymmetricRoute: mostly, record.MTU: mostly,
	},
	{record.ProbeStreams, sawFell}: {
		record.ReceiveWindow: hardly, record.SendBuffer: hardly, record.Congestion: hardly, record.Pacing: hardly,
		record.SenderCPU: mostly, record.ReceiverCPU: mostly, record.Reordering: seldom, record.Application: seldom,
	},
	{record.ProbeBuffer, sawGrew}: {
		record.ReceiveWindow: always, record.SendBuffer: always, record.Congestion: seldom, record.Reordering: seldom,
		record.Shaper: hardly, record.LineRate: hardly, record.CardSlot: hardly, record.SingleLink: hardly, record.HashImbalance: hardly,
		record.SenderCPU: hardly, record.ReceiverCPU: hardly, record.Pacing: hardly, record.LACPDown: hardly, record.MTU: hardly,
		record.Application: seldom, record.AsymmetricRoute: hardly,
	},
	{record.ProbeBuffer, sawKept}: {
		record.ReceiveWindow: hardly, record.SendBuffer: hardly, record.Congestion: mostly, record.Reordering: mostly,
		record.Shaper: always, record.LineRate: always, record.CardSlot: always, record.SingleLink: always, record.HashImbalance: always,
		record.SenderCPU: always, record.ReceiverCPU: always, record.Pacing: always, record.LACPDown: always, record.MTU: always,
		record.Application: mostly, record.AsymmetricRoute: always,
	},
	// A stream that recovers from loss over a long way grows for seconds, and so
	// does an automatic window; a bucket is empty after a while.
	{record.ProbeLonger, sawGrew}: {
		record.Congestion: mostly, record.ReceiveWindow: even, record.SendBuffer: even, record.Reordering: even,
		record.Shaper: hardly, record.LineRate: hardly, record.CardSlot: hardly, record.Pacing: hardly, record.SingleLink: seldom,
		record.HashImbalance: seldom, record.SenderCPU: seldom, record.ReceiverCPU: seldom,
	},
	{record.ProbeLonger, sawFell}: {
		record.Shaper: mostly, record.Congestion: even, record.SenderCPU: even, record.ReceiverCPU: even,
		record.LineRate: hardly, record.Pacing: hardly, record.ReceiveWindow: seldom, record.SendBuffer: seldom,
		record.CardSlot: hardly, record.SingleLink: seldom, record.HashImbalance: seldom,
	},
	{record.ProbeLonger, sawKept}: {record.Congestion: even, record.Shaper: even},
	// At a pace below what passes a queue does not overflow; what is lost by
	// chance, or overtaken, is so at any pace.
	{record.ProbeSlower, sawClean}: {
		record.Shaper: always, record.LineRate: always, record.CardSlot: always, record.SingleLink: mostly, record.HashImbalance: mostly,
		record.LACPDown: mostly, record.ReceiverCPU: mostly, record.Congestion: hardly, record.Reordering: seldom, record.MTU: hardly,
	},
	{record.ProbeSlower, sawLossy}: {
		record.Congestion: always, record.Reordering: mostly, record.MTU: even,
		record.Shaper: hardly, record.LineRate: hardly, record.CardSlot: hardly, record.SingleLink: hardly, record.HashImbalance: hardly,
		record.LACPDown: hardly, record.ReceiverCPU: seldom, record.SenderCPU: hardly, record.ReceiveWindow: hardly, record.SendBuffer: hardly,
		record.Pacing: hardly, record.Application: hardly,
	},
	{record.ProbeSlower, sawShort}: {
		record.Application: mostly, record.ReceiveWindow: even, record.SendBuffer: even, record.SenderCPU: even, record.ReceiverCPU: even,
		record.Shaper: hardly, record.LineRate: hardly, record.CardSlot: hardly, record.Congestion: seldom, record.Pacing: mostly,
	},
	// Datagrams know no window and take no loss to heart.
	{record.ProbeDatagrams, sawCarried}: {
		record.ReceiveWindow: always, record.SendBuffer: always, record.Application: mostly, record.Pacing: mostly, record.SenderCPU: even,
		record.ReceiverCPU: even, record.Reordering: even, record.Congestion: hardly,
		record.Shaper: hardly, record.LineRate: hardly, record.CardSlot: hardly, record.SingleLink: hardly, record.LACPDown: hardly,
		record.HashImbalance: seldom, record.MTU: seldom,
	},
	{record.ProbeDatagrams, sawCapped}: {
		record.Shaper: always, record.LineRate: always, record.CardSlot: always, record.SingleLink: mostly, record.LACPDown: mostly,
		record.HashImbalance: even, record.Congestion: seldom, record.ReceiverCPU: seldom,
		record.ReceiveWindow: hardly, record.SendBuffer: hardly, record.Application: hardly, record.Pacing: seldom, record.SenderCPU: hardly,
		record.Reordering: hardly,
	},
	{record.ProbeDatagrams, sawLossy}: {
		record.Congestion: always, record.Reordering: seldom, record.Shaper: seldom, record.LineRate: seldom, record.CardSlot: seldom,
		record.ReceiveWindow: hardly, record.SendBuffer: hardly, record.Application: hardly, record.Pacing: hardly, record.SenderCPU: hardly,
		record.ReceiverCPU: seldom,
	},
	// A queue of the sender's own host holds datagrams back as it does TCP.
	{record.ProbeDatagrams, sawHeld}: {
		record.Shaper: mostly, record.LineRate: mostly, record.CardSlot: mostly, record.SenderCPU: mostly, record.SingleLink: mostly,
		record.LACPDown: mostly, record.ReceiveWindow: hardly, record.SendBuffer: hardly, record.Congestion: hardly, record.Reordering: hardly,
		record.ReceiverCPU: seldom, record.Application: seldom, record.MTU: seldom,
	},
	{record.ProbeDatagrams, sawDropped}: {
		record.ReceiverCPU: always, record.Application: even, record.Shaper: hardly, record.Congestion: hardly, record.LineRate: hardly,
		record.SenderCPU: hardly, record.SendBuffer: hardly,
	},
	{record.ProbeDatagrams, sawReordered}: {
		record.Reordering: always, record.Congestion: seldom, record.Shaper: seldom, record.LineRate: seldom, record.ReceiveWindow: seldom,
		record.SendBuffer: seldom, record.CardSlot: seldom, record.SenderCPU: seldom, record.ReceiverCPU: seldom, record.Pacing: seldom,
		record.Application: seldom,
	},
	{record.ProbePacketSize, sawVanish}: {
		record.MTU: always, record.Congestion: hardly, record.Shaper: hardly, record.LineRate: hardly, record.ReceiveWindow: hardly,
		record.SendBuffer: hardly, record.Reordering: hardly, record.SenderCPU: hardly, record.ReceiverCPU: hardly, record.CardSlot: hardly,
		record.HashImbalance: hardly, record.SingleLink: hardly, record.LACPDown: hardly, record.AsymmetricRoute: seldom, record.Pacing: hardly,
		record.Application: hardly,
	},
	{record.ProbePacketSize, sawPass}: {record.MTU: hardly, record.AsymmetricRoute: even},
	{record.ProbeIdle, sawLinks}: {
		record.LineRate: always, record.Congestion: mostly, record.Shaper: even, record.ReceiveWindow: seldom, record.SendBuffer: seldom,
		record.Pacing: seldom, record.Application: seldom, record.SenderCPU: seldom, record.ReceiverCPU: seldom,
	},
	{record.ProbeIdle, sawSender}:   {record.SenderCPU: always, record.ReceiverCPU: seldom, record.LineRate: seldom, record.Shaper: seldom},
	{record.ProbeIdle, sawReceiver}: {record.ReceiverCPU: always, record.SenderCPU: seldom, record.LineRate: seldom, record.Shaper: seldom},
	{record.ProbeIdle, sawQuiet}:    {record.LineRate: even, record.SenderCPU: even, record.ReceiverCPU: even},
}
