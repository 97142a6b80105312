package measure

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// sampled is an end with a window of four samples, from the second on, and one
// before and one behind it that must not count.
func sampled(all ...agentapi.TCPCount) *end {
	e := &end{opened: 1, closed: len(all) - 2}
	for k, c := range all {
		e.samples = append(e.samples, agentapi.Sample{At: time.Duration(k) * time.Second, TCP: []agentapi.TCPCount{{Present: true}, c}})
	}
	return e
}

func at(last record.TCP, more func(*agentapi.TCPCount)) agentapi.TCPCount {
	c := agentapi.TCPCount{Present: true, Last: last}
	if more != nil {
		more(&c)
	}
	return c
}

func TestAddSent(t *testing.T) {
	e := sampled(
		at(record.TCP{RTTMS: 1000, SndCwnd: 999, CongestionState: "loss"}, nil),
		at(record.TCP{RTTMS: 10, SndCwnd: 10, NotSent: 100, Pacing: 8e6, CongestionState: "open", DSACKDups: 2, Timeouts: 1, TimeoutMS: 200, Rehashes: 1, ECNMarks: 5, ReordSeen: 1},
			func(c *agentapi.TCPCount) { c.BytesSent, c.InFlight, c.Below = 1000, 10, 400 }),
		at(record.TCP{RTTMS: 20, SndCwnd: 20, AppLimited: true, Pacing: 8e6, CongestionState: "disorder"}, func(c *agentapi.TCPCount) { c.InFlight = 5 }),
		at(record.TCP{RTTMS: 30, SndCwnd: 20, NotSent: 100, AppLimited: true, Pacing: 8e6, CongestionState: "recovery"}, func(c *agentapi.TCPCount) { c.InFlight = 20 }),
		at(record.TCP{RTTMS: 20, SndCwnd: 10, Pacing: 16e6, CongestionState: "loss", DSACKDups: 7, Timeouts: 3, TimeoutMS: 650, Rehashes: 2, ECNMarks: 9, ReordSeen: 4, RcvWnd: 1, RcvMSS: 2, RcvSpace: 3},
			func(c *agentapi.TCPCount) { c.BytesSent, c.InFlight = 9000, 9 }),
		at(record.TCP{RTTMS: 1000, CongestionState: "loss", DSACKDups: 700}, nil),
	)
	got := e.samples[4].TCP[1].Last // as result begins with the last values
	addSent(&got, e.present(1))
	want := record.TCP{
		RTTMS: 20, SndCwnd: 10, CongestionState: "loss",
		MeanRTTMS: 20, HighestRTTMS: 30, MeanCwnd: 15, MeanInFlight: 11, CwndLimited: 0.5, Pacing: 10e6, BytesSent: 8000,
		DSACKDups: 5, ReordSeen: 3, Timeouts: 2, TimeoutMS: 450, Rehashes: 1, ECNMarks: 4, Recovering: 0.5, Disordered: 0.25, Starved: 0.25,
		MeanNotSent: 50, MeanBelow: 100, Samples: 4,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestAddTaken(t *testing.T) {
	reading := func(unread unit.Bytes, drops uint64) agentapi.TCPCount {
		return agentapi.TCPCount{Present: true, Unread: unread, RcvBuf: 4000, SocketDrops: drops, Last: record.TCP{RcvWnd: 2000 - unread, RcvMSS: 1448, RcvSpace: 7, RcvRTTMS: 3}}
	}
	// The buffer holds 4000, the window 2000: late is above 1000.
	e := sampled(reading(9999, 0), reading(0, 1), reading(1000, 1), reading(1001, 2), reading(1999, 4), reading(9999, 9))
	var got record.TCP
	addTaken(&got, e.present(1))
	want := record.TCP{MeanUnread: 1000, Unheeded: 0.5, RcvWnd: 1000, RcvMSS: 1448, RcvSpace: 7, RcvRTTMS: 3, SocketDrops: 3, Samples: 4}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestNothingRead: an end that says nothing of TCP (another tool, MPTCP) leaves
// the words empty, and takes away what is the other end's to say.
func TestNothingRead(t *testing.T) {
	e := &end{samples: []agentapi.Sample{{}, {TCP: []agentapi.TCPCount{{}}}}}
	got := record.TCP{RcvWnd: 5, RTTMS: 1}
	addSent(&got, e.present(0))
	addTaken(&got, e.present(0))
	if want := (record.TCP{RTTMS: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestIncreases: counters that not every sample has, between the readings that
// are nearest to the window's edges.
func TestIncreases(t *testing.T) {
	of := func(s agentapi.Sample) map[string]uint64 { return s.CPU.TCPExt }
	read := func(n uint64) map[string]uint64 { return map[string]uint64{"a": 2 * n, "still": 7, "late": n / 4} }
	build := func(readings ...map[string]uint64) *end {
		e := &end{opened: 2, closed: 5}
		for k, r := range readings {
			e.samples = append(e.samples, agentapi.Sample{At: time.Duration(k) * time.Second, CPU: agentapi.CPUCount{TCPExt: r}})
		}
		return e
	}
	for name, c := range map[string]struct {
		readings []map[string]uint64
		want     map[string]uint64
	}{
		"every sample":   {[]map[string]uint64{read(0), read(1), read(2), read(3), read(4), read(5), read(6)}, map[string]uint64{"a": 6, "late": 1}},
		"before, behind": {[]map[string]uint64{nil, read(1), nil, nil, nil, nil, read(6)}, map[string]uint64{"a": 10, "late": 1}},
		"within":         {[]map[string]uint64{nil, nil, nil, read(2), read(3), nil, nil}, map[string]uint64{"a": 2}},
		"nothing grew":   {[]map[string]uint64{nil, nil, read(2), nil, nil, read(2), nil}, map[string]uint64{}},
		"from zero":      {[]map[string]uint64{nil, nil, {}, nil, nil, read(2), nil}, map[string]uint64{"a": 4, "still": 7}},
		"one reading":    {[]map[string]uint64{nil, nil, nil, read(2), nil, nil, nil}, nil},
		"none":           {make([]map[string]uint64, 7), nil},
	} {
		got := build(c.readings...).increases(of)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}
