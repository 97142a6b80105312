package change

import (
	"errors"
	"testing"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/render"
)

// TestOwned: a link that another program manages is changed only by its own
// files, or by somebody who says so.
func TestOwned(t *testing.T) {
	mtu := plan.Step{Kind: plan.LinkMTU, Link: "eth0", Old: "1500", New: "9000"}
	for _, tt := range []struct {
		name    string
		owner   string
		step    plan.Step
		persist render.Format
		despite bool
		refused bool
	}{
		{"nobody's", "", mtu, "", false, false},
		{"NetworkManager's", "NetworkManager", mtu, "", false, true},
		{"NetworkManager's by keyfiles", "NetworkManager", mtu, render.FormatKeyfile, false, false},
		{"NetworkManager's by ifcfg", "NetworkManager", mtu, render.FormatIfcfg, false, false},
		{"NetworkManager's by netplan", "NetworkManager", mtu, render.FormatNetplan, false, false},
		{"NetworkManager's by networkd's files", "NetworkManager", mtu, render.FormatNetworkd, false, true},
		{"networkd's", "systemd-networkd", mtu, "", false, true},
		{"networkd's by its files", "systemd-networkd", mtu, render.FormatNetworkd, false, false},
		{"networkd's by netplan", "systemd-networkd", mtu, render.FormatNetplan, false, false},
		{"networkd's by keyfiles", "systemd-networkd", mtu, render.FormatKeyfile, false, true},
		{"networkd's, told to", "systemd-networkd", mtu, "", true, false},
		{"a program that no format hands over to", "wicked", mtu, render.FormatNetplan, false, true},
		{"a sysctl", "NetworkManager", plan.Step{Kind: plan.Sysctl, Key: "net.ipv4.tcp_sack", Old: "0", New: "1"}, "", false, false},
		{"another link", "NetworkManager", plan.Step{Kind: plan.LinkMTU, Link: "eth1", Old: "1500", New: "9000"}, "", false, false},
		{"taken into a bond", "NetworkManager", plan.Step{Kind: plan.PortMaster, Link: "eth0", Old: plan.NoMaster, New: "bond0"}, "", false, true},
		{"a route over it", "systemd-networkd", plan.Step{Kind: plan.Route, Link: "eth0", Route: &netstate.Route{Link: "eth0"}, Old: plan.Absent, New: plan.Present}, "", false, true},
		{"a path over it among others", "systemd-networkd", plan.Step{Kind: plan.Route, Route: &netstate.Route{Hops: []netstate.NextHop{{Link: "eth1"}, {Link: "eth0"}}}, Old: plan.Absent, New: plan.Present}, "", false, true},
		{"a port of the bond it is", "NetworkManager", plan.Step{Kind: plan.PortMaster, Link: "eth1", Old: "eth0", New: plan.NoMaster}, "", false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &Change{cfg: Config{DespiteOwner: tt.despite}, before: predict.Fabric{Hosts: map[string]netstate.Host{
				"a": {Links: []netstate.Link{{Name: "eth0", Owner: tt.owner}, {Name: "eth1"}}},
			}}}
			err := c.owned(Host{Name: "a", Plan: plan.Plan{Steps: []plan.Step{tt.step}}, Persist: tt.persist})
			var owner *OwnerError
			if errors.As(err, &owner) != tt.refused {
				t.Fatalf("error %v, want refused %v", err, tt.refused)
			}
			if tt.refused && (owner.Link != "eth0" || owner.Owner != tt.owner) {
				t.Errorf("names %s of %s", owner.Link, owner.Owner)
			}
		})
	}
}

func TestBackEnd(t *testing.T) {
	for _, tt := range []struct {
		name   string
		owners []string
		os     string
		inside bool
		want   render.Format
	}{
		{"nobody", nil, "linux", false, ""},
		{"netplan before what it writes for", []string{"systemd-networkd", "netplan"}, "linux", false, render.FormatNetplan},
		{"netplan over NetworkManager", []string{"NetworkManager", "netplan"}, "linux", false, render.FormatNetplan},
		{"NetworkManager", []string{"NetworkManager"}, "linux", false, render.FormatKeyfile},
		{"networkd", []string{"systemd-networkd"}, "linux", false, render.FormatNetworkd},
		{"ifupdown", []string{"ifupdown"}, "linux", false, render.FormatIfupdown},
		{"wicked", []string{"wicked"}, "linux", false, ""},
		{"a namespace", []string{"netplan"}, "linux", true, ""},
		{"another system", []string{"netplan"}, "freebsd", false, ""},
		{"a system that nobody named", []string{"netplan"}, "", false, render.FormatNetplan},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, why := backEnd(netstate.Host{Owners: tt.owners, Kernel: netstate.Kernel{OS: tt.os}}, tt.inside)
			if got != tt.want || why == "" {
				t.Errorf("%q (%s), want %q", got, why, tt.want)
			}
		})
	}
}
