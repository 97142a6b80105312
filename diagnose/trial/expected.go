package trial

import (
	"fmt"
	"maps"
	"slices"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/routing"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// mostStreams bounds what is predicted for: a record may hold any number.
const mostStreams = 1024

// after is what the trial would carry once the cause is mended, and what binds
// then: the prediction with every link in use, a policy that reaches ports and
// ports chosen, at the MTU that is set. Zero and nil where nothing is to mend,
// or where nobody can say.
func (v *wayView) after(cause record.Cause) (unit.BitRate, *record.NextLimit) {
	t := v.trial
	best := withPolicy(v.fabric, t.From, t.To)
	switch cause {
	case record.LineRate, record.Unknown:
		return 0, nil
	case record.AsymmetricRoute:
		if t.Ceiling <= t.Goodput {
			return 0, nil
		}
		return t.Ceiling, &record.NextLimit{Cause: record.LineRate, Rate: t.Ceiling, Why: "every link carries its own addresses' traffic"}
	case record.LACPDown:
		joinPorts(best, t.From, t.To)
	case record.MTU:
		widen(best, v.widest(), t.From, t.To)
	case record.Shaper:
		unshape(best, v.from)
		best = uncapped(best, t.From, t.To)
	case record.Pacing:
		unpace(best, v.from)
	case record.CardSlot:
		unslot(best, t.From, t.To)
	case record.SingleLink:
		spread(best, v.from, netstate.ActiveBackup)
		spread(best, v.to, netstate.ActiveBackup, netstate.BalanceTLB)
		joinPorts(best, t.From, t.To)
	case record.ReceiveWindow:
		raise(best, v.to, "net.ipv4.tcp_rmem")
		set(best, "1", "net.ipv4.tcp_moderate_rcvbuf", v.to)
		set(best, "1", "net.ipv4.tcp_window_scaling", v.from, v.to)
	case record.SendBuffer:
		raise(best, v.from, "net.ipv4.tcp_wmem")
	}
	streams := min(max(t.Streams, linkCount(best, t.From, t.To), len(v.egress), len(v.ingress)), mostStreams)
	sent := predict.Between(t.From, t.To, t.Direction, streams)
	sent.Protocol, sent.Lanes, sent.ChosenOnly = t.Protocol, v.counted(), true
	p, err := predict.Predict(best, sent)
	if err != nil || p.Ceiling <= 0 {
		return 0, nil // of links whose speed nobody knows no rate is promised
	}
	next := &record.NextLimit{Cause: p.Limit, Rate: p.Rate, Why: "as predicted"}
	if len(p.Limits) > 0 && p.Limits[0].Why != "" {
		next.Why = p.Limits[0].Why
	}
	if next.Cause == cause && cause != record.SingleLink {
		next = nil
	}
	return p.Rate, next
}

// counted is the pair's lanes, From's address first, over the links that the
// trial counted: it may have been one of some lanes only. Nil is every lane.
func (v *wayView) counted() []flow.Lane {
	t := v.trial
	all, err := predict.Lanes(v.fabric, t.From, t.To, "")
	if err != nil {
		return nil
	}
	held := func(host string, lane flow.Lane) bool {
		links := routing.Facing(v.fabric.Hosts[host], lane.Src, lane.Dst)
		var below []netstate.Link
		for _, l := range links {
			ports, _, _ := v.fabric.Hosts[host].Below(l.Name)
			below = append(below, ports...)
		}
		return len(links) == 0 || slices.ContainsFunc(below, func(l netstate.Link) bool {
			return slices.ContainsFunc(t.Links, func(u record.LinkUse) bool { return u.Host == host && u.Link == l.Name })
		})
	}
	own := slices.DeleteFunc(slices.Clone(all), func(l flow.Lane) bool { return !held(t.From, l) })
	if len(own) == 0 || len(own) == len(all) {
		return nil
	}
	// A ceiling above what those links carry was the whole pair's.
	alone := predict.Between(t.From, t.To, t.Direction, 1)
	alone.Protocol, alone.Lanes = t.Protocol, own
	most, _, err := predict.CeilingOf(v.fabric, alone, t.CeilingMTU)
	if err != nil || t.Ceiling > most*(1+nearTie) {
		return nil
	}
	return own
}

// withPolicy is the fabric with every hashing bond of the pair at layer3+4.
func withPolicy(f predict.Fabric, hosts ...string) predict.Fabric {
	out := predict.Fabric{Hosts: make(map[string]netstate.Host, len(f.Hosts)), Paths: f.Paths, Clouds: f.Clouds}
	maps.Copy(out.Hosts, f.Hosts)
	for _, name := range hosts {
		h, ok := out.Hosts[name]
		if !ok {
			continue
		}
		h = h.Clone()
		for i := range h.Links {
			if b := h.Links[i].Bond; b != nil && b.Own != nil {
				b.Own = bondopt.ByPorts(h.Kernel.OS, b.Own)
			} else if b != nil && b.Mode.Hashes() {
				b.HashPolicy = netstate.Layer34
			}
		}
		out.Hosts[name] = h
	}
	return out
}

// linkCount is the most links any bond of the pair spreads over.
func linkCount(f predict.Fabric, hosts ...string) int {
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
			if !ok || bond.Bond == nil || !usesAll(bond.Bond.Mode) {
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
