//go:build linux

package conform

import (
	"fmt"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/rtnl"
)

// End is one of the two hosts that Run makes: a namespace, with a link to the
// other one.
type End struct {
	Name string
	NS   netns.Namespace
	Link string
	Addr netip.Addr
	// Dir is a directory of the host's own, for its journal.
	Dir string
}

// Dial reaches an agent in an end's namespace over a connection of its own,
// afresh each time; it fails the test where it cannot. Agents of one end share
// its holds. Run closes the host.
type Dial func(t testing.TB, at End) *fleet.Host

// Transport is what Run looks at.
type Transport struct {
	Dial Dial
	// Prepare, where it is set, is called once before anything is reached: what
	// answers on the ends lives as long as its t.
	Prepare func(t testing.TB, ends [2]End)
	// Version is what the agents say of their program; "" is not looked at.
	Version string
	// Also, where it is set, is one more test, of the near end.
	Also func(t *testing.T, h *fleet.Host)
}

// Run holds a transport to what all of them do.
func Run(t *testing.T, via Transport) {
	if os.Geteuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	s := &suite{version: via.Version, dial: via.Dial}
	s.near, s.far = ends(t)
	if via.Prepare != nil {
		via.Prepare(t, [2]End{s.near, s.far})
	}
	for _, one := range []struct {
		name string
		test func(*testing.T)
	}{
		{"hello", s.hello}, {"observe", s.observe}, {"ping", s.ping}, {"errors", s.errors}, {"traffic", s.traffic}, {"sockets", s.sockets},
		{"routes", s.routes}, {"large", s.large}, {"cancel", s.cancel}, {"at once", s.atOnce}, {"hold", s.hold}, {"close", s.close},
	} {
		t.Run(one.name, one.test)
	}
	if via.Also != nil {
		t.Run("also", func(t *testing.T) { via.Also(t, s.open(t, s.near)) })
	}
}

type suite struct {
	version   string
	dial      Dial
	near, far End
}

// open reaches an end for the length of a test.
func (s *suite) open(t *testing.T, at End) *fleet.Host {
	t.Helper()
	h := s.dial(t, at)
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Errorf("close %s: %v", at.Name, err)
		}
	})
	return h
}

// ends are two namespaces joined by a cable, which go with the test.
func ends(t *testing.T) (near, far End) {
	t.Helper()
	ends := [2]End{{Name: "near", Addr: netip.MustParseAddr("10.98.0.1")}, {Name: "far", Addr: netip.MustParseAddr("10.98.0.2")}}
	var builders [2]*rtnl.Builder
	for i := range ends {
		e := &ends[i]
		ns, err := netns.Create(fmt.Sprintf("linerate-test-conform-%d-%s", os.Getpid(), e.Name)) // suites of several transports run side by side
		must(t, err)
		t.Cleanup(func() { _ = netns.Delete(ns.Name) })
		builders[i], err = rtnl.OpenBuilder(ns)
		must(t, err)
		t.Cleanup(builders[i].Close)
		e.NS, e.Link, e.Dir = ns, "eth0", t.TempDir()
	}
	must(t, builders[0].Veth("eth0", builders[1], "eth0"))
	for i, b := range builders {
		must(t, b.Address("eth0", netip.PrefixFrom(ends[i].Addr, 24)))
		must(t, b.Up("lo"))
		must(t, b.Up("eth0"))
		// Slow enough for machines that do other work; what is sent is bounded.
		must(t, b.Shape("eth0", 200e6, 128<<10, 30*time.Millisecond))
	}
	return ends[0], ends[1]
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// session opens two streams from near to far, and lets them send.
func (s *suite) session(t *testing.T, near, far *fleet.Host) (in, out string) {
	t.Helper()
	key := agentapi.Key{7}
	sink, err := ask.Call(t.Context(), far, agentapi.OpenSink, agentapi.SinkRequest{
		Session: "in", Key: key, Bind: []netip.Addr{s.far.Addr}, Peers: []netip.Addr{s.near.Addr}, Streams: 2, Links: []string{s.far.Link}, Lifetime: time.Minute,
	})
	must(t, err)
	stream := agentapi.Stream{Dport: uint16(sink.Port)}
	stream.Src, stream.Dst = s.near.Addr, s.far.Addr
	_, err = ask.Call(t.Context(), near, agentapi.OpenSource, agentapi.SourceRequest{
		Session: "out", Key: key, Streams: []agentapi.Stream{stream, stream}, Links: []string{s.near.Link}, Lifetime: time.Minute,
	})
	must(t, err)
	_, err = ask.Call(t.Context(), near, agentapi.Start, agentapi.StartRequest{Session: "out"})
	must(t, err)
	return "in", "out"
}

// arrived is what a session has received so far.
func arrived(t *testing.T, h *fleet.Host, session string) uint64 {
	t.Helper()
	reply, err := ask.Call(t.Context(), h, agentapi.ReadSamples, agentapi.SampleRequest{Session: session})
	must(t, err)
	var sum uint64
	for _, n := range reply.Samples[len(reply.Samples)-1].Bytes {
		sum += n
	}
	return sum
}
