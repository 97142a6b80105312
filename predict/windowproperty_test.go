package predict

import (
	"fmt"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/unit"
	"pgregory.net/rapid"
)

func drawTraffic(t *rapid.T) Traffic {
	return Traffic{
		From: "a", To: "b",
		Direction: rapid.SampledFrom(flow.Directions()).Draw(t, "direction"),
		Streams:   rapid.IntRange(1, 8).Draw(t, "streams"),
		Protocol:  rapid.SampledFrom([]string{"tcp", "udp", "mptcp"}).Draw(t, "protocol"),
		Window:    time.Duration(rapid.IntRange(0, 30).Draw(t, "window s")) * time.Second,
	}
}

// TestLongerRoundTripNeverRaises: neither the rate nor its range.
func TestLongerRoundTripNeverRaises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, tr := DrawFabric(t), drawTraffic(t)
		var before Prediction
		rtt := 10 * time.Microsecond
		for n := range 6 {
			f.Paths[0].RTT = rtt
			p, err := Predict(f, tr)
			if err != nil {
				return // nothing bounds it
			}
			const unsaid = 1 + 2*Differs // of a range, half a percent each way
			if n > 0 && (p.Rate > before.Rate*(1+1e-9) || lowEnd(p) > lowEnd(before)*unsaid || highEnd(p) > highEnd(before)*unsaid) {
				t.Fatalf("RTT %v: %v (%v to %v), shorter: %v (%v to %v)", rtt, p.Rate, p.RateLow, p.RateHigh, before.Rate, before.RateLow, before.RateHigh)
			}
			before = p
			rtt += time.Duration(rapid.IntRange(1, 20000).Draw(t, "longer us")) * time.Microsecond
		}
	})
}

// lowEnd and highEnd are the range's ends.
func lowEnd(p Prediction) unit.BitRate {
	if p.RateLow > 0 {
		return p.RateLow
	}
	return p.Rate
}

func highEnd(p Prediction) unit.BitRate { return max(p.Rate, p.RateHigh) }

// TestLargerBufferNeverLowers: by sysctl or by what the socket asks for.
func TestLargerBufferNeverLowers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, tr := DrawFabric(t), drawTraffic(t)
		tr.Protocol = "tcp"
		before := unit.BitRate(0)
		fixed := rapid.Bool().Draw(t, "fixed")
		size := rapid.IntRange(4096, 1<<20).Draw(t, "bytes")
		for range 6 {
			if fixed {
				tr.SocketBuffer = unit.Bytes(size)
			}
			for h := range f.Hosts {
				f = f.Set(h, "net.ipv4.tcp_rmem", fmt.Sprintf("4096 131072 %d", size)).Set(h, "net.ipv4.tcp_wmem", fmt.Sprintf("4096 16384 %d", size))
				f = f.Set(h, "net.core.rmem_max", fmt.Sprint(size)).Set(h, "net.core.wmem_max", fmt.Sprint(size))
			}
			p, err := Predict(f, tr)
			if err != nil {
				return
			}
			if p.Rate < before*(1-1e-9) {
				t.Fatalf("buffers of %d: %v, smaller: %v", size, p.Rate, before)
			}
			before = p.Rate
			size += rapid.IntRange(1, 1<<24).Draw(t, "more")
		}
	})
}
