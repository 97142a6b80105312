package without

import (
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
)

// Ends are the hosts of traffic that a limit binds.
type Ends struct {
	From, To string // who sends, and who receives
	EachWay  bool   // both do both, and the limit binds each way
	// BothBuffers raises the receiver's and the sender's where one of the two is the limit.
	BothBuffers bool
	Switches    bool // those between them that read no ports hash by them instead
	// LowerMTU is what every link is set to where larger packets get lost on the way,
	// WiderMTU what the links are given at the least where they do not; zero unknown.
	LowerMTU, WiderMTU int
}

// Limit is the fabric as it would be without what is named, all else as it is. Where the
// places of flows are the limit, the ends' bonds hash by ports.
func Limit(f predict.Fabric, cause record.Cause, e Ends) predict.Fabric {
	best := nothing(f, e.From, e.To)
	senders, receivers := []string{e.From}, []string{e.To}
	if e.EachWay {
		senders, receivers = []string{e.From, e.To}, []string{e.To, e.From}
	}
	if Placement(cause) {
		ownPolicy(best, e.From, e.To)
	}
	if e.Switches {
		best = withSwitches(best, e.From, e.To)
	}
	switch cause {
	case record.LACPDown:
		joinPorts(best, e.From, e.To)
	case record.MTU:
		if e.LowerMTU > 0 {
			narrow(best, e.LowerMTU, e.From, e.To)
		} else {
			widen(best, e.WiderMTU, e.From, e.To)
		}
	case record.Shaper:
		for _, h := range senders {
			unshape(best, h)
		}
		best = uncapped(best, e.From, e.To)
	case record.Pacing:
		for _, h := range senders {
			unpace(best, h)
		}
	case record.CardSlot:
		unslot(best, e.From, e.To)
	case record.SingleLink:
		spread(best, e.From, netstate.ActiveBackup)
		spread(best, e.To, netstate.ActiveBackup, netstate.BalanceTLB)
		joinPorts(best, e.From, e.To)
		set(best, "1", "net.ipv4.fib_multipath_hash_policy", e.From, e.To)
	}
	if cause == record.ReceiveWindow || cause == record.SendBuffer && e.BothBuffers {
		for _, h := range receivers {
			raise(best, h, "net.ipv4.tcp_rmem")
			set(best, "1", "net.ipv4.tcp_moderate_rcvbuf", h)
		}
		set(best, "1", "net.ipv4.tcp_window_scaling", e.From, e.To)
	}
	if cause == record.SendBuffer || cause == record.ReceiveWindow && e.BothBuffers {
		for _, h := range senders {
			raise(best, h, "net.ipv4.tcp_wmem")
		}
	}
	return best
}

// Placement reports a cause that leaves links unused; where one was seen, the others
// are other names for it.
func Placement(c record.Cause) bool {
	switch c {
	case record.HashImbalance, record.SingleLink, record.LACPDown, record.AsymmetricRoute:
		return true
	}
	return false
}

// Own reports a cause at the streams' own ends, which keeps them below what the path
// takes: what is lost meanwhile is the path's doing, and goes on without the cause.
func Own(c record.Cause) bool {
	switch c {
	case record.ReceiveWindow, record.SendBuffer, record.Pacing, record.Application:
		return true
	}
	return false
}
