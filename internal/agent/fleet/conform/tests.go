//go:build linux

package conform

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/plan"
)

func (s *suite) hello(t *testing.T) {
	h := s.open(t, s.near)
	if got := h.Hello; got.Version != agentapi.Version || s.version != "" && got.Linerate != s.version || got.OS != runtime.GOOS || got.Machine == "" {
		t.Errorf("hello: %+v", got)
	}
	for _, c := range []agentapi.Capability{agentapi.CanRoot, agentapi.CanNetAdmin, agentapi.CanEcho, agentapi.CanLock} {
		if !h.Hello.Capabilities.Has(c) {
			t.Errorf("root lacks %s: %v", c, h.Hello.Capabilities)
		}
	}
	if off := time.Since(h.Hello.Time); off < -5*time.Second || off > 5*time.Second {
		t.Errorf("its clock says %v", h.Hello.Time)
	}
}

func (s *suite) observe(t *testing.T) {
	reply, err := s.open(t, s.near).Observe(t.Context(), "net.ipv4.tcp_window_scaling")
	must(t, err)
	l, there := reply.Host.Link(s.near.Link)
	if !there || !slices.ContainsFunc(l.Addresses, func(p netip.Prefix) bool { return p.Addr() == s.near.Addr }) {
		t.Errorf("%s: %+v", s.near.Link, l)
	}
	if reply.Host.Sysctls["net.ipv4.tcp_window_scaling"].Value == "" {
		t.Error("a sysctl that was asked for was not read")
	}
}

func (s *suite) ping(t *testing.T) {
	reply, err := ask.Call(t.Context(), s.open(t, s.near), agentapi.Ping, agentapi.PingRequest{Dst: s.far.Addr, Count: 3, Interval: 10 * time.Millisecond})
	if err != nil || reply.Sent != 3 || len(reply.RTTs) != 3 {
		t.Errorf("%+v, %v", reply, err)
	}
}

// errors keep what they are, and the connection stays.
func (s *suite) errors(t *testing.T) {
	h := s.open(t, s.near)
	var taken net.Listener
	must(t, s.near.NS.Do(func() (err error) {
		taken, err = net.Listen("tcp", s.near.Addr.String()+":0")
		return err
	}))
	defer taken.Close()
	port := uint16(taken.Addr().(*net.TCPAddr).Port)
	for what, c := range map[string]struct {
		want error
		call func() error
	}{
		"an entry that is not": {fs.ErrNotExist, func() error {
			_, err := ask.Call(t.Context(), h, agentapi.Rollback, agentapi.RollbackRequest{Journal: "20260101T000000.000-absent"})
			return err
		}},
		"a format that is not": {errors.ErrUnsupported, func() error {
			_, err := ask.Call(t.Context(), h, agentapi.ConfigFiles, agentapi.ConfigFilesRequest{Format: "no-such-format"})
			return err
		}},
		"a forbidden address": {fs.ErrPermission, func() error {
			_, err := ask.Call(t.Context(), h, agentapi.Ping, agentapi.PingRequest{Dst: netip.MustParseAddr("10.98.0.255"), Count: 1})
			return err
		}},
		"a port in use": {agentapi.ErrPortTaken, func() error {
			_, err := ask.Call(t.Context(), h, agentapi.OpenSink, agentapi.SinkRequest{
				Session: "taken", Bind: []netip.Addr{s.near.Addr}, Peers: []netip.Addr{s.far.Addr}, Streams: 1, Within: &flow.PortRange{First: port, Last: port}, Lifetime: time.Second,
			})
			return err
		}},
	} {
		if err := c.call(); !errors.Is(err, c.want) || errors.Is(err, fleet.ErrUnreachable) || !strings.Contains(err.Error(), h.Name) {
			t.Errorf("%s: %v, want %v and the host's name", what, err, c.want)
		}
	}
	if _, err := ask.Call(t.Context(), h, agentapi.ReadSamples, agentapi.SampleRequest{Session: "none"}); err == nil {
		t.Error("a session that does not exist was sampled")
	}
	s.alive(t, h)
}

// alive asks something small.
func (s *suite) alive(t *testing.T, h *fleet.Host) {
	t.Helper()
	if reply, err := ask.Call(t.Context(), h, agentapi.Routes, agentapi.RoutesRequest{Flows: []flow.Tuple{s.tuple(1)}}); err != nil || len(reply.Routes) != 1 || reply.Routes[0].Link != s.near.Link {
		t.Errorf("it does not answer any more: %+v, %v", reply, err)
	}
}

func (s *suite) tuple(sport int) flow.Tuple {
	return flow.Tuple{Proto: flow.TCP, Src: s.near.Addr, Dst: s.far.Addr, Sport: uint16(sport), Dport: 5201}
}

func (s *suite) traffic(t *testing.T) {
	near, far := s.open(t, s.near), s.open(t, s.far)
	in, out := s.session(t, near, far)
	time.Sleep(200 * time.Millisecond)
	reply, err := ask.Call(t.Context(), far, agentapi.ReadSamples, agentapi.SampleRequest{Session: in})
	if err != nil || len(reply.Samples) == 0 || len(reply.Samples[0].Links) != 1 || reply.Samples[0].Bytes[0] == 0 || reply.Samples[0].Bytes[1] == 0 {
		t.Fatalf("sample: %+v, %v", reply, err)
	}
	if _, err := ask.Call(t.Context(), near, agentapi.Finish, agentapi.SessionRequest{Session: out}); err != nil {
		t.Error(err)
	}
	last, err := ask.Call(t.Context(), far, agentapi.Finish, agentapi.SessionRequest{Session: in})
	if err != nil || len(last.Samples) == 0 {
		t.Errorf("finish: %+v, %v", last, err)
	}
	if _, err := ask.Call(t.Context(), far, agentapi.ReadSamples, agentapi.SampleRequest{Session: in}); err == nil {
		t.Error("a session that has ended was sampled")
	}
}

// sockets finds a connection in the host's namespace.
func (s *suite) sockets(t *testing.T) {
	var l net.Listener
	var c net.Conn
	must(t, s.near.NS.Do(func() (err error) {
		if l, err = net.Listen("tcp", s.near.Addr.String()+":0"); err == nil {
			c, err = net.Dial("tcp", l.Addr().String())
		}
		return err
	}))
	defer l.Close()
	defer c.Close()
	near, far := netip.MustParseAddrPort(c.LocalAddr().String()), netip.MustParseAddrPort(l.Addr().String())
	h := s.open(t, s.near)
	reply, err := ask.Call(t.Context(), h, agentapi.Sockets, agentapi.SocketsRequest{Proto: flow.TCP, Dport: far.Port()})
	want := flow.Tuple{Proto: flow.TCP, Src: near.Addr(), Dst: far.Addr(), Sport: near.Port(), Dport: far.Port()}
	if err != nil || len(reply.Sockets) != 1 || reply.Sockets[0].Tuple != want || reply.Sockets[0].State != "established" || reply.Ephemeral.Count() == 0 {
		t.Errorf("connections to port %d: %+v, %v", far.Port(), reply, err)
	}
	reply, err = ask.Call(t.Context(), h, agentapi.Sockets, agentapi.SocketsRequest{Proto: flow.TCP, Listening: true})
	if ports := reply.Ports(); err != nil || !slices.Contains(ports, near.Port()) || !slices.Contains(ports, far.Port()) {
		t.Errorf("ports in use are %v, %v; want %d and %d among them", ports, err, near.Port(), far.Port())
	}
	if _, err := ask.Call(t.Context(), h, agentapi.Sockets, agentapi.SocketsRequest{Proto: flow.ICMP}); err == nil {
		t.Error("sockets of ICMP were listed")
	}
}

// routes asks where flows to the host itself, to the other and to nowhere go.
func (s *suite) routes(t *testing.T) {
	h := s.open(t, s.near)
	self := flow.Tuple{Proto: flow.TCP, Src: s.near.Addr, Dst: s.near.Addr, Sport: 1, Dport: 2}
	flows := []flow.Tuple{self, s.tuple(1), {Proto: flow.TCP, Src: netip.MustParseAddr("192.0.2.77"), Dst: s.far.Addr}, {}}
	reply, err := ask.Call(t.Context(), h, agentapi.Routes, agentapi.RoutesRequest{Flows: flows})
	if err != nil || len(reply.Routes) != len(flows) {
		t.Fatalf("%+v, %v", reply, err)
	}
	for i, link := range []string{"lo", s.near.Link} {
		if r := reply.Routes[i]; r.Link != link || r.Src != s.near.Addr || r.Gateway.IsValid() || r.Why != "" || r.Doubt != "" || r.NextHop(self.Src) != self.Src {
			t.Errorf("flow %d: %+v, want %s", i, r, link)
		}
	}
	for i, r := range reply.Routes[2:] {
		if r.Link != "" || r.Why == "" {
			t.Errorf("flow %d: %+v, want no route and why", 2+i, r)
		}
	}
	_, err = ask.Call(t.Context(), h, agentapi.Routes, agentapi.RoutesRequest{Flows: make([]flow.Tuple, agentapi.MostRoutes+1)})
	if err == nil || !strings.Contains(err.Error(), fmt.Sprint("at most ", agentapi.MostRoutes)) {
		t.Errorf("too many flows: %v", err)
	}
}

// large is as many flows as one request may have, and a plan of several
// megabytes, of which nothing is done.
func (s *suite) large(t *testing.T) {
	flows := make([]flow.Tuple, agentapi.MostRoutes)
	for i := range flows {
		flows[i] = s.tuple(i)
	}
	h := s.open(t, s.near)
	reply, err := ask.Call(t.Context(), h, agentapi.Routes, agentapi.RoutesRequest{Flows: flows})
	if err != nil || len(reply.Routes) != len(flows) {
		t.Fatalf("%d routes of %d, %v", len(reply.Routes), len(flows), err)
	}
	for i, r := range reply.Routes {
		if r.Link != s.near.Link {
			t.Fatalf("flow %d of %d: %+v", i, len(flows), r)
		}
	}
	long := agentapi.ApplyRequest{Check: true, Plan: plan.Plan{Host: s.near.Name, Steps: make([]plan.Step, 30000)}}
	for i := range long.Plan.Steps {
		long.Plan.Steps[i] = plan.Step{Kind: plan.LinkMTU, Link: s.near.Link, Old: "1500", New: "9000"}
	}
	if _, err := ask.Call(t.Context(), h, agentapi.Apply, long); err != nil {
		t.Errorf("a long plan to check: %v", err)
	}
}

// slow is a request that takes ten seconds.
func (s *suite) slow() agentapi.PingRequest {
	return agentapi.PingRequest{Dst: s.far.Addr, Count: 500, Interval: 20 * time.Millisecond}
}

func (s *suite) cancel(t *testing.T) {
	h := s.open(t, s.near)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if _, err := ask.Call(ctx, h, agentapi.Ping, s.slow()); err == nil || time.Since(begin) > 5*time.Second {
		t.Errorf("a call went on after its context: %v after %v", err, time.Since(begin))
	}
	s.alive(t, h)
}

// atOnce asks something quick while something slow is on its way.
func (s *suite) atOnce(t *testing.T) {
	h := s.open(t, s.near)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := ask.Call(ctx, h, agentapi.Ping, s.slow())
		ended <- err
	}()
	time.Sleep(50 * time.Millisecond)
	s.alive(t, h)
	select {
	case err := <-ended:
		t.Errorf("the slow call has ended: %v", err)
	default:
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the slow call: %v, want it cancelled", err)
	}
}

// hold is kept by one run, over however many connections, until it lets go.
func (s *suite) hold(t *testing.T) {
	mine := agentapi.LockRequest{Holder: agentapi.Holder{Run: "mine", User: "ann", Host: "desk", What: "measure"}}
	other := agentapi.LockRequest{Holder: agentapi.Holder{Run: "other", User: "bob", Host: "desk", What: "tune"}}
	first, second := s.dial(t, s.near), s.open(t, s.near)
	if reply, err := ask.Call(t.Context(), first, agentapi.Lock, mine); err != nil || reply.Note != "" {
		t.Fatalf("%+v, %v", reply, err)
	}
	_, err := ask.Call(t.Context(), second, agentapi.Lock, other)
	if !errors.Is(err, agentapi.ErrBusy) || !strings.Contains(err.Error(), "ann") {
		t.Errorf("locked by another run: %v, want ErrBusy and who", err)
	}
	release(t, first)
	if _, err := ask.Call(t.Context(), second, agentapi.Lock, other); err != nil {
		t.Errorf("let go, and %v", err)
	}
	release(t, second)
	if _, err := ask.Call(t.Context(), first, agentapi.Lock, mine); err != nil {
		t.Error(err)
	}
	must(t, first.Close())
	s.within(t, "a connection that has ended lets go", func() bool {
		_, err := ask.Call(t.Context(), second, agentapi.Lock, other)
		return err == nil
	})
}

func release(t *testing.T, h *fleet.Host) {
	t.Helper()
	_, err := ask.Call(t.Context(), h, agentapi.Release, agentapi.Empty{})
	must(t, err)
}

// close ends the traffic of a connection, and its calls.
func (s *suite) close(t *testing.T) {
	near, far := s.dial(t, s.near), s.open(t, s.far)
	in, _ := s.session(t, near, far)
	time.Sleep(100 * time.Millisecond)
	if arrived(t, far, in) == 0 {
		t.Fatal("nothing arrives")
	}
	must(t, near.Close())
	s.within(t, "traffic ends with its connection", func() bool {
		before := arrived(t, far, in)
		time.Sleep(100 * time.Millisecond)
		return arrived(t, far, in) == before
	})
	s.alive(t, s.open(t, s.near))
}

// within waits for something that comes about by itself.
func (s *suite) within(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if is() {
			return
		}
	}
	t.Errorf("%s: not within 5 s", what)
}
