package floor

import (
	"testing"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// Await waits until a bond of a space has so many ports in use and, of an LACP
// bond, a partner; it fails the test when that takes longer than patience.
func Await(t testing.TB, space Space, bond string, ports int, patience time.Duration) {
	t.Helper()
	seen := 0
	for range patience / pause {
		var state netstate.Host
		Must(t, space.NS.Do(func() error {
			h, err := rtnl.Open()
			if err != nil {
				return err
			}
			defer h.Close()
			state.Links, err = h.Links()
			return err
		}))
		l, _ := state.Link(bond)
		partner := l.Bond != nil && (l.Bond.Mode != netstate.LACP || l.Bond.AD != nil && !l.Bond.AD.PartnerMAC.IsZero())
		if seen = len(state.UsablePorts(bond)); partner && seen == ports {
			return
		}
		Pause()
	}
	t.Fatalf("%s of %s has %d ports in use, want %d", bond, space.NS.Name, seen, ports)
}

// Bucket is a shaper's: 12 ms of its rate, so that nothing is lost while the
// processor is elsewhere.
func Bucket(rate unit.BitRate) unit.Bytes {
	return max(16*unit.KiB, unit.Bytes(float64(rate)/8*0.012))
}

// Cabled is two observed hosts, near and far, whose eth0 are joined by a cable of
// a rate, which a shaper keeps.
func Cabled(t testing.TB, near, far Space, rate unit.BitRate) measure.Network {
	t.Helper()
	net := measure.Network{Endpoints: map[string]ask.Host{}, Machines: map[string]string{}}
	net.Fabric.Hosts = map[string]netstate.Host{}
	for name, s := range map[string]Space{"near": near, "far": far} {
		h, err := fleet.Dial(t.Context(), name, "netns:"+s.NS.Name, fleet.Config{Version: "test", Unguarded: true})
		Must(t, err)
		t.Cleanup(func() { h.Close() })
		seen, err := h.Observe(t.Context())
		Must(t, err)
		seen.Host.Name = name
		l, _ := seen.Host.Link("eth0")
		l.Speed, l.Framing = rate, netstate.FramingL2
		seen.Host.SetLink(l)
		net.Endpoints[name], net.Machines[name], net.Fabric.Hosts[name] = h, h.Hello.Machine, seen.Host
	}
	net.Fabric.Paths = fabric.PathsBetween([]netstate.Host{net.Fabric.Hosts["near"], net.Fabric.Hosts["far"]})
	return net
}
