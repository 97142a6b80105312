package trial

import (
	"fmt"
	"slices"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/record"
)

// marksShare is the part of its segments from which marks hold a stream back: at one
// in a thousand CUBIC keeps a window of some forty segments (RFC 9438, section 5.1).
const marksShare = 0.001

// marked: a queue on the way marks packets (ECN, RFC 3168) instead of dropping them,
// and the senders slow down as they do for losses.
func (v *wayView) marked() (hypothesis, bool) {
	marks, sent := float64(record.ECNMarks(v.lanes)), 0.0
	for _, l := range v.lanes {
		sent += float64(l.TCP.SegmentsOut)
	}
	if !v.room() || sent == 0 || marks < 10 || marks < marksShare*sent || v.waits.loss() >= lossShare {
		return hypothesis{}, false
	}
	h := hypothesis{
		cause: record.Congestion, sure: 0.72, mended: "Without the marks",
		summary: fmt.Sprintf("A queue on the way marks packets (ECN) while no link of the hosts is full: %s of the segments came with a mark, none had to be lost, and %s slows down for each.", diagnose.Percent(marks/sent), v.from),
		evidence: append([]record.Evidence{{What: "packets that arrived marked", Value: fmt.Sprintf("%.0f of %.0f", marks, sent), Source: "tcpi_delivered_ce of TCP_INFO"}},
			append(v.tcpEvidence(), v.loads()...)...),
		remedy: record.ByHand("find the queue that marks: a switch's ECN (WRED) threshold below the bandwidth-delay product, or an AQM (codel, fq_codel) on the way; raise its threshold").Or(record.Sysctl(v.from, "net.ipv4.tcp_ecn", "0")),
	}
	if v.waits.queued() > deepQueue && (marks < mostMarked*sent || !v.emptied()) {
		h.sure = 0.45
	}
	return h, true
}

// mostMarked is the part of the segments whose marks keep windows at their least, two
// segments: the receiver holds back what acknowledges so few (TCP_DELACK_MIN to
// TCP_DELACK_MAX of net/tcp.h, Linux 6.12), and mean round trips seem to queue.
const mostMarked = 0.5

// emptied: every stream's round trip was at last that of an empty way, which no queue
// that stays allows.
func (v *wayView) emptied() bool {
	return !slices.ContainsFunc(v.lanes, func(l record.Lane) bool { return l.TCP.RTTMS > 1.1*l.TCP.MinRTTMS+hostsAddMS })
}
