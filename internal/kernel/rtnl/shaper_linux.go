package rtnl

import (
	"math"
	"time"

	"github.com/linerate/linerate/internal/kernel/nlattr"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// Attributes of the queueing disciplines read here,
// include/uapi/linux/pkt_sched.h.
const (
	tbfParms    = 1 // struct tc_tbf_qopt: rate, peakrate, limit, buffer, mtu
	tbfRate64   = 4
	tbfParmSize = 36

	netemRate      = 6 // struct tc_netem_rate
	netemRate64    = 8
	netemLatency64 = 10
	netemHead      = 24 // struct tc_netem_qopt: latency, limit, loss, gap, duplicate, jitter

	fqLimit          = 1
	fqMaxRate        = 7
	fqThrottled      = 24 // offset in struct tc_fq_qd_stats
	fqCodelLimit     = 2
	cakeBaseRate     = 2
	htbParms         = 1 // struct tc_htb_opt: rate, ceil, buffer, cbuffer, ...
	htbInit          = 2 // struct tc_htb_glob
	htbCeil64        = 7
	htbParmsSize     = 44
	htbInitSize      = 20
	htbDefaultOffset = 8
)

// decoders is the one table of the disciplines whose options are read.
var decoders = map[string]func(q *netstate.Qdisc, options []byte){
	"tbf":      decodeTBF,
	"netem":    decodeNetem,
	"fq":       decodeFQ,
	"fq_codel": decodeFQCodel,
	"cake":     decodeCAKE,
	"pfifo":    decodePacketFIFO,
	"bfifo":    decodeByteFIFO,
}

func (r *rawQdisc) decodeOptions() {
	if decode := decoders[r.qdisc.Kind]; decode != nil {
		decode(&r.qdisc, r.options)
	}
}

func decodeTBF(q *netstate.Qdisc, options []byte) {
	var parms, wide []byte
	_ = nlattr.Each(options, func(kind uint16, v []byte) {
		switch kind {
		case tbfParms:
			parms = v
		case tbfRate64:
			wide = v
		}
	})
	if len(parms) < tbfParmSize {
		return
	}
	q.Rate = rateSpec(parms, wide)
	q.Limit = unit.Bytes(u32(parms[24:]))
	q.Burst = burstOf(q.Rate, u32(parms[28:]))
}

func decodeNetem(q *netstate.Qdisc, options []byte) {
	if len(options) < netemHead {
		return
	}
	q.Delay = time.Duration(u32(options)) * tickTime
	q.LimitPackets = int(u32(options[4:]))
	q.Loss = float64(u32(options[8:])) / math.MaxUint32
	var rate, wide []byte
	_ = nlattr.Each(options[netemHead:], func(kind uint16, v []byte) {
		switch kind {
		case netemRate:
			rate = v
		case netemRate64:
			wide = v
		case netemLatency64:
			if len(v) >= 8 {
				q.Delay = time.Duration(u64(v))
			}
		}
	})
	if len(wide) >= 8 {
		q.Rate = rateOf(u64(wide))
	} else {
		q.Rate = unit.BitRate(u32(rate)) * 8
	}
}

func decodeFQ(q *netstate.Qdisc, options []byte) {
	_ = nlattr.Each(options, func(kind uint16, v []byte) {
		switch kind {
		case fqLimit:
			q.LimitPackets = int(u32(v))
		case fqMaxRate:
			q.FlowRate = rateOf(uint64(u32(v)))
		}
	})
}

func decodeFQCodel(q *netstate.Qdisc, options []byte) {
	_ = nlattr.Each(options, func(kind uint16, v []byte) {
		if kind == fqCodelLimit {
			q.LimitPackets = int(u32(v))
		}
	})
}

func decodeCAKE(q *netstate.Qdisc, options []byte) {
	_ = nlattr.Each(options, func(kind uint16, v []byte) {
		if kind == cakeBaseRate {
			q.Rate = rateOf(u64(v))
		}
	})
}

func decodePacketFIFO(q *netstate.Qdisc, options []byte) { q.LimitPackets = int(u32(options)) }

func decodeByteFIFO(q *netstate.Qdisc, options []byte) { q.Limit = unit.Bytes(u32(options)) }

// decodeHTB gives an htb the sum of its top classes' ceilings and bursts,
// which is all that leaves it. What no class takes passes unshaped
// (htb_enqueue, HTB_DIRECT): without a default class there is no limit, and
// open is true.
func decodeHTB(q *rawQdisc, classes []rawQdisc) (open bool) {
	var init []byte
	_ = nlattr.Each(q.options, func(kind uint16, v []byte) {
		if kind == htbInit && len(v) >= htbInitSize {
			init = v
		}
	})
	fallback := uint32(0)
	if init != nil {
		fallback = u32(init[htbDefaultOffset:])
	}
	hasDefault := false
	var rate unit.BitRate
	var burst unit.Bytes
	for _, c := range classes {
		if c.index != q.index || c.handle>>16 != q.handle>>16 {
			continue
		}
		hasDefault = hasDefault || fallback != 0 && c.handle&0xffff == fallback&0xffff
		if c.parent == parentRoot {
			ceil, size := decodeHTBClass(c.options)
			rate, burst = rate+ceil, burst+size
		}
	}
	if !hasDefault {
		return rate > 0
	}
	q.qdisc.Rate, q.qdisc.Burst = rate, burst
	return false
}

func decodeHTBClass(options []byte) (ceil unit.BitRate, burst unit.Bytes) {
	var parms, wide []byte
	_ = nlattr.Each(options, func(kind uint16, v []byte) {
		switch kind {
		case htbParms:
			parms = v
		case htbCeil64:
			wide = v
		}
	})
	if len(parms) < htbParmsSize {
		return 0, 0
	}
	ceil = rateSpec(parms[rateSize:], wide)
	return ceil, burstOf(ceil, u32(parms[2*rateSize+4:]))
}
