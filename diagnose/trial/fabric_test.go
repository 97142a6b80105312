package trial

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// end is a host of the tests' fabric: one bond, or with links 1 a plain link.
type end struct {
	name   string
	links  int
	mode   netstate.BondMode
	policy netstate.HashPolicy
	speed  unit.BitRate
	addrs  []string
	// outside is how many of the last ports are in another aggregator.
	outside int
}

func (e end) host() netstate.Host {
	h := netstate.Host{Name: e.name, Kernel: netstate.Kernel{OS: "linux", Release: "6.1.0"}, CPU: netstate.CPU{Cores: 8}}
	var addresses []netip.Prefix
	for _, a := range e.addrs {
		addresses = append(addresses, netip.MustParsePrefix(a))
	}
	var ports []string
	for i := range e.links {
		l := netstate.Link{Name: fmt.Sprintf("eth%d", i), MTU: 1500, Up: true, Carrier: true, Speed: e.speed, Framing: netstate.FramingL2}
		if e.links > 1 {
			l.Master = "bond0"
			l.Port = &netstate.BondPort{Bond: "bond0", Active: e.mode != netstate.ActiveBackup || i == 0, MIIUp: true, AggregatorID: 1}
			if i >= e.links-e.outside {
				l.Port.AggregatorID = 2
			}
			ports = append(ports, l.Name)
		} else {
			l.Addresses = addresses
		}
		h.Links = append(h.Links, l)
	}
	if e.links > 1 {
		bond := netstate.Link{Name: "bond0", Kind: "bond", MTU: 1500, Up: true, Carrier: true, Addresses: addresses,
			Bond: &netstate.Bond{Mode: e.mode, HashPolicy: e.policy, Ports: ports}}
		if e.mode == netstate.LACP {
			bond.Bond.AD = &netstate.Aggregator{ID: 1}
		}
		h.Links = append(h.Links, bond)
	}
	return h
}

// pair is two ends of one kind, LACP with 500 Mbit/s links where nothing else
// is said, behind a switch.
type pair struct {
	end
	switchHash string
	rtt        time.Duration
	rate       unit.BitRate // of the path
}

func (p pair) fabric() predict.Fabric {
	a, b := p.end, p.end
	a.name, b.name = "a", "b"
	if a.speed == 0 {
		a.speed, b.speed = 500e6, 500e6
	}
	if a.mode == 0 {
		a.mode, b.mode = netstate.LACP, netstate.LACP
	}
	if a.addrs == nil {
		a.addrs, b.addrs = []string{"10.0.0.1/24"}, []string{"10.0.0.2/24"}
	}
	if p.switchHash == "" {
		p.switchHash = "layer3+4"
	}
	if p.rtt == 0 {
		p.rtt = 9 * time.Millisecond
	}
	return predict.Fabric{
		Hosts: map[string]netstate.Host{"a": a.host(), "b": b.host()},
		Paths: []fabric.Path{{From: "a", To: "b", RTT: p.rtt, SwitchHash: p.switchHash, Rate: p.rate, Declared: true}},
	}
}

// subnets is two hosts with two plain links, each with a subnet of its own.
func subnets() predict.Fabric {
	f := pair{end: end{links: 1}}.fabric()
	for name, last := range map[string]string{"a": "1", "b": "2"} {
		h := f.Hosts[name].Clone()
		second := h.Links[0]
		second.Name, second.Addresses = "eth1", []netip.Prefix{netip.MustParsePrefix("10.0.1." + last + "/24")}
		h.Links = append(h.Links, second)
		f.Hosts[name] = h
	}
	return f
}

const (
	one     = 500e6 * 1448 / 1514 // payload of a 500 Mbit/s link
	wireOf  = 1514.0 / 1448
	forward = flow.Forward
)

// streams is that many like streams of a trial, from a to b or back.
func streams(n int, way flow.Direction, rate unit.BitRate) []record.Lane {
	pair := flow.Lane{Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.2")}
	if way == flow.Reverse {
		pair = pair.Reverse()
	}
	var all []record.Lane
	for i := range n {
		all = append(all, record.Lane{Lane: pair, Way: way, Sport: uint16(40000 + i), Dport: 5201, Goodput: rate / unit.BitRate(n),
			TCP: record.TCP{SndMSS: 1448, RTTMS: 9.2, BusyRatio: 1, SndWnd: 3 * unit.MiB}})
	}
	return all
}

// sent is a trial from a to b with the payload of each of a's and b's links.
func sent(n int, out, in []unit.BitRate) record.Trial {
	t := record.Trial{From: "a", To: "b", Direction: forward, Streams: n, Protocol: "tcp", Ports: "chosen", Window: 4}
	for i, r := range out {
		t.Goodput += r
		t.Links = append(t.Links, record.LinkUse{Host: "a", Link: fmt.Sprintf("eth%d", i), TxPayload: r, RxPayload: r / 100, Ceiling: one})
	}
	for i, r := range in {
		t.Links = append(t.Links, record.LinkUse{Host: "b", Link: fmt.Sprintf("eth%d", i), RxPayload: r, TxPayload: r / 100, Ceiling: one})
	}
	t.Wire = t.Goodput * wireOf
	t.Lanes = streams(n, forward, t.Goodput)
	return t
}

func rates(r ...unit.BitRate) []unit.BitRate { return r }

// synthesised is the trial that a prediction describes, as if measured.
func synthesised(f predict.Fabric, p predict.Prediction) record.Trial {
	t := record.Trial{From: p.From, To: p.To, Direction: p.Direction, Streams: p.Streams, Protocol: p.Protocol, Ports: "chosen",
		Goodput: p.Rate, Wire: p.Rate * wireOf, Ceiling: p.Ceiling, Window: 4}
	at := make(map[[2]string]int)
	arrived := make(map[flow.Direction]unit.BitRate)
	for _, host := range []string{p.From, p.To} {
		for _, l := range f.Hosts[host].Links {
			if l.Bond != nil {
				continue
			}
			at[[2]string{host, l.Name}] = len(t.Links)
			t.Links = append(t.Links, record.LinkUse{Host: host, Link: l.Name, Ceiling: framing.LinkPayload(l, l.MTU, 0, false)})
		}
	}
	for _, s := range p.Links {
		u := &t.Links[at[[2]string{s.Host, s.Link}]]
		if s.Transmit {
			u.TxPayload += s.Load
		} else {
			u.RxPayload += s.Load
			arrived[s.Way] += s.Load
		}
	}
	for _, way := range p.Direction.Ways() {
		t.Lanes = append(t.Lanes, streams(p.Streams, way, arrived[way])...)
	}
	for i := range t.Lanes {
		switch p.Limit {
		case record.ReceiveWindow:
			t.Lanes[i].TCP.RwndLimited = 0.9
		case record.SendBuffer:
			t.Lanes[i].TCP.SndbufLimited = 0.9
		}
	}
	return t
}

// own is the trial when only so much of what its links carried was its own.
func own(t record.Trial, goodput unit.BitRate) record.Trial {
	t.Goodput, t.Wire = goodput, goodput*wireOf
	t.Lanes = streams(t.Streams, forward, goodput)
	return t
}
