package predict

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/predict/routing"
	"github.com/linerate/linerate/predict/tcp"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// losses is the random loss on a way, by what is lost at once.
type losses struct {
	// packets is the share lost of single packets, on the path.
	packets float64
	// units is the share lost of what the sender's stack hands down in one
	// piece: netem drops these (netem_enqueue, net/sched/sch_netem.c), and what
	// TCP hands down is up to 64 KB (tcp_tso_autosize).
	units float64
	// where names the sender's devices that lose.
	where []string
}

func (l losses) any() bool { return l.packets > 0 || l.units > 0 }

// arriving is the share of packets that arrives.
func (l losses) arriving() float64 { return (1 - l.packets) * (1 - l.units) }

// losses are the path's and those of netem on the devices that the sender
// sends by; of ports with different ones the mean.
func (w *way) losses() losses {
	l := losses{packets: share(w.path.Loss)}
	for _, a := range w.out.at {
		sum := 0.0
		for _, p := range a.ports {
			if q := qdiscLoss(p); q > 0 {
				sum += q
				l.where = append(l.where, p.Name)
			}
		}
		l.units = max(l.units, sum/float64(len(a.ports)))
	}
	for _, d := range w.devicesAbove() {
		if q := qdiscLoss(d); q > 0 {
			l.units = 1 - (1-l.units)*(1-q)
			l.where = append(l.where, d.Name)
		}
	}
	return l
}

// share keeps a share between nothing and nearly all.
func share(p float64) float64 {
	if math.IsNaN(p) {
		return 0
	}
	return min(max(p, 0), 0.99)
}

func qdiscLoss(l netstate.Link) float64 {
	kept := 1.0
	for _, q := range l.Qdiscs {
		kept *= 1 - share(q.Loss)
	}
	return share(1 - kept)
}

// devicesAbove are the sender's devices above the ports that traffic passes: a
// bond, a bridge, a VLAN; each once.
func (w *way) devicesAbove() []netstate.Link {
	var all []netstate.Link
	for _, l := range w.legs {
		departure, ok := w.sender.LinkWith(l.lane.Src)
		if by, _, routed := routing.Egress(w.sender, l.lane.Src, l.lane.Dst); routed {
			departure, ok = by, true
		}
		if !ok {
			continue
		}
		down, _ := below(w.sender, departure)
		devices := slices.Clone(down.passed)
		if down.base.Bond != nil {
			devices = append(devices, down.base)
		}
		for _, d := range devices {
			if !slices.ContainsFunc(all, func(known netstate.Link) bool { return known.Name == d.Name }) {
				all = append(all, d)
			}
		}
	}
	return all
}

// congestion is the name of the sender's congestion control, and where it
// comes from.
func (w *way) congestion() (name, source string) {
	if w.traffic.Congestion != "" {
		return w.traffic.Congestion, "asked for"
	}
	if v := strings.TrimSpace(w.sender.Sysctls["net.ipv4.tcp_congestion_control"].Value); v != "" {
		return v, "tcp_congestion_control of " + w.sender.Name
	}
	return "cubic", "Linux's default"
}

// lossLimits are what loss lets one TCP stream carry. None without loss, and
// for congestion control that loss does not hold.
func (w *way) lossLimits() []streamLimit {
	l := w.losses()
	if !framing.IsTCP(w.traffic.protocol()) || !l.any() {
		return nil
	}
	name, source := w.congestion()
	s := streamLimit{cause: record.Congestion, where: w.between()}
	t := w.trip()
	if t.rtt == 0 {
		s.why = fmt.Sprintf("%s; what %s makes of it hangs on the round trip, which is unknown (measure latency)", l, name)
		return []streamLimit{s}
	}
	f := lossyFlow{losses: l, rtt: t.rtt, bytes: w.segment(w.legs[0]).Payload(), answer: tcp.AnswerOf(name), older: w.countsAcks(), sack: w.selective()}
	if f.bytes == 0 {
		return nil
	}
	window := f.window(1)
	if math.IsInf(window, 1) {
		return nil
	}
	flows := float64(w.flows()) / float64(w.traffic.Streams)
	s.each = f.estimate(name, w.traffic.Window).times(flows)
	if math.IsInf(float64(s.each.high), 1) { // BBR, where losses in bursts would not hold it
		s.each.high = max(s.each.rate, unit.BitRate(min(w.out.most(w, legOut), mostSensible)))
	}
	s.why = fmt.Sprintf("%s; %s (%s) then keeps %.0f segments of %d bytes in flight on average; over %.3f ms = %s",
		l, name, source, window, f.bytes, unit.Milliseconds(f.rtt), s.each.rate)
	return []streamLimit{s}
}

// String is the loss for people.
func (l losses) String() string {
	var parts []string
	if l.packets > 0 {
		parts = append(parts, fmt.Sprintf("%.3g %% of packets are lost on the path", 100*l.packets))
	}
	if l.units > 0 {
		parts = append(parts, fmt.Sprintf("netem on %s drops %.3g %%, each time all that the stack handed down in one piece", strings.Join(l.where, ", "), 100*l.units))
	}
	return strings.Join(parts, "; ")
}

// countsAcks: the sender may grow its window by acknowledgements, of which
// delayed ones are half as many, and not by segments; unknown kernels may.
func (w *way) countsAcks() bool {
	newer, known := w.sender.Kernel.AtLeast(4, 0)
	return tcp.NotLinux(w.sender) || !known || !newer
}

// selective: both ends use selective acknowledgements, unless one is known
// not to.
func (w *way) selective() bool {
	for _, h := range []netstate.Host{w.sender, w.receiver} {
		if v := h.SysctlInts("net.ipv4.tcp_sack"); len(v) == 1 && v[0] == 0 {
			return false
		}
	}
	return true
}

// lossyFlow is one TCP flow on a way that loses.
type lossyFlow struct {
	losses losses
	rtt    time.Duration
	bytes  int // of payload in a segment
	answer tcp.LossAnswer
	older  bool // delayed acknowledgements may count
	sack   bool
}

// Linux's sizes of what TCP hands down in one piece: a millisecond at the
// pacing rate, which is 1.2 times the rate, within two segments and 64 KB
// (tcp_tso_autosize, tcp_update_pacing_rate, net/ipv4).
const (
	unitTime = time.Second >> 10
	unitPace = 1.2
	unitMost = 64 * 1024
)

// window is the flow's mean window in segments where a part of the losses, 1
// all, strikes by itself.
func (f lossyFlow) window(part float64) float64 {
	window := f.answer.Window(part*f.losses.packets+part*f.losses.units, f.rtt)
	if f.losses.units == 0 || math.IsInf(window, 1) {
		return window
	}
	for range 40 { // the larger the window, the larger the piece
		size := unitPace * f.rate(window) / 8 * unitTime.Seconds() / float64(f.bytes)
		size = min(max(size, 2), unitMost/float64(f.bytes))
		window = f.answer.Window(part*(f.losses.packets+f.losses.units/max(size, 1)), f.rtt)
	}
	return window
}

func (f lossyFlow) rate(window float64) float64 {
	return window * float64(f.bytes) * 8 / f.rtt.Seconds()
}

const (
	// lossDoubt is how far the mean windows of a fit and of a kernel lie apart;
	// it covers the formulas' own values, for losses at equal distance.
	lossDoubt = 0.125
	// bursty: where packets are lost in pairs, half as many losses count.
	bursty = 0.5
	// windowSpread is the standard deviation of a mean over one loss, as a
	// share: a window swings by a third of its mean, and forgets over about
	// two losses.
	windowSpread = 0.5
	// timeoutFloor is Linux's least retransmission timeout (TCP_RTO_MIN).
	timeoutFloor = 200 * time.Millisecond
)

// estimate is the flow's rate and how far it is certain in a test of so long;
// zero is in steady state.
func (f lossyFlow) estimate(name string, test time.Duration) estimate {
	mean := f.rate(f.window(1))
	low, high := mean*(1-lossDoubt), mean*(1+lossDoubt)
	open := []string{"how losses are spread"}
	if f.losses.packets > 0 {
		high = max(high, f.rate(f.window(bursty)))
		open[0] = "whether packets are lost singly or in bursts"
	}
	p := f.losses.packets + f.losses.units
	if f.answer != tcp.AsBBR {
		low = min(low, f.withTimeouts(p))
	}
	if f.older {
		low = min(low, mean/math.Sqrt2)
		open = append(open, "whether delayed acknowledgements slow the sender's growth")
	}
	if f.answer == tcp.AsUnknown {
		low, high = min(low, f.rate(tcp.AsReno.Window(p, f.rtt))), 4*high
		open = append(open, "how "+name+" answers loss, taken as cubic")
	}
	if test > 0 {
		events := max(mean*test.Seconds()/8/float64(f.bytes)*p, 0.1)
		spread := min(windowSpread/math.Sqrt(events), 0.6)
		low, high = low*(1-spread), high*(1+spread)
		open = append(open, fmt.Sprintf("a test of %s sees only some %.0f losses", test, math.Ceil(events)))
	}
	if !f.sack {
		mean = f.withTimeouts(p)
		low = min(low, mean)
	}
	return estimate{rate: unit.BitRate(mean), low: unit.BitRate(low), high: unit.BitRate(max(high, mean)), open: strings.Join(open, ", ")}
}

// withTimeouts is the rate where timeouts count: by PFTK without selective
// acknowledgements, and with them for each retransmission that is lost itself.
func (f lossyFlow) withTimeouts(p float64) float64 {
	timeout := timeoutFloor + f.rtt
	if !f.sack {
		b := 1.0
		if f.older {
			b = 2
		}
		return min(f.rate(f.window(1)), tcp.Pftk(p, b, math.Inf(1), f.rtt, timeout)*float64(f.bytes)*8)
	}
	segments := f.window(1) / f.rtt.Seconds()
	return float64(f.bytes) * 8 / (1/segments + timeout.Seconds()*p*p)
}
