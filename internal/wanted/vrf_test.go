package wanted_test

import (
	"errors"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/wanted"
	"github.com/linerate/linerate/netstate"
)

// TestVRFNextHops: a VRF's routes reach the networks of its ports, and no more.
func TestVRFNextHops(t *testing.T) {
	for via, reached := range map[string]bool{"192.0.2.1": true, "198.51.100.1": false} {
		f, err := fabric.Parse("f.yaml", []byte("linerate: v1\nhosts: {h: {network: {ethernets: {eth0: {addresses: [192.0.2.2/24]}, eth1: {addresses: [198.51.100.2/24]}}, vrfs: {v: {table: 9, interfaces: [eth0], routes: [{to: default, via: "+via+"}]}}}}}\n"))
		if err != nil {
			t.Fatal(err)
		}
		observed := netstate.Host{Name: "h", Kernel: netstate.Kernel{OS: "linux"}, Links: []netstate.Link{{Name: "eth0", Kind: "veth", MTU: 1500}, {Name: "eth1", Kind: "veth", MTU: 1500}, {Name: "v", Kind: "vrf"}}}
		_, err = wanted.Of(wanted.Request{Fabric: f, Host: "h", Observed: observed, FromFile: true})
		var problems yamldoc.Problems
		if errors.As(err, &problems) == reached {
			t.Errorf("by %s: %v", via, err)
		}
	}
}
