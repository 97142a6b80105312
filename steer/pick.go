package steer

import (
	"errors"
	"fmt"
	"slices"

	"github.com/linerate/linerate/flow"
)

// The source ports that Pick looks through unless the request names others.
const (
	DefaultFirstPort uint16 = 40000
	DefaultLastPort  uint16 = 59999
)

// DefaultDport is iperf3's and linerate's listening port.
const DefaultDport uint16 = 5201

// ErrTooFewPorts is Pick's error for fewer ports than streams.
var ErrTooFewPorts = errors.New("too few source ports")

// PickRequest asks for streams that use links evenly: those of the sender,
// and those of whoever else spreads the same connections, as far as that is
// known. Where not all can be even, the one named first below comes first.
type PickRequest struct {
	// Near is how the sender spreads what it sends. It must be given.
	Near Spreader
	// Between are how switches spread it over the links between them, in the order of
	// the way; those after MostBetween are left out.
	Between []Spreader
	// Far is how the switch spreads what arrives over the links to the
	// receiver; nil unknown.
	Far Spreader
	// Back is how the receiver spreads what it sends back over the same
	// connections, BackFar how the switch spreads that over the links to the
	// sender; nil unknown.
	Back, BackFar Spreader
	// Lanes are the pairs of addresses that may be used, at least one.
	Lanes   []flow.Lane
	Streams int
	Proto   flow.Proto // zero is TCP
	Dport   uint16     // zero is DefaultDport
	// Dports are the ports to use where the server listens on several, instead
	// of Dport; streams take turns on them.
	Dports []uint16
	// FirstPort and LastPort bound the source ports, both included; both zero
	// is DefaultFirstPort to DefaultLastPort.
	FirstPort, LastPort uint16
	// Avoid and AvoidRanges are source ports never to use, Used whole flows
	// that exist.
	Avoid       []uint16
	AvoidRanges []flow.PortRange
	Used        []flow.Tuple
	// SrcMAC and DstMAC (the next hop's) may stay zero, VLAN too. BackSrcMAC
	// and BackDstMAC are those of the frames that come back.
	SrcMAC, DstMAC         flow.MAC
	BackSrcMAC, BackDstMAC flow.MAC
	VLAN                   uint16
}

// MostBetween is how many places between switches are looked at.
const MostBetween = 4

// Stream is one chosen flow.
type Stream struct {
	flow.Lane
	Sport, Dport uint16
	// Link, FarLink, BackLink and BackFarLink are numbers of links of the
	// request's spreaders; -1 unknown. Under Picked.Relative they tell which
	// streams share a link, numbered as the likeliest reading of what is not
	// known has it: the links may count otherwise.
	Link, FarLink, BackLink, BackFarLink int
	// BetweenLinks are the same for each of the request's Between.
	BetweenLinks [MostBetween]int
}

// Tuple is the stream as a flow of the protocol.
func (s Stream) Tuple(p flow.Proto) flow.Tuple {
	return flow.Tuple{Proto: p, Src: s.Src, Dst: s.Dst, Sport: s.Sport, Dport: s.Dport}
}

// Picked is what Pick chose. The same request always gives the same answer.
type Picked struct {
	// Streams are in the order to start them: stream i goes to link i modulo
	// the links, so that any first k of them are even too. Where another
	// side's link follows from the near one, the order within a round differs.
	Streams []Stream
	// PerLink and its like count streams on each link, under Relative in the
	// likeliest reading; streams whose link is unknown are not counted. Nil for
	// a side that is not in the request.
	PerLink, FarPerLink, BackPerLink, BackFarPerLink []int
	BetweenPerLink                                   [][]int // one for each of Between
	// Even: on no side does a link carry two streams more than another.
	Even bool
	// Relative: links are told apart, but their numbers are not known, for
	// want of a MAC address, of the kernel's exact release or of a lagg's key.
	Relative bool
	// Why says what stands in the way of even use or of knowing the links; ""
	// when nothing does.
	Why string
	// Remedy is what would make the even use possible; "" when it is even.
	Remedy string
}

// Pick chooses source ports, and lanes and destination ports where those do
// not help, so that the streams use the links evenly. All source ports
// differ, but where there are several destination ports and too few source
// ports: then no two streams share both. Where a policy or the lanes make
// even use impossible it comes as close as they allow and says why. Errors: a
// request that makes no sense, ErrTooFewPorts.
func Pick(req PickRequest) (Picked, error) {
	req, err := req.Complete()
	if err != nil {
		return Picked{}, fmt.Errorf("pick ports: %w", err)
	}
	s := newSearch(req, false)
	p, err := s.run()
	if len(req.Dports) > 1 && (err != nil || !p.Even && s.useful) {
		again, againErr := newSearch(req, true).run()
		if againErr == nil && (err != nil || again.Even) {
			p, err = again, nil
		}
	}
	if err != nil {
		return Picked{}, fmt.Errorf("pick ports: %w", err)
	}
	if !p.Even && s.keyed() {
		p = s.onOneLane(p)
	}
	return p, nil
}

// onOneLane is a pick of one lane and destination port, where that is even:
// ports in a row then take a lagg's ports in turn whatever its key, while
// lanes do so with some keys only.
func (s *search) onOneLane(p Picked) Picked {
	for _, lane := range s.req.Lanes {
		one := s.req
		one.Lanes, one.Dports = []flow.Lane{lane}, one.Dports[:1]
		if q, err := newSearch(one, false).run(); err == nil && q.Even {
			return q
		}
	}
	return p
}

// keyed reports a side whose key is secret.
func (s *search) keyed() bool {
	return slices.ContainsFunc(s.sides, func(side side) bool { return side.lagg != nil })
}

// Complete fills in the defaults and refuses what makes no sense. Errors: a
// plain one, ErrTooFewPorts.
func (req PickRequest) Complete() (PickRequest, error) {
	if req.Proto == 0 {
		req.Proto = flow.TCP
	}
	if len(req.Dports) == 0 {
		if req.Dport == 0 {
			req.Dport = DefaultDport
		}
		req.Dports = []uint16{req.Dport}
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
	case req.Near == nil:
		return req, errors.New("how the sender spreads its flows is not given")
	}
	for _, l := range req.Lanes {
		if !l.OneFamily() {
			return req, fmt.Errorf("%s and %s are of different families", l.Src, l.Dst)
		}
	}
	for _, s := range req.sides() {
		if len(s.spreader.Links()) == 0 {
			return req, errors.New(s.attribute("no usable link"))
		}
	}
	if ports := int(req.LastPort) - int(req.FirstPort) + 1; req.Streams > ports*len(req.Dports) {
		return req, req.tooFew()
	}
	return req, nil
}

func (req PickRequest) tooFew() error {
	return fmt.Errorf("%d streams, ports %d to %d: %w", req.Streams, req.FirstPort, req.LastPort, ErrTooFewPorts)
}
