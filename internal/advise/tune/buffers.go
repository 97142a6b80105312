package tune

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/unit"
)

const (
	rmemKey = "net.ipv4.tcp_rmem"
	wmemKey = "net.ipv4.tcp_wmem"
	// mostBuffer bounds what a proposal may ask for: beyond it memory, not
	// the network, is the next problem.
	mostBuffer = 64 << 20
	// flights is how many times what is in flight a buffer must hold: half of a
	// receive buffer is window, and a queue may double the round trip.
	flights = 4
)

// bufferOptions: buffers that hold what one stream keeps in flight when it
// fills one link.
func bufferOptions(s State) []option {
	if s.Traffic.SocketBuffer > 0 { // what sockets ask for themselves no sysctl raises
		return nil
	}
	trip := roundTrip(s)
	want := bufferFor(streamShare(s), trip)
	if t, ok := newest(s, s.Traffic.Direction); ok && len(t.Lanes) > 0 {
		if waited, loaded := waitedFor(t); waited >= limitedShare && !full(t) {
			want = max(want, powerOfTwo(2*float64(largestBuffer(s))), bufferFor(streamShare(s), loaded)) // what there is holds it back
		} else if s.Thorough {
			want = max(want, leastTried)
		}
	}
	want = min(want, mostBuffer)
	hosts := make(map[string]netstate.Host)
	for _, name := range []string{s.Traffic.From, s.Traffic.To} {
		if desired, ok := withBuffers(s.Fabric.Hosts[name], buffersIn(s, name), want); ok {
			hosts[name] = desired
		}
	}
	if len(hosts) == 0 {
		return nil
	}
	return []option{{
		key:    Name(fmt.Sprintf("%s=%d", Buffers, want)),
		change: fmt.Sprintf("socket buffers up to %v on %s", want, strings.Join(namesOf(s, hosts), " and ")),
		why:    bufferReason(s, trip), hosts: hosts, load: s.Load,
	}}
}

// leastTried is the size tried where nothing asks for one: what distributions
// and providers set when they raise the default at all.
const leastTried = 16 << 20

// namesOf are the two hosts of the pair that are among these, From first.
func namesOf(s State, hosts map[string]netstate.Host) []string {
	var out []string
	for _, name := range []string{s.Traffic.From, s.Traffic.To} {
		if _, ok := hosts[name]; ok {
			out = append(out, name)
		}
	}
	return out
}

// buffersIn are the buffers of a host that the traffic goes through.
func buffersIn(s State, host string) []string {
	switch {
	case s.Traffic.Direction == flow.Both:
		return []string{rmemKey, wmemKey}
	case (s.Traffic.Direction == flow.Reverse) == (host == s.Traffic.From):
		return []string{rmemKey}
	}
	return []string{wmemKey}
}

// largestBuffer is the largest of the buffers that the traffic goes through.
func largestBuffer(s State) unit.Bytes {
	most := unit.Bytes(0)
	for _, name := range []string{s.Traffic.From, s.Traffic.To} {
		for _, key := range buffersIn(s, name) {
			if v := s.Fabric.Hosts[name].SysctlInts(key); len(v) == 3 {
				most = max(most, unit.Bytes(v[2]))
			}
		}
	}
	return most
}

// roundTrip is the pair's, the declared or measured one of an idle path, or
// what streams saw that a window held back; zero unknown.
func roundTrip(s State) time.Duration {
	trip := s.learnt.rtt
	i := slices.IndexFunc(s.Fabric.Paths, func(p fabric.Path) bool { return p.Joins(s.Traffic.From, s.Traffic.To) })
	if i >= 0 {
		trip = max(trip, s.Fabric.Paths[i].RTT)
	}
	return trip
}

// streamShare is what one stream carries when each link is full with one.
func streamShare(s State) unit.BitRate {
	t := s.Traffic
	t.ChosenOnly = true
	p, err := predict.Predict(s.Fabric, t)
	if err != nil {
		return 0
	}
	ceiling := p.Ceiling
	if t.Direction == flow.Both {
		ceiling /= 2
	}
	return ceiling / unit.BitRate(width(s))
}

// bufferReason says why buffers are tried, also when nothing speaks for them:
// they head every copied list of tunables, and a measurement settles it.
func bufferReason(s State, trip time.Duration) string {
	t, measured := newest(s, s.Traffic.Direction)
	waited, loaded := waitedFor(t)
	switch {
	case measured && waited >= limitedShare:
		return fmt.Sprintf("TCP waited for a window or buffer %.0f %% of the time, at %.1f ms under load", 100*waited, unit.Milliseconds(loaded))
	case measured && s.Thorough:
		return fmt.Sprintf("every copied list of tunables raises them; TCP waited for a window or buffer %.0f %% of the time, so no gain is expected: the measurement shows it", 100*waited)
	}
	return fmt.Sprintf("a stream that fills a link keeps %v in flight over %.1f ms; half of a receive buffer is window, and a queue may double the time", unit.Bytes(float64(streamShare(s))/8*trip.Seconds()), unit.Milliseconds(trip))
}

// bufferFor holds what a stream of that rate keeps in flight, flights times,
// rounded up to a power of two; zero where rate or round trip is unknown.
func bufferFor(rate unit.BitRate, trip time.Duration) unit.Bytes {
	if rate <= 0 || trip <= 0 {
		return 0
	}
	return powerOfTwo(flights * float64(rate) / 8 * trip.Seconds())
}

// powerOfTwo rounds up, to at most mostBuffer.
func powerOfTwo(need float64) unit.Bytes {
	return unit.Bytes(uint64(1) << bits.Len64(max(uint64(min(need, mostBuffer)), 1)-1))
}

// withBuffers raises the named buffers' largest size on a host; false when
// they are as large already or unknown.
func withBuffers(h netstate.Host, keys []string, want unit.Bytes) (netstate.Host, bool) {
	desired, changed := h.Clone(), false
	for _, key := range keys {
		v := h.SysctlInts(key)
		if len(v) != 3 || v[2] >= int64(want) {
			continue
		}
		s := desired.Sysctls[key]
		s.Value = fmt.Sprintf("%d %d %d", v[0], v[1], int64(want))
		desired.Sysctls[key] = s
		changed = true
	}
	return desired, changed
}
