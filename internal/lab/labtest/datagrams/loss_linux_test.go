package datagrams

import (
	"fmt"
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

const (
	linkRate = 50 * unit.Mbps
	bucket   = 128 * unit.KiB
	// A short queue holds less than the send buffers of two sockets: what is too
	// much is dropped there, and does not hold the senders up.
	short, long = time.Millisecond, 50 * time.Millisecond
	window      = time.Second
)

// hosts are two namespaces with one shaped link between them.
func hosts(t *testing.T, near, far netip.Addr, wait time.Duration) (a, b floor.Space) {
	t.Helper()
	a, b = floor.NewSpace(t, "udp-near"), floor.NewSpace(t, "udp-far")
	floor.Must(t, a.Builder.Veth("eth0", b.Builder, "eth0"))
	bits := 24
	if near.Is6() {
		bits = 64
	}
	for s, addr := range map[*floor.Space]netip.Addr{&a: near, &b: far} {
		floor.Must(t, s.Builder.Up("lo"))
		floor.Must(t, s.Builder.Up("eth0"))
		floor.Must(t, s.Builder.Address("eth0", netip.PrefixFrom(addr, bits)))
		floor.Must(t, s.Builder.Shape("eth0", linkRate, bucket, wait))
	}
	return a, b
}

// stand is whoever measures between them.
func stand(t *testing.T, near, far netip.Addr, wait time.Duration) *campaign.Campaign {
	t.Helper()
	a, b := hosts(t, near, far, wait)
	f, err := fabric.Parse("udp.yaml", []byte(fmt.Sprintf(`linerate: v1
hosts:
  near: {reach: "netns:%s", hardware: {links: {eth0: {speed: 50M, framing: l2}}}}
  far: {reach: "netns:%s", hardware: {links: {eth0: {speed: 50M, framing: l2}}}}
`, a.NS.Name, b.NS.Name)))
	floor.Must(t, err)
	c, err := campaign.Open(t.Context(), campaign.Config{Fabric: f, Fleet: fleet.Config{Version: "test", JournalDir: t.TempDir(), Unguarded: true}, BackEnd: "test"})
	floor.Must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// trial measures UDP one way.
func trial(t *testing.T, c *campaign.Campaign, spec measure.Spec, streams int) record.Trial {
	t.Helper()
	spec.Protocol = "udp"
	floor.Must(t, c.Run(t.Context(), campaign.Matrix{
		Base: spec, Streams: []int{streams}, Directions: []flow.Direction{flow.Forward}, Ports: "chosen", Duration: window,
	}))
	r := c.Record()
	if len(r.Trials) == 0 {
		t.Fatalf("nothing measured: %+v", r.Failures)
	}
	return r.Trials[len(r.Trials)-1]
}

// TestLossIsSaid: of half as much again as the link takes, a third is lost. The
// link's own queue counts it too, in a window of its own: a machine that is
// busy elsewhere moves the two apart.
func TestLossIsSaid(t *testing.T) {
	for _, family := range []struct{ near, far string }{{"10.9.0.1", "10.9.0.2"}, {"fd09::1", "fd09::2"}} {
		t.Run(family.near, func(t *testing.T) {
			near := netip.MustParseAddr(family.near)
			c := stand(t, near, netip.MustParseAddr(family.far), short)
			// A packet each, as the queue counts them.
			got := trial(t, c, measure.Spec{Rate: linkRate * 3 / 2, Datagrams: &agentapi.Datagrams{Single: true}}, 2)
			payload := 1472
			if near.Is6() {
				payload = 1452
			}
			want := unit.BitRate(float64(linkRate) * float64(payload) / 1514)
			if got.Goodput > want*101/100 || got.Goodput < want*85/100 || math.Abs(float64(got.Ceiling/want)-1) > 1e-9 {
				t.Errorf("%v of %v, want %v", got.Goodput, got.Ceiling, want)
			}
			u := got.UDP
			var dropped, sent uint64
			for _, l := range got.Links {
				if l.Host == "near" {
					dropped, sent = l.QdiscDrops, l.TxPackets+l.QdiscDrops
				}
			}
			counted := float64(dropped) / float64(sent)
			t.Logf("%v; %d sent, %d received, %d lost (%.4f); the queue dropped %d of %d (%.4f)", got.Goodput, u.Sent, u.Received, u.Lost, u.LossRatio, dropped, sent, counted)
			if math.Abs(u.LossRatio-counted) > 0.03 || u.LossRatio < 0.2 || u.Lost != u.Sent-u.Received || u.Payload != payload {
				t.Errorf("datagrams %+v, want %.4f lost", *u, counted)
			}
			if len(got.Check()) > 0 || u.SocketDrops > 0 || len(got.Lanes) != 2 {
				t.Errorf("%v; %d socket drops, %d lanes", got.Check(), u.SocketDrops, len(got.Lanes))
			}
		})
	}
}

// TestNobodyFloods: without a rate the streams keep to what the link can carry,
// and lose next to nothing. How much of it they get sent is the machine's
// business too: it is one emulated core.
func TestNobodyFloods(t *testing.T) {
	c := stand(t, netip.MustParseAddr("10.9.0.1"), netip.MustParseAddr("10.9.0.2"), long)
	for _, d := range []agentapi.Datagrams{{}, {Payload: 1000, Single: true}} {
		got := trial(t, c, measure.Spec{Datagrams: &d}, 2)
		t.Logf("%+v: %v of %v offered, loss %.5f, by %s", d, got.Goodput, got.RateLimit, got.UDP.LossRatio, got.Method.Send)
		if got.Goodput < got.RateLimit*70/100 || got.RateLimit > got.Ceiling || got.Goodput > got.Ceiling*101/100 || got.UDP.LossRatio > 0.01 {
			t.Errorf("%+v: %v of %v offered, ceiling %v, %+v", d, got.Goodput, got.RateLimit, got.Ceiling, *got.UDP)
		}
		if !strings.Contains(strings.Join(got.Notes, "\n"), "no --rate-limit was given") {
			t.Errorf("%+v: notes %q do not say what was offered", d, got.Notes)
		}
	}
}
