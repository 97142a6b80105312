package predict

import (
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/testfabric"
)

func JoinedHosts(a, b netstate.Host, rtt time.Duration, switchHash string) Fabric {
	return Fabric{
		Hosts: map[string]netstate.Host{a.Name: a, b.Name: b},
		Paths: []fabric.Path{{From: a.Name, To: b.Name, RTT: rtt, SwitchHash: switchHash, Declared: true}},
	}
}

func (f Fabric) Set(host, key, value string) Fabric {
	h := f.Hosts[host].Clone()
	h.Sysctls[key] = netstate.Sysctl{Value: value}
	f.Hosts[host] = h
	return f
}

// demo is the demo's lab: LACP, two links of 500 Mbit/s that shapers emulate.
func demo(policy netstate.HashPolicy, mtu int) Fabric {
	b := testfabric.Bond{Ports: 2, Speed: 500e6, Framing: netstate.FramingL2, Mode: netstate.LACP, Policy: policy, Mtu: mtu, Kernel: "6.1.0"}
	a, z := b, b
	a.Name, a.Addrs = "a", []string{"10.0.0.1/24"}
	z.Name, z.Addrs = "b", []string{"10.0.0.2/24"}
	return JoinedHosts(a.Host(), z.Host(), 9*time.Millisecond, "layer3+4")
}
