// Package pathmtu finds out how large a packet may be between two hosts, each
// way and over every link of a bond, with don't-fragment echoes: never more than
// a few at once, and none but to addresses it was given. What a result means is
// diagnose's. Don't call lost what nobody would have answered: a small echo comes
// first.
package pathmtu

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	diagnosehost "github.com/linerate/linerate/diagnose/host"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/routing"
)

// Way is one direction between two hosts.
type Way struct {
	From, To string
	Lane     flow.Lane
	// Link is the one that From sends by, MTU what should pass: its own.
	Link string
	MTU  int
	// Links is how many links of a bond the packets may take at either end;
	// zero or one: there is one way only.
	Links int
}

const (
	// eachLink is how many echoes are sent for each link. A series has an
	// identifier of its own, and layer3+4 spreads echoes by it since Linux
	// 5.5: with six a link of two is missed once in two thousand tries.
	eachLink  = 6
	mostTries = 48
	// oneLink is how often an echo is sent where there is one way only: the
	// first that comes back proves it.
	oneLink = 3
	// leastWait and mostWait bound how long an answer is waited for.
	leastWait = 60 * time.Millisecond
	mostWait  = time.Second
	// largest is the longest IP packet.
	largest = 65535
	// smallest packet that every path must take (RFC 791, RFC 8200).
	smallest4, smallest6 = 576, 1280
	// ethernet is the usual MTU, and what a port with it takes beyond: the room
	// for a VLAN tag that an untagged frame leaves (is_skb_forwardable).
	ethernet, vlanTag = 1500, 4
)

// Prove sends packets of the way's MTU, as many as it takes to meet each of
// its links, and where they do not all come back finds the largest that do. A
// peer that does not answer small echoes either gives a result with Answers
// false. The error is the sender's: it may not send echoes (fs.ErrPermission),
// or cannot be reached.
func Prove(ctx context.Context, at ask.Host, w Way) (diagnosehost.PathProbe, error) {
	p := prover{at: at, way: w, wait: mostWait, tries: min(eachLink*w.Links, mostTries)}
	if w.Links <= 1 {
		p.tries = oneLink
	}
	out := diagnosehost.PathProbe{From: w.From, To: w.To, Lane: w.Lane, Link: w.Link, MTU: min(w.MTU, largest)}
	if err := p.control(ctx, &out); err != nil || !out.Answers || out.MTU <= 0 {
		return out, wrap(w, err)
	}
	sent, passed, err := p.series(ctx, out.MTU)
	if err == nil && passed > 0 && passed < sent {
		// Chance takes a packet now and then; a small link takes them again.
		if again, answered, failed := p.series(ctx, out.MTU); answered == again {
			sent, passed, err = again, answered, failed
		} else {
			sent, passed, err = sent+again, passed+answered, failed
		}
	}
	out.Sent, out.Passed, out.Named = sent, passed, p.named
	if err == nil {
		out.Passes = out.MTU
		if passed < sent {
			out.Passes, err = p.bisect(ctx, out.MTU)
		}
	}
	if err == nil && passed == 0 && p.named == 0 && w.Links <= 1 {
		// A burst of losses takes three in a row: what is too large never passes.
		if sent, passed, err = p.series(ctx, out.MTU); passed > 0 {
			out.Sent, out.Passed, out.Passes = 1, 1, out.MTU
		} else {
			out.Sent += sent
		}
		out.Named = p.named
	}
	return out, wrap(w, err)
}

func wrap(w Way, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("probe path from %s to %s: %w", w.From, w.To, err)
}

// prover is one way being probed.
type prover struct {
	at    ask.Host
	way   Way
	tries int
	wait  time.Duration
	named int
}

// control sends small echoes, which says whether anybody answers and how long
// that takes.
func (p *prover) control(ctx context.Context, out *diagnosehost.PathProbe) error {
	for range 2 { // the first may be lost to address resolution
		reply, err := ask.Call(ctx, p.at, agentapi.Ping, agentapi.PingRequest{Dst: p.way.Lane.Dst, Src: p.way.Lane.Src, Count: 3, Interval: 10 * time.Millisecond, Timeout: mostWait})
		if err != nil {
			return err
		}
		if len(reply.RTTs) > 0 {
			out.Answers, out.RTT = true, slices.Min(reply.RTTs)
			p.wait = min(max(4*slices.Max(reply.RTTs), leastWait), mostWait)
			return nil
		}
	}
	return nil
}

// series sends echoes of a size, each with an identifier of its own. Where
// there is one way only, the first that comes back is all that counts. What
// the own kernel refuses, or a router names, is not sent again.
func (p *prover) series(ctx context.Context, size int) (sent, passed int, err error) {
	for range p.tries {
		ok, err := p.one(ctx, size)
		if err != nil {
			return sent, passed, err
		}
		if ok && p.way.Links <= 1 {
			return 1, 1, nil
		}
		sent++
		if ok {
			passed++
		} else if p.named > 0 && p.named < size {
			break
		}
	}
	return sent, passed, nil
}

func (p *prover) one(ctx context.Context, size int) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	reply, err := ask.Call(ctx, p.at, agentapi.Ping, agentapi.PingRequest{Dst: p.way.Lane.Dst, Src: p.way.Lane.Src, Count: 1, Timeout: p.wait, Packet: size, DontFragment: true})
	if reply.TooBig > 0 && reply.TooBig < size {
		p.named = reply.TooBig
	}
	return len(reply.RTTs) > 0, err
}

// all reports that echoes of a size pass whichever link they take; one lost
// is chance.
func (p *prover) all(ctx context.Context, size int) (bool, error) {
	lost := 0
	for range p.tries {
		ok, err := p.one(ctx, size)
		switch {
		case err != nil:
			return false, err
		case ok && p.way.Links <= 1:
			return true, nil
		case ok:
		case p.way.Links > 1 && lost > 0, p.named > 0 && p.named < size:
			return false, nil
		default:
			lost++
		}
	}
	return lost < min(2, p.tries) && p.way.Links > 1, nil
}

// bisect finds the largest size below the one given that passes; zero where
// not even the smallest does.
func (p *prover) bisect(ctx context.Context, above int) (int, error) {
	low, high := 0, above
	least := smallest6
	if p.way.Lane.Dst.Is4() {
		least = smallest4
	}
	for _, guess := range []int{p.named, p.named + 1, ethernet, ethernet + vlanTag, ethernet + vlanTag + 1, least} {
		if guess <= low || guess >= high || guess < least || guess == 1 {
			continue
		}
		if err := p.halve(ctx, guess, &low, &high); err != nil {
			return 0, err
		}
	}
	if low == 0 {
		return 0, nil
	}
	for high-low > 1 {
		if err := p.halve(ctx, (low+high)/2, &low, &high); err != nil {
			return 0, err
		}
	}
	return low, nil
}

func (p *prover) halve(ctx context.Context, size int, low, high *int) error {
	ok, err := p.all(ctx, size)
	if err != nil {
		return err
	}
	if ok {
		*low = size
	} else {
		*high = size
	}
	return nil
}

// Ways are both directions of every lane between two hosts of a fabric. Lanes
// over one pair of links count once. Errors are predict.Lanes'.
func Ways(f predict.Fabric, a, b string) ([]Way, error) {
	lanes, err := predict.Lanes(f, a, b, "")
	if err != nil {
		return nil, err
	}
	var ways []Way
	for _, lane := range lanes {
		near, far := routing.FacingOne(f.Hosts[a], lane.Src, lane.Dst), routing.FacingOne(f.Hosts[b], lane.Dst, lane.Src)
		if near.Name == "" || far.Name == "" {
			continue
		}
		links := max(members(f.Hosts[a], near.Name), members(f.Hosts[b], far.Name))
		if slices.ContainsFunc(ways, func(w Way) bool { return w.From == a && w.Link == near.Name && holds(far, w.Lane.Dst) }) {
			continue
		}
		ways = append(ways,
			Way{From: a, To: b, Lane: lane, Link: near.Name, MTU: near.MTU, Links: links},
			Way{From: b, To: a, Lane: lane.Reverse(), Link: far.Name, MTU: far.MTU, Links: links})
	}
	return ways, nil
}

// members is how many links carry a link's frames.
func members(h netstate.Host, link string) int {
	ports, _, _ := h.Below(link)
	return len(ports)
}

func holds(l netstate.Link, a netip.Addr) bool {
	return slices.ContainsFunc(l.Addresses, func(p netip.Prefix) bool { return p.Addr() == a })
}

// Fabric proves every way between the hosts that are there, in the order of
// their names. Pairs without lanes are left out. Where a host cannot send, its
// ways are left out and the error says so; the others' are there.
func Fabric(ctx context.Context, f predict.Fabric, hosts map[string]ask.Host) ([]diagnosehost.PathProbe, error) {
	names := slices.Sorted(maps.Keys(hosts))
	var probes []diagnosehost.PathProbe
	var problems []error
	for i, a := range names {
		for _, b := range names[i+1:] {
			ways, err := Ways(f, a, b)
			if err != nil {
				continue
			}
			for _, w := range ways {
				p, err := Prove(ctx, hosts[w.From], w)
				if err != nil {
					problems = append(problems, err)
					continue
				}
				probes = append(probes, p)
			}
		}
	}
	return probes, errors.Join(problems...)
}
