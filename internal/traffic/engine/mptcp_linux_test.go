//go:build linux && !portable

package engine

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/kernel/feature"
	"github.com/linerate/linerate/internal/kernel/mptcp"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/kernel/sysctl"
	"github.com/linerate/linerate/netstate"
)

// open opens a sink and a source of one stream at an address, and returns the
// source's error.
func openMPTCP(t *testing.T, e *Engine, at netip.Addr, sinkToo, source bool) error {
	t.Helper()
	sink, err := e.OpenSink(t.Context(), agentapi.SinkRequest{
		Session: "in", Key: testKey, Bind: []netip.Addr{at}, Peers: []netip.Addr{at}, Streams: 1, MPTCP: sinkToo, Lifetime: time.Minute,
	})
	if err != nil {
		return err
	}
	_, err = e.OpenSource(t.Context(), agentapi.SourceRequest{
		Session: "out", Key: testKey, MPTCP: source, Lifetime: time.Minute,
		Streams: []agentapi.Stream{{Lane: flow.Lane{Src: at, Dst: at}, Dport: uint16(sink.Port)}},
	})
	return err
}

// multipathHost is a namespace with one local network, in which an engine
// finds MPTCP.
func multipathHost(t *testing.T) (*Engine, netns.Namespace, netip.Addr) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	if err := feature.Need(feature.MPTCP); err != nil {
		t.Skip(err)
	}
	name := fmt.Sprintf("linerate-test-mptcp-%d", os.Getpid())
	ns, err := netns.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = netns.Delete(name) })
	b, err := rtnl.OpenBuilder(ns)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for _, a := range []string{"10.9.0.1/24", "10.9.0.2/24", "10.9.0.3/24"} {
		if err := errors.Join(b.Up("lo"), b.Address("lo", netip.MustParsePrefix(a))); err != nil {
			t.Fatal(err)
		}
	}
	e := New(Config{Namespace: ns})
	t.Cleanup(e.Close)
	return e, ns, netip.MustParseAddr("10.9.0.1")
}

func TestKernelMPTCPCountsEveryByte(t *testing.T) {
	e, ns, at := multipathHost(t)
	err := ns.Do(func() error {
		h, err := mptcp.Open()
		if err != nil {
			return err
		}
		defer h.Close()
		return errors.Join(h.SetLimits(2, 0),
			h.Add(netstate.MPTCPEndpoint{Addr: netip.MustParseAddr("10.9.0.2"), Flags: netstate.MPTCPSubflow}),
			h.Add(netstate.MPTCPEndpoint{Addr: netip.MustParseAddr("10.9.0.3"), Flags: netstate.MPTCPSubflow}))
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := openMPTCP(t, e, at, true, true); err != nil {
		t.Fatal(err)
	}
	const limit = 3<<20 + 11 // more than several calls' lengths, and no multiple of one
	if _, err := e.Start(t.Context(), agentapi.StartRequest{Session: "out", Limit: limit}); err != nil {
		t.Fatal(err)
	}
	for _, session := range []string{"out", "in"} {
		if got := awaitTotal(t, e, session, limit); got[0] != limit {
			t.Errorf("session %s counts %d of %d bytes", session, got[0], limit)
		}
		c := await(t, e, session, func(c agentapi.TCPCount) bool { return c.MPTCP != nil && len(c.MPTCP.Subflows) == 3 })
		if c.Present {
			t.Errorf("session %s passes the first subflow's TCP_INFO off as the connection's: %+v", session, c)
		}
		var from []string
		for _, f := range c.MPTCP.Subflows {
			end := f.Src
			if session == "in" {
				end = f.Dst
			}
			from = append(from, end.String())
		}
		slices.Sort(from)
		if want := []string{"10.9.0.1", "10.9.0.2", "10.9.0.3"}; !slices.Equal(from, want) {
			t.Errorf("session %s has subflows of the client's %v, want %v", session, from, want)
		}
	}
}

// await samples a session of one stream until its count is as wanted.
func await(t *testing.T, e *Engine, session string, done func(agentapi.TCPCount) bool) agentapi.TCPCount {
	t.Helper()
	for range 500 {
		r, err := e.Sample(t.Context(), agentapi.SampleRequest{Session: session, Since: -1})
		if err != nil {
			t.Fatal(err)
		}
		if c := r.Samples[0].TCP[0]; done(c) {
			return c
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("session %s never came to what was awaited", session)
	return agentapi.TCPCount{}
}

func TestKernelMPTCPMeetsTCP(t *testing.T) {
	e, _, at := multipathHost(t)
	if err := openMPTCP(t, e, at, false, true); !errors.Is(err, ErrFellBack) {
		t.Errorf("an MPTCP source at a TCP sink: %v, want ErrFellBack", err)
	}
	if _, err := e.Finish(t.Context(), agentapi.SessionRequest{Session: "in"}); err != nil {
		t.Fatal(err)
	}
	// A sink that serves MPTCP serves TCP too, and counts it as TCP.
	if err := openMPTCP(t, e, at, true, false); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Start(t.Context(), agentapi.StartRequest{Session: "out", Limit: 777_777}); err != nil {
		t.Fatal(err)
	}
	if got := awaitTotal(t, e, "in", 777_777); got[0] != 777_777 {
		t.Errorf("%d bytes of 777777", got[0])
	}
	if c := await(t, e, "in", func(agentapi.TCPCount) bool { return true }); !c.Present || c.MPTCP != nil {
		t.Errorf("a plain TCP stream at an MPTCP sink is counted as %+v", c)
	}
}

func TestKernelMPTCPSwitchedOff(t *testing.T) {
	e, ns, at := multipathHost(t)
	if err := ns.Do(func() error { return sysctl.Write("net.mptcp.enabled", "0", true) }); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"sink":   openMPTCP(t, e, at, true, false),
		"source": openMPTCP(t, e, at, false, true),
	} {
		if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "net.mptcp.enabled is 0") {
			t.Errorf("%s: %v, want the sysctl named", name, err)
		}
	}
}
