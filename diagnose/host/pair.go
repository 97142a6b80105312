package host

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/routing"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Pairs judges what is between hosts: settings of the two ends that do not go
// together, ways that do not take the MTU, buffers too small for the distance.
// It returns the worst first, never nil. Probes are those that were made; a
// round trip that the fabric does not name is taken from them.
func Pairs(f predict.Fabric, probes []PathProbe) []Finding {
	found := []Finding{}
	names := slices.Sorted(maps.Keys(f.Hosts))
	for i, a := range names {
		for _, b := range names[i+1:] {
			lanes, err := predict.Lanes(f, a, b, "")
			if err != nil {
				continue
			}
			found = append(found, between(f, a, b, lanes, probes)...)
		}
	}
	worstFirst(found)
	return found
}

// between judges two hosts that have lanes between them.
func between(f predict.Fabric, a, b string, lanes []flow.Lane, probes []PathProbe) []Finding {
	var found []Finding
	sizes := unlikeMTUs(f, a, b, lanes)
	for i := range sizes {
		found = append(found, sizes[i].Finding)
	}
	for _, p := range probes {
		if !(p.From == a && p.To == b || p.From == b && p.To == a) {
			continue
		}
		said := slices.IndexFunc(sizes, func(u unlike) bool { return u.explains(p) })
		judged, bad := Path(p)
		switch {
		case bad && said >= 0:
			found[said].Severity = Fault
			found[said].Evidence = append(found[said].Evidence, judged.Evidence[1])
		case bad:
			found = append(found, judged)
		}
	}
	found = append(found, unlikePolicies(f, a, b, lanes)...)
	for _, way := range [][2]string{{a, b}, {b, a}} {
		if s, ok := shortBuffers(withTrips(f, probes), way[0], way[1]); ok {
			found = append(found, s)
		}
	}
	return found
}

// unlike is a finding about two MTUs with the links it is about.
type unlike struct {
	Finding
	small, large           int
	largeHost, link, other string
}

// explains reports a probe that fails because the far end's MTU is smaller. A
// port takes a little more than its MTU: a tag's room, or what a buffer holds.
func (u unlike) explains(p PathProbe) bool {
	return p.From == u.largeHost && p.Link == u.link && p.MTU == u.large && (p.Passes == 0 || p.Passes >= u.small)
}

// unlikeMTUs finds hosts in one subnet whose links differ: what the larger
// end sends the smaller one drops, and no router is there to say so.
func unlikeMTUs(f predict.Fabric, a, b string, lanes []flow.Lane) []unlike {
	var found []unlike
	for _, lane := range lanes {
		near, far := routing.FacingOne(f.Hosts[a], lane.Src, lane.Dst), routing.FacingOne(f.Hosts[b], lane.Dst, lane.Src)
		if near.MTU == 0 || far.MTU == 0 || near.MTU == far.MTU || !oneSubnet(near, far, lane) {
			continue
		}
		u := unlike{small: far.MTU, large: near.MTU, largeHost: a, link: near.Name, other: far.Name}
		smallHost := b
		if near.MTU < far.MTU {
			u = unlike{small: near.MTU, large: far.MTU, largeHost: b, link: far.Name, other: near.Name}
			smallHost = a
		}
		if slices.ContainsFunc(found, func(have unlike) bool { return have.link == u.link && have.other == u.other }) {
			continue
		}
		u.Finding = Finding{
			Kind: PairMTU, Hosts: []string{a, b}, Severity: Warning,
			What: fmt.Sprintf("%s of %s has MTU %d and %s of %s, in the same network, %d: the one drops the other's full packets", u.link, u.largeHost, u.large, u.other, smallHost, u.small),
			Evidence: []record.Evidence{
				diagnose.Fact("MTU of "+near.Name+" on "+a, fmt.Sprint(near.MTU), "IFLA_MTU"),
				diagnose.Fact("MTU of "+far.Name+" on "+b, fmt.Sprint(far.MTU), "IFLA_MTU"),
			},
			Remedy: fmt.Sprintf("on %s: %s, after the switch's ports; or on %s: %s", smallHost, setMTU(f.Hosts[smallHost], u.other, u.large), u.largeHost, setMTU(f.Hosts[u.largeHost], u.link, u.small)),
		}
		found = append(found, u)
	}
	return found
}

// setMTU is how a host's link gets an MTU.
func setMTU(h netstate.Host, link string, mtu int) string {
	return onHost(h, record.MTU, fmt.Sprintf("ip link set %s mtu %d", link, mtu))
}

func oneSubnet(near, far netstate.Link, lane flow.Lane) bool {
	return near.Faces(lane.Src, lane.Dst) && far.Faces(lane.Dst, lane.Src)
}

// unlikePolicies finds bonds at the two ends of a path that spread flows by
// different rules: the two directions use different links, and a set of ports
// that is even one way is not the other.
func unlikePolicies(f predict.Fabric, a, b string, lanes []flow.Lane) []Finding {
	for _, lane := range lanes {
		near, ok := bondBelow(f.Hosts[a], lane.Src)
		far, okFar := bondBelow(f.Hosts[b], lane.Dst)
		if !ok || !okFar || near.Bond.HashPolicy == far.Bond.HashPolicy || near.Bond.HashPolicy == netstate.PolicyUnread || far.Bond.HashPolicy == netstate.PolicyUnread || len(near.Bond.Ports) < 2 || len(far.Bond.Ports) < 2 {
			continue
		}
		return []Finding{{
			Kind: PairHash, Hosts: []string{a, b}, Severity: Warning,
			What: fmt.Sprintf("%s of %s spreads flows by %s and %s of %s by %s: the two directions of one set of flows use links differently", near.Name, a, near.Bond.HashPolicy, far.Name, b, far.Bond.HashPolicy),
			Evidence: []record.Evidence{
				diagnose.Fact("policy of "+near.Name+" on "+a, near.Bond.HashPolicy.String(), diagnose.FromBond),
				diagnose.Fact("policy of "+far.Name+" on "+b, far.Bond.HashPolicy.String(), diagnose.FromBond),
			},
			Remedy: fmt.Sprintf("set both to layer3+4: echo layer3+4 > /sys/class/net/%s/bonding/xmit_hash_policy on each (the bonds may stay up)", near.Name),
		}}
	}
	return nil
}

// bondBelow is the bond, of a mode that hashes, under an address.
func bondBelow(h netstate.Host, a netip.Addr) (netstate.Link, bool) {
	l, ok := h.LinkWith(a)
	if !ok {
		return l, false
	}
	_, _, bond := h.Below(l.Name)
	if bond == nil || bond.Bond == nil || !bond.Bond.Mode.Hashes() {
		return netstate.Link{}, false
	}
	return *bond, true
}

// withTrips is the fabric with the round trips that probes saw for paths that
// name none.
func withTrips(f predict.Fabric, probes []PathProbe) predict.Fabric {
	paths := slices.Clone(f.Paths)
	for _, p := range probes {
		if p.RTT <= 0 {
			continue
		}
		at := slices.IndexFunc(paths, func(q fabric.Path) bool { return q.Leads(p.From, p.To) })
		if at < 0 {
			paths = append(paths, fabric.Path{From: p.From, To: p.To, RTT: p.RTT})
		} else if paths[at].RTT == 0 {
			paths[at].RTT = p.RTT
		}
	}
	f.Paths = paths
	return f
}

// shortBuffers finds a window that keeps a single stream below what its link
// carries.
func shortBuffers(f predict.Fabric, from, to string) (Finding, bool) {
	alone := predict.Between(from, to, flow.Forward, 1)
	alone.ChosenOnly = true
	p, err := predict.Predict(f, alone)
	if err != nil || len(p.Limits) == 0 || p.Ceiling == 0 {
		return Finding{}, false
	}
	l := p.Limits[0]
	key := map[record.Cause]string{record.ReceiveWindow: "net.ipv4.tcp_rmem", record.SendBuffer: "net.ipv4.tcp_wmem"}[l.Cause]
	link := linkRate(p)
	if bondopt.Foreign(f.Hosts[l.Where].Kernel.OS) && key != "" {
		key = strings.ReplaceAll(string(l.Cause), "-", " ")
	}
	if key == "" || l.Rate <= 0 || link <= l.Rate {
		return Finding{}, false
	}
	rtt := roundTrip(f, from, to)
	needed := powerAbove(2 * float64(link) / 8 * rtt.Seconds())
	return Finding{
		Kind: BufferForBDP, Hosts: []string{from, to}, Severity: Warning,
		What:     fmt.Sprintf("one stream from %s to %s gets no more than %s of the link's %s: %s of %s is too small for %.3g ms", from, to, l.Rate, link, key, l.Where, unit.Milliseconds(rtt)),
		Evidence: []record.Evidence{diagnose.Fact(string(l.Cause), l.Why, sysctlFile(key)), diagnose.Fact("round trip", rtt.String(), "the fabric's path, or echoes")},
		Remedy:   onHost(f.Hosts[l.Where], l.Cause, fmt.Sprintf("on %s: raise the last number of %s to %d, or use %d streams", l.Where, key, needed, int(float64(link)/float64(l.Rate))+1)),
	}, true
}

// linkRate is what the links let one stream have; zero unknown.
func linkRate(p predict.Prediction) unit.BitRate {
	least := unit.BitRate(0)
	for _, l := range p.Limits {
		switch l.Cause {
		case record.LineRate, record.SingleLink, record.Shaper, record.HashImbalance:
			if l.Rate > 0 && (least == 0 || l.Rate < least) {
				least = l.Rate
			}
		}
	}
	return least
}

func roundTrip(f predict.Fabric, from, to string) time.Duration {
	for _, q := range f.Paths {
		if q.Leads(from, to) {
			return q.RTT
		}
	}
	return 0
}

// powerAbove is the next power of two, within what a sysctl takes.
func powerAbove(n float64) int64 {
	p := int64(1 << 20)
	for float64(p) < n && p < 1<<30 {
		p *= 2
	}
	return p
}
