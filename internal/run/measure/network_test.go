package measure

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/unit"
)

// bonded is a host with an LACP bond of that many links, or one plain link,
// and that many addresses in 10.0.0.0/24.
func bonded(name string, links, aliases, first int) netstate.Host {
	h := netstate.Host{Name: name, Kernel: netstate.Kernel{OS: "linux", Release: "6.1.0"}}
	var addresses []netip.Prefix
	for i := range aliases {
		addresses = append(addresses, netip.MustParsePrefix(fmt.Sprintf("10.0.0.%d/24", first+i)))
	}
	link := func(i int) netstate.Link {
		return netstate.Link{Name: fmt.Sprintf("eth%d", i), Index: 2 + i, MTU: 1500, Up: true, Carrier: true, Speed: 500e6, Framing: netstate.FramingL2, MAC: flow.MAC{2, 0, 0, 0, byte(first), byte(i)}}
	}
	if links == 1 {
		l := link(0)
		l.Addresses = addresses
		h.Links = append(h.Links, l)
		return h
	}
	bond := netstate.Link{Name: "bond0", Index: 20, Kind: "bond", MTU: 1500, Up: true, Carrier: true, MAC: flow.MAC{2, 0, 0, 0, byte(first), 0}, Addresses: addresses,
		Bond: &netstate.Bond{Mode: netstate.LACP, HashPolicy: netstate.Layer34, AD: &netstate.Aggregator{ID: 1, Ports: links}}}
	for i := range links {
		l := link(i)
		l.Master, l.Port = "bond0", &netstate.BondPort{Bond: "bond0", Active: true, MIIUp: true, AggregatorID: 1}
		bond.Bond.Ports = append(bond.Bond.Ports, l.Name)
		h.Links = append(h.Links, l)
	}
	h.Links = append(h.Links, bond)
	return h
}

func networkOf(a, b netstate.Host, switchHash string) Network {
	return Network{
		Fabric: predict.Fabric{
			Hosts: map[string]netstate.Host{a.Name: a, b.Name: b},
			Paths: []fabric.Path{{From: a.Name, To: b.Name, RTT: 9 * time.Millisecond, SwitchHash: switchHash, Declared: true}},
		},
		Machines: map[string]string{a.Name: "m1", b.Name: "m2"},
	}
}

const step = 200 * time.Millisecond

// receiving is an end that has carried those rates, one between every two
// samples, in one stream.
func receiving(rates ...unit.BitRate) *end {
	e := &end{way: way{name: flow.Forward, streams: 1}, samples: []agentapi.Sample{{Bytes: []uint64{1000}}}}
	total := 1000.0
	for i, r := range rates {
		total += float64(r) / 8 * step.Seconds()
		e.samples = append(e.samples, agentapi.Sample{At: time.Duration(i+1) * step, Bytes: []uint64{uint64(total)}})
	}
	return e
}
