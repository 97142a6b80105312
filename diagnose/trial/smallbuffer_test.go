package trial

import (
	"math"
	"strings"
	"testing"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// TestCrowdBesideIdle: two streams on a full link beside an idle one are told, although all
// of them wait for their send buffers too: a place of its own brings more.
func TestCrowdBesideIdle(t *testing.T) {
	t.Parallel()
	f := pair{end: end{links: 3, policy: netstate.Layer34}}.fabric()
	trial := measured(sent(3, rates(one, 0, 0.86*one), rates(one, 0, 0.86*one)), func(c *record.TCP) {
		c.SndbufLimited, c.MeanRTTMS = 0.45, 13
	})
	for i, link := range []string{"eth0", "eth2", "eth0"} {
		trial.Lanes[i].EgressLink, trial.Lanes[i].IngressLink, trial.Lanes[i].SndBuf = link, link, 25600
	}
	got := Judge(f, trial)
	if got.Cause != record.HashImbalance || !strings.HasPrefix(got.Summary, "2 of 3 streams from a leave by eth0") {
		t.Errorf("%s %.2f: %s", got.Cause, got.Confidence, got.Summary)
	}
	trial.Lanes[2].EgressLink, trial.Lanes[2].IngressLink = "eth2", "eth2" // alone on its link: nobody is crowded there
	if got := Judge(f, trial); got.Cause == record.HashImbalance {
		t.Errorf("no crowd: %s %.2f: %s", got.Cause, got.Confidence, got.Summary)
	}
}

// TestSingleSegments: a send buffer that its link empties in single segments holds far less
// than its size, and is full although a few segments get lost.
func TestSingleSegments(t *testing.T) {
	t.Parallel()
	f := pair{end: end{links: 1, policy: netstate.Layer34}}.fabric()
	for i := range f.Hosts["a"].Links {
		f.Hosts["a"].Links[i].Extra = map[string]string{"gso_max_segs": "1"}
	}
	const segments = 10 // of 1448 bytes and as many of overhead in 27,000 bytes
	rate := unit.FromBytes(segments*1448, 0.0092)
	trial := measured(sent(1, rates(rate), rates(rate)), func(c *record.TCP) {
		c.SndMSS, c.MeanCwnd, c.MeanInFlight, c.CwndLimited = 1448, 14, segments, 0.3
	})
	trial.Lanes[0].SndBuf, trial.Lanes[0].EgressLink, trial.Lanes[0].Asked = 27000, "eth0", &record.Socket{SndBuf: 13500}
	trial.Lanes[0].Retransmits, trial.Lanes[0].TCP.BytesRetrans = 20, 20*1448
	got := Judge(f, trial)
	if got.Cause != record.SendBuffer || !strings.Contains(got.Summary, "in single segments") {
		t.Errorf("%s %.2f: %s", got.Cause, got.Confidence, got.Summary)
	}
	for _, a := range got.Also {
		if a.Cause == record.Congestion && math.Abs(float64(a.Expected/rate)-1) > 0.15 {
			t.Errorf("without the losses %v, the buffer allows %v", a.Expected, rate)
		}
	}
}

// TestPacedBuffer: a small buffer is sent at the pace and then waited for, one after the
// other; the longer of the two is to be repaired first.
func TestPacedBuffer(t *testing.T) {
	t.Parallel()
	f := pair{end: end{links: 2, policy: netstate.Layer34}}.fabric()
	const buffer, rtt = 64 * unit.KiB, 0.0092
	for _, c := range []struct {
		pace unit.BitRate
		want record.Cause
	}{{0.6, record.Pacing}, {1.6, record.SendBuffer}} { // of what the buffer allows in a round trip
		allowed := unit.FromBytes(float64(buffer), rtt)
		pace := c.pace * allowed
		each := 1 / (1/pace + 1/allowed)
		trial := measured(sent(2, rates(each, each), rates(each, each)), func(t *record.TCP) {
			t.SndbufLimited, t.MaxPacing, t.Pacing, t.MeanInFlight, t.MeanCwnd, t.CwndLimited, t.SndWnd = 0.4, pace, pace, 24, 100, 0, 4<<20
		})
		for i := range trial.Lanes {
			trial.Lanes[i].SndBuf = 44032
		}
		if got := Judge(f, trial); got.Cause != c.want {
			t.Errorf("paced at %v: %s %.2f: %s", pace, got.Cause, got.Confidence, got.Summary)
		}
	}
}
