package campaign

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/kernel/feature"
	"github.com/linerate/linerate/internal/kernel/mptcp"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/kernel/sysctl"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// twoLinks are two hosts in namespaces with two shaped links between them, and
// an MPTCP endpoint on each host's second.
func twoLinks(t *testing.T) (fabric.Fabric, [2]netns.Namespace) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	if err := feature.Need(feature.MPTCP, feature.TBF); err != nil {
		t.Skip(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	text := "linerate: v1\nhosts:\n"
	var builders [2]*rtnl.Builder
	var spaces [2]netns.Namespace
	for i, name := range []string{"near", "far"} {
		space := "linerate-protocol-" + name
		_ = netns.Delete(space) // of a test that was killed
		ns, err := netns.Create(space)
		must(err)
		t.Cleanup(func() { _ = netns.Delete(space) })
		b, err := rtnl.OpenBuilder(ns)
		must(err)
		t.Cleanup(b.Close)
		builders[i], spaces[i] = b, ns
		text += fmt.Sprintf("  %s: {reach: \"netns:%s\", hardware: {links: {eth0: {speed: 50M, framing: l2}, eth1: {speed: 50M, framing: l2}}}}\n", name, space)
	}
	for k := range 2 {
		link := fmt.Sprintf("eth%d", k)
		must(builders[0].Veth(link, builders[1], link))
		for i, b := range builders {
			must(b.Up("lo"))
			must(b.Up(link))
			must(b.Address(link, netip.MustParsePrefix(fmt.Sprintf("10.88.%d.%d/24", k, i+1))))
			must(b.Shape(link, 50*unit.Mbps, 128*unit.KiB, 20*time.Millisecond))
		}
	}
	for i, flags := range []netstate.MPTCPFlags{netstate.MPTCPSubflow, netstate.MPTCPSignal} {
		must(spaces[i].Do(func() error {
			h, err := mptcp.Open()
			if err != nil {
				return err
			}
			defer h.Close()
			return errors.Join(h.SetLimits(2, 2), h.Add(netstate.MPTCPEndpoint{Addr: netip.MustParseAddr(fmt.Sprintf("10.88.1.%d", i+1)), Flags: flags}))
		}))
	}
	f, err := fabric.Parse("links.yaml", []byte(text))
	must(err)
	return f, spaces
}

// protocolTrial measures one stream of a protocol.
func protocolTrial(t *testing.T, c *Campaign, protocol string) (record.Trial, error) {
	t.Helper()
	before := len(c.Record().Trials)
	m := Matrix{Base: measure.Spec{Protocol: protocol}, Streams: []int{1}, Directions: []flow.Direction{flow.Forward}, Duration: 500 * time.Millisecond}
	if err := c.Run(t.Context(), m); err != nil {
		return record.Trial{}, err
	}
	r := c.Record()
	if len(r.Trials) == before {
		return record.Trial{}, errors.New(r.Failures[len(r.Failures)-1].Error)
	}
	return r.Trials[before], nil
}

// TestKernelProtocols measures UDP and MPTCP as users do: the MPTCP stream says
// its subflows and takes both links, and where MPTCP is off it says so.
func TestKernelProtocols(t *testing.T) {
	f, spaces := twoLinks(t)
	c, err := Open(t.Context(), Config{Fabric: f, Fleet: fleet.Config{Version: "test", JournalDir: t.TempDir(), Unguarded: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got, err := protocolTrial(t, c, "mptcp")
	if err != nil {
		t.Fatal(err)
	}
	var by []string
	for _, s := range got.Lanes[0].Subflows {
		if !slices.Contains(by, s.EgressLink) {
			by = append(by, s.EgressLink)
		}
	}
	slices.Sort(by)
	// Half a second of two shapers whose buckets of 128 KiB may have been full.
	if !slices.Equal(by, []string{"eth0", "eth1"}) || got.Protocol != "mptcp" || got.Goodput <= 0 || got.Goodput > got.Ceiling*1.05 {
		t.Errorf("%s, %v of %v, subflows %+v", got.Protocol, got.Goodput, got.Ceiling, got.Lanes[0].Subflows)
	}
	got, err = protocolTrial(t, c, "udp")
	if err != nil {
		t.Fatal(err)
	}
	if got.Protocol != "udp" || got.UDP == nil || got.UDP.Received == 0 || got.Lanes[0].UDP == nil || got.Method.Send == "" || len(got.Lanes[0].Subflows) > 0 {
		t.Errorf("udp: %+v", got)
	}
	if err := spaces[0].Do(func() error { return sysctl.Write("net.mptcp.enabled", "0", true) }); err != nil {
		t.Fatal(err)
	}
	if _, err = protocolTrial(t, c, "mptcp"); err == nil || !strings.Contains(err.Error(), "net.mptcp.enabled is 0") {
		t.Errorf("without MPTCP: %v, want the sysctl named", err)
	}
}
