package tcp

import "time"

// What two hosts add to the round trip that a ping found, under load. It has
// two parts that are measured apart.
//
// stackDelay is the kernel's and the readers' part (softirq, GRO, wake-up).
// Where no network card takes part it is all: Linux 6.1 over netem at RTT 9
// ms added 0.09 to 0.13 ms (windows of 256 KiB to 3 MiB), in one run 0.14 to
// 0.22.
//
// cardDelay is one card's interrupt moderation under bulk traffic, once for
// the data and once for the acknowledgements: the kernel's adaptive moderation
// moves between 1, 8, 64, 128 and 256 us (NET_DIM_RX_EQE_PROFILES,
// lib/dim/net_dim.c), starts at 8, where a ping finds it, and settles in the
// upper part under load; ixgbe's own ends at 125 us (8,000 interrupts/s). The
// mean of 64 and 128 is taken.
//
// The two make 0.302 ms between hosts with cards. A fit to six published
// points (Linux 5.15, RTT 3.8 to 10.6 ms, one stream) gives 0.305; with the
// sum, the residuals of those points are +1.3, +0.4, +0.6 % with a window of 3
// MiB and -1.4, -1.5 % with 16 MiB. All 24 rows of that source whose windows
// bind: mean 1.5 %, worst +4.3 %, and that one within 15 % of its shaper.
const (
	stackDelay     = 110 * time.Microsecond
	stackDelayLow  = 90 * time.Microsecond
	stackDelayHigh = 130 * time.Microsecond
	cardDelay      = 96 * time.Microsecond
	cardDelayLow   = 1 * time.Microsecond
	cardDelayHigh  = 256 * time.Microsecond
	// delayShare bounds what is added on short paths: a round trip of little
	// more than the hosts' own delay holds most of it already.
	delayShare = 10
)

// Trip is the round trip to divide windows by; all zero where it is unknown.
type Trip struct {
	RTT time.Duration
	// Shortest and Longest bound it; both zero where it was measured under
	// load, or the spread is not worth saying.
	Shortest, Longest time.Duration
}

// TripOf is a path's round trip under load, with so many cards' moderation in
// it (none to two). A loaded round trip that was measured is taken as it is.
func TripOf(rtt, loaded time.Duration, cards int) Trip {
	if loaded > 0 {
		return Trip{RTT: loaded}
	}
	if rtt <= 0 {
		return Trip{}
	}
	n := time.Duration(cards)
	t := Trip{RTT: rtt + min(stackDelay+n*cardDelay, rtt/delayShare)}
	if n > 0 {
		t.Shortest = rtt + min(stackDelayLow+n*cardDelayLow, rtt/delayShare)
		t.Longest = rtt + stackDelayHigh + n*cardDelayHigh
	}
	return t
}
