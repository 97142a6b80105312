package netstate

import (
	"net/netip"
	"slices"
	"testing"
)

// stacked is a host with devices on each other, as hypervisors and containers have them.
func stacked() Host {
	net := func(text string) []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix(text)} }
	h := Host{Name: "h", Links: []Link{
		{Name: "lo", Kind: "loopback"},
		{Name: "eth0", Master: "bond0", Carrier: true}, {Name: "eth1", Master: "bond0", Carrier: true},
		{Name: "bond0", Kind: "bond", Bond: &Bond{Ports: []string{"eth0", "eth1"}}, Master: "vmbr0", Carrier: true},
		{Name: "tap1", Kind: "tun", Master: "vmbr0", Carrier: true}, {Name: "veth1", Kind: "veth", Master: "vmbr0", Carrier: true},
		{Name: "vmbr0", Kind: "bridge", Carrier: true, Addresses: net("10.0.0.1/24")},
		{Name: "vmbr0.7", Kind: "vlan", VLAN: &VLAN{ID: 7, Parent: "vmbr0"}, Carrier: true},
		{Name: "docker0", Kind: "bridge", Addresses: net("172.17.0.1/16")},
		{Name: "virbr0", Kind: "bridge", Carrier: true}, {Name: "vnet0", Kind: "tun", Master: "virbr0", Carrier: true}, {Name: "vnet1", Kind: "tun", Master: "virbr0", Carrier: true},
		{Name: "br-lab", Kind: "bridge", Carrier: true}, {Name: "up0", Kind: "veth", Master: "br-lab", Carrier: true},
		{Name: "docker1", Kind: "bridge", Carrier: true}, {Name: "veth1a2b3c", Kind: "veth", Master: "docker1", Carrier: true},
		{Name: "two", Kind: "bridge", Carrier: true}, {Name: "eth2", Master: "two", Carrier: true}, {Name: "eth3", Master: "two", Carrier: true},
		{Name: "mv0", Kind: "macvlan", Carrier: true, Extra: map[string]string{"link": "bond0"}}, {Name: "iv7", Kind: "ipvlan", Carrier: true, Extra: map[string]string{"link": "vmbr0.7"}},
		{Name: "mvpod", Kind: "macvlan", Carrier: true, Extra: map[string]string{"link": "5 in another namespace"}},
		{Name: "dummy0", Kind: "dummy", Carrier: true, Addresses: net("10.9.9.9/24")},
		{Name: "round", Kind: "bridge", Master: "about", Carrier: true}, {Name: "about", Kind: "bridge", Master: "round", Carrier: true},
	}}
	for i := range h.Links {
		h.Links[i].Up = true
		if h.Links[i].Master == "bond0" {
			h.Links[i].Port = &BondPort{MIIUp: true, Active: true}
		}
	}
	return h
}

func TestBelow(t *testing.T) {
	h := stacked()
	for name, want := range map[string]struct {
		ports []string
		tags  int
		bond  string
	}{
		"eth2":    {[]string{"eth2"}, 0, ""},
		"bond0":   {[]string{"eth0", "eth1"}, 0, "bond0"},
		"vmbr0":   {[]string{"eth0", "eth1"}, 0, "bond0"}, // its taps lead to guests
		"vmbr0.7": {[]string{"eth0", "eth1"}, 1, "bond0"},
		"docker0": {[]string{"docker0"}, 0, ""},
		"virbr0":  {[]string{"virbr0"}, 0, ""}, // one of several guests
		"br-lab":  {[]string{"up0"}, 0, ""},
		"docker1": {[]string{"docker1"}, 0, ""}, // its one port leads to a container
		"two":     {[]string{"two"}, 0, ""},
		"mv0":     {[]string{"eth0", "eth1"}, 0, "bond0"},
		"iv7":     {[]string{"eth0", "eth1"}, 1, "bond0"},
		"mvpod":   {[]string{"mvpod"}, 0, ""}, // its parent is of another namespace
	} {
		ports, tags, bond := h.Below(name)
		var names []string
		for _, p := range ports {
			names = append(names, p.Name)
		}
		got := ""
		if bond != nil {
			got = bond.Name
		}
		if !slices.Equal(names, want.ports) || tags != want.tags || got != want.bond {
			t.Errorf("%s: %v, %d tags, bond %q; want %v, %d, %q", name, names, tags, got, want.ports, want.tags, want.bond)
		}
	}
	h.Below("round") // ends
}

func TestLeadsNowhere(t *testing.T) {
	h := stacked()
	for name, want := range map[string]bool{"lo": true, "eth2": false, "vmbr0": false, "docker0": true, "virbr0": false, "dummy0": true, "bond0": false} {
		l, _ := h.Link(name)
		if got := h.LeadsNowhere(l); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
