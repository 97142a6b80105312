package livestats

import (
	"time"

	"github.com/linerate/linerate/internal/evidence/livetraffic"
	"github.com/linerate/linerate/internal/kernel/sockdiag"
	"github.com/linerate/linerate/unit"
)

// track is one connection over the looks it was there.
type track struct {
	first, last sockdiag.Detail
	begin, end  time.Duration
	looks       int // behind the first
	sums        sums
}

// sums are taken over the looks behind the first; their means stand for the
// times between.
type sums struct {
	starved, recovering, full, waiting int
	shut, filled                       int
	notSent, cwnd, inFlight, window    float64
	queued, unread, ownWindow, rtt     float64
	pacing                             float64
	mostWindow                         unit.Bytes
}

// The states of congestion control in which TCP repairs (enum tcp_ca_state).
const caRecovery = 3

// complete takes what the first list does not tell from a later look.
func (t *track) complete(d sockdiag.Detail) {
	if t.first.Memory == (sockdiag.Memory{}) {
		t.first.Memory = d.Memory
	}
}

// look takes the connection as it is now. The time of one that has only been opened is
// nobody's who is slow to write: it counts from when it begins.
func (t *track) look(now sockdiag.Detail, at time.Duration) {
	t.complete(now)
	if opened(now) {
		t.first, t.begin, t.looks, t.sums = now, at, 0, sums{}
	} else {
		t.add(now)
	}
	t.last, t.end = now, at
}

// opened reports a connection that has moved no more than a greeting, less than a segment
// either way with what is under way, and repairs nothing.
func opened(d sockdiag.Detail) bool {
	greeting := uint64(max(d.Info.SndMSS, 1))
	return d.Info.BytesAcked+uint64(d.Unacked) < greeting && d.Info.BytesReceived < greeting && d.Unread == 0 && d.Info.CAState < caRecovery
}

func (t *track) add(d sockdiag.Detail) {
	t.looks++
	s, i := &t.sums, d.Info
	if i.AppLimited && i.NotSent < max(uint32(i.SndMSS), 1) {
		s.starved++
	}
	if i.NotSent == 0 && filled(d.Memory) {
		s.filled++
	}
	if i.CAState >= caRecovery {
		s.recovering++
	}
	if d.Unacked > 0 || d.Unread > 0 {
		s.waiting++
	}
	if halfFull(d) {
		s.full++
	}
	s.notSent += float64(i.NotSent)
	s.cwnd += float64(i.SndCwnd) * float64(i.SndMSS)
	s.inFlight += float64(i.Unacked) * float64(i.SndMSS)
	s.window += float64(i.SndWnd)
	if i.SndWnd < i.SndMSS {
		s.shut++
	}
	s.mostWindow = max(s.mostWindow, unit.Bytes(i.SndWnd))
	s.queued += float64(d.Memory.Queued)
	s.unread += float64(d.Unread)
	s.ownWindow += float64(i.RcvWnd)
	s.rtt += float64(i.RTT)
	s.pacing += float64(i.PacingRate)
}

// halfFull reports that more than half of the window's room is taken by what
// the program has not read. A kernel that does not tell its window has half of
// the buffer for it (tcp_adv_win_scale 1).
func halfFull(d sockdiag.Detail) bool {
	if d.Info.Has(sockdiag.FieldRcvWnd) {
		return d.Unread > 0 && d.Unread > d.Info.RcvWnd
	}
	return d.Memory.RcvBuf > 0 && unit.Bytes(d.Unread) > d.Memory.RcvBuf/4
}

// filled reports a send buffer in which a program has to wait for room: the
// kernel wakes it when less than two thirds are taken (sk_stream_is_writeable).
func filled(m sockdiag.Memory) bool {
	const awake = 2. / 3
	return m.SndBuf > 0 && float64(m.Queued) > awake*float64(m.SndBuf)
}

func (t *track) span() time.Duration { return t.end - t.begin }

// rate is what it moved both ways; zero while there was one look.
func (t *track) rate() unit.BitRate { return t.sent() + t.received() }

func (t *track) sent() unit.BitRate {
	return t.over(t.first.Info.BytesAcked, t.last.Info.BytesAcked)
}

func (t *track) received() unit.BitRate {
	return t.over(t.first.Info.BytesReceived, t.last.Info.BytesReceived)
}

func (t *track) over(first, last uint64) unit.BitRate {
	if t.span() <= 0 || last < first {
		return 0
	}
	return unit.FromBytes(float64(last-first), t.span().Seconds())
}

// moving reports one that is no idle connection: it moves payload, or had some
// waiting at every look.
func (t *track) moving() bool {
	return t.looks > 0 && (t.rate() >= leastRate || t.looks > 1 && t.sums.waiting == t.looks)
}

// flow is the connection as it is handed on, its program left out.
func (t *track) flow() livetraffic.Flow {
	return livetraffic.Flow{
		Tuple: t.last.Tuple, Span: t.span(), Sent: t.sent(), Received: t.received(), Group: t.last.Token,
		Congestion: t.last.Congestion, Out: t.out(), In: t.in(),
	}
}

func (t *track) mean(sum float64) float64 {
	if t.looks == 0 {
		return 0
	}
	return sum / float64(t.looks)
}

func (t *track) meanBytes(sum float64) unit.Bytes { return unit.Bytes(t.mean(sum)) }

func (t *track) share(first, last time.Duration) float64 {
	if t.span() <= 0 {
		return 0
	}
	return min(1, max(0, float64(last-first)/float64(t.span())))
}

func (t *track) out() livetraffic.Sending {
	a, b, s := t.first.Info, t.last.Info, t.sums
	out := livetraffic.Sending{
		Clock: b.Has(sockdiag.FieldBusy),
		Busy:  t.share(a.Busy, b.Busy), RwndLimited: t.share(a.RwndLimited, b.RwndLimited), SndbufLimited: t.share(a.SndbufLimited, b.SndbufLimited),
		Starved: t.mean(float64(s.starved)), NotSent: t.meanBytes(s.notSent), Recovering: t.mean(float64(s.recovering)),
		Windows: b.Has(sockdiag.FieldSndWnd), Shut: t.mean(float64(s.shut)), Filled: t.mean(float64(s.filled)),
		Acked: unit.Bytes(b.BytesAcked), Loss: -1, Retransmits: uint64(b.TotalRetrans - a.TotalRetrans),
		Spurious: uint64(b.DSACKDups - a.DSACKDups), Reordered: uint64(b.ReordSeen - a.ReordSeen),
		RTT: time.Duration(t.mean(s.rtt)), MinRTT: b.MinRTT, MSS: unit.Bytes(b.SndMSS),
		Cwnd: t.meanBytes(s.cwnd), InFlight: t.meanBytes(s.inFlight), Window: t.meanBytes(s.window), MostWindow: s.mostWindow,
		Buffer: t.last.Memory.SndBuf, Queued: t.meanBytes(s.queued),
		Pacing: unit.BitRate(t.mean(s.pacing)), MaxPacing: b.MaxPacing, Bandwidth: t.last.Bandwidth, Unscaled: !b.Scaled,
	}
	if b.Has(sockdiag.FieldSent) {
		if arrived := b.Delivered - a.Delivered; arrived > 0 {
			out.Marked = float64(b.DeliveredCE-a.DeliveredCE) / float64(arrived)
		}
		out.Loss = 0
		if sent := b.BytesSent - a.BytesSent; sent > 0 {
			out.Loss = float64(b.BytesRetrans-a.BytesRetrans) / float64(sent)
		}
	}
	return out
}

func (t *track) in() livetraffic.Reading {
	a, b, s := t.first.Info, t.last.Info, t.sums
	return livetraffic.Reading{
		Unread: t.meanBytes(s.unread), Full: t.mean(float64(s.full)), Window: t.meanBytes(s.ownWindow),
		Buffer: t.last.Memory.RcvBuf, RTT: t.last.RcvRTT,
		OutOfOrder: uint64(b.RcvOutOfOrder - a.RcvOutOfOrder), Packets: uint64(b.DataSegsIn - a.DataSegsIn),
		Drops: uint64(t.last.Memory.Drops - t.first.Memory.Drops),
	}
}

// fieldsMissing says what this kernel's TCP does not tell.
func fieldsMissing(all []*track) []string {
	if len(all) == 0 {
		return nil
	}
	var lines []string
	for _, f := range []struct {
		field sockdiag.Field
		what  string
	}{
		{sockdiag.FieldBusy, "this kernel does not say what connections wait for (Linux 4.10 does)"},
		{sockdiag.FieldSent, "this kernel does not count the bytes sent again (Linux 4.19 does)"},
		{sockdiag.FieldSndWnd, "this kernel does not show the window that peers offer (Linux 5.4 does)"},
	} {
		if !all[0].last.Info.Has(f.field) {
			lines = append(lines, f.what)
		}
	}
	return lines
}
