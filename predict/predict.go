// Package predict says what a pair of hosts can carry: the expected rate of
// every path, direction and stream count, the ceiling no measurement may
// exceed, and every limit with its number, its reason and whether it binds.
// Pure: it computes from netstate and the declared paths and must never look at
// a host, a clock or a file. Which link a flow takes is steer's knowledge.
//
// Rates are TCP (or UDP) payload in bits per second unless a name says wire.
//
// Where to look. A new limit goes into one of two lists, bounds in bound.go (of
// a stream) or limits in limit.go (of the way):
//
//	question and answer    predict, traffic, matrix (every pair, direction, count), expect (one way)
//	addresses, routes      lane, routing/, attach (what lies under an address), way, aggregator, tunnel
//	which link             spread, multipath, plan (flows over links), kernelports, chances, chance/
//	bytes on the wire      ceiling, together (several kinds of traffic), framing/
//	limits                 limit (their order), linklimit, bound (of a stream), shared (of streams together)
//	windows, loss          window, roundtrip, loss, lossmeets, pacing, tcp/ (sysctls to bytes; responses to loss)
//	one limit each         striped (reordering), core, card and pcie, cloud, shaper
//	who gets how much      network (resources), fleet and fleetresource (very many flows), maxmin/
//	one measured row       calibrate/
//	changes on paper       whatif/
//	a program by name      connections/
package predict

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/cloud"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Errors that callers may act on.
var (
	// ErrUnknownHost is a name that the fabric does not hold.
	ErrUnknownHost = errors.New("unknown host")
	// ErrNoLane is a pair of hosts without a pair of addresses that reach
	// each other.
	ErrNoLane = errors.New("no common subnet and no route between the hosts")
	// ErrNoLink is an address whose link carries nothing now: it is down, or
	// its bond has no usable port.
	ErrNoLink = errors.New("no usable link")
	// ErrUnknownSpeed means that nothing bounds the rate, because a link's
	// speed is unknown; the error's text names the link.
	ErrUnknownSpeed = errors.New("link speed unknown")
	// ErrMTU is an MTU that the headers fill; the error's text names the
	// addresses.
	ErrMTU = errors.New("no room for payload")
	// ErrTraffic is traffic that cannot be predicted as asked.
	ErrTraffic = errors.New("bad traffic")
)

// Fabric is what is known of hosts and paths, declared and observed merged.
type Fabric struct {
	Hosts map[string]netstate.Host
	Paths []fabric.Path
	// Clouds are the rules for hosts in clouds; the zero value is the built-in
	// ones.
	Clouds cloud.Table
}

// The two ways to get source ports.
const (
	PortsChosen = "chosen"
	PortsKernel = "kernel"
)

// Traffic is what would be sent between two hosts.
type Traffic struct {
	From, To  string
	Direction flow.Direction
	Streams   int    // in each direction, at least 1
	Protocol  string // "tcp", "udp", "mptcp"; "" is tcp
	Ports     string // PortsChosen or PortsKernel; "" is PortsChosen
	// SocketBuffer is what each socket asks for; zero leaves autotuning on.
	SocketBuffer unit.Bytes
	// Lanes are the pairs of addresses to use, From's first; nil is every
	// lane of the pair.
	Lanes []flow.Lane
	// LoadedRTT is the round trip measured under load; zero unknown, then the
	// path's RTT and an allowance for the hosts count.
	LoadedRTT time.Duration
	// Congestion is the sender's congestion control; "" is its host's
	// net.ipv4.tcp_congestion_control, and cubic where that is unknown too.
	Congestion string
	// Pace is what each stream is limited to at the sender; zero is none.
	Pace unit.BitRate
	// Window is how long a test reads the rate; zero is steady state.
	Window time.Duration
	// ChosenOnly leaves out KernelPorts and KernelWorst, which take most of the
	// time where luck has many ways.
	ChosenOnly bool
	// duplex: as much goes the other way at the same time.
	duplex bool
	// opposite is what the hosts' cores carry the other way meanwhile.
	opposite unit.BitRate
}

// Limit is one bound on the traffic.
type Limit struct {
	Cause record.Cause `json:"cause"`
	// Rate is what this limit alone would let through; zero when Cause is
	// unknown and nobody can say.
	Rate unit.BitRate `json:"rate_bps"`
	// Low and High bound Rate where an input is uncertain; zero: it is certain.
	Low   unit.BitRate `json:"rate_low_bps,omitempty"`
	High  unit.BitRate `json:"rate_high_bps,omitempty"`
	Where string       `json:"where"`
	// Switch is the switch whose links bind; "" for a host's and for all others.
	Switch string `json:"switch,omitempty"`
	Why    string `json:"why"`
}

// LinkShare is the expected load of one physical link.
type LinkShare struct {
	Host string
	Link string
	// Way is forward or reverse; Transmit is true on the sender of that way.
	Way      flow.Direction
	Transmit bool
	// Streams is the expected number of streams on the link: a whole number
	// where it is certain.
	Streams float64
	Load    unit.BitRate
	// Chance: luck decides which streams the link has; Streams and Load are the
	// mean.
	Chance bool
}

// Prediction is the contract's predict document for one pair, direction and
// stream count.
type Prediction struct {
	From      string         `json:"from"`
	To        string         `json:"to"`
	Direction flow.Direction `json:"direction"`
	Streams   int            `json:"streams"`
	Protocol  string         `json:"protocol"`
	// Rate is what to expect with the ports asked for; the mean over the
	// kernel's choice where that decides.
	Rate unit.BitRate `json:"rate_bps"`
	// Ceiling is what no measurement may exceed in steady state; zero unknown.
	Ceiling unit.BitRate `json:"ceiling_bps"`
	// Limit is the cause that binds, always that of Limits[0].
	Limit  record.Cause `json:"limit"`
	Limits []Limit      `json:"limits"`
	// KernelPorts is the mean with ports that the kernel chooses and
	// KernelWorst all of a bond's flows on one link; zero where ports make no
	// difference.
	KernelPorts unit.BitRate `json:"kernel_ports_bps,omitempty"`
	KernelWorst unit.BitRate `json:"kernel_ports_worst_bps,omitempty"`
	// KernelChances is how likely each number of links is with ports that the
	// kernel chooses, the most links first; nil where KernelPorts is zero, and
	// for direction both, whose ways have theirs each.
	KernelChances []Chance `json:"kernel_ports_chances,omitempty"`
	// RateLow and RateHigh bound Rate where an input is unknown or uncertain,
	// and RangeWhy says which; zero where nothing is open.
	RateLow  unit.BitRate `json:"rate_low_bps,omitempty"`
	RateHigh unit.BitRate `json:"rate_high_bps,omitempty"`
	RangeWhy string       `json:"range_why,omitempty"`
	// Forward and Reverse are the two ways of direction both.
	Forward unit.BitRate `json:"forward_bps,omitempty"`
	Reverse unit.BitRate `json:"reverse_bps,omitempty"`
	// CeilingMTU is the MTU that Ceiling was computed at.
	CeilingMTU int `json:"-"`
	// Links is the expected load of every link that the traffic may use.
	Links []LinkShare `json:"-"`
}

// Predict returns the expected rate and every limit of one kind of traffic.
// Both ways of direction both are computed on their own (links are full
// duplex) and summed; its limits are those of the two ways, one way's rate
// each. Errors: ErrUnknownHost, ErrNoLane, ErrNoLink, ErrMTU, ErrTraffic,
// ErrUnknownSpeed when nothing bounds the rate.
func Predict(f Fabric, t Traffic) (Prediction, error) {
	if err := t.check(f); err != nil {
		return Prediction{}, err
	}
	if t.Direction == flow.Both {
		return predictBoth(f, t)
	}
	w, err := newWay(f, t, t.Direction)
	if err != nil {
		return Prediction{}, err
	}
	p, err := w.predict()
	if err != nil {
		return Prediction{}, err
	}
	p.Ceiling, p.CeilingMTU = w.pair().ceiling()
	if p.Ceiling > 0 {
		p.Rate = min(p.Rate, p.Ceiling) // rounding may leave it a hair above
	}
	return p, nil
}

func predictBoth(f Fabric, t Traffic) (Prediction, error) {
	var ways [2]Prediction
	for i, d := range flow.Both.Ways() {
		p, err := Predict(f, t.bothWays(d))
		if err != nil {
			return Prediction{}, err
		}
		ways[i] = p
	}
	fwd, rev, err := besideOpposite(f, t, ways[0], ways[1])
	if err != nil {
		return Prediction{}, err
	}
	p := bothOf(fwd, rev)
	if fwd.Rate != ways[0].Rate || rev.Rate != ways[1].Rate || p.RateHigh > 0 {
		err = rangeOfBoth(f, t, ways[0], ways[1], &p)
	}
	return p, err
}

// bothOf sums two ways that run at the same time.
func bothOf(fwd, rev Prediction) Prediction {
	p := fwd
	p.Direction = flow.Both
	p.Forward, p.Reverse = fwd.Rate, rev.Rate
	p.KernelChances = nil
	p.Rate = fwd.Rate + rev.Rate
	p.Ceiling, p.CeilingMTU = 0, min(fwd.CeilingMTU, rev.CeilingMTU)
	if fwd.Ceiling > 0 && rev.Ceiling > 0 {
		p.Ceiling = fwd.Ceiling + rev.Ceiling
	}
	p.KernelPorts, p.KernelWorst = sumEither(fwd, rev, Prediction.kernelPorts), sumEither(fwd, rev, Prediction.kernelWorst)
	p.RateLow, p.RateHigh = sumEither(fwd, rev, Prediction.low), sumEither(fwd, rev, Prediction.high)
	if p.RangeWhy == "" {
		p.RangeWhy = rev.RangeWhy
	}
	p.Limits = nil
	for _, one := range []Prediction{fwd, rev} {
		for _, l := range one.Limits {
			if l.Rate == 0 && one.Direction == fwd.Direction && slices.Contains(rev.Limits, l) {
				continue // unknown to both ways: once will do
			}
			if l.Cause != record.Unknown || l.Rate > 0 {
				l.Why = string(one.Direction) + ": " + l.Why
			}
			p.Limits = append(p.Limits, l)
		}
	}
	orderLimits(p.Limits)
	p.Limit = p.Limits[0].Cause
	p.Links = append(append([]LinkShare(nil), fwd.Links...), rev.Links...)
	return p
}

func (p Prediction) kernelPorts() unit.BitRate { return p.KernelPorts }
func (p Prediction) kernelWorst() unit.BitRate { return p.KernelWorst }
func (p Prediction) low() unit.BitRate         { return p.RateLow }
func (p Prediction) high() unit.BitRate        { return p.RateHigh }

// sumEither sums an optional field of two ways: where one way lacks it, that
// way's rate stands in; zero when both lack it.
func sumEither(a, b Prediction, field func(Prediction) unit.BitRate) unit.BitRate {
	x, y := field(a), field(b)
	if x == 0 && y == 0 {
		return 0
	}
	if x == 0 {
		x = a.Rate
	}
	if y == 0 {
		y = b.Rate
	}
	return x + y
}

func (t *Traffic) check(f Fabric) error {
	for _, name := range []string{t.From, t.To} {
		if _, ok := f.Hosts[name]; !ok {
			return fmt.Errorf("predict %s to %s: host %q: %w", t.From, t.To, name, ErrUnknownHost)
		}
	}
	if t.Streams < 1 {
		return fmt.Errorf("predict %s to %s: %d streams: %w", t.From, t.To, t.Streams, ErrTraffic)
	}
	if t.Protocol == "" {
		t.Protocol = "tcp"
	}
	if !framing.Known(t.Protocol) {
		return fmt.Errorf("predict %s to %s: protocol %q: %w", t.From, t.To, t.Protocol, ErrTraffic)
	}
	switch t.Ports {
	case "":
		t.Ports = PortsChosen
	case PortsChosen, PortsKernel:
	default:
		return fmt.Errorf("predict %s to %s: ports %q: %w", t.From, t.To, t.Ports, ErrTraffic)
	}
	switch t.Direction {
	case flow.Forward, flow.Reverse, flow.Both:
		return nil
	}
	return fmt.Errorf("predict %s to %s: direction %q: %w", t.From, t.To, t.Direction, ErrTraffic)
}
