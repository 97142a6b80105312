package rtnl

import (
	"fmt"
	"math"
	"time"

	"github.com/linerate/linerate/internal/kernel/nlattr"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// Attributes of traffic control, include/uapi/linux/rtnetlink.h, gen_stats.h
// and pkt_sched.h.
const (
	tcaKind    = 1
	tcaOptions = 2
	tcaStats   = 3
	tcaStats2  = 7

	statsQueue     = 3 // TCA_STATS_QUEUE: struct gnet_stats_queue
	statsQueueSize = 20
	statsApp       = 4  // TCA_STATS_APP: the discipline's own
	oldStatsSize   = 36 // struct tc_stats

	tcHead = 20 // struct tcmsg: family, index, handle, parent, info

	parentRoot    = 0xffffffff // TC_H_ROOT
	parentIngress = 0xfffffff1 // TC_H_INGRESS; also clsact's

	tickTime = 64 * time.Nanosecond // PSCHED_SHIFT 6, include/net/pkt_sched.h

	rateSize = 12 // struct tc_ratespec
)

// rawQdisc is a qdisc, or a class of one, with the link it is on.
type rawQdisc struct {
	qdisc  netstate.Qdisc
	index  int
	handle uint32
	parent uint32
	// throttled is fq's count of flows held back (struct tc_fq_qd_stats).
	throttled uint64
	// options stay undecoded for a class and for htb, whose rate is its
	// classes'.
	options []byte
}

// decodeQdisc reads an RTM_NEWQDISC or RTM_NEWTCLASS message.
func decodeQdisc(message []byte) (rawQdisc, error) {
	if len(message) < tcHead {
		return rawQdisc{}, errMalformed
	}
	r := rawQdisc{
		index:  int(int32(u32(message[4:]))),
		handle: u32(message[8:]),
		parent: u32(message[12:]),
	}
	q := &r.qdisc
	q.Handle, q.Parent = handleText(r.handle), parentText(r.parent)
	var stats, stats2 []byte
	err := nlattr.Each(message[tcHead:], func(kind uint16, v []byte) {
		switch kind {
		case tcaKind:
			q.Kind = text(v)
		case tcaOptions:
			r.options = v
		case tcaStats:
			stats = v
		case tcaStats2:
			stats2 = v
		}
	})
	if err != nil {
		return rawQdisc{}, err
	}
	r.queue(stats, stats2)
	r.decodeOptions()
	return r, nil
}

// handleText and parentText write a handle as tc(8) does.
func handleText(handle uint32) string {
	if minor := handle & 0xffff; minor != 0 {
		return fmt.Sprintf("%x:%x", handle>>16, minor)
	}
	return fmt.Sprintf("%x:", handle>>16)
}

func parentText(parent uint32) string {
	switch parent {
	case parentRoot:
		return "root"
	case parentIngress:
		return "ingress"
	}
	if parent>>16 == 0 {
		return fmt.Sprintf(":%x", parent)
	}
	return handleText(parent)
}

// rateOf turns bytes per second into a rate; zero for "no limit".
func rateOf(bytesPerSecond uint64) unit.BitRate {
	if bytesPerSecond == math.MaxUint64 || bytesPerSecond == math.MaxUint32 {
		return 0
	}
	return unit.BitRate(bytesPerSecond) * 8
}

// rateSpec is the rate of struct tc_ratespec; wide replaces it where the rate
// does not fit 32 bits.
func rateSpec(v, wide []byte) unit.BitRate {
	if len(wide) >= 8 {
		return rateOf(u64(wide))
	}
	if len(v) < rateSize {
		return 0
	}
	return unit.BitRate(u32(v[8:])) * 8
}

// burstOf is the bytes that a bucket holds; the kernel keeps the time it
// takes to fill it.
func burstOf(rate unit.BitRate, ticks uint32) unit.Bytes {
	return unit.Bytes(math.Round(float64(rate) / 8 * (time.Duration(ticks) * tickTime).Seconds()))
}

// queue reads the queue's counters: struct gnet_stats_queue (qlen, backlog,
// drops, requeues, overlimits) where there is one, else struct tc_stats.
func (r *rawQdisc) queue(stats, stats2 []byte) {
	q := &r.qdisc
	if len(stats) >= oldStatsSize {
		q.Drops, q.Overlimits = uint64(u32(stats[12:])), uint64(u32(stats[16:]))
		q.Backlog = unit.Bytes(u32(stats[32:]))
	}
	_ = nlattr.Each(stats2, func(kind uint16, v []byte) {
		if kind == statsQueue && len(v) >= statsQueueSize {
			q.Backlog = unit.Bytes(u32(v[4:]))
			q.Drops = uint64(u32(v[8:]))
			q.Requeues = uint64(u32(v[12:]))
			q.Overlimits = uint64(u32(v[16:]))
		}
		if kind == statsApp && q.Kind == "fq" && len(v) >= fqThrottled+8 {
			r.throttled = u64(v[fqThrottled:])
		}
	})
}
