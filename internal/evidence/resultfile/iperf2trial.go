package resultfile

import (
	"fmt"
	"math"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// trialOf makes one trial of streams that ran together.
func trialOf(group []*stream, old bool) record.Trial {
	first := group[0]
	t := record.Trial{
		From: first.client.Addr().String(), To: first.server.Addr().String(), Direction: directionOf(group),
		Protocol: "tcp", Tool: "iperf2", Ports: "kernel", Stop: "duration", Started: first.began().UTC(),
	}
	if first.began().IsZero() {
		t.Started = time.Time{}
	}
	each := map[bool]int{}
	common, ok := commonWindow(group)
	for _, s := range group {
		each[s.forward]++
		l := laneFrom(s)
		w := s.whole()
		t.Window = max(t.Window, w.end-w.begin)
		if ok {
			l.Goodput = rate(float64(common.of(s)))
		}
		t.Lanes = append(t.Lanes, l)
		if l.UDP != nil {
			t.Protocol = "udp"
		}
	}
	t.Streams = max(each[true], each[false])
	if ok {
		t.Window = common.until.Sub(common.from).Seconds()
	}
	addRows(&t, group)
	if t.Protocol == "udp" {
		t.UDP = sumDatagrams(t.Lanes)
	}
	settle(&t)
	t.Notes = append(notesOf(group, old, ok), t.Check()...)
	return t
}

func directionOf(group []*stream) flow.Direction {
	forward, reverse := false, false
	for _, s := range group {
		forward, reverse = forward || s.forward, reverse || !s.forward
	}
	switch {
	case forward && reverse:
		return flow.Both
	case reverse:
		return flow.Reverse
	}
	return flow.Forward
}

func laneFrom(s *stream) record.Lane {
	w := s.whole()
	sender, receiver, way := s.client, s.server, flow.Forward
	if !s.forward {
		sender, receiver, way = receiver, sender, flow.Reverse
	}
	l := record.Lane{Way: way, Sport: sender.Port(), Dport: receiver.Port(), Retransmits: count(w.retries)}
	l.Src, l.Dst = sender.Addr(), receiver.Addr()
	l.Goodput = rate(float64(unit.FromBytes(w.bytes, w.end-w.begin)))
	l.TCP.RTTMS = max(w.rttUS, 0) / 1000
	if w.udp {
		sent, lost := count(w.sent), count(w.lost)
		l.UDP = &record.UDP{Sent: sent, Lost: lost, Received: sent - min(lost, sent), Reordered: count(w.late), JitterMS: max(w.jitterMS, 0), LossRatio: share(lost, sent)}
	}
	return l
}

func sumDatagrams(lanes []record.Lane) *record.UDP {
	var u record.UDP
	for _, l := range lanes {
		if l.UDP == nil {
			continue
		}
		u.Sent += l.UDP.Sent
		u.Received += l.UDP.Received
		u.Lost += l.UDP.Lost
		u.Reordered += l.UDP.Reordered
		u.JitterMS = max(u.JitterMS, l.UDP.JitterMS)
	}
	u.LossRatio = share(u.Lost, u.Sent)
	return &u
}

// shared is a time that all streams of a group ran in.
type shared struct{ from, until time.Time }

// commonWindow is the time that all streams ran in, where the rows say the
// time of day finely and have intervals enough to look at that time alone; ok
// is false where the streams' own totals have to do.
func commonWindow(group []*stream) (w shared, ok bool) {
	for i, s := range group {
		whole := s.whole()
		if !whole.fine || len(s.rows) < 3 {
			return shared{}, false
		}
		from, until := s.began(), s.rows[len(s.rows)-1].at
		if i == 0 {
			w = shared{from, until}
			continue
		}
		w.from, w.until = later(w.from, from), earlier(w.until, until)
	}
	for _, s := range group {
		if w.of(s) == 0 {
			return shared{}, false
		}
	}
	return w, len(group) > 1
}

// of is a stream's rate in the window: of the intervals that lie in it with at
// least half of their time.
func (w shared) of(s *stream) unit.BitRate {
	var bytes, length float64
	for _, r := range s.rows {
		half := seconds((r.end - r.begin) / 2)
		middle := r.at.Add(-half)
		if middle.After(w.from) && middle.Before(w.until) {
			bytes += r.bytes
			length += r.end - r.begin
		}
	}
	return unit.FromBytes(bytes, length)
}

// addRows sums the streams' intervals of the same number.
func addRows(t *record.Trial, group []*stream) {
	least := math.MaxInt
	for _, s := range group {
		if s.total == nil && len(s.rows) == 1 {
			return // one row alone is the whole, not an interval
		}
		least = min(least, len(s.rows))
	}
	var lengths []float64
	for k := range least {
		var sum unit.BitRate
		for _, s := range group {
			r := s.rows[k]
			sum += rate(float64(unit.FromBytes(r.bytes, r.end-r.begin)))
		}
		first := group[0].rows[k]
		t.Series, t.SeriesAt = append(t.Series, sum), append(t.SeriesAt, first.end)
		lengths = append(lengths, first.end-first.begin)
	}
	t.Blocks, t.BlockLength = blocksOf(t.Series, lengths)
}

// notesOf say what the figures are worth.
func notesOf(group []*stream, old, common bool) []string {
	w := group[0].whole()
	notes := []string{"read from an iperf2 CSV file: no counters of links, no MSS, no processor time"}
	atServer, atClient := w.reader, w.writer
	if old {
		atServer = group[0].whole().from == group[0].server
		atClient = !atServer
	}
	switch {
	case atClient:
		notes = append(notes, "the sender wrote it: its count holds what sat in its buffer at the end, so the rate may be too high")
	case !atServer && !w.udp:
		notes = append(notes, "the file does not say which end wrote it: a sender's count holds what sat in its buffer at the end")
	}
	if len(group) < 2 {
		return notes
	}
	switch apart, known := spread(group); {
	case common:
		notes = append(notes, "summed over the time that all streams ran in")
	case known && apart > 0.05*(w.end-w.begin):
		notes = append(notes, fmt.Sprintf("sum of the streams' own averages: their windows differ by %.1f s, so the sum may be above what was ever carried", apart))
	default:
		notes = append(notes, "sum of the streams' own averages: how far their windows differ is not in the file")
	}
	return notes
}

// spread is how far the streams' windows lie apart; known is false where the
// file does not say when they were.
func spread(group []*stream) (apart float64, known bool) {
	var first, last, early, late time.Time
	for i, s := range group {
		w := s.whole()
		if w.at.IsZero() {
			return 0, false
		}
		if i == 0 {
			first, last, early, late = s.began(), s.began(), w.at, w.at
			continue
		}
		first, last = earlier(first, s.began()), later(last, s.began())
		early, late = earlier(early, w.at), later(late, w.at)
	}
	return max(last.Sub(first).Seconds(), late.Sub(early).Seconds()), true
}
