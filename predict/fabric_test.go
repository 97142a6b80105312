package predict

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// bonded is a host "NAME" with a bond of like ports NAME0, NAME1, ...
type bonded struct {
	name    string
	addrs   []string
	ports   int
	speed   unit.BitRate
	framing netstate.Framing
	mode    netstate.BondMode
	policy  netstate.HashPolicy
	mtu     int
	kernel  string
	vlan    int // addresses go on a VLAN of the bond
	card    string
	dynamic bool
}

func (b bonded) host() netstate.Host {
	h := netstate.Host{Name: b.name, Kernel: netstate.Kernel{OS: "linux", Release: b.kernel}}
	bond := netstate.Link{Name: "bond0", Kind: "bond", MTU: b.mtu, Up: true, Carrier: true,
		Bond: &netstate.Bond{Mode: b.mode, HashPolicy: b.policy, TLBDynamic: b.dynamic}}
	for i := range b.ports {
		name := fmt.Sprintf("%s%d", b.name, i)
		port := netstate.BondPort{Bond: "bond0", MIIUp: true, Active: b.mode != netstate.ActiveBackup || i == 0}
		if b.mode == netstate.LACP {
			bond.Bond.AD = &netstate.Aggregator{ID: 1}
			port.AggregatorID = 1
		}
		h.Links = append(h.Links, netstate.Link{Name: name, MTU: b.mtu, Up: true, Carrier: true, Speed: b.speed,
			Framing: b.framing, Master: "bond0", Port: &port, Card: b.card})
		bond.Bond.Ports = append(bond.Bond.Ports, name)
	}
	addressed := &bond
	if b.vlan > 0 {
		h.Links = append(h.Links, bond)
		addressed = &netstate.Link{Name: "lan", Kind: "vlan", MTU: b.mtu, Up: true, Carrier: true, VLAN: &netstate.VLAN{ID: b.vlan, Parent: "bond0"}}
	}
	for _, a := range b.addrs {
		addressed.Addresses = append(addressed.Addresses, netip.MustParsePrefix(a))
	}
	h.Links = append(h.Links, *addressed)
	return h
}

// plain is a host with one unbonded link per address list.
func plain(name string, speed unit.BitRate, mtu int, addrs ...string) netstate.Host {
	h := netstate.Host{Name: name, Kernel: netstate.Kernel{OS: "linux", Release: "6.1"}}
	for i, a := range addrs {
		h.Links = append(h.Links, netstate.Link{Name: fmt.Sprintf("ens%d", 3+i), MTU: mtu, Up: true, Carrier: true, Speed: speed,
			Addresses: []netip.Prefix{netip.MustParsePrefix(a)}})
	}
	return h
}

func between(a, b netstate.Host, rtt time.Duration, switchHash string) Fabric {
	return Fabric{
		Hosts: map[string]netstate.Host{a.Name: a, b.Name: b},
		Paths: []fabric.Path{{From: a.Name, To: b.Name, RTT: rtt, SwitchHash: switchHash, Declared: true}},
	}
}

func (f Fabric) set(host, key, value string) Fabric {
	h := f.Hosts[host].Clone()
	h.Sysctls[key] = netstate.Sysctl{Value: value}
	f.Hosts[host] = h
	return f
}

// demo is the demo's lab: LACP, two links of 500 Mbit/s that shapers emulate.
func demo(policy netstate.HashPolicy, mtu int) Fabric {
	b := bonded{ports: 2, speed: 500e6, framing: netstate.FramingL2, mode: netstate.LACP, policy: policy, mtu: mtu, kernel: "6.1.0"}
	a, z := b, b
	a.name, a.addrs = "a", []string{"10.0.0.1/24"}
	z.name, z.addrs = "b", []string{"10.0.0.2/24"}
	return between(a.host(), z.host(), 9*time.Millisecond, "layer3+4")
}
