package steer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/flow"
)

// The source ports that Pick looks through unless the request names others.
const (
	DefaultFirstPort uint16 = 40000
	DefaultLastPort  uint16 = 59999
)

// DefaultDport is iperf3's and linerate's listening port.
const DefaultDport uint16 = 5201

// ErrTooFewPorts is Pick's error for a port range smaller than the streams.
var ErrTooFewPorts = errors.New("too few source ports")

// PickRequest asks for streams that use a bundle's links evenly.
type PickRequest struct {
	Bundle Bundle
	// Far is how the far side's switch spreads what arrives over the links to
	// the receiver, where that is declared; nil unknown. Both sides are then
	// spread evenly, the sender's first where both cannot be.
	Far *Bundle
	// Lanes are the pairs of addresses that may be used, at least one.
	Lanes   []flow.Lane
	Streams int
	Proto   flow.Proto // zero is TCP
	Dport   uint16     // zero is DefaultDport
	// FirstPort and LastPort bound the source ports, both included; both zero
	// is DefaultFirstPort to DefaultLastPort.
	FirstPort, LastPort uint16
	// Avoid are source ports never to use, Used whole flows that exist.
	Avoid []uint16
	Used  []flow.Tuple
	// SrcMAC and DstMAC (the next hop's) may stay zero, VLAN too.
	SrcMAC, DstMAC flow.MAC
	VLAN           uint16
}

// Stream is one chosen flow.
type Stream struct {
	flow.Lane
	Sport uint16
	// Link and FarLink are port numbers of the two bundles; -1 unknown.
	Link, FarLink int
}

// Picked is what Pick chose. The same request always gives the same answer.
type Picked struct {
	// Streams are in the order to start them: stream i goes to link i modulo
	// the links, so that any first k of them are even too. Where a far side's
	// link follows from the near one, the order within a round differs.
	Streams []Stream
	// PerLink and FarPerLink count streams on each link; streams whose link
	// is unknown are not counted. FarPerLink is nil without Far.
	PerLink, FarPerLink []int
	// Even: on either side no link carries two streams more than another.
	Even bool
	// Relative: links are told apart, but their numbers are not known, for
	// want of a MAC address or of the kernel's exact release.
	Relative bool
	// Why says what stands in the way of even use or of knowing the links; ""
	// when nothing does.
	Why string
}

// Pick chooses source ports, and lanes where ports alone do not help, so that
// the streams use the links evenly. All source ports differ. Where the policy
// or the lanes make even use impossible it comes as close as they allow and
// says why. Errors: a request that makes no sense, ErrTooFewPorts.
func Pick(req PickRequest) (Picked, error) {
	req, err := req.complete()
	if err != nil {
		return Picked{}, fmt.Errorf("pick ports: %w", err)
	}
	near, far := req.classes()
	useful := req.portsHelp()
	for depth := max(1024, 16*req.Streams); ; depth *= 8 {
		c, all := req.gather(near, far, depth)
		if useful && !all && !c.ample(req.Streams) {
			continue // later ports may reach a link that these leave out
		}
		streams, err := req.choose(c, near, far)
		if err != nil {
			if all {
				return Picked{}, fmt.Errorf("pick ports: %w", err)
			}
			continue
		}
		if p := req.judge(streams); p.Even || all || !useful {
			return p, nil
		}
	}
}

// complete fills in the defaults and refuses what makes no sense.
func (req PickRequest) complete() (PickRequest, error) {
	if req.Proto == 0 {
		req.Proto = flow.TCP
	}
	if req.Dport == 0 {
		req.Dport = DefaultDport
	}
	if req.FirstPort == 0 && req.LastPort == 0 {
		req.FirstPort, req.LastPort = DefaultFirstPort, DefaultLastPort
	}
	switch {
	case req.Streams < 1:
		return req, fmt.Errorf("%d streams: want at least one", req.Streams)
	case len(req.Lanes) == 0:
		return req, errors.New("no pair of addresses given")
	case req.FirstPort == 0 || req.FirstPort > req.LastPort:
		return req, fmt.Errorf("source ports %d to %d: want a first that is at least 1 and at most the last", req.FirstPort, req.LastPort)
	case len(req.Bundle.Ports) == 0:
		return req, errors.New("no usable link")
	case req.Far != nil && len(req.Far.Ports) == 0:
		return req, errors.New("no usable link on the far side")
	}
	if ports := int(req.LastPort) - int(req.FirstPort) + 1; req.Streams > ports {
		return req, fmt.Errorf("%d streams, ports %d to %d: %w", req.Streams, req.FirstPort, req.LastPort, ErrTooFewPorts)
	}
	return req, nil
}

// portsHelp reports whether other source ports could change a placement.
func (req PickRequest) portsHelp() bool {
	if r := req.Bundle.Reach(); r.Ports && r.Chosen {
		return true
	}
	if req.Far == nil {
		return false
	}
	r := req.Far.Reach()
	return r.Ports && r.Chosen
}

// frame is the stream's frame as either side's hash sees it.
func (req PickRequest) frame(lane flow.Lane, sport uint16) flow.Frame {
	return flow.Frame{
		Tuple:  flow.Tuple{Proto: req.Proto, Src: lane.Src, Dst: lane.Dst, Sport: sport, Dport: req.Dport},
		SrcMAC: req.SrcMAC, DstMAC: req.DstMAC, VLAN: req.VLAN,
	}
}

// judge counts the streams on the links of both sides.
func (req PickRequest) judge(streams []Stream) Picked {
	p := Picked{Streams: streams}
	frames := make([]flow.Frame, len(streams))
	near, far := make([]int, len(streams)), make([]int, len(streams))
	for i, s := range streams {
		frames[i] = req.frame(s.Lane, s.Sport)
		near[i], far[i] = s.Link, s.FarLink
	}
	v := req.Bundle.verdict(frames, near)
	p.PerLink, p.Even, p.Relative = v.perLink, v.even, v.relative
	reasons := v.reasons
	if req.Far != nil {
		v := req.Far.verdict(frames, far)
		p.FarPerLink, p.Even, p.Relative = v.perLink, p.Even && v.even, p.Relative || v.relative
		for _, r := range v.reasons {
			reasons = append(reasons, "far side: "+r)
		}
	}
	p.Why = strings.Join(slices.Compact(reasons), "; ")
	return p
}
