package tcp

import (
	"math"
	"time"
)

// What loss leaves of one TCP flow: response functions of congestion control.
// Each returns the mean congestion window in segments, where nothing but loss
// holds it and each of the loss events strikes a packet at random, p a packet.
// The formulas are for losses that come at equal distance; the factors for
// random ones below are from a simulation of each window (5 % to 0.0001 % loss,
// 1 to 100 ms), residuals beside them.

const (
	// renoRandom: random losses leave Reno 7 % more than equal distances, as
	// Ott, Kemperman and Mathis find (1996: 1.3098 / sqrt(p) against 1.2247);
	// residuals -0.5 to +4 %.
	renoRandom = 1.07
	// cubicRandom and cubicWhole: the Reno-friendly window is 1.04 times the
	// formula's less one segment, because a window is whole segments and 717 /
	// 1024 of a small one rounds down; residuals -1 to +1 % below 3 % of loss.
	cubicRandom = 1.04
	cubicWhole  = 1.0
	// cubicCurve is the same for CUBIC's own curve; residuals -2 to +3 %.
	cubicCurve = 1.14
	// cubicBlend joins the two regions: the window is the larger one, and a
	// little more where they meet; residuals at most 3 %.
	cubicBlend = 8
)

// mathis is Reno's window: sqrt(3 / (2 b p)) segments (Mathis, Semke, Mahdavi,
// Ott: The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm,
// 1997). B is how many segments one acknowledgement that counts stands for:
// 1 where the sender counts segments (Linux from 4.0: tcp_cong_avoid_ai), 2 with
// delayed acknowledgements where it counts acknowledgements.
func mathis(p, b float64) float64 { return math.Sqrt(3 / (2 * b * p)) }

// Pftk is Reno's rate in segments a second with timeouts and a window of at
// most most segments (Padhye, Firoiu, Towsley, Kurose: Modeling TCP Throughput,
// 1998, equation 30): what a sender without selective acknowledgements gets.
func Pftk(p, b, most float64, rtt, timeout time.Duration) float64 {
	t := rtt.Seconds()*math.Sqrt(2*b*p/3) +
		timeout.Seconds()*min(1, 3*math.Sqrt(3*b*p/8))*p*(1+32*p*p)
	return min(most/rtt.Seconds(), 1/t)
}

// cubic is CUBIC's window. RFC 9438: section 5.1's response, C = 0.4 and beta =
// 0.7, average window (C (3+beta) / (4 (1-beta)))^(1/4) (RTT / p)^(3/4), and
// section 4.3's Reno-friendly region, whose increase of 3 (1-beta) / (1+beta)
// gives the same average as Reno's. The larger one holds; on paths of less than
// some thousand segments it is the second.
func cubic(p float64, rtt time.Duration) float64 {
	const c, beta = 0.4, 0.7
	curve := cubicCurve * math.Pow(c*(3+beta)/(4*(1-beta)), 0.25) * math.Pow(rtt.Seconds()/p, 0.75)
	friendly := max(cubicRandom*mathis(p, 1)-cubicWhole, leastWindow)
	return math.Pow(math.Pow(curve, cubicBlend)+math.Pow(friendly, cubicBlend), 1.0/cubicBlend)
}

// leastWindow is what congestion control never goes below for long, segments
// (cubictcp_recalc_ssthresh: two).
const leastWindow = 2

const (
	// bbrTolerates is the share of packets that BBR version 1 may lose without
	// slowing down: it sends at 5/4 of its estimate for one round trip in eight
	// (bbr_pacing_gain, net/ipv4/tcp_bbr.c), and keeps the estimate while 4/5 of
	// that arrive.
	bbrTolerates = 0.2
	// bbrLeast is the window that is left when it does slow down
	// (bbr_cwnd_min_target).
	bbrLeast = 4
)

// bbr is BBR version 1's window; +Inf where loss does not hold it.
func bbr(p float64) float64 {
	if p < bbrTolerates {
		return math.Inf(1)
	}
	return bbrLeast
}

// LossAnswer is how a congestion control answers loss.
type LossAnswer uint8

const (
	AsUnknown LossAnswer = iota
	AsReno
	asCubic
	AsBBR
)

// answers is the one table of congestion controls by the kernel's name
// (net.ipv4.tcp_available_congestion_control). Those that watch delay or marks
// answer a loss as Reno does.
var answers = map[string]LossAnswer{
	"cubic": asCubic,
	"reno":  AsReno, "newreno": AsReno, "vegas": AsReno, "dctcp": AsReno, "lp": AsReno, "nv": AsReno, "yeah": AsReno, "veno": AsReno,
	"bbr": AsBBR, "bbr1": AsBBR,
}

// AnswerOf is how the congestion control of that name answers; "" is cubic.
func AnswerOf(congestion string) LossAnswer { return answers[congestion] }

// Window is the mean window in segments of a flow that answers so.
func (a LossAnswer) Window(p float64, rtt time.Duration) float64 {
	switch a {
	case AsReno:
		return max(renoRandom*mathis(p, 1), leastWindow)
	case AsBBR:
		return bbr(p)
	}
	return cubic(p, rtt)
}

// Where two limits lie close, the rate falls below both: a window that loss
// makes swing is cut where the other limit is, and fills it not always. The
// power mean of the two with these exponents follows the simulation of such
// windows, for ratios of 0.3 to 5.
const (
	// FixedSwing is against a fixed window; residuals 1 % for Reno, -4 % for CUBIC's
	// Reno-friendly region and +6 % for its curve, where the two are alike.
	FixedSwing = 3.2
	// renoFill and cubicFill are against a link with a queue, for one flow;
	// residuals 1 %. Flows on one link do not swing together: the exponent
	// grows with their number to the power of fillFlows; residuals 1.5 %.
	renoFill, cubicFill = 4.6, 6.3
	fillFlows           = 0.45
)

// Fill is the exponent against a link that so many flows share.
func (a LossAnswer) Fill(flows float64) float64 {
	k := cubicFill
	if a == AsReno {
		k = renoFill
	}
	return k * math.Pow(max(flows, 1), fillFlows)
}

// Meeting is what two limits leave together; k is how soon each hides the other.
func Meeting(x, y, k float64) float64 {
	if math.IsInf(x, 1) || math.IsInf(y, 1) || x <= 0 || y <= 0 {
		return min(x, y)
	}
	low, high := min(x, y), max(x, y)
	return low / math.Pow(1+math.Pow(low/high, k), 1/k)
}
