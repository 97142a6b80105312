package measure

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
)

// An answer to a packet of a size is waited for as long as it takes at the
// most, where that is not known, and for some round trips where it is: of a
// packet that vanishes nobody says a word.
const (
	probeTimeout      = 700 * time.Millisecond
	probeTimeoutLeast = 60 * time.Millisecond
	probeRoundTrips   = 4
	probeTries        = 3
)

// Latency measures the round trip from one host to another on their first
// lane, and the largest packet that gets through unfragmented, up to the
// sender's own MTU. Where the host may not send echoes it times connections,
// and the result says so.
func Latency(ctx context.Context, n Network, from, to string, p Pings) (record.Latency, error) {
	lane, mtu, err := firstLane(n, from, to)
	if err != nil {
		return record.Latency{}, err
	}
	p = p.usual()
	at := newPinger(n.Endpoints[from], from, lane, p)
	reply, err := at.send(ctx, p.Count)
	if err != nil {
		return record.Latency{}, fmt.Errorf("ping %s from %s: %w", to, from, err)
	}
	out := at.summary(reply)
	out.From, out.To = from, to
	if mtu > 0 && len(reply.RTTs) > 0 && out.Protocol == pingICMP {
		if out.PathMTU, err = pathMTU(ctx, n.Endpoints[from], lane, mtu, patience(reply.RTTs)); err != nil {
			return out, err
		}
	}
	return out, nil
}

// patience is how long a probe's answer is waited for where others took so long.
func patience(rtts []time.Duration) time.Duration {
	return min(max(probeRoundTrips*slices.Max(rtts), probeTimeoutLeast), probeTimeout)
}

func firstLane(n Network, from, to string) (flow.Lane, int, error) {
	if l, ok := n.Listeners[to]; ok {
		link, _ := egress(n.Host(from), l.lane())
		return l.lane(), link.MTU, nil // a server on this host itself has no path to prove
	}
	lanes, err := predict.Lanes(n.Fabric, from, to, "")
	if err != nil {
		return flow.Lane{}, 0, err
	}
	if len(lanes) == 0 {
		return flow.Lane{}, 0, fmt.Errorf("find lanes from %s to %s: no addresses in one subnet and no route", from, to)
	}
	link, _ := egress(n.Host(from), lanes[0])
	return lanes[0], link.MTU, nil
}

// ProbeMTU reports whether packets of the size get through unfragmented, each
// way: a jumbo frame lost in the middle shows in one direction only.
func ProbeMTU(ctx context.Context, n Network, from, to string, size int) (bool, error) {
	for _, way := range [][2]string{{from, to}, {to, from}} {
		lane, _, err := firstLane(n, way[0], way[1])
		if err != nil {
			return false, err
		}
		if ok, err := passes(ctx, n.Endpoints[way[0]], lane, size, probeTimeout); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

func passes(ctx context.Context, at ask.Host, lane flow.Lane, size int, wait time.Duration) (bool, error) {
	for range probeTries {
		reply, err := ask.Call(ctx, at, agentapi.Ping, agentapi.PingRequest{Dst: lane.Dst, Src: lane.Src, Count: 1, Timeout: wait, Packet: size, DontFragment: true})
		if err != nil {
			return false, fmt.Errorf("probe path with %d bytes: %w", size, err)
		}
		if len(reply.RTTs) > 0 {
			return true, nil
		}
		if reply.TooBig > 0 {
			return false, nil
		}
	}
	return false, nil
}

// pathMTU finds the largest packet that passes: the sender's MTU nearly
// always, else by halving.
func pathMTU(ctx context.Context, at ask.Host, lane flow.Lane, mtu int, wait time.Duration) (int, error) {
	ok, err := passes(ctx, at, lane, mtu, wait)
	if ok || err != nil {
		return mtu, err
	}
	low, high := 576, mtu // RFC 791: every path takes 576
	for high-low > 1 {
		middle := (low + high) / 2
		ok, err := passes(ctx, at, lane, middle, wait)
		if err != nil {
			return 0, err
		}
		if ok {
			low = middle
		} else {
			high = middle
		}
	}
	return low, nil
}
