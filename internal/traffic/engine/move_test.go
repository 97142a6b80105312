package engine

import (
	"errors"
	"math"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// openings are what opens a pair; its addresses, ports, key and names are filled in.
type openings struct {
	sink   agentapi.SinkRequest
	source agentapi.SourceRequest
	stream agentapi.Stream
}

// connected opens n streams over an address of this host.
func connected(t *testing.T, addr netip.Addr, n int, with openings) (*Engine, agentapi.SinkReply, agentapi.SourceReply, error) {
	t.Helper()
	e := New(Config{})
	t.Cleanup(e.Close)
	with.sink.Session, with.sink.Key, with.sink.Lifetime = "in", testKey, time.Minute
	with.sink.Bind, with.sink.Peers, with.sink.Streams = []netip.Addr{addr}, []netip.Addr{addr}, n
	sink, err := e.OpenSink(t.Context(), with.sink)
	if err != nil {
		return e, sink, agentapi.SourceReply{}, err
	}
	with.stream.Lane, with.stream.Dport = flow.Lane{Src: addr, Dst: addr}, uint16(sink.Port)
	with.source.Session, with.source.Key, with.source.Lifetime = "out", testKey, time.Minute
	with.source.Streams = slices.Repeat([]agentapi.Stream{with.stream}, n)
	source, err := e.OpenSource(t.Context(), with.source)
	return e, sink, source, err
}

// TestManyStreams: as many as a session may have, of either address family.
func TestManyStreams(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	for _, addr := range []netip.Addr{loopback, netip.IPv6Loopback()} {
		const n = 1024
		e, _, reply, err := connected(t, addr, n, openings{})
		if err != nil {
			t.Fatal(err)
		}
		if len(reply.Streams) != n {
			t.Fatalf("%d streams", len(reply.Streams))
		}
		if _, err := e.Start(t.Context(), agentapi.StartRequest{Session: "out", Limit: 1000}); err != nil {
			t.Fatal(err)
		}
		if got := awaitTotal(t, e, "in", n*1000); !slices.Equal(got, slices.Repeat([]uint64{1000}, n)) {
			t.Errorf("%v: streams carried %v", addr, got)
		}
		e.Close()
	}
}

// TestRate: a stream keeps to its rate, and to the limit beside it.
func TestRate(t *testing.T) {
	const rate, limit = 80e6, 2_000_000 // 0.2 s worth
	e, _, _, err := connected(t, loopback, 2, openings{source: agentapi.SourceRequest{Rate: rate}})
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if _, err := e.Start(t.Context(), agentapi.StartRequest{Session: "out", Limit: limit}); err != nil {
		t.Fatal(err)
	}
	got := awaitTotal(t, e, "in", 2*limit)
	took := time.Since(begin)
	if !slices.Equal(got, []uint64{limit, limit}) {
		t.Errorf("carried %v", got)
	}
	// What a thread without a processor lost is made up for, a little.
	if least := 180 * time.Millisecond; took < least {
		t.Errorf("%d bytes a stream at %v took %v, want %v at least", limit, unit.BitRate(rate), took, least)
	}
	if took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestRequestsRefused(t *testing.T) {
	for name, with := range map[string]openings{
		"a sink's mode":           {sink: agentapi.SinkRequest{Mode: "teleport"}},
		"a source's mode":         {source: agentapi.SourceRequest{Mode: "teleport"}},
		"a negative rate":         {source: agentapi.SourceRequest{Rate: -1}},
		"a rate that is none":     {source: agentapi.SourceRequest{Rate: unit.BitRate(math.NaN())}},
		"a negative buffer":       {stream: agentapi.Stream{Socket: record.Socket{RcvBuf: -1}}},
		"a sink's huge buffer":    {sink: agentapi.SinkRequest{Socket: record.Socket{RcvBuf: 1 << 40}}},
		"a code point above 63":   {stream: agentapi.Stream{Socket: record.Socket{DSCP: 64}}},
		"a negative segment":      {stream: agentapi.Stream{Socket: record.Socket{MSS: -1}}},
		"a device's endless name": {stream: agentapi.Stream{Socket: record.Socket{Device: "an-interface-of-a-long-name"}}},
	} {
		if _, _, _, err := connected(t, loopback, 1, with); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	_, _, _, err := connected(t, loopback, 1, openings{source: agentapi.SourceRequest{Mode: "teleport"}})
	if !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("an unknown mode: %v", err)
	}
}

func TestStep(t *testing.T) {
	for rate, want := range map[unit.BitRate]int{1e3: 512, 80e6: 10_000, 1e9: 125_000, 1e12: 256 << 10} {
		if got := step(rate); got != want {
			t.Errorf("%v: steps of %d, want %d", rate, got, want)
		}
	}
}
