package act

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/vishvananda/netlink/nl"

	"github.com/linerate/linerate/internal/kernel/nlattr"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// Attributes of queueing disciplines, include/uapi/linux/pkt_sched.h and
// rtnetlink.h.
const (
	tcaKind    = 1
	tcaOptions = 2

	fqLimit      = 1
	fqMaxRate    = 7
	codelLimit   = 2
	tbfParms     = 1
	tbfRate64    = 4
	cakeBaseRate = 2

	handleRoot = 0xffffffff // TC_H_ROOT
)

// tcHeader is a struct tcmsg for the link's root.
func tcHeader(l link, handle uint32) []byte {
	b := make([]byte, 20)
	binary.NativeEndian.PutUint32(b[4:], uint32(l.index))
	binary.NativeEndian.PutUint32(b[8:], handle)
	binary.NativeEndian.PutUint32(b[12:], handleRoot)
	return b
}

// setQdisc puts another root discipline in the place of the present one, in one
// message; "default" takes it away, and the kernel puts its own there.
func setQdisc(l link, words string) error {
	q, err := plan.ParseQdisc(words)
	if err != nil {
		return err
	}
	if q.Kind == plan.DefaultQdisc {
		return change(syscall.RTM_DELQDISC, 0, tcHeader(l, 0))
	}
	options, err := encodeQdisc(q)
	if err != nil {
		return err
	}
	handle, err := l.freeHandle()
	if err != nil {
		return err
	}
	message := append(tcHeader(l, handle), nlattr.Encode(tcaKind, nl.ZeroTerminated(q.Kind))...)
	return change(syscall.RTM_NEWQDISC, syscall.NLM_F_CREATE|syscall.NLM_F_REPLACE, append(message, options...))
}

// freeHandle is a handle that no discipline of the link has: one of a new handle
// is made anew, where of the same kind the kernel would keep what the message
// does not say (tc_modify_qdisc).
func (l link) freeHandle() (uint32, error) {
	all, err := l.qdiscs()
	if err != nil {
		return 0, err
	}
	for major := uint32(1); ; major++ {
		if text := fmt.Sprintf("%x:", major); !slices.ContainsFunc(all, func(q netstate.Qdisc) bool { return q.Handle == text }) {
			return major << 16, nil
		}
	}
}

func (l link) qdiscs() ([]netstate.Qdisc, error) {
	h, err := rtnl.Open()
	if err != nil {
		return nil, err
	}
	defer h.Close()
	return h.Qdiscs(l.index)
}

// encodeQdisc is the discipline's TCA_OPTIONS; none leaves all to the kernel.
func encodeQdisc(q netstate.Qdisc) ([]byte, error) {
	var inner []byte
	limit := func(attr uint16) {
		if q.LimitPackets > 0 {
			inner = append(inner, nlattr.Encode(attr, number32(uint32(q.LimitPackets)))...)
		}
	}
	switch q.Kind {
	case "fq":
		limit(fqLimit)
		if q.FlowRate > 0 {
			inner = append(inner, nlattr.Encode(fqMaxRate, number32(uint32(q.FlowRate/8)))...)
		}
	case "fq_codel":
		limit(codelLimit)
	case "cake":
		if q.Rate > 0 {
			inner = nlattr.Encode(cakeBaseRate, binary.NativeEndian.AppendUint64(nil, uint64(q.Rate/8)))
		}
	case "tbf":
		inner = encodeTBF(q)
	case "pfifo", "bfifo":
		n := uint32(q.LimitPackets)
		if q.Kind == "bfifo" {
			n = uint32(q.Limit)
		}
		if n == 0 {
			return nil, nil
		}
		return nlattr.Encode(tcaOptions, number32(n)), nil // struct tc_fifo_qopt, not nested
	case "pfifo_fast", "noqueue", "mq":
		return nil, nil
	default:
		return nil, fmt.Errorf("queueing discipline %q: %w", q.Kind, errors.ErrUnsupported)
	}
	return nest(tcaOptions, inner), nil
}

// encodeTBF is struct tc_tbf_qopt with the attributes that a rate of more than
// 32 bits, and a bucket of exactly so many bytes, want.
func encodeTBF(q netstate.Qdisc) []byte {
	bytesPerSecond := uint64(q.Rate / 8)
	parms := make([]byte, 36) // struct tc_ratespec rate, peakrate; limit, buffer, mtu
	parms[1] = 1              // TC_LINKLAYER_ETHERNET
	short := bytesPerSecond
	if short >= 1<<32 {
		short = 1<<32 - 1
	}
	binary.NativeEndian.PutUint32(parms[8:], uint32(short))
	binary.NativeEndian.PutUint32(parms[24:], uint32(q.Limit))
	binary.NativeEndian.PutUint32(parms[28:], plan.BucketTicks(q.Rate, q.Burst))
	inner := nlattr.Encode(tbfParms, parms)
	if short != bytesPerSecond {
		inner = append(inner, nlattr.Encode(tbfRate64, binary.NativeEndian.AppendUint64(nil, bytesPerSecond))...)
	}
	return inner
}

// readQdisc is the root discipline in a plan's words. One with more than a step
// says, or with others below it, is errors.ErrUnsupported.
func readQdisc(l link) (string, error) {
	all, err := l.qdiscs()
	if err != nil {
		return "", err
	}
	words, err := plan.RootQdisc(netstate.Link{Name: l.name, Qdiscs: all})
	if errors.Is(err, plan.ErrQdisc) {
		err = fmt.Errorf("%w: %w", err, errors.ErrUnsupported)
	}
	if err != nil || words == plan.DefaultQdisc {
		return words, err
	}
	for _, q := range all {
		if q.Parent != "root" && q.Parent != "ingress" && q.Handle != "0:" {
			return "", fmt.Errorf("%s has %s %s below its root discipline, which a plan cannot roll back: %w", l.name, q.Kind, q.Handle, errors.ErrUnsupported)
		}
	}
	return words, nil
}
