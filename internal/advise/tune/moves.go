package tune

import (
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

// Name is a move's: what kind of change it makes.
type Name string

// The moves there are.
const (
	HashPolicy Name = "hash-policy"
	BondMode   Name = "bond-mode"
	Streams    Name = "streams-and-ports"
	MTU        Name = "mtu"
	Buffers    Name = "buffers"
	Windows    Name = "windows"
	Congestion Name = "congestion-control"
	// SocketControl is that of the sockets that ask for it.
	SocketControl Name = "socket-congestion-control"
	Reordering    Name = "reordering"
	Queueing      Name = "queueing-discipline"
	Pacing        Name = "pacing"
	Offloads      Name = "offloads"
	// Segmentation is where large sends are cut into packets.
	Segmentation Name = "segmentation"
	Coalescing   Name = "coalescing"
	Rings        Name = "rings"
	Channels     Name = "channels"
	ZeroCopy     Name = "zero-copy"
)

// option is one change that a move could make to a state.
type option struct {
	key    Name // tells it from others of its move
	change string
	why    string
	reason func() string            // why, where it takes time to say
	hosts  map[string]netstate.Host // desired, nil for traffic alone
	load   Load
	probe  int // MTU that must pass
}

// move is a row of the one table of moves.
type move struct {
	name Name
	// options are what could be done now, the cheapest first.
	options func(State) []option
	// modelled moves are judged by the prediction first: it knows their worth.
	modelled bool
	// causes are the findings that ask for the move where the prediction sees
	// no gain; nil is none.
	causes []record.Cause
	// bounces says that a link or a port carries nothing for a while, which
	// needs consent and comes last.
	bounces bool
}

// moves is the one table. Its order is that of unsure tries of equal standing:
// what costs the host least comes first.
func moves() []move {
	return []move{
		{name: HashPolicy, options: policyOptions, modelled: true},
		{name: Buffers, options: bufferOptions, modelled: true, causes: []record.Cause{record.ReceiveWindow, record.SendBuffer}},
		{name: Congestion, options: congestionOptions, modelled: true,
			causes: []record.Cause{record.Congestion, record.Reordering, record.Pacing, record.Shaper, record.Unknown}},
		{name: MTU, options: mtuOptions, modelled: true},
		{name: Segmentation, options: segmentOptions, causes: []record.Cause{record.Reordering}},
		{name: Reordering, options: reorderingOptions, causes: []record.Cause{record.Reordering}},
		{name: Windows, options: windowOptions, causes: []record.Cause{record.Reordering}},
		{name: SocketControl, options: socketControlOptions},
		{name: ZeroCopy, options: zeroCopyOptions, causes: []record.Cause{record.SenderCPU}},
		{name: Offloads, options: offloadOptions, causes: []record.Cause{record.SenderCPU, record.ReceiverCPU}},
		{name: Coalescing, options: coalescingOptions, causes: []record.Cause{record.ReceiverCPU}},
		{name: Pacing, options: pacingOptions, causes: []record.Cause{record.Shaper, record.Congestion}},
		{name: Streams, options: streamOptions, modelled: true, causes: []record.Cause{
			record.Congestion, record.Reordering, record.ReceiveWindow, record.SendBuffer, record.SenderCPU, record.ReceiverCPU,
			record.HashImbalance, record.SingleLink, record.Pacing, record.Shaper, record.Unknown}},
		{name: Queueing, options: queueOptions, causes: []record.Cause{record.Congestion, record.Shaper}},
		{name: BondMode, options: modeOptions, modelled: true, bounces: true, causes: []record.Cause{record.Reordering, record.Congestion, record.Unknown}},
		{name: Rings, options: ringOptions, bounces: true, causes: []record.Cause{record.ReceiverCPU, record.Congestion}},
		{name: Channels, options: channelOptions, bounces: true, causes: []record.Cause{record.ReceiverCPU, record.SenderCPU}},
	}
}

// after is the state once the option is in. What was measured before is not
// of it.
func (s State) after(o option) State {
	s.Fabric, s.Load, s.Trials = with(s.Fabric, o.hosts), o.load, nil
	return s
}

// left are the options of a move that were not tried yet.
func (s State) left(m move) []option {
	if s.Tried[m.name] || s.Refused[m.name] || s.Calm && s.bounces(m) {
		return nil
	}
	var out []option
	for _, o := range m.options(s) {
		if o.key == "" {
			o.key = m.name
		}
		if !s.Tried[o.key] && !s.Refused[o.key] {
			out = append(out, o)
		}
	}
	return out
}

// bounces reports a move in which a port carries nothing for a while: most
// drivers restart hardware to change its MTU (ndo_change_mtu).
func (s State) bounces(m move) bool {
	if m.name != MTU {
		return m.bounces
	}
	for host, links := range pairLinks(s) {
		for _, l := range links {
			for _, name := range stack(s.Fabric.Hosts[host], l) {
				if d, ok := s.Fabric.Hosts[host].Link(name); ok && d.Kind == "" {
					return true
				}
			}
		}
	}
	return false
}
