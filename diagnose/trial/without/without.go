// Package without is a fabric as it would be without one limit, on paper: what a remedy
// would bring is predicted of it.
package without

import (
	"fmt"
	"maps"
	"slices"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/topology"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
)

// nothing is the fabric as it is, with hosts that are its own copies.
func nothing(f predict.Fabric, hosts ...string) predict.Fabric {
	out := predict.Fabric{Hosts: make(map[string]netstate.Host, len(f.Hosts)), Paths: f.Paths, Clouds: f.Clouds}
	maps.Copy(out.Hosts, f.Hosts)
	for _, name := range hosts {
		if h, ok := out.Hosts[name]; ok {
			out.Hosts[name] = h.Clone()
		}
	}
	return out
}

// ownPolicy puts every hashing bond of the pair at layer3+4. The hosts are the
// fabric's own copies.
func ownPolicy(f predict.Fabric, hosts ...string) {
	for _, name := range hosts {
		h := f.Hosts[name]
		for i := range h.Links {
			if b := h.Links[i].Bond; b != nil && b.Own != nil {
				b.Own = bondopt.ByPorts(h.Kernel.OS, b.Own)
			} else if b != nil && b.Mode.Hashes() {
				b.HashPolicy = netstate.Layer34
			}
		}
	}
}

// withSwitches is the fabric with every switch between the two hosts that reads no ports
// at layer3+4.
func withSwitches(f predict.Fabric, a, b string) predict.Fabric {
	f.Paths = slices.Clone(f.Paths)
	for i := range f.Paths {
		p := &f.Paths[i]
		if !p.Joins(a, b) {
			continue
		}
		if fields := topology.FieldsOf(p.SwitchHash); fields == topology.ByMAC || fields == topology.ByAddress {
			p.SwitchHash = netstate.Layer34.String()
		}
		if n := fabric.NetworkOf(*p); n != nil {
			p.Switches = n.ByPorts()
		}
	}
	return f
}

// LinkCount is the most links any bond of the pair spreads over.
func LinkCount(f predict.Fabric, hosts ...string) int {
	most := 1
	for _, name := range hosts {
		for _, l := range f.Hosts[name].Links {
			if l.Bond != nil {
				most = max(most, len(f.Hosts[name].UsablePorts(l.Name)))
			}
		}
	}
	return most
}

// joinPorts brings every port of the hosts' bonds that use all up, into the
// active aggregator where there is one. The hosts are the fabric's own copies.
func joinPorts(f predict.Fabric, hosts ...string) {
	for _, name := range hosts {
		h := f.Hosts[name]
		for i := range h.Links {
			port := h.Links[i].Port
			if port == nil {
				continue
			}
			bond, ok := h.Link(port.Bond)
			if !ok || bond.Bond == nil || !UsesAll(bond.Bond.Mode) {
				continue
			}
			joined := *port
			joined.Active, joined.MIIUp = true, true
			if bond.Bond.AD != nil {
				joined.AggregatorID = bond.Bond.AD.ID
			}
			h.Links[i].Port, h.Links[i].Up, h.Links[i].Carrier = &joined, true, true
		}
	}
}

// widen gives links of the hosts at least an MTU. The hosts are the fabric's
// own copies.
func widen(f predict.Fabric, mtu int, hosts ...string) {
	for _, name := range hosts {
		h := f.Hosts[name]
		for i := range h.Links {
			if h.Links[i].MTU > 0 {
				h.Links[i].MTU = max(h.Links[i].MTU, mtu)
			}
		}
	}
}

// narrow gives links of the hosts at most an MTU. The hosts are the fabric's own
// copies.
func narrow(f predict.Fabric, mtu int, hosts ...string) {
	for _, name := range hosts {
		h := f.Hosts[name]
		for i := range h.Links {
			h.Links[i].MTU = min(h.Links[i].MTU, mtu)
		}
	}
}

// ampleBuffer binds no stream at any round trip between continents.
const ampleBuffer = 1 << 30

// raise is a host's largest buffer out of the way. The host is the fabric's
// own copy.
func raise(f predict.Fabric, host, key string) {
	h, ok := f.Hosts[host]
	if !ok || h.Sysctls == nil {
		return
	}
	s := h.Sysctls[key]
	s.Value = fmt.Sprintf("4096 131072 %d", ampleBuffer)
	h.Sysctls[key] = s
}

// set writes a sysctl that was read of hosts. They are the fabric's own copies.
func set(f predict.Fabric, value, key string, hosts ...string) {
	for _, name := range hosts {
		h := f.Hosts[name]
		if s, ok := h.Sysctls[key]; ok {
			s.Value = value
			h.Sysctls[key] = s
		}
	}
}

// spread makes a host's bonds of some modes, by which one link does all, spread flows over
// every port. The host is the fabric's own copy.
func spread(f predict.Fabric, host string, modes ...netstate.BondMode) {
	for _, l := range f.Hosts[host].Links {
		if l.Bond != nil && slices.Contains(modes, l.Bond.Mode) {
			l.Bond.Mode, l.Bond.HashPolicy, l.Bond.Active = netstate.BalanceXOR, netstate.Layer34, ""
		}
	}
}

// unshape takes the host's own shapers off links whose speed is known. The
// host is the fabric's own copy.
func unshape(f predict.Fabric, host string) {
	h := f.Hosts[host]
	for i, l := range h.Links {
		h.Links[i].Qdiscs = slices.DeleteFunc(slices.Clone(l.Qdiscs), func(q netstate.Qdisc) bool {
			return q.Parent == "root" && q.Rate > 0 && (q.Rate < l.Speed || l.Speed == 0 && (l.Bond != nil || l.VLAN != nil))
		})
	}
}

// uncapped is the fabric without the declared rates of a pair and its paths.
func uncapped(f predict.Fabric, hosts ...string) predict.Fabric {
	f.Paths = slices.Clone(f.Paths)
	for i, p := range f.Paths {
		if slices.Contains(hosts, p.From) && slices.Contains(hosts, p.To) {
			f.Paths[i].Rate = 0
		}
	}
	for _, name := range hosts {
		h := f.Hosts[name]
		h.Rate = 0
		f.Hosts[name] = h
	}
	return f
}

// unpace takes what holds single flows off the sender's devices. The host is
// the fabric's own copy.
func unpace(f predict.Fabric, host string) {
	h := f.Hosts[host]
	for i := range h.Links {
		qdiscs := slices.Clone(h.Links[i].Qdiscs)
		for k := range qdiscs {
			qdiscs[k].FlowRate = 0
		}
		h.Links[i].Qdiscs = qdiscs
	}
}

// unslot puts every card into a slot that does not bind. The hosts are the
// fabric's own copies.
func unslot(f predict.Fabric, hosts ...string) {
	for _, name := range hosts {
		h := f.Hosts[name]
		h.Cards = nil
		f.Hosts[name] = h
	}
}

// UsesAll reports modes that carry traffic over every port that is up.
func UsesAll(m netstate.BondMode) bool {
	return m != netstate.ActiveBackup && m != netstate.Broadcast
}

// Switches is the fabric with nothing said of its switches.
func Switches(f predict.Fabric) predict.Fabric {
	f.Paths = slices.Clone(f.Paths)
	for i := range f.Paths {
		f.Paths[i].Switches = nil
	}
	return f
}
