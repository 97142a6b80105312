package probes

import (
	"fmt"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

const (
	jumbo     = 9000
	ethernet  = 1500
	queueTime = 50 * time.Millisecond
	packets   = 20000 // of netem's queue, far above rate x delay
	rate      = 150 * unit.Mbps
)

// stand is two hosts and a switch between them, one subnet a link.
type stand struct {
	t         *testing.T
	near, far floor.Space
	middle    floor.Space
	links     int
	text      string // of the fabric
}

func eth(i int) string { return fmt.Sprintf("eth%d", i) }

// newStand lays the cables: links of that rate, both ends shaped, every packet
// by itself, so that none is let through for being many.
func newStand(t *testing.T, links int) *stand {
	t.Helper()
	s := &stand{t: t, near: floor.NewSpace(t, "probe-near"), far: floor.NewSpace(t, "probe-far"), middle: floor.NewSpace(t, "probe-mid"), links: links}
	s.text = "linerate: v1\nhosts:\n"
	for side, space := range []floor.Space{s.near, s.far} {
		name := [...]string{"near", "far"}[side]
		floor.Must(t, space.Builder.Up("lo"))
		s.text += fmt.Sprintf("  %s:\n    reach: netns:%s\n    network: {version: 2, ethernets: {", name, space.NS.Name)
		hardware := ""
		for i := range links {
			s.cable(space.Builder, name, i)
			address := fmt.Sprintf("10.9.%d.%d/24", i, side+1)
			floor.Must(t, space.Builder.Address(eth(i), netip.MustParsePrefix(address)))
			floor.Must(t, space.Builder.Up(eth(i)))
			s.text += fmt.Sprintf("%s: {mtu: %d, addresses: [%s]}, ", eth(i), jumbo, address)
			hardware += fmt.Sprintf("%s: {speed: 150M, framing: l2}, ", eth(i))
		}
		s.text += "}}\n    hardware: {links: {" + hardware + "}}\n"
	}
	for i := range links {
		floor.Must(t, s.middle.Builder.Bridge(fmt.Sprintf("bridge%d", i), []string{port("near", i), port("far", i)}))
	}
	return s
}

// port is the switch's port that leads to a host.
func port(host string, i int) string { return fmt.Sprintf("%s%d", host, i) }

func (s *stand) cable(host *rtnl.Builder, name string, i int) {
	s.t.Helper()
	middle := s.middle.Builder
	floor.Must(s.t, host.Veth(eth(i), middle, port(name, i)))
	for _, end := range []struct {
		b    *rtnl.Builder
		link string
	}{{host, eth(i)}, {middle, port(name, i)}} {
		floor.Must(s.t, end.b.MTU(end.link, jumbo))
		floor.Must(s.t, end.b.Singly(end.link))
		s.shape(end.b, end.link, rate)
	}
}

// shape bounds what leaves by a link.
func (s *stand) shape(b *rtnl.Builder, link string, rate unit.BitRate) {
	s.t.Helper()
	floor.Must(s.t, b.Shape(link, rate, max(64*unit.KiB, unit.Bytes(float64(rate)/8*0.012)), queueTime))
}

// lose delays and drops what the switch sends to both hosts; the delay is one
// way's.
func (s *stand) lose(delay time.Duration, loss float64) {
	s.t.Helper()
	for _, host := range []string{"near", "far"} {
		floor.Must(s.t, s.middle.Builder.Lose(port(host, 0), delay, loss, packets, true))
	}
}

// set writes sysctls under /proc/sys/net in a host.
func (s *stand) set(host floor.Space, values map[string]string) {
	s.t.Helper()
	floor.Must(s.t, host.NS.Do(func() error {
		for key, value := range values {
			if err := os.WriteFile("/proc/sys/net/"+key, []byte(value), 0o644); err != nil {
				return err
			}
		}
		return nil
	}))
}

// fabric is the stand as a user declares it.
func (s *stand) fabric() fabric.Fabric {
	s.t.Helper()
	f, err := fabric.Parse("probes.yaml", []byte(s.text))
	floor.Must(s.t, err)
	return f
}

func (s *stand) campaign() *campaign.Campaign {
	s.t.Helper()
	c, err := campaign.Open(s.t.Context(), campaign.Config{Fabric: s.fabric(), Fleet: fleet.Config{Version: "test", Unguarded: true, JournalDir: s.t.TempDir()}})
	floor.Must(s.t, err)
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

// measure runs a matrix over the stand and returns the record and how long the
// trials took.
func (s *stand) measure(m campaign.Matrix) (record.Record, time.Duration) {
	s.t.Helper()
	c := s.campaign()
	floor.Must(s.t, c.CheckRoutes(s.t.Context()))
	begin := time.Now()
	floor.Must(s.t, c.Run(s.t.Context(), m))
	return c.Record(), time.Since(begin)
}
