package stopping

import (
	"net/netip"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// The link: shaped, delayed by 2 ms each way give or take, and a part of it
// taken by others half of the time.
const (
	linkRate  = 200 * unit.Mbps
	bucket    = 512 * unit.KiB
	wait      = 40 * time.Millisecond
	delay     = 2 * time.Millisecond
	jitter    = 200 * time.Microsecond
	othersOf  = 0.07
	othersFor = 30 * time.Millisecond
	packets   = 10000
)

var near, far = netip.MustParseAddr("10.9.0.1"), netip.MustParseAddr("10.9.0.2")

// noisy builds the link and its other traffic, and returns who measures on it.
func noisy(t *testing.T, seed, part uint64) measure.Config {
	t.Helper()
	a, b := floor.NewSpace(t, "stop-near"), floor.NewSpace(t, "stop-far")
	floor.Must(t, a.Builder.Veth("eth0", b.Builder, "eth0"))
	for s, addr := range map[*floor.Space]netip.Addr{&a: near, &b: far} {
		floor.Must(t, s.Builder.Up("lo"))
		floor.Must(t, s.Builder.Up("eth0"))
		floor.Must(t, s.Builder.Address("eth0", netip.PrefixFrom(addr, 24)))
		floor.Must(t, s.Builder.Shape("eth0", linkRate, bucket, wait))
		floor.Must(t, s.Builder.Jitter("eth0", delay, jitter, packets, true))
	}
	competing{rate: othersOf * linkRate, mean: othersFor, seed: seed, part: part}.run(t, a, b, far)
	return measure.Config{Network: floor.Cabled(t, a, b, linkRate)}
}

// trial measures once: for an exact time, or until the stop rule is content.
func trial(t *testing.T, cfg measure.Config, exact time.Duration) record.Trial {
	t.Helper()
	r, err := measure.Run(t.Context(), cfg, measure.Spec{
		From: "near", To: "far", Direction: flow.Forward, Streams: 1, Ports: "chosen", Socket: record.Socket{Congestion: "cubic"}, Duration: exact,
	})
	floor.Must(t, err)
	return r
}
