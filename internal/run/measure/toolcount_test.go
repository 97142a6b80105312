package measure

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/netstate"
)

// TestBeside: counters between two samples are in proportion, outside of them
// the nearest stands.
func TestBeside(t *testing.T) {
	begin := time.Unix(1000, 0)
	sample := func(at time.Duration, bytes uint64) agentapi.ToolSample {
		return agentapi.ToolSample{At: begin.Add(at), Links: []agentapi.LinkCount{{Link: "eth0", LinkCounters: netstate.LinkCounters{Counters: netstate.Counters{RxBytes: bytes, TxPackets: bytes / 10}}}}}
	}
	counted := []agentapi.ToolSample{sample(0, 1000), sample(200*time.Millisecond, 3000), sample(400*time.Millisecond, 3000)}
	for _, c := range []struct {
		at, want time.Duration
		bytes    uint64
	}{
		{50 * time.Millisecond, 50 * time.Millisecond, 1500},
		{200 * time.Millisecond, 200 * time.Millisecond, 3000},
		{300 * time.Millisecond, 300 * time.Millisecond, 3000},
		{-time.Second, 0, 1000},
		{time.Second, 400 * time.Millisecond, 3000},
	} {
		got := beside(agentapi.Sample{}, counted, begin.Add(c.at), begin).Links[0]
		if got.At != c.want || got.Counters.RxBytes != c.bytes || got.Counters.TxPackets != c.bytes/10 {
			t.Errorf("at %v: %v, %d bytes, %d packets, want %v and %d", c.at, got.At, got.Counters.RxBytes, got.Counters.TxPackets, c.want, c.bytes)
		}
	}
}

// TestSocketsOf: each stream has its own socket's count of the nearest sample, by
// its ports, at either end; where one is not known, none is.
func TestSocketsOf(t *testing.T) {
	begin := time.Unix(1000, 0)
	socket := func(own, far uint16, sent uint64) agentapi.ToolSocket {
		return agentapi.ToolSocket{Tuple: flow.Tuple{Sport: own, Dport: far}, Count: agentapi.TCPCount{Present: true, BytesSent: sent}}
	}
	streams := []agentapi.Stream{{Sport: 40000, Dport: 5001}, {Sport: 40001, Dport: 5001}}
	client := []agentapi.ToolSample{
		{At: begin, Sockets: []agentapi.ToolSocket{socket(40001, 5001, 1), socket(40000, 5001, 2)}},
		{At: begin.Add(time.Second), Sockets: []agentapi.ToolSocket{socket(40001, 5001, 10), socket(40000, 5001, 20)}},
		{At: begin.Add(2 * time.Second), Sockets: []agentapi.ToolSocket{socket(40001, 5001, 30)}},
	}
	server := []agentapi.ToolSample{{At: begin, Sockets: []agentapi.ToolSocket{socket(5001, 40001, 5), socket(5001, 40000, 6)}}}
	for name, c := range map[string]struct {
		counted   []agentapi.ToolSample
		receiving bool
		at        time.Duration
		want      []uint64
	}{
		"first":              {client, false, 400 * time.Millisecond, []uint64{2, 1}},
		"second":             {client, false, 600 * time.Millisecond, []uint64{20, 10}},
		"one is not known":   {client, false, 2 * time.Second, nil},
		"receiving":          {server, true, time.Second, []uint64{6, 5}},
		"the other way":      {server, false, 0, nil},
		"nothing is counted": {nil, false, 0, nil},
	} {
		var got []uint64
		for _, count := range socketsOf(c.counted, streams, c.receiving, begin.Add(c.at)) {
			got = append(got, count.BytesSent)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestCommonTime: of every stream the first and the last row are left out, so
// that all have run in each moment of what is left.
func TestCommonTime(t *testing.T) {
	begin := time.Unix(1000, 0)
	stream := func(from time.Duration, rows int) agentapi.ToolStream {
		var s agentapi.ToolStream
		for i := range rows {
			at := begin.Add(from + time.Duration(i)*toolInterval)
			s.Rows = append(s.Rows, agentapi.ToolRow{From: at, Until: at.Add(toolInterval), Bytes: 100})
		}
		return s
	}
	from, until, err := commonTime([]agentapi.ToolStream{stream(0, 6), stream(120*time.Millisecond, 6)})
	if want := begin.Add(620 * time.Millisecond); !from.Equal(want) {
		t.Errorf("begins at %v, want %v", from, want)
	}
	if want := begin.Add(2500 * time.Millisecond); !until.Equal(want) || err != nil {
		t.Errorf("ends at %v (%v), want %v", until, err, want)
	}
	if _, _, err := commonTime([]agentapi.ToolStream{stream(0, 3)}); !errors.Is(err, errNoCommonTime) {
		t.Error("one row between the first and the last is a window")
	}
	if _, _, err := commonTime([]agentapi.ToolStream{stream(0, 6), {}}); !errors.Is(err, errNoCommonTime) {
		t.Error("a stream without rows has a time")
	}
}
