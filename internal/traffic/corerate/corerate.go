// Package corerate measures what one core of this host sends and receives: the
// payload of one stream and packets that go through the system one by one. The
// traffic stays on the host, in namespaces made for it where that is allowed.
// It must not say what a network would carry: neither a card nor its driver
// takes part, so the figure bounds from above. Don't leave a namespace behind.
package corerate

import (
	"log/slog"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/unit"
)

// Config says where and how long to measure.
type Config struct {
	// Namespace is whose loopback is used where no other can be made.
	Namespace netns.Namespace
	// CPU reads processor time.
	CPU func() (agentapi.CPUCount, error)
	// Time is how long traffic runs in all.
	Time   time.Duration
	Logger *slog.Logger // nil is silence
}

const (
	// rounds is how often each kind of traffic is measured; the best counts,
	// since whatever disturbs a round takes from it.
	rounds = 3
	// streamShare is the part of the time that goes to the stream; the rest
	// goes to single packets.
	streamShare = 0.6
	// warmUp is the part of a round that is not counted: slow start and
	// buffers that grow.
	warmUp = 0.2
	// packetPayload is the payload of single packets: small, so that what
	// counts is the packet and not its bytes.
	packetPayload = 64
)

// reading is one round: what arrived and what the cores did meanwhile.
type reading struct {
	bytes, packets float64 // that the receiver took in
	sent           float64 // packets that left
	sender         coreUse
	receiver       coreUse
	alone          bool // both ends shared one core
}

// coreUse is a core's time during a reading, in seconds.
type coreUse struct {
	busy    float64 // everything but idle
	softirq float64
	thread  float64 // of the stream's thread
}

// own is the core's time that was the stream's. Kernels differ in whether a
// thread's time holds that of the software interrupts that ran in it
// (CONFIG_IRQ_TIME_ACCOUNTING takes it out), so that their sum may count it
// twice; but no core is busier than busy.
func (c coreUse) own() float64 { return min(c.busy, c.thread+c.softirq) }

// parts divides the stream's time into the thread's own and software
// interrupts. Where the ticks of the system's clock have hit nothing but
// interrupts, though the thread ran too, its own clock says how much it had.
func (c coreUse) parts() (thread, softirq float64) {
	own := c.own()
	if own > c.softirq || c.thread <= 0 {
		softirq = min(c.softirq, own)
		return own - softirq, softirq
	}
	thread = own * c.thread / (c.thread + c.softirq)
	return thread, own - thread
}

func (c coreUse) plus(other coreUse) coreUse {
	return coreUse{busy: c.busy + other.busy, softirq: c.softirq + other.softirq, thread: c.thread + other.thread}
}

// besides is the core's time that was somebody else's, at least.
func (c coreUse) besides() float64 { return max(c.busy-c.thread-c.softirq, 0) }

// busiest is the time of the busier of the two cores.
func (r reading) busiest() float64 {
	if r.alone {
		return r.shared().own()
	}
	return max(r.sender.own(), r.receiver.own())
}

// shared is the one core that both ends used.
func (r reading) shared() coreUse {
	return coreUse{busy: r.sender.busy, softirq: r.sender.softirq, thread: r.sender.thread + r.receiver.thread}
}

// work divides the time of both cores by an amount of traffic.
func (r reading) work(amount float64) agentapi.CoreWork {
	if amount <= 0 {
		return agentapi.CoreWork{}
	}
	if r.alone {
		left, soft := r.shared().parts()
		threads := r.sender.thread + r.receiver.thread
		if threads <= 0 {
			return agentapi.CoreWork{Softirq: soft / amount}
		}
		return agentapi.CoreWork{Send: left * r.sender.thread / threads / amount, Softirq: soft / amount, Receive: left * r.receiver.thread / threads / amount}
	}
	send, softOut := r.sender.parts()
	receive, softIn := r.receiver.parts()
	return agentapi.CoreWork{Send: send / amount, Softirq: (softOut + softIn) / amount, Receive: receive / amount}
}

// together adds up rounds: a round is a few ticks of the system's clock long,
// too few to say what a core did in each of its parts.
func together(all []reading) reading {
	var sum reading
	for _, r := range all {
		sum.bytes, sum.packets, sum.sent = sum.bytes+r.bytes, sum.packets+r.packets, sum.sent+r.sent
		sum.sender, sum.receiver, sum.alone = sum.sender.plus(r.sender), sum.receiver.plus(r.receiver), r.alone
	}
	return sum
}

// streamRate is the payload at which the busier core would be full; zero where
// nothing arrived or no time was counted.
func (r reading) streamRate() unit.BitRate {
	if r.bytes <= 0 || r.busiest() <= 0 {
		return 0
	}
	return unit.FromBytes(r.bytes, r.busiest())
}

// packetRate is how many packets a second the busier core handles when it is
// full. A sender that outruns its receiver has packets dropped: each end is
// judged by what it handled itself.
func (r reading) packetRate() float64 {
	rate := 0.0
	add := func(packets, seconds float64) {
		if packets > 0 && seconds > 0 && (rate == 0 || packets/seconds < rate) {
			rate = packets / seconds
		}
	}
	if r.alone {
		add(r.packets, r.shared().own())
		return rate
	}
	add(r.sent, r.sender.own())
	add(r.packets, r.receiver.own())
	return rate
}

// best is the round of the highest rate, and how far the lowest lies below it,
// as a share.
func best(all []reading, rate func(reading) float64) (reading, float64) {
	var top reading
	high, low := 0.0, 0.0
	for i, r := range all {
		v := rate(r)
		if v > high {
			top, high = r, v
		}
		if i == 0 || v < low {
			low = v
		}
	}
	if high <= 0 {
		return top, 0
	}
	return top, (high - low) / high
}

const (
	// disturbed is the share of a core that others may take before it is said.
	disturbed = 0.1
	// apart is how far rounds may lie apart before it is said.
	apart    = 0.25
	gigabyte = 1e9
)

// judge turns the rounds into the reply; the arena's words are there already.
func judge(reply agentapi.CoreRateReply, streams, packets []reading) agentapi.CoreRateReply {
	s, spread := best(streams, func(r reading) float64 { return float64(r.streamRate()) })
	p, _ := best(packets, reading.packetRate)
	reply.StreamRate, reply.PacketRate, reply.Spread = s.streamRate(), p.packetRate(), spread
	whole := together(streams)
	reply.Stream = whole.work(whole.bytes / gigabyte)
	pooled := together(packets)
	reply.Packet = pooled.work(max(pooled.sent, pooled.packets))
	if work := max(reply.Stream.Send, reply.Stream.Softirq, reply.Stream.Receive); work > 0 {
		reply.StreamMost = max(reply.StreamRate, unit.FromBytes(gigabyte, work))
	}
	reply.PacketBytes = packetPayload
	for _, c := range []struct {
		core int
		use  coreUse
	}{{reply.Sender, s.sender}, {reply.Receiver, s.receiver}} {
		if c.use.busy > 0 && c.use.besides() > disturbed*c.use.busy && !s.alone {
			reply.Notes = append(reply.Notes, busyNote(c.core, c.use.besides()/c.use.busy))
		}
	}
	if spread > apart {
		reply.Notes = append(reply.Notes, spreadNote(spread))
	}
	if s.alone {
		reply.Notes = append(reply.Notes, aloneNote)
	}
	return reply
}
