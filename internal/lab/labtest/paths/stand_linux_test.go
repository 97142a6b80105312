package paths

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/describe"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/root"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// TestMain makes the test binary the program too: a guard, or a run to kill.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "guard" || os.Args[1] == "measure") {
		os.Exit(root.Run(console.System("test"), os.Args[1:]))
	}
	os.Exit(m.Run())
}

// stand is hosts in namespaces of the running kernel.
type stand struct {
	t      *testing.T
	spaces map[string]floor.Space
}

func newStand(t *testing.T, hosts ...string) *stand {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	s := &stand{t, make(map[string]floor.Space)}
	for _, h := range hosts {
		s.spaces[h] = floor.NewSpace(t, "paths-"+h)
		floor.Must(t, s.spaces[h].Builder.Up("lo"))
	}
	return s
}

// cable joins two hosts by links of the names given, with an address each,
// shaped at both ends; a rate of zero shapes nothing.
func (s *stand) cable(a, aLink, aAddr, b, bLink, bAddr string, rate unit.BitRate) {
	s.t.Helper()
	near, far := s.spaces[a].Builder, s.spaces[b].Builder
	floor.Must(s.t, near.Veth(aLink, far, bLink))
	for _, e := range []struct {
		host, link, addr string
	}{{a, aLink, aAddr}, {b, bLink, bAddr}} {
		builder := s.spaces[e.host].Builder
		floor.Must(s.t, builder.Address(e.link, netip.MustParsePrefix(e.addr)))
		floor.Must(s.t, builder.Up(e.link))
		if rate > 0 {
			floor.Must(s.t, builder.Shape(e.link, rate, max(128*unit.KiB, unit.Bytes(float64(rate)/8*0.002)), 30*time.Millisecond))
		}
	}
}

// run runs one line of iproute2 or sysctl inside a host.
func (s *stand) run(host, line string) error {
	words := append([]string{"netns", "exec", s.spaces[host].NS.Name}, strings.Fields(line)...)
	out, err := exec.Command("ip", words...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %s: %w: %s", host, line, err, out)
	}
	return nil
}

func (s *stand) must(host string, lines ...string) {
	s.t.Helper()
	for _, l := range lines {
		floor.Must(s.t, s.run(host, l))
	}
}

// fabric describes hosts as `linerate discover` does.
func (s *stand) fabric(hosts ...string) fabric.Fabric {
	s.t.Helper()
	var seen []netstate.Host
	reach := make(map[string]string)
	for _, name := range hosts {
		reach[name] = "netns:" + s.spaces[name].NS.Name
		h, err := fleet.Dial(s.t.Context(), name, reach[name], fleet.Config{Version: "test", Unguarded: true})
		floor.Must(s.t, err)
		reply, err := h.Observe(s.t.Context())
		floor.Must(s.t, err)
		floor.Must(s.t, h.Close())
		reply.Host.Name = name
		seen = append(seen, reply.Host)
	}
	f, err := fabric.Parse("test", describe.Write(seen, fabric.PathsBetween(seen), reach, fabric.Measure{}))
	floor.Must(s.t, err)
	return f
}

// campaign opens a run over the hosts.
func (s *stand) campaign(f fabric.Fabric, tell func(campaign.Event)) *campaign.Campaign {
	s.t.Helper()
	c, err := campaign.Open(s.t.Context(), campaign.Config{Fabric: f, Fleet: fleet.Config{Version: "test", JournalDir: s.t.TempDir(), Unguarded: true}, Tell: tell})
	floor.Must(s.t, err)
	s.t.Cleanup(func() { c.Close() })
	return c
}
