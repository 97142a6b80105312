package predict

import (
	"net/netip"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/netstate"
)

// TestLanesTakeThePathsFamily: who names no family gets the path's.
func TestLanesTakeThePathsFamily(t *testing.T) {
	host := func(last string) netstate.Host {
		return netstate.Host{Links: []netstate.Link{{Name: "eth0", Up: true, Carrier: true, MTU: 1500, Addresses: []netip.Prefix{
			netip.MustParsePrefix("10.0.0." + last + "/24"), netip.MustParsePrefix("fd00::" + last + "/64"),
		}}}}
	}
	for family, want := range map[string]bool{"": false, "ipv4": false, "ipv6": true} {
		f := Fabric{Hosts: map[string]netstate.Host{"a": host("1"), "b": host("2")}, Paths: []fabric.Path{{From: "a", To: "b", Family: family}}}
		for _, way := range [][2]string{{"a", "b"}, {"b", "a"}} {
			lanes, err := Lanes(f, way[0], way[1], "")
			if err != nil || len(lanes) != 1 || lanes[0].Src.Is6() != want {
				t.Errorf("family %q, %s to %s: %v, %v", family, way[0], way[1], lanes, err)
			}
		}
	}
}
