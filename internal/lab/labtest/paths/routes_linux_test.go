package paths

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/internal/run/pathcheck"
	"github.com/linerate/linerate/record"
)

// problems checks a pair's routes, on hosts observed anew.
func (s *stand) problems(hosts ...string) (all []pathcheck.Problem) {
	s.t.Helper()
	c := s.campaign(s.fabric(hosts...), func(e campaign.Event) {
		if e.Kind == campaign.Routed {
			all = append(all, *e.Problem)
		}
	})
	floor.Must(s.t, c.CheckRoutes(s.t.Context()))
	return all
}

func kinds(all []pathcheck.Problem) (out []string) {
	for _, p := range all {
		if k := p.Host + " " + string(p.Kind); !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}

// TestRoutes: two interfaces in one subnet on a real kernel, as it comes, with
// the reverse path filter, and mended by the very lines that the check names.
func TestRoutes(t *testing.T) {
	s := newStand(t, "a", "b")
	s.cable("a", "eth0", "10.7.0.1/24", "b", "eth0", "10.7.0.101/24", linkRate)
	s.cable("a", "eth1", "10.7.0.2/24", "b", "eth1", "10.7.0.102/24", linkRate)
	asItComes := s.problems("a", "b")
	want := []string{"a arp-flux", "a one-subnet", "b arp-flux", "b one-subnet"}
	if got := kinds(asItComes); !slices.Equal(got, want) {
		t.Fatalf("as it comes: %q, want %q", got, want)
	}
	c := s.campaign(s.fabric("a", "b"), nil)
	floor.Must(t, c.CheckRoutes(t.Context()))
	floor.Must(t, c.Run(t.Context(), campaign.Matrix{Streams: []int{2}, Directions: []flow.Direction{flow.Forward}, Ports: "chosen", Duration: time.Second}))
	r := c.Record()
	if len(r.Trials) != 1 || r.Trials[0].Finding == nil || r.Trials[0].Finding.Cause != record.AsymmetricRoute || !slices.ContainsFunc(r.Trials[0].Notes, func(n string) bool { return strings.HasPrefix(n, "route: a: ") }) {
		t.Errorf("over one link of two: %+v, failures %+v", r.Trials, r.Failures)
	}

	s.must("b", "sysctl -q -w net.ipv4.conf.eth1.rp_filter=1")
	if got := kinds(s.problems("a", "b")); !slices.Contains(got, "b reverse-path") {
		t.Errorf("with a strict filter: %q", got)
	}
	for _, p := range asItComes {
		s.must(p.Host, p.Lines()...)
	}
	if got := s.problems("a", "b"); len(got) > 0 {
		t.Errorf("after the remedies: %v", got)
	}
	c = s.campaign(s.fabric("a", "b"), nil)
	floor.Must(t, c.Run(t.Context(), campaign.Matrix{Streams: []int{2}, Directions: []flow.Direction{flow.Forward}, Ports: "chosen", Duration: time.Second}))
	if r := c.Record(); len(r.Trials) != 1 {
		t.Errorf("after the remedies: %+v", r.Failures)
	} else {
		share(t, "two links after the remedies", r.Trials[0].Goodput, 2*payload(linkRate))
	}
}

// TestNoRoute: a kernel without a route is told before anything is sent, and
// the line that is named mends it.
func TestNoRoute(t *testing.T) {
	s := newStand(t, "a", "b")
	s.cable("a", "eth0", "10.7.0.1/24", "b", "eth0", "10.7.0.2/24", 0)
	f := s.fabric("a", "b")
	s.must("b", "ip route del 10.7.0.0/24 dev eth0")
	var found []pathcheck.Problem
	c := s.campaign(f, func(e campaign.Event) {
		if e.Kind == campaign.Routed {
			found = append(found, *e.Problem)
		}
	})
	floor.Must(t, c.CheckRoutes(t.Context()))
	if got := kinds(found); !slices.Equal(got, []string{"b no-route"}) {
		t.Fatalf("%q", got)
	}
	began := time.Now()
	floor.Must(t, c.Run(t.Context(), campaign.Matrix{Streams: []int{1}, Directions: []flow.Direction{flow.Forward}, Ports: "chosen", Duration: time.Second}))
	if fails := c.Record().Failures; len(fails) != 1 || fails[0].Reason != string(agentapi.CodeBlocked) || time.Since(began) > 2*time.Second {
		t.Errorf("failures %+v after %v", fails, time.Since(began))
	}
	s.must("b", found[0].Lines()...)
	if got := s.problems("a", "b"); len(got) > 0 {
		t.Errorf("after the remedy: %v", got)
	}
}

// TestBarred tells apart what keeps a connection from being made: a host that
// refuses, a network that is silent, and one that says no.
func TestBarred(t *testing.T) {
	s := newStand(t, "a", "router", "b")
	s.cable("a", "eth0", "10.7.0.1/24", "router", "r0", "10.7.0.254/24", 0)
	s.cable("b", "eth0", "10.8.0.1/24", "router", "r1", "10.8.0.254/24", 0)
	s.must("a", "ip route add default via 10.7.0.254", "sysctl -q -w net.ipv4.tcp_syn_retries=1", "sysctl -q -w net.ipv4.neigh.eth0.retrans_time_ms=200")
	s.must("b", "ip route add default via 10.8.0.254")
	s.must("router", "sysctl -q -w net.ipv4.ip_forward=1", "ip route add blackhole 10.9.1.0/24", "ip route add prohibit 10.9.2.0/24", "ip route add unreachable 10.9.3.0/24")
	s.must("a", "ip route add prohibit 10.9.4.0/24", "ip route add blackhole 10.9.5.0/24")
	host := s.dial("a")
	type attempt struct {
		name string
		dst  string
		want agentapi.Code
	}
	attempts := []attempt{
		{"nobody listens", "10.8.0.1", agentapi.CodeRefused},
		{"dropped on the way", "10.9.1.1", agentapi.CodeSilent},
		{"prohibited on the way", "10.9.2.1", agentapi.CodeBlocked},
		{"unreachable on the way", "10.9.3.1", agentapi.CodeBlocked},
		{"prohibited here", "10.9.4.1", agentapi.CodeBlocked},
		{"a blackhole here", "10.9.5.1", agentapi.CodeBlocked},
		{"nobody has the address", "10.7.0.77", agentapi.CodeBlocked},
	}
	type outcome struct {
		attempt
		err error
	}
	out := make(chan outcome)
	for _, a := range attempts {
		go func() {
			_, err := ask.Call(t.Context(), host, agentapi.OpenSource, agentapi.SourceRequest{
				Session: a.name, Lifetime: time.Minute,
				Streams: []agentapi.Stream{{Lane: flow.Lane{Src: netip.MustParseAddr("10.7.0.1"), Dst: netip.MustParseAddr(a.dst)}, Dport: 5201}},
			})
			out <- outcome{a, err}
		}()
	}
	for range attempts {
		o := <-out
		t.Logf("%s: %v", o.name, o.err)
		if got := agentapi.WireError(o.err); got == nil || got.Code != o.want {
			t.Errorf("%s: %v, want class %s", o.name, o.err, o.want)
		}
	}
}

// TestPorts: receivers keep to the ports they are given, also both ways and
// several at a time; with none left the error says so.
func TestPorts(t *testing.T) {
	s := newStand(t, "a", "b")
	s.cable("a", "eth0", "10.7.0.1/24", "b", "eth0", "10.7.0.2/24", linkRate)
	f := s.fabric("a", "b")
	c := s.campaign(f, nil)
	m := campaign.Matrix{Streams: []int{2}, Directions: []flow.Direction{flow.Both}, Ports: "kernel", Duration: 300 * time.Millisecond}
	m.Base.Within = &flow.PortRange{First: 5201, Last: 5202}
	holder := s.dial("b")
	_, err := ask.Call(t.Context(), holder, agentapi.OpenSink, sink("held", 5201))
	floor.Must(t, err)
	floor.Must(t, c.Run(t.Context(), m))
	r := c.Record()
	if len(r.Trials) != 1 {
		t.Fatalf("failures %+v", r.Failures)
	}
	for _, l := range r.Trials[0].Lanes {
		want := uint16(5202) // b's first is held
		if l.Way == flow.Reverse {
			want = 5201
		}
		if l.Dport != want {
			t.Errorf("%s to port %d, want %d", l.Way, l.Dport, want)
		}
	}
	_, err = ask.Call(t.Context(), holder, agentapi.OpenSink, sink("held too", 5202))
	floor.Must(t, err)
	floor.Must(t, c.Run(t.Context(), m))
	if fails := c.Record().Failures; len(fails) != 1 || fails[0].Reason != string(agentapi.CodePortTaken) || !strings.Contains(fails[0].Error, "all 2 ports of 5201-5202 are in use") {
		t.Errorf("with no port left: %+v", fails)
	}
}

func sink(session string, port uint16) agentapi.SinkRequest {
	return agentapi.SinkRequest{Session: session, Bind: []netip.Addr{netip.MustParseAddr("10.7.0.2")}, Peers: []netip.Addr{netip.MustParseAddr("10.7.0.1")},
		Streams: 1, Within: &flow.PortRange{First: port, Last: port}, Lifetime: time.Minute}
}
