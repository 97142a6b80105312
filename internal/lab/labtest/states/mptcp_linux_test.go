package states

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/netstate"
)

// TestMPTCPStates is TestStates for what User-Mode Linux lacks, on the machine's
// own kernel, in namespaces: MPTCP's limits and endpoints over links that get
// addresses, MTUs, routes, rules and sysctls.
func TestMPTCPStates(t *testing.T) {
	if !onHost {
		t.Skip("it wants a kernel with MPTCP, the machine's own: " + envKernel + "=" + kernelHost)
	}
	seed := floor.Number(t, envSeed, floor.Draw(t))
	run := uint64(setting(envRun, 0))
	r := rand.New(rand.NewPCG(seed, run))
	y := &tally{kinds: make(map[string]int), options: make(map[string]int), modes: make(map[string]int)}
	start := time.Now()
	host := newStand(t)
	host.prepare()
	for i := 0; i < setting(envStates, sampleStates) && !t.Failed(); i++ {
		observed := host.observe()
		if observed.MPTCP == nil {
			t.Fatal("this kernel has no MPTCP")
		}
		host.roundTrip(fmt.Sprintf("state %d", i), y, observed, plain(r, observed), false)
	}
	t.Logf("kernel %s: %d states with MPTCP in a row, %d steps, %.1f s: applied, read back, undone and read back, applied again; kinds %v",
		host.observe().Kernel.Release, y.states, y.steps, time.Since(start).Seconds(), words(y.kinds))
	if y.kinds["mptcp-endpoint"] == 0 || y.kinds["mptcp-limit"] == 0 || y.refused > 0 {
		t.Errorf("no endpoint or no limit was changed, or %d plans were refused", y.refused)
	}
}

// plain draws a state of a host without bonds, VLANs and qdiscs, which every
// kernel can have.
func plain(r *rand.Rand, observed netstate.Host) netstate.Host {
	d := &drawing{r, observed.Clone()}
	d.host.Absent, d.host.Missing = nil, nil
	for i := range cables {
		l, _ := d.host.Link(port(i))
		l.Up = true
		d.host.SetLink(l)
	}
	// Which congestion controls a namespace may have is the machine's to say.
	delete(d.host.Sysctls, "net.ipv4.tcp_congestion_control")
	d.addresses()
	d.mtus()
	d.sysctls(0.3)
	d.routing()
	d.mptcp()
	return d.host
}
