package steer

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/linerate/linerate/flow"
)

// Side says whose addresses are chosen. Zero is the far host's.
type Side uint8

// The sides.
const (
	SideFar Side = iota
	SideNear
	SideBoth
)

// sideWords is the one table of side words, indexed by side.
var sideWords = [...]string{"far", "near", "both"}

// String is the side's word.
func (s Side) String() string { return wordOf(sideWords[:], int(s)) }

// MarshalText writes the side's word.
func (s Side) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads far, near or both.
func (s *Side) UnmarshalText(b []byte) error {
	i, err := indexOf("side", sideWords[:], string(b))
	*s = Side(i)
	return err
}

// AddressRequest asks for addresses that put lanes on different links.
type AddressRequest struct {
	// Near sends from the near host; required. Far is how what arrives at the
	// far host is spread over its links, Back how the far host's answers are
	// spread as they leave it; nil unknown.
	Near, Far, Back Spreader
	// Subnet is where new addresses come from.
	Subnet netip.Prefix
	Side   Side
	// Src and Dst are addresses that the hosts have. The near one's is
	// required for SideFar, the far one's for SideNear; the other, where
	// given, makes the first lane, so that one address fewer is added.
	Src, Dst netip.Addr
	// Lanes is the number wanted, the first included.
	Lanes int
	// Avoid are addresses in use by others.
	Avoid []netip.Addr
	// Frame is what all lanes have in common towards the far host: protocol
	// (zero is TCP), destination port, VLAN, MAC addresses of the near host
	// and of its next hop. Its source port may be zero, not known: a spreader
	// that goes by it cannot be planned for then.
	Frame flow.Frame
	// BackSrcMAC and BackDstMAC are the far host's and its next hop's; zero
	// takes those of Frame the other way round, as on one subnet.
	BackSrcMAC, BackDstMAC flow.MAC
}

// AddressLane is one pair of addresses and its links.
type AddressLane struct {
	flow.Lane
	// Link, FarLink and BackLink count from 0 in each spreader's order; -1
	// where the number is not known.
	Link, FarLink, BackLink int
	// Group numbers the near links by first appearance where only the sharing
	// is known; -1 where that is not either.
	Group int
}

// Addresses is what PickAddresses chose. The same request always gives the
// same answer.
type Addresses struct {
	// Lanes are in ascending order of addresses, after the existing one.
	Lanes []AddressLane
	// AddNear and AddFar are the addresses to add to each host.
	AddNear, AddFar []netip.Addr
	// PerLink counts lanes on each near link; where the links' numbers are not
	// known it counts groups. FarPerLink and BackPerLink are nil without Far
	// and Back.
	PerLink, FarPerLink, BackPerLink []int
	// Even: on every side given, counts differ by one at most, for certain.
	Even bool
	// Relative: near links are told apart, but their numbers are not known.
	Relative bool
	// Why says what stands in the way of even use or of knowing the links,
	// Remedy what would mend it; "" when nothing does.
	Why, Remedy string
}

// NoSpreadError is PickAddresses' error where no choice of addresses uses
// more than one link.
type NoSpreadError struct {
	// Why is the reason, Remedy what would make it possible.
	Why, Remedy string
}

func (e *NoSpreadError) Error() string { return e.Why }

// PickAddresses chooses the smallest addresses of a subnet that spread lanes
// evenly over the links: in this direction, and towards and from the far
// host's links where those are given. What it cannot have all of, it gives up
// in the order Back, Far, Near, and says so. Errors: a request that makes no
// sense, NoSpreadError.
func PickAddresses(req AddressRequest) (Addresses, error) {
	req, err := req.Complete()
	if err != nil {
		return Addresses{}, fmt.Errorf("choose addresses: %w", err)
	}
	if err := req.hopeless(); err != nil {
		return Addresses{}, fmt.Errorf("choose addresses: %w", err)
	}
	var best Addresses
	for depth := 4*req.Lanes + 16; ; depth *= 4 {
		pool, all := req.candidates(depth)
		if len(pool) < req.Lanes {
			if all {
				return Addresses{}, fmt.Errorf("choose addresses: %s has room for %d lanes, not %d", req.Subnet, len(pool), req.Lanes)
			}
			continue
		}
		views := req.views(pool)
		chosen, complete := req.choose(pool, views)
		best = req.judge(pool, views, chosen)
		if !best.Even {
			best.Remedy = req.remedy(views, chosen)
		}
		if complete || all {
			break
		}
	}
	if spread(best) {
		return best, nil
	}
	return Addresses{}, fmt.Errorf("choose addresses: %w", &NoSpreadError{best.Why, best.Remedy})
}

// spread reports lanes on more than one link of some side.
func spread(a Addresses) bool {
	if len(a.Lanes) == 1 {
		return true
	}
	for i := range a.Lanes[1:] {
		x, y := a.Lanes[i], a.Lanes[i+1]
		if x.Link != y.Link || x.Group != y.Group || x.FarLink != y.FarLink || x.BackLink != y.BackLink {
			return true
		}
	}
	return false
}

// Complete fills in the defaults and refuses what makes no sense.
func (req AddressRequest) Complete() (AddressRequest, error) {
	if req.Frame.Proto == 0 {
		req.Frame.Proto = flow.TCP
	}
	if req.BackSrcMAC.IsZero() {
		req.BackSrcMAC = req.Frame.DstMAC
	}
	if req.BackDstMAC.IsZero() {
		req.BackDstMAC = req.Frame.SrcMAC
	}
	req.Subnet, req.Src, req.Dst = req.Subnet.Masked(), req.Src.Unmap(), req.Dst.Unmap()
	switch {
	case req.Near == nil:
		return req, fmt.Errorf("nothing said of the sender's links")
	case req.Lanes < 1:
		return req, fmt.Errorf("%d lanes: want at least one", req.Lanes)
	case !req.Subnet.IsValid():
		return req, fmt.Errorf("no subnet to take addresses from")
	case req.Side == SideFar && !req.Src.IsValid():
		return req, fmt.Errorf("no source address given, and only the far host's are to be chosen")
	case req.Side == SideNear && !req.Dst.IsValid():
		return req, fmt.Errorf("no destination address given, and only the near host's are to be chosen")
	case req.Side > SideBoth:
		return req, fmt.Errorf("side %s is not known", req.Side)
	}
	if err := req.unfit(); err != nil {
		return req, err
	}
	for _, a := range []netip.Addr{req.Src, req.Dst} {
		if a.IsValid() && Is6(a) != Is6(req.Subnet.Addr()) {
			return req, fmt.Errorf("%s and the subnet %s are of different families", a, req.Subnet)
		}
	}
	for _, s := range []Spreader{req.Near, req.Far, req.Back} {
		if s != nil && len(s.Links()) == 0 {
			return req, fmt.Errorf("no usable link")
		}
	}
	return req, nil
}

// noHosts are the ranges that hold addresses no two hosts can talk by (RFC 6890).
var noHosts = [...]struct {
	kind  string
	which netip.Prefix
}{
	{"unspecified", netip.MustParsePrefix("0.0.0.0/8")}, {"loopback", netip.MustParsePrefix("127.0.0.0/8")},
	{"multicast", netip.MustParsePrefix("224.0.0.0/4")}, {"limited broadcast", netip.MustParsePrefix("255.255.255.255/32")},
	{"unspecified", netip.MustParsePrefix("::/128")}, {"loopback", netip.MustParsePrefix("::1/128")},
	{"multicast", netip.MustParsePrefix("ff00::/8")},
}

// unfit is the error of addresses that no host can have for others.
func (req AddressRequest) unfit() error {
	for _, no := range noHosts {
		if req.Subnet.Overlaps(no.which) {
			return fmt.Errorf("the subnet %s holds %s addresses (%s): want one that both hosts are in", req.Subnet, no.kind, no.which)
		}
		for _, a := range []netip.Addr{req.Src, req.Dst} {
			if no.which.Contains(a) {
				return fmt.Errorf("%s is a %s address: want one that the other host can reach", a, no.kind)
			}
		}
	}
	return nil
}

// hopeless is the error of a request that no addresses can help.
func (req AddressRequest) hopeless() error {
	if req.Lanes == 1 {
		return nil
	}
	var why []string
	for _, s := range []Spreader{req.Near, req.Far, req.Back} {
		if s == nil {
			continue
		}
		reach := s.Reach()
		if reach.Addresses && !reach.Striped {
			return nil
		}
		why = append(why, reach.Why)
	}
	return &NoSpreadError{strings.Join(why, "; "), RemedyFor(req.Near)}
}

// judge says how the chosen lanes use each side's links.
func (req AddressRequest) judge(pool []flow.Lane, views []view, chosen []int) Addresses {
	out := Addresses{Even: true}
	for _, i := range chosen {
		lane := pool[i]
		out.Lanes = append(out.Lanes, AddressLane{Lane: lane, Link: -1, FarLink: -1, BackLink: -1, Group: -1})
		if lane.Src != req.Src && req.Side != SideFar {
			out.AddNear = append(out.AddNear, lane.Src)
		}
		if lane.Dst != req.Dst && req.Side != SideNear {
			out.AddFar = append(out.AddFar, lane.Dst)
		}
	}
	var reasons []string
	for _, v := range views {
		counts, even := v.outcome(chosen)
		out.Even = out.Even && even
		why := v.explain(chosen, req.Subnet)
		if why != "" {
			reasons = append(reasons, v.label+why)
		}
		switch v.side {
		case nearSide:
			out.PerLink, out.Relative = counts, !v.known && len(v.readings) > 0 && !v.turns
			v.number(out.Lanes, chosen, func(l *AddressLane) *int { return &l.Link })
			v.group(out.Lanes, chosen)
		case farSide:
			out.FarPerLink = counts
			v.number(out.Lanes, chosen, func(l *AddressLane) *int { return &l.FarLink })
		case backSide:
			out.BackPerLink = counts
			v.number(out.Lanes, chosen, func(l *AddressLane) *int { return &l.BackLink })
		}
	}
	out.Why = strings.Join(reasons, "; ")
	return out
}
