package trial

import (
	"slices"

	"github.com/linerate/linerate/diagnose/trial/without"
	"github.com/linerate/linerate/flow"
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
func (v *wayView) after(h hypothesis) (unit.BitRate, *record.NextLimit) {
	t, cause := v.trial, h.cause
	best := without.WithPolicy(v.fabric, t.From, t.To)
	if h.switches || len(h.remedy) > 0 && slices.ContainsFunc(h.remedy[0], func(a record.Action) bool { return a.Switch == record.HashPorts }) {
		best = without.WithSwitches(best, t.From, t.To)
	}
	senders, receivers := []string{v.from}, []string{v.to}
	if v.eachWay {
		senders, receivers = []string{v.from, v.to}, []string{v.to, v.from}
	}
	switch cause {
	case record.LineRate, record.Unknown:
		return 0, nil
	case record.AsymmetricRoute:
		if t.Ceiling <= t.Goodput {
			return 0, nil
		}
		return t.Ceiling, &record.NextLimit{Cause: record.LineRate, Rate: t.Ceiling, Why: "every link carries its own addresses' traffic"}
	case record.LACPDown:
		without.JoinPorts(best, t.From, t.To)
	case record.MTU:
		if size := v.lowersTo(); size > 0 {
			without.Narrow(best, size, t.From, t.To)
		} else {
			without.Widen(best, v.widest(), t.From, t.To)
		}
	case record.Shaper:
		for _, h := range senders {
			without.Unshape(best, h)
		}
		best = without.Uncapped(best, t.From, t.To)
	case record.Pacing:
		for _, h := range senders {
			without.Unpace(best, h)
		}
	case record.CardSlot:
		without.Unslot(best, t.From, t.To)
	case record.SingleLink:
		without.Spread(best, v.from, netstate.ActiveBackup)
		without.Spread(best, v.to, netstate.ActiveBackup, netstate.BalanceTLB)
		without.JoinPorts(best, t.From, t.To)
		without.Set(best, "1", "net.ipv4.fib_multipath_hash_policy", t.From, t.To)
	case record.ReceiveWindow:
		for _, h := range receivers {
			without.Raise(best, h, "net.ipv4.tcp_rmem")
			without.Set(best, "1", "net.ipv4.tcp_moderate_rcvbuf", h)
		}
		without.Set(best, "1", "net.ipv4.tcp_window_scaling", v.from, v.to)
	case record.SendBuffer:
		for _, h := range senders {
			without.Raise(best, h, "net.ipv4.tcp_wmem")
		}
	}
	streams := min(max(t.Streams, without.LinkCount(best, t.From, t.To), len(v.egress), len(v.ingress)), mostStreams)
	sent := stillAsked(t, cause)
	sent.Streams, sent.Ports, sent.Lanes, sent.ChosenOnly = streams, predict.PortsChosen, v.counted(), true
	if v.trunk { // its links all in use: no more than the ceiling
		best = without.Switches(best)
	}
	p, err := predict.Predict(best, sent)
	if v.trunk && t.Ceiling > 0 {
		p.Rate = min(p.Rate, t.Ceiling)
	}
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

// stillAsked is the trial's traffic with what its run and its programs asked of it,
// but for what the cause names: the remedy leaves that as it is.
func stillAsked(t record.Trial, cause record.Cause) predict.Traffic {
	out := predict.TrafficOfTrial(t)
	switch cause {
	case record.Pacing, record.Application:
		out.Pace = 0
	case record.ReceiveWindow, record.SendBuffer:
		out.SocketBuffer = 0
	}
	return out
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
