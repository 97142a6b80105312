// Package failover says how long a bond carries less, or nothing, when a port fails.
package failover

import (
	"fmt"
	"time"

	"github.com/linerate/linerate/netstate"
)

// Gap is how long a stream stands still when its link fails, from the shortest
// to the longest.
type Gap struct {
	Low, High time.Duration
	// Noticed reports that the bond notices, and before the link is back.
	Noticed bool
	// Why is what decides it, in one sentence.
	Why string
}

// What a partner's silence may last before a port is no longer used: three
// times what it is asked to send by, the last of which came up to once before
// (IEEE 802.1AX 6.4.4; AD_SHORT_TIMEOUT_TIME, AD_LONG_TIMEOUT_TIME of
// drivers/net/bonding/bond_3ad.c). Its machines look ten times a second and count
// looks, each queued when the one before is over (bond_3ad_state_machine_handler):
// where HZ is 100 they are 110 ms apart, measured by what is sent every second.
const (
	fastPeriod = time.Second
	slowPeriod = 30 * time.Second
	adTick     = 100 * time.Millisecond
	latestTick = 110 * time.Millisecond
	lostLimit  = 3
)

// lost is the longest that a port may miss its partner before it is left alone.
func lost(period time.Duration) time.Duration {
	return (lostLimit*period/adTick + 1) * latestTick
}

// usualMiimon is what the driver takes for 802.3ad where none is set
// (BOND_DEFAULT_MIIMON).
const usualMiimon = 100 * time.Millisecond

// What TCP waits at the least before it sends again (TCP_RTO_MIN), and what full
// queues may add to that, or still deliver when the link is gone.
const (
	leastRTO = 200 * time.Millisecond
	queueing = 100 * time.Millisecond
)

// Failover is the gap in a stream whose port of the bond fails: with its
// carrier, or silently, when the carrier stays. The link is back after outage;
// rtt is the idle round trip. A bond that does not notice leaves the stream
// still until then. What is sent again goes out at intervals that double, so
// a stream may find out as long again after the bond did.
func Failover(b netstate.Bond, silent bool, outage, rtt time.Duration) Gap {
	low, high, why := notices(b, silent)
	g := Gap{Noticed: high > 0 && high < outage, Why: why}
	if high == 0 {
		low, high = outage, outage
	}
	g.Low, g.High = max(0, min(low, outage)-queueing), 2*min(high, outage)+leastRTO+2*rtt+queueing
	return g
}

// notices is how long a bond takes to leave a port alone; zero is never.
func notices(b netstate.Bond, silent bool) (low, high time.Duration, why string) {
	lacp := b.Mode == netstate.LACP
	switch {
	case silent && lacp && b.LACPRate == netstate.LACPFast:
		return (lostLimit - 1) * fastPeriod, lost(fastPeriod), "fast LACP misses its partner after 2 to 3.3 s"
	case silent && b.Mode == netstate.ModeUnread, silent && lacp && b.LACPRate == netstate.RateUnread, !silent && b.Unread("miimon") && !lacp:
		return 0, 0, "how the bond notices was not read"
	case silent && lacp:
		return (lostLimit - 1) * slowPeriod, lost(slowPeriod), "slow LACP misses its partner after 60 to 99 s"
	case silent:
		return 0, 0, fmt.Sprintf("%s sees the carrier alone, which stays", b.Mode)
	case b.Miimon == 0 && lacp:
		b.Miimon = usualMiimon
	case b.Miimon == 0:
		return 0, 0, "no miimon: nobody checks the carrier"
	}
	why = fmt.Sprintf("miimon checks the carrier every %v", b.Miimon)
	if b.DownDelay > 0 {
		why += fmt.Sprintf(", and downdelay waits %v", b.DownDelay)
	}
	return 0, b.Miimon + b.DownDelay, why
}
