package tcp

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/linerate/linerate/unit"
)

// LossyFlow is one TCP flow on a way that loses.
type LossyFlow struct {
	// Packets and Units are the shares lost: of packets, and of what the stack hands down
	// in one piece.
	Packets, Units float64
	RTT            time.Duration
	Bytes          int // of payload in a segment
	Answer         LossAnswer
	Older          bool // delayed acknowledgements may count
	Sack           bool
}

// LossyRate is what such a flow reaches, at least and at most, and what is open.
type LossyRate struct {
	Rate, Low, High unit.BitRate
	Open            string
}

// Linux's sizes of what TCP hands down in one piece: a millisecond at the
// pacing rate, which is 1.2 times the rate, within two segments and 64 KB
// (tcp_tso_autosize, tcp_update_pacing_rate, net/ipv4).
const (
	unitTime = time.Second >> 10
	unitPace = 1.2
	unitMost = 64 * 1024
)

// Window is the flow's mean window in segments where a part of the losses, 1
// all, strikes by itself.
func (f LossyFlow) Window(part float64) float64 {
	window := f.Answer.Window(part*f.Packets+part*f.Units, f.RTT)
	if f.Units == 0 || math.IsInf(window, 1) {
		return window
	}
	for range 40 { // the larger the window, the larger the piece
		size := unitPace * f.rate(window) / 8 * unitTime.Seconds() / float64(f.Bytes)
		size = min(max(size, 2), unitMost/float64(f.Bytes))
		window = f.Answer.Window(part*(f.Packets+f.Units/max(size, 1)), f.RTT)
	}
	return window
}

func (f LossyFlow) rate(window float64) float64 {
	return window * float64(f.Bytes) * 8 / f.RTT.Seconds()
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

// Estimate is the flow's rate and how far it is certain in a test of so long;
// zero is in steady state.
func (f LossyFlow) Estimate(name string, test time.Duration) LossyRate {
	mean := f.rate(f.Window(1))
	low, high := mean*(1-lossDoubt), mean*(1+lossDoubt)
	open := []string{"how losses are spread"}
	if f.Packets > 0 {
		high = max(high, f.rate(f.Window(bursty)))
		open[0] = "whether packets are lost singly or in bursts"
	}
	p := f.Packets + f.Units
	if f.Answer != AsBBR {
		low = min(low, f.withTimeouts(p))
	}
	if f.Older {
		low = min(low, mean/math.Sqrt2)
		open = append(open, "whether delayed acknowledgements slow the sender's growth")
	}
	if f.Answer == AsUnknown {
		low, high = min(low, f.rate(AsReno.Window(p, f.RTT))), 4*high
		open = append(open, "how "+name+" answers loss, taken as cubic")
	}
	if test > 0 {
		events := max(mean*test.Seconds()/8/float64(f.Bytes)*p, 0.1)
		spread := min(windowSpread/math.Sqrt(events), 0.6)
		low, high = low*(1-spread), high*(1+spread)
		open = append(open, fmt.Sprintf("a test of %s sees only some %.0f losses", test, math.Ceil(events)))
	}
	if !f.Sack {
		mean = f.withTimeouts(p)
		low = min(low, mean)
	}
	return LossyRate{Rate: unit.BitRate(mean), Low: unit.BitRate(low), High: unit.BitRate(max(high, mean)), Open: strings.Join(open, ", ")}
}

// withTimeouts is the rate where timeouts count: by PFTK without selective
// acknowledgements, and with them for each retransmission that is lost itself.
func (f LossyFlow) withTimeouts(p float64) float64 {
	timeout := timeoutFloor + f.RTT
	if !f.Sack {
		b := 1.0
		if f.Older {
			b = 2
		}
		return min(f.rate(f.Window(1)), Pftk(p, b, math.Inf(1), f.RTT, timeout)*float64(f.Bytes)*8)
	}
	segments := f.Window(1) / f.RTT.Seconds()
	return float64(f.Bytes) * 8 / (1/segments + timeout.Seconds()*p*p)
}
