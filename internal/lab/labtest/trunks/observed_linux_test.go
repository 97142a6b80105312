package trunks

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/host/observe"
	"github.com/linerate/linerate/internal/host/openvswitch"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	ovstest "github.com/linerate/linerate/internal/lab/labtest/openvswitch"
	"github.com/linerate/linerate/netstate"
)

// TestOVSObserved: a host whose bond is Open vSwitch's. What the switch says of itself is
// read over its sockets, follows its changes, and is in what discover writes and predict
// computes; another namespace with links of the same names has none of it.
func TestOVSObserved(t *testing.T) {
	host, peer, other := floor.NewSpace(t, "seen-host"), floor.NewSpace(t, "seen-peer"), floor.NewSpace(t, "seen-other")
	for i := range 2 {
		floor.Must(t, host.Builder.Veth(fmt.Sprintf("q%d", i), peer.Builder, fmt.Sprintf("eth%d", i)))
		floor.Must(t, host.Builder.Up(fmt.Sprintf("q%d", i)))
		floor.Must(t, peer.Builder.Up(fmt.Sprintf("eth%d", i)))
		floor.Must(t, other.Builder.Veth(fmt.Sprintf("q%d", i), peer.Builder, fmt.Sprintf("other%d", i)))
	}
	s := ovstest.New(t, host)
	t.Setenv("OVS_RUNDIR", s.Dir())
	seen := func(space floor.Space) netstate.Host {
		t.Helper()
		var h netstate.Host
		floor.Must(t, space.NS.DoWithSysfs(func() (err error) {
			h, err = observe.Observe(t.Context(), observe.Config{})
			return err
		}))
		return h
	}
	if h := seen(host); slices.ContainsFunc(h.Links, func(l netstate.Link) bool { return l.OVS != nil }) {
		t.Errorf("no bond is there, and one was read: %+v", h.Links)
	}
	s.Vsctl("add-bond", "br0", "bond0", "q0", "q1", "bond_mode=balance-slb", "other_config:bond-hash-basis=7")
	floor.Must(t, host.Builder.Up("br0"))
	floor.Must(t, host.Builder.Address("br0", netip.MustParsePrefix("10.79.1.1/24")))
	bond := func(want func(netstate.OVSBond) bool) netstate.Link {
		t.Helper()
		var l netstate.Link
		for range 100 { // the switch takes a change over in its own time
			h := seen(host)
			l, _ = h.Link("bond0")
			if l.OVS != nil && want(*l.OVS) {
				return l
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Fatalf("read %+v\n%s", l.OVS, s.Appctl("bond/show", "bond0"))
		return l
	}
	l := bond(func(b netstate.OVSBond) bool { return b.Mode == netstate.OVSBalanceSLB && len(b.Disabled) == 0 })
	if !slices.Equal(l.OVS.Ports, []string{"q0", "q1"}) || l.OVS.Basis != 7 || l.OVS.LACP != netstate.OVSLACPOff || l.Master != "br0" || !l.Carrier {
		t.Errorf("bond0 is %+v, of %s", l.OVS, l.Master)
	}
	h := seen(host)
	if got := h.UsablePorts("bond0"); !slices.Equal(got, []string{"q0", "q1"}) {
		t.Errorf("usable members %v", got)
	}
	if h := seen(other); slices.ContainsFunc(h.Links, func(l netstate.Link) bool { return l.OVS != nil || l.Master != "" }) {
		t.Errorf("another namespace has the switch's bond: %+v", h.Links)
	}
	// Without a word of the program's own, what discover writes is enough for predict.
	file := filepath.Join(t.TempDir(), "fabric.yaml")
	said(t, "discover", "netns:"+host.NS.Name, "-o", file)
	text, err := os.ReadFile(file)
	floor.Must(t, err)
	for _, want := range []string{"balance-slb", "bond-hash-basis", "bond0", "br0"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("discover lacks %s:\n%s", want, text)
		}
	}
	both := strings.NewReplacer("hosts:\n", "hosts:\n  peer: {network: {version: 2, ethernets: {eth0: {addresses: [10.79.1.2/24]}}}, hardware: {links: {eth0: {speed: 100G}}}}\n",
		"# links:", "links:", "#   q", "  q").Replace(string(text))
	floor.Must(t, os.WriteFile(file, []byte(both), 0o600))
	var all struct {
		Predictions []struct {
			Direction, Limit string
			Rate             float64 `json:"rate_bps"`
		} `json:"predictions"`
	}
	floor.Must(t, json.Unmarshal(said(t, "predict", file, "--streams", "8", "--json"), &all))
	held := false
	for _, p := range all.Predictions {
		held = held || p.Direction == "reverse" && p.Limit == "single-link" && p.Rate > 20e9 && p.Rate < 25e9
	}
	if !held {
		t.Errorf("eight streams of one pair of MAC addresses leave by one member: %+v", all.Predictions)
	}
	// A member that is down, and LACP that nobody answers.
	floor.Must(t, peer.Builder.Down("eth1"))
	bond(func(b netstate.OVSBond) bool { return slices.Equal(b.Disabled, []string{"q1"}) })
	floor.Must(t, peer.Builder.Up("eth1"))
	s.Vsctl("set", "port", "bond0", "lacp=active", "bond_mode=balance-tcp")
	l = bond(func(b netstate.OVSBond) bool { return b.NoPartner && b.Mode == netstate.OVSBalanceTCP })
	if l.OVS.LACP != netstate.OVSLACPActive || l.OVS.Silent() == "" {
		t.Errorf("bond0 is %+v", l.OVS)
	}
	// A host without Open vSwitch: no fact and no complaint.
	if bonds, err := openvswitch.Bonds(t.Context(), t.TempDir()); len(bonds) > 0 || err != nil {
		t.Errorf("no switch: %v, %v", bonds, err)
	}
}
