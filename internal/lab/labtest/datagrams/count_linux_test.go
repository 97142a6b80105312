package datagrams

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/traffic/engine"
)

// TestEveryLossIsCounted: two streams send a given number of datagrams, half as
// fast again as the link takes. Sent, received and dropped by the queue must
// agree to the last one, and what the receiver calls lost, which it knows by
// the sequence numbers alone, must be the difference but for the very end.
func TestEveryLossIsCounted(t *testing.T) {
	for _, family := range []struct{ near, far string }{{"10.9.0.1", "10.9.0.2"}, {"fd09::1", "fd09::2"}} {
		for _, single := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, single %v", family.near, single), func(t *testing.T) {
				near, far := netip.MustParseAddr(family.near), netip.MustParseAddr(family.far)
				a, b := hosts(t, near, far, short)
				const streams, datagrams, payload = 2, 6_000, 1400
				from, to := engine.New(engine.Config{Namespace: a.NS}), engine.New(engine.Config{Namespace: b.NS})
				defer from.Close()
				defer to.Close()
				key, udp := agentapi.Key{7}, &agentapi.Datagrams{Payload: payload, Single: single}
				sink, err := to.OpenSink(t.Context(), agentapi.SinkRequest{
					Session: "in", Key: key, Bind: []netip.Addr{far}, Peers: []netip.Addr{near}, Streams: streams, UDP: udp, Lifetime: time.Minute,
				})
				floor.Must(t, err)
				one := agentapi.Stream{Lane: flow.Lane{Src: near, Dst: far}, Dport: uint16(sink.Port)}
				_, err = from.OpenSource(t.Context(), agentapi.SourceRequest{
					Session: "out", Key: key, Streams: []agentapi.Stream{one, one}, UDP: udp, Rate: linkRate * 3 / 4, Lifetime: time.Minute,
				})
				floor.Must(t, err)
				before := queueDrops(t, a)
				_, err = from.Start(t.Context(), agentapi.StartRequest{Session: "out", Limit: datagrams * payload})
				floor.Must(t, err)
				sent, got := settled(t, from, to, streams*datagrams)
				dropped := queueDrops(t, a) - before
				t.Logf("%d sent in %d calls, %d received in %d, %d lost by sequence, %d dropped by the queue", sent.Datagrams, sent.Calls, got.Datagrams, got.Calls, got.Highest-got.Datagrams, dropped)
				missing := sent.Datagrams - got.Datagrams
				if sent.Datagrams != streams*datagrams || missing == 0 {
					t.Fatalf("%d sent, %d missing", sent.Datagrams, missing)
				}
				lost := got.Highest - got.Datagrams
				// What is lost behind the last that arrived has no later number to
				// show it: at the most what a stream sends to make up for lost time.
				const tail = streams * (linkRate * 3 / 4 / 8 / payload) / 10 * 5 / 4
				if missing < lost || float64(missing-lost) > float64(tail) || got.Highest > sent.Datagrams {
					t.Errorf("%d are missing, %d counted as lost, of numbers up to %d", missing, lost, got.Highest)
				}
				if got.Twice+got.Reordered+got.Dropped > 0 {
					t.Errorf("received %+v", got)
				}
				// Of messages the queue counts each once, however many datagrams the
				// kernel would have cut it into.
				if single && dropped != missing {
					t.Errorf("the queue dropped %d, %d are missing", dropped, missing)
				}
			})
		}
	}
}

// settled waits until all is sent and nothing more arrives, and returns both
// ends' sums.
func settled(t *testing.T, from, to *engine.Engine, all uint64) (sent, got agentapi.UDPCount) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for still := 0; still < 10; floor.Pause() {
		was := got.Datagrams
		sent, got = sum(t, from, "out"), sum(t, to, "in")
		still++
		if sent.Datagrams < all || got.Datagrams != was {
			still = 0
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d sent, %d received", sent.Datagrams, all, got.Datagrams)
		}
	}
	return sent, got
}

func sum(t *testing.T, e *engine.Engine, session string) (total agentapi.UDPCount) {
	t.Helper()
	r, err := e.Sample(t.Context(), agentapi.SampleRequest{Session: session, Since: -1})
	floor.Must(t, err)
	for _, c := range r.Samples[0].UDP {
		total.Datagrams += c.Datagrams
		total.Highest += c.Highest
		total.Reordered += c.Reordered
		total.Twice += c.Twice
		total.Dropped += c.Dropped
		total.Calls += c.Calls
	}
	return total
}

// queueDrops is what the sender's queue has dropped so far.
func queueDrops(t *testing.T, s floor.Space) (drops uint64) {
	t.Helper()
	floor.Must(t, s.NS.Do(func() error {
		h, err := rtnl.Open()
		if err != nil {
			return err
		}
		defer h.Close()
		counted, err := h.Counters([]string{"eth0"})
		for _, c := range counted {
			drops += c.QdiscDrops
		}
		return err
	}))
	return drops
}
