package trial

import (
	"fmt"
	"net/netip"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/predict/routing"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// worthPackets is the share that full packets must gain to be worth saying.
const worthPackets = 0.01

// ethernet is a frame's header, which every counter of a link includes.
const ethernet = 14

// frameHeaders is what a packet carries beside payload, from the Ethernet
// header on.
func frameHeaders(protocol string, ipv6 bool) int {
	return ethernet + framing.HeaderBytes(protocol, ipv6)
}

// packet is the payload of one of the trial's packets where the run asked for
// small ones; zero where it asked for nothing.
func (v *wayView) packet() (payload int) {
	for _, l := range v.lanes {
		switch {
		case l.UDP != nil:
			payload = max(payload, l.UDP.Payload)
		case l.Asked != nil && l.Asked.MSS > 0 && l.TCP.SndMSS > 0:
			payload = max(payload, l.TCP.SndMSS)
		case l.Asked != nil && l.Asked.MSS > 0:
			payload = max(payload, l.Asked.MSS)
		}
	}
	return payload
}

// smallPackets: the links are full, of packets that the run made small.
func (v *wayView) smallPackets(side []linkLoad) (hypothesis, bool) {
	payload := v.packet()
	full, size := v.fullPackets(side)
	if payload <= 0 || size <= payload || full < total(side)*(1+worthPackets) {
		return hypothesis{}, false
	}
	headers := frameHeaders(v.trial.Protocol, v.lanes[0].Dst.Is6())
	what, flag := "segments", "--mss"
	if v.trial.UDP != nil {
		what, flag = "datagrams", "--datagram"
	}
	links := "links are"
	if len(side) == 1 {
		links = "link is"
	}
	return hypothesis{
		cause: record.MTU, seen: true, sure: 0.95,
		summary: fmt.Sprintf("The %s full: %s of %d bytes spend %s of it on headers; with %d bytes it is %v.",
			links, what, payload, diagnose.Percent(float64(headers)/float64(payload+headers)), size, full),
		evidence: append([]record.Evidence{
			{What: "payload of one packet from " + v.from, Value: fmt.Sprintf("%d bytes", payload), Source: flag},
			{What: "payload that the links carry in full packets", Value: full.String(), Source: "the links' speed and MTU"},
		}, v.loads()...),
		remedy: v.traffic().Without(flag, "leave "+flag+" out: full packets carry more"),
	}, true
}

// fullPackets is what the side's links carry when packets fill the MTU, and
// the payload of such a packet; zero where the links are not known.
func (v *wayView) fullPackets(side []linkLoad) (sum unit.BitRate, payload int) {
	if len(side) == 0 || len(v.lanes) == 0 {
		return 0, 0
	}
	h := v.fabric.Hosts[side[0].host]
	at, peer := v.lanes[0].Src, v.lanes[0].Dst
	if side[0].host != v.from {
		at, peer = peer, at
	}
	device := routing.FacingOne(h, at, peer)
	if device.MTU <= 0 {
		return 0, 0
	}
	_, tags, _ := h.Below(device.Name)
	for _, l := range side {
		link, ok := h.Link(l.link)
		if !ok {
			return 0, 0
		}
		sum += framing.LinkPayloadOf(v.trial.Protocol, link, device.MTU, tags, at.Is6())
	}
	return sum, device.MTU - framing.HeaderBytes(v.trial.Protocol, at.Is6())
}

// pairShare is the share of the pair's ceiling below which full links are not
// all that there are.
const pairShare = 0.8

// partOfPair: the links in use are full, and the ceiling counts others.
func (v *wayView) partOfPair(side []linkLoad) hypothesis {
	what := fmt.Sprintf("The %d links in use are full", len(side))
	if len(side) == 1 {
		what = fmt.Sprintf("The one link in use (%s of %s) is full", side[0].link, side[0].host)
	}
	return hypothesis{
		cause: record.SingleLink, seen: true, sure: 0.9, mended: "With every link in use",
		summary: fmt.Sprintf("%s, and that is %s of the ceiling: the pair has more links, which this trial's addresses do not use.",
			what, diagnose.Percent(diagnose.Fraction(v.trial.Goodput, v.trial.Ceiling))),
		evidence: v.loads(),
		remedy:   record.ByHand("use addresses on the other links too"),
	}
}

// plain reports addresses on links that are no bond's, on both hosts: no hash
// deals their flows out.
func (v *wayView) plain() bool {
	for _, l := range v.lanes {
		for _, end := range []struct {
			h        netstate.Host
			at, peer netip.Addr
		}{{v.fabric.Hosts[v.from], l.Src, l.Dst}, {v.fabric.Hosts[v.to], l.Dst, l.Src}} {
			if len(routing.Facing(end.h, end.at, end.peer)) != 1 || bondAt(end.h, end.at) != nil {
				return false
			}
		}
	}
	return len(v.lanes) > 0
}
