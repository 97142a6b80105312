package failover

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/netstate"
)

func TestFailover(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	lacp := func(rate netstate.LACPRate, miimon time.Duration) netstate.Bond {
		return netstate.Bond{Mode: netstate.LACP, LACPRate: rate, Miimon: miimon}
	}
	xor := func(miimon time.Duration) netstate.Bond {
		return netstate.Bond{Mode: netstate.BalanceXOR, Miimon: miimon}
	}
	for _, c := range []struct {
		name          string
		bond          netstate.Bond
		silent        bool
		outage        time.Duration
		noticed       bool
		within        [2]time.Duration // a gap of either length is inside
		outside, word string
	}{
		// The first time that it sends again, and the one after. What lies in queues
		// behind a link that went silently still arrives: 75 ms of it in a lab. LACP counts
		// 3 s by looks that take 110 ms each there: a gap was 6.7 s once.
		{"loud", lacp(netstate.LACPFast, 100*ms), false, 5 * s, true, [2]time.Duration{200 * ms, 450 * ms}, "600ms", "every 100ms"},
		{"loud, miimon 1 s", xor(s), false, 5 * s, true, [2]time.Duration{200 * ms, 1500 * ms}, "3s", "every 1s"},
		{"802.3ad without miimon", lacp(netstate.LACPSlow, 0), false, 5 * s, true, [2]time.Duration{200 * ms, 450 * ms}, "600ms", "every 100ms"},
		{"downdelay", netstate.Bond{Mode: netstate.ActiveBackup, Miimon: 100 * ms, DownDelay: 200 * ms}, false, 5 * s, true, [2]time.Duration{300 * ms, 600 * ms}, "1s", "downdelay"},
		{"xor without miimon", xor(0), false, 5 * s, false, [2]time.Duration{5 * s, 6200 * ms}, "4s", "no miimon"},
		{"silent, fast", lacp(netstate.LACPFast, 100*ms), true, 20 * s, true, [2]time.Duration{2 * s, 6800 * ms}, "12s", "fast LACP"},
		{"silent, slow, long", lacp(netstate.LACPSlow, 100*ms), true, 200 * s, true, [2]time.Duration{60 * s, 198 * s}, "50s", "slow LACP"},
		{"silent, slow, back before", lacp(netstate.LACPSlow, 100*ms), true, 8 * s, false, [2]time.Duration{7925 * ms, 12600 * ms}, "6s", "slow LACP"},
		{"silent, xor", xor(100 * ms), true, 5 * s, false, [2]time.Duration{4922 * ms, 6200 * ms}, "4s", "balance-xor"},
	} {
		g := Failover(c.bond, c.silent, c.outage, ms)
		no, _ := time.ParseDuration(c.outside)
		if g.Noticed != c.noticed || !strings.Contains(g.Why, c.word) {
			t.Errorf("%s: noticed %v, %q", c.name, g.Noticed, g.Why)
		}
		for _, d := range c.within {
			if d < g.Low || d > g.High {
				t.Errorf("%s: a gap of %v is not within %v to %v", c.name, d, g.Low, g.High)
			}
		}
		if no >= g.Low && no <= g.High {
			t.Errorf("%s: a gap of %v is within %v to %v", c.name, no, g.Low, g.High)
		}
	}
}
