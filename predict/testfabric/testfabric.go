// Package testfabric makes hosts for the tests of predictions.
package testfabric

import (
	"fmt"
	"net/netip"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// Bond is a host "NAME" with a bond of like ports NAME0, NAME1, ...
type Bond struct {
	Name    string
	Addrs   []string
	Ports   int
	Speed   unit.BitRate
	Framing netstate.Framing
	Mode    netstate.BondMode
	Policy  netstate.HashPolicy
	Mtu     int
	Kernel  string
	Vlan    int // addresses go on a VLAN of the bond
	Card    string
	Dynamic bool
}

func (b Bond) Host() netstate.Host {
	h := netstate.Host{Name: b.Name, Kernel: netstate.Kernel{OS: "linux", Release: b.Kernel}}
	bond := netstate.Link{Name: "bond0", Kind: "bond", MTU: b.Mtu, Up: true, Carrier: true,
		Bond: &netstate.Bond{Mode: b.Mode, HashPolicy: b.Policy, TLBDynamic: b.Dynamic}}
	for i := range b.Ports {
		name := fmt.Sprintf("%s%d", b.Name, i)
		port := netstate.BondPort{Bond: "bond0", MIIUp: true, Active: b.Mode != netstate.ActiveBackup || i == 0}
		if b.Mode == netstate.LACP {
			bond.Bond.AD = &netstate.Aggregator{ID: 1}
			port.AggregatorID = 1
		}
		h.Links = append(h.Links, netstate.Link{Name: name, MTU: b.Mtu, Up: true, Carrier: true, Speed: b.Speed,
			Framing: b.Framing, Master: "bond0", Port: &port, Card: b.Card})
		bond.Bond.Ports = append(bond.Bond.Ports, name)
	}
	addressed := &bond
	if b.Vlan > 0 {
		h.Links = append(h.Links, bond)
		addressed = &netstate.Link{Name: "lan", Kind: "vlan", MTU: b.Mtu, Up: true, Carrier: true, VLAN: &netstate.VLAN{ID: b.Vlan, Parent: "bond0"}}
	}
	for _, a := range b.Addrs {
		addressed.Addresses = append(addressed.Addresses, netip.MustParsePrefix(a))
	}
	h.Links = append(h.Links, *addressed)
	return h
}

// Plain is a host with one unbonded link per address list.
func Plain(name string, speed unit.BitRate, mtu int, addrs ...string) netstate.Host {
	h := netstate.Host{Name: name, Kernel: netstate.Kernel{OS: "linux", Release: "6.1"}}
	for i, a := range addrs {
		h.Links = append(h.Links, netstate.Link{Name: fmt.Sprintf("ens%d", 3+i), MTU: mtu, Up: true, Carrier: true, Speed: speed,
			Addresses: []netip.Prefix{netip.MustParsePrefix(a)}})
	}
	return h
}
