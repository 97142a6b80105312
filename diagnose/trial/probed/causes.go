package probed

import "github.com/linerate/linerate/record"

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
	Even   = 0.50 // tells nothing
	rarely = 0.20
	hardly = 0.05
	// elsewhere is of a cause that nobody thought of.
	elsewhere = 0.40
)

// likelihood is how likely a sight is where a cause binds; a cause that is not
// named is even.
type likelihood map[record.Cause]float64

// Given is how likely the outcome is where the cause binds.
func Given(o Outcome, c record.Cause) float64 {
	if o.Word == Unclear {
		return Even
	}
	if c == record.Unknown {
		return elsewhere
	}
	if p, ok := shows[sight{o.Kind, o.Word}][c]; ok {
		return p
	}
	return Even
}

// shows is the table: by what is seen, the causes that would show it and those
// that would not.
var shows = map[sight]likelihood{
	// A limit of each stream grows with their number, one of the way or of the
	// links does not; a processor's does while cores are left.
	{record.ProbeStreams, Grew}: {
		record.ReceiveWindow: always, record.SendBuffer: always, record.Congestion: always, record.Pacing: mostly, record.Reordering: mostly,
		record.SenderCPU: Even, record.ReceiverCPU: Even, record.HashImbalance: Even, record.Application: Even,
		record.Shaper: hardly, record.LineRate: hardly, record.CardSlot: hardly, record.LACPDown: hardly, record.SingleLink: rarely,
		record.AsymmetricRoute: rarely, record.MTU: rarely,
	},
	{record.ProbeStreams, Each}: {
		record.ReceiveWindow: always, record.SendBuffer: always, record.Pacing: always, record.Shaper: mostly, record.Application: mostly,
		record.Congestion: hardly, record.Reordering: rarely, record.SenderCPU: Even, record.ReceiverCPU: Even, record.HashImbalance: rarely,
		record.LineRate: hardly, record.CardSlot: hardly, record.LACPDown: hardly, record.SingleLink: rarely, record.AsymmetricRoute: rarely, record.MTU: rarely,
	},
	{record.ProbeStreams, Kept}: {
		record.ReceiveWindow: hardly, record.SendBuffer: hardly, record.Congestion: hardly, record.Pacing: rarely, record.Reordering: rarely,
		record.SenderCPU: Even, record.ReceiverCPU: Even, record.HashImbalance: Even, record.Application: Even,
		record.Shaper: always, record.LineRate: always, record.CardSlot: always, record.LACPDown: always, record.SingleLink: mostly,
		record.AsymmetricRoute: mostly, record.MTU: mostly,
	},
	{record.ProbeStreams, Fell}: {
		record.ReceiveWindow: hardly, record.SendBuffer: hardly, record.Congestion: hardly, record.Pacing: hardly,
		record.SenderCPU: mostly, record.ReceiverCPU: mostly, record.Reordering: rarely, record.Application: rarely,
	},
	{record.ProbeBuffer, Grew}: {
		record.ReceiveWindow: always, record.SendBuffer: always, record.Congestion: rarely, record.Reordering: rarely,
		record.Shaper: hardly, record.LineRate: hardly, record.CardSlot: hardly, record.SingleLink: hardly, record.HashImbalance: hardly,
		record.SenderCPU: hardly, record.ReceiverCPU: hardly, record.Pacing: hardly, record.LACPDown: hardly, record.MTU: hardly,
		record.Application: rarely, record.AsymmetricRoute: hardly,
	},
	{record.ProbeBuffer, Kept}: {
		record.ReceiveWindow: hardly, record.SendBuffer: hardly, record.Congestion: mostly, record.Reordering: mostly,
		record.Shaper: always, record.LineRate: always, record.CardSlot: always, record.SingleLink: always, record.HashImbalance: always,
		record.SenderCPU: always, record.ReceiverCPU: always, record.Pacing: always, record.LACPDown: always, record.MTU: always,
		record.Application: mostly, record.AsymmetricRoute: always,
	},
	// A stream that recovers from loss over a long way grows for seconds, and so
	// does an automatic window; a bucket is empty after a while.
	{record.ProbeLonger, Grew}: {
		record.Congestion: mostly, record.ReceiveWindow: Even, record.SendBuffer: Even, record.Reordering: Even,
		record.Shaper: hardly, record.LineRate: hardly, record.CardSlot: hardly, record.Pacing: hardly, record.SingleLink: rarely,
		record.HashImbalance: rarely, record.SenderCPU: rarely, record.ReceiverCPU: rarely,
	},
	{record.ProbeLonger, Fell}: {
		record.Shaper: mostly, record.Congestion: Even, record.SenderCPU: Even, record.ReceiverCPU: Even,
		record.LineRate: hardly, record.Pacing: hardly, record.ReceiveWindow: rarely, record.SendBuffer: rarely,
		record.CardSlot: hardly, record.SingleLink: rarely, record.HashImbalance: rarely,
	},
	{record.ProbeLonger, Kept}: {record.Congestion: Even, record.Shaper: Even},
	// At a pace below what passes a queue does not overflow; what is lost by
	// chance, or overtaken, is so at any pace.
	{record.ProbeSlower, Clean}: {
		record.Shaper: always, record.LineRate: always, record.CardSlot: always, record.SingleLink: mostly, record.HashImbalance: mostly,
		record.LACPDown: mostly, record.ReceiverCPU: mostly, record.Congestion: hardly, record.Reordering: rarely, record.MTU: hardly,
	},
	{record.ProbeSlower, Lossy}: {
		record.Congestion: always, record.Reordering: mostly, record.MTU: Even,
		record.Shaper: hardly, record.LineRate: hardly, record.CardSlot: hardly, record.SingleLink: hardly, record.HashImbalance: hardly,
		record.LACPDown: hardly, record.ReceiverCPU: rarely, record.SenderCPU: hardly, record.ReceiveWindow: hardly, record.SendBuffer: hardly,
		record.Pacing: hardly, record.Application: hardly,
	},
	{record.ProbeSlower, Short}: {
		record.Application: mostly, record.ReceiveWindow: Even, record.SendBuffer: Even, record.SenderCPU: Even, record.ReceiverCPU: Even,
		record.Shaper: hardly, record.LineRate: hardly, record.CardSlot: hardly, record.Congestion: rarely, record.Pacing: mostly,
	},
	// Datagrams know no window and take no loss to heart.
	{record.ProbeDatagrams, Carried}: {
		record.ReceiveWindow: always, record.SendBuffer: always, record.Application: mostly, record.Pacing: mostly, record.SenderCPU: Even,
		record.ReceiverCPU: Even, record.Reordering: Even, record.Congestion: hardly,
		record.Shaper: hardly, record.LineRate: hardly, record.CardSlot: hardly, record.SingleLink: hardly, record.LACPDown: hardly,
		record.HashImbalance: rarely, record.MTU: rarely,
	},
	{record.ProbeDatagrams, Capped}: {
		record.Shaper: always, record.LineRate: always, record.CardSlot: always, record.SingleLink: mostly, record.LACPDown: mostly,
		record.HashImbalance: Even, record.Congestion: rarely, record.ReceiverCPU: rarely,
		record.ReceiveWindow: hardly, record.SendBuffer: hardly, record.Application: hardly, record.Pacing: rarely, record.SenderCPU: hardly,
		record.Reordering: hardly,
	},
	{record.ProbeDatagrams, Lossy}: {
		record.Congestion: always, record.Reordering: rarely, record.Shaper: rarely, record.LineRate: rarely, record.CardSlot: rarely,
		record.ReceiveWindow: hardly, record.SendBuffer: hardly, record.Application: hardly, record.Pacing: hardly, record.SenderCPU: hardly,
		record.ReceiverCPU: rarely,
	},
	// A queue of the sender's own host holds datagrams back as it does TCP.
	{record.ProbeDatagrams, Held}: {
		record.Shaper: mostly, record.LineRate: mostly, record.CardSlot: mostly, record.SenderCPU: mostly, record.SingleLink: mostly,
		record.LACPDown: mostly, record.ReceiveWindow: hardly, record.SendBuffer: hardly, record.Congestion: hardly, record.Reordering: hardly,
		record.ReceiverCPU: rarely, record.Application: rarely, record.MTU: rarely,
	},
	{record.ProbeDatagrams, Dropped}: {
		record.ReceiverCPU: always, record.Application: Even, record.Shaper: hardly, record.Congestion: hardly, record.LineRate: hardly,
		record.SenderCPU: hardly, record.SendBuffer: hardly,
	},
	{record.ProbeDatagrams, Reordered}: {
		record.Reordering: always, record.Congestion: rarely, record.Shaper: rarely, record.LineRate: rarely, record.ReceiveWindow: rarely,
		record.SendBuffer: rarely, record.CardSlot: rarely, record.SenderCPU: rarely, record.ReceiverCPU: rarely, record.Pacing: rarely,
		record.Application: rarely,
	},
	{record.ProbePacketSize, Vanish}: {
		record.MTU: always, record.Congestion: hardly, record.Shaper: hardly, record.LineRate: hardly, record.ReceiveWindow: hardly,
		record.SendBuffer: hardly, record.Reordering: hardly, record.SenderCPU: hardly, record.ReceiverCPU: hardly, record.CardSlot: hardly,
		record.HashImbalance: hardly, record.SingleLink: hardly, record.LACPDown: hardly, record.AsymmetricRoute: rarely, record.Pacing: hardly,
		record.Application: hardly,
	},
	{record.ProbePacketSize, Pass}: {record.MTU: hardly, record.AsymmetricRoute: Even},
	{record.ProbeIdle, Links}: {
		record.LineRate: always, record.Congestion: mostly, record.Shaper: Even, record.ReceiveWindow: rarely, record.SendBuffer: rarely,
		record.Pacing: rarely, record.Application: rarely, record.SenderCPU: rarely, record.ReceiverCPU: rarely,
	},
	{record.ProbeIdle, Sender}:   {record.SenderCPU: always, record.ReceiverCPU: rarely, record.LineRate: rarely, record.Shaper: rarely},
	{record.ProbeIdle, Receiver}: {record.ReceiverCPU: always, record.SenderCPU: rarely, record.LineRate: rarely, record.Shaper: rarely},
	{record.ProbeIdle, Quiet}:    {record.LineRate: Even, record.SenderCPU: Even, record.ReceiverCPU: Even},
}
