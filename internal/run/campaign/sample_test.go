package campaign

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
)

// sampled is a campaign of so many hosts in one subnet, the last of which have a
// second link in another.
func sampled(hosts, two int) *Campaign {
	c := &Campaign{hosts: map[string]*fleet.Host{}, unreached: map[string]error{}, state: predict.Fabric{Hosts: map[string]netstate.Host{}}}
	var all []netstate.Host
	for i := range hosts {
		h := netstate.Host{Name: fmt.Sprintf("h%02d", i)}
		h.Links = append(h.Links, netstate.Link{Name: "eth0", Up: true, Addresses: []netip.Prefix{netip.MustParsePrefix(fmt.Sprintf("10.0.0.%d/24", i+1))}})
		if i >= hosts-two {
			h.Links = append(h.Links, netstate.Link{Name: "eth1", Up: true, Addresses: []netip.Prefix{netip.MustParsePrefix(fmt.Sprintf("10.0.1.%d/24", i+1))}})
		}
		c.hosts[h.Name], c.state.Hosts[h.Name] = &fleet.Host{Name: h.Name}, h
		all = append(all, h)
	}
	c.state.Paths = fabric.PathsBetween(all)
	return c
}

// TestSampleCovers: as few pairs as use every host and link, so many when they are
// told, and those of a host that was not reached once.
func TestSampleCovers(t *testing.T) {
	c := sampled(8, 2)
	if got := c.Sample(0); got != (Sampled{Pairs: 4, Of: 28}) || len(c.state.Paths) != 4 {
		t.Errorf("%+v, %d paths", got, len(c.state.Paths))
	}
	second := false
	for _, p := range c.state.Paths {
		second = second || p.From == "h06" && p.To == "h07"
	}
	if !second {
		t.Errorf("nobody uses the second links: %v", c.state.Paths)
	}
	if got, want := (Sampled{Pairs: 4, Of: 28}).Text(), "4 of 28 pairs, every host and link in one at least"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	c = sampled(8, 0)
	if got := c.Sample(3); got.Pairs != 3 || got.Left != 4 {
		t.Errorf("three pairs of eight hosts: %+v, want two hosts and their links left", got)
	}
	c = sampled(8, 0)
	delete(c.hosts, "h03")
	c.unreached["h03"] = errors.New("it is down")
	if got := c.Sample(0); got.Pairs != 5 {
		t.Errorf("with one host down: %+v, want four pairs of the others and one of it", got)
	}
}
