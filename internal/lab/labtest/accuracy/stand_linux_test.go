package accuracy

import (
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// network is two hosts, each with one link.
type network struct {
	near, far floor.Space
	cfg       measure.Config
}

const wait = 30 * time.Millisecond

// shaped is two hosts with a cable of that rate, as a shaper counts it.
func shaped(t *testing.T, rate unit.BitRate, mtu int, v6 bool) network {
	t.Helper()
	n := network{near: floor.NewSpace(t, "acc-near"), far: floor.NewSpace(t, "acc-far")}
	floor.Must(t, n.near.Builder.Veth("eth0", n.far.Builder, "eth0"))
	for _, s := range []floor.Space{n.near, n.far} {
		floor.Must(t, s.Builder.MTU("eth0", mtu))
		floor.Must(t, s.Builder.Shape("eth0", rate, bucketOf(rate), wait))
	}
	n.address(t, v6)
	n.reach(t, rate)
	return n
}

// bucketOf is a shaper's bucket that keeps it accurate: 2 ms of its rate.
func bucketOf(rate unit.BitRate) unit.Bytes {
	return max(128*unit.KiB, unit.Bytes(float64(rate)/8*0.002))
}

func (n network) address(t *testing.T, v6 bool) {
	t.Helper()
	near, far := netip.MustParsePrefix("10.8.0.1/24"), netip.MustParsePrefix("10.8.0.2/24")
	if v6 {
		near, far = netip.MustParsePrefix("fd00:8::1/64"), netip.MustParsePrefix("fd00:8::2/64")
	}
	for _, e := range []struct {
		s    floor.Space
		addr netip.Prefix
	}{{n.near, near}, {n.far, far}} {
		floor.Must(t, e.s.Builder.Up("lo"))
		floor.Must(t, e.s.Builder.Up("eth0"))
		floor.Must(t, e.s.Builder.Address("eth0", e.addr))
	}
}

// reach dials both hosts and observes them.
func (n *network) reach(t *testing.T, rate unit.BitRate) {
	t.Helper()
	n.cfg = measure.Config{Network: floor.Cabled(t, n.near, n.far, rate)}
}

func (n network) run(t *testing.T, streams int, exact time.Duration) record.Trial {
	t.Helper()
	r, err := measure.Run(t.Context(), n.cfg, measure.Spec{
		From: "near", To: "far", Direction: flow.Forward, Streams: streams, Ports: "chosen", Socket: record.Socket{Congestion: "cubic"}, Duration: exact,
	})
	floor.Must(t, err)
	return r
}

// count is what a link's queue has let through at a moment: frames as the wire
// has them, which a virtual link's own counters do not.
type count struct {
	at             time.Time
	bytes, packets uint64
}

// counts reads the queue of near's link all the time; stop returns them.
func (n network) counts(t *testing.T) (stop func() []count) {
	t.Helper()
	var handle *netlink.Handle
	floor.Must(t, n.near.NS.Do(func() (err error) {
		handle, err = netlink.NewHandle(syscall.NETLINK_ROUTE)
		return err
	}))
	link, err := handle.LinkByName("eth0")
	floor.Must(t, err)
	over, done := make(chan struct{}), make(chan []count)
	go func() {
		var all []count
		for {
			if queues, err := handle.QdiscList(link); err == nil {
				for _, q := range queues {
					if s := q.Attrs().Statistics; q.Attrs().Parent == netlink.HANDLE_ROOT && s != nil && s.Basic != nil {
						all = append(all, count{time.Now(), s.Basic.Bytes, uint64(s.Basic.Packets)})
					}
				}
			}
			select {
			case <-over:
				handle.Close()
				done <- all
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return func() []count {
		close(over)
		return <-done
	}
}

// passed is the rate of bytes and packets between two moments.
func passed(all []count, from, to time.Time) (wire unit.BitRate, packets float64) {
	var a, b count
	for _, c := range all {
		if c.at.Before(from) || a.at.IsZero() {
			a = c
		}
		if c.at.Before(to) {
			b = c
		}
	}
	seconds := b.at.Sub(a.at).Seconds()
	if seconds <= 0 {
		return 0, 0
	}
	return unit.FromBytes(float64(b.bytes-a.bytes), seconds), float64(b.packets-a.packets) / seconds
}
