package care

import (
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/host/apply/testjournal"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// thorough is a proof (`make prove-care`); otherwise a sample of it runs.
func thorough() bool { return os.Getenv("PROVE_RUNS") != "" }

// hosts are so many lab hosts at one switch, each with links of 100 Mbit/s; few
// enough bytes that one processor never limits them. A queue holds 50 ms.
func hosts(names []string, links int, bond *lab.Bond) lab.Topology {
	t := lab.Topology{
		Switch: lab.Switch{Hash: netstate.Layer34, MTU: 1500}, LinkRate: 100 * unit.Mbps, Burst: 128 * unit.KiB,
		Wait: 50 * time.Millisecond, RTT: 4 * time.Millisecond,
	}
	for i, name := range names {
		address := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}), 24)
		t.Hosts = append(t.Hosts, lab.Host{Name: name, Links: links, Bond: bond, Addresses: []netip.Prefix{address}})
	}
	return t
}

// open builds a topology and a campaign between its first two hosts, both gone
// when the test ends.
func open(t *testing.T, net lab.Topology, tell func(campaign.Event)) *campaign.Campaign {
	t.Helper()
	down, err := lab.Up(t.Context(), net)
	floor.Must(t, err)
	t.Cleanup(func() {
		if err := down(); err != nil {
			t.Error(err)
		}
	})
	net.Hosts = net.Hosts[:2]
	f, err := fabric.Parse("lab.yaml", []byte(net.Fabric([]int{1}, "chosen")))
	floor.Must(t, err)
	c, err := campaign.Open(t.Context(), campaign.Config{Fabric: f, Fleet: fleet.Config{Version: "test", JournalDir: testjournal.Dir(t)}, BackEnd: "test", Tell: tell})
	floor.Must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}
