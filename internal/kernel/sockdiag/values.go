package sockdiag

import (
	"math"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// neverLeft is tcpi_snd_ssthresh while slow start was never left
// (TCP_INFINITE_SSTHRESH, include/net/tcp.h).
const neverLeft = math.MaxInt32

// Values is what the struct says of a connection at this moment, in the
// record's words. Counters are since the connection began; means and shares are
// not known from one reading and stay zero.
func (i Info) Values() record.TCP {
	out := record.TCP{
		RTTMS: unit.Milliseconds(i.RTT), MinRTTMS: unit.Milliseconds(i.MinRTT), SndMSS: int(i.SndMSS), SndCwnd: int(i.SndCwnd),
		SndWnd: unit.Bytes(i.SndWnd), Delivery: i.DeliveryRate, Reordering: int(i.Reordering), NotSent: unit.Bytes(i.NotSent),
		AppLimited: i.AppLimited, PathMTU: int(i.PathMTU), RcvSpace: unit.Bytes(i.RcvSpace), RcvOutOfOrder: uint64(i.RcvOutOfOrder),
		CongestionState: i.CAStateName(), Pacing: i.PacingRate, MaxPacing: i.MaxPacing,
		DSACKDups: uint64(i.DSACKDups), ReordSeen: uint64(i.ReordSeen), Timeouts: uint64(i.TotalRTO),
		TimeoutMS: unit.Milliseconds(i.TotalRTOTime), ECNMarks: uint64(i.DeliveredCE), Rehashes: uint64(i.Rehash),
		RcvWnd: unit.Bytes(i.RcvWnd), RcvMSS: int(i.RcvMSS), RcvRTTMS: unit.Milliseconds(i.RcvRTT),
	}
	if i.SndSsthresh < neverLeft {
		out.Ssthresh = int(i.SndSsthresh)
	}
	return out
}
