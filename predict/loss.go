package predict

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/predict/routing"
	"github.com/linerate/linerate/predict/tcp"
	"github.com/linerate/linerate/predict/tunnel"
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
		down, _ := tunnel.Below(w.sender, departure)
		devices := slices.Clone(down.Passed)
		if down.Base.Bond != nil {
			devices = append(devices, down.Base)
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
	if t.RTT == 0 {
		s.why = fmt.Sprintf("%s; what %s makes of it hangs on the round trip, which is unknown (measure latency)", l, name)
		return []streamLimit{s}
	}
	f := tcp.LossyFlow{Packets: l.packets, Units: l.units, RTT: t.RTT, Bytes: w.segment(w.legs[0]).Payload(), Answer: tcp.AnswerOf(name), Older: w.countsAcks(), Sack: w.selective()}
	if f.Bytes == 0 {
		return nil
	}
	window := f.Window(1)
	if math.IsInf(window, 1) {
		return nil
	}
	flows := float64(w.flows()) / float64(w.traffic.Streams)
	r := f.Estimate(name, w.traffic.Window)
	s.each = estimate{rate: r.Rate, low: r.Low, high: r.High, open: r.Open}.times(flows)
	if math.IsInf(float64(s.each.high), 1) { // BBR, where losses in bursts would not hold it
		s.each.high = max(s.each.rate, unit.BitRate(min(w.out.most(w, legOut), mostSensible)))
	}
	s.why = fmt.Sprintf("%s; %s (%s) then keeps %.0f segments of %d bytes in flight on average; over %.3f ms = %s",
		l, name, source, window, f.Bytes, unit.Milliseconds(f.RTT), s.each.rate)
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
