package tune

import (
	"fmt"
	"math/bits"
	"strings"
	"time"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/unit"
)

// hashPolicy: bonds whose policy cannot tell the pair's flows apart get
// layer3+4. It is proven with many streams whose ports the kernel picks: four
// a link leave an idle link to chance in less than one run of a hundred.
func hashPolicy(s State) (Proposal, bool) {
	hosts := make(map[string]netstate.Host)
	var changed, why []string
	all := pairLinks(s)
	for _, host := range hostsOf(all) {
		desired := s.Fabric.Hosts[host].Clone()
		for _, l := range all[host] {
			_, _, bond := desired.Below(l.Name)
			if bond == nil || !bond.Bond.Mode.Hashes() || len(desired.UsablePorts(bond.Name)) < 2 {
				continue
			}
			// A second interface on the same bond finds it changed.
			b, err := steer.BundleOf(desired, bond.Name)
			if err != nil || b.Reach().Ports && b.Reach().Chosen {
				continue
			}
			bond.Bond.HashPolicy = netstate.Layer34
			desired.SetLink(*bond)
			hosts[host] = desired
			changed = append(changed, bond.Name+" of "+host)
			why = append(why, b.Reach().Why)
		}
	}
	if len(hosts) == 0 {
		return Proposal{}, false
	}
	p := Proposal{
		Change:  "transmit hash policy layer3+4 on " + strings.Join(changed, " and "),
		Why:     strings.TrimSuffix(why[0], ".") + "; layer3+4 tells flows apart by their ports",
		Hosts:   hosts,
		Traffic: s.Traffic,
	}
	p.ProofA = s.Traffic
	p.ProofA.Streams, p.ProofA.Ports = 4*width(s), "kernel"
	p.ProofB = p.ProofA
	return p, p.gain(s.Fabric, with(s.Fabric, hosts)) && p.Gain >= leastGain
}

// streams: the fewest streams, on ports chosen for different links, that
// reach what the links carry.
func streams(s State) (Proposal, bool) {
	n := width(s)
	p := Proposal{Traffic: s.Traffic, ProofA: s.Traffic}
	p.Traffic.Ports = "chosen"
	best := Proposal{}
	for count := n; count <= 64; count += n {
		p.Traffic.Streams = count
		p.ProofB = p.Traffic
		if !p.gain(s.Fabric, s.Fabric) {
			return Proposal{}, false
		}
		// More streams must be worth their while.
		if best.Expected > 0 && p.Expected < best.Expected*(1+leastGain) {
			break
		}
		best = p
	}
	if best.Gain < leastGain {
		return Proposal{}, false
	}
	before, after := plural(s.Traffic.Streams, "stream"), plural(best.Traffic.Streams, "stream")
	best.Change = fmt.Sprintf("%s on chosen source ports instead of %s", after, before)
	best.Why = fmt.Sprintf("%s can use %s at most; ports chosen by the bond's own hash give each of the %d links its share", before, plural(min(s.Traffic.Streams, n), "link"), n)
	if n == 1 { // no ports to choose between: the streams themselves are the limit
		best.Change = fmt.Sprintf("%s instead of %s", after, before)
		best.Why = streamLimit(s, before)
	}
	return best, true
}

// streamLimit is what keeps the present streams below what one link carries.
func streamLimit(s State, streams string) string {
	p, err := predict.Predict(s.Fabric, s.Traffic)
	if err != nil || len(p.Limits) == 0 {
		return streams + " cannot fill the link"
	}
	return fmt.Sprintf("%s cannot fill the link: %s", streams, p.Limits[0].Why)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// jumbo is the frame size that switches and cards agree on by custom; larger
// is rarely supported end to end.
const jumbo = 9000

// mtu: larger frames, as far as every link of the pair takes them.
func mtu(s State) (Proposal, bool) {
	size := LargestMTU(s.Fabric, s.Traffic.From, s.Traffic.To)
	hosts := make(map[string]netstate.Host)
	var changed []string
	from := size
	all := pairLinks(s)
	for _, host := range hostsOf(all) {
		desired := s.Fabric.Hosts[host].Clone()
		for _, l := range all[host] {
			raised := false
			for _, name := range stack(desired, l) {
				d, ok := desired.Link(name)
				if !ok || d.MTU >= size {
					continue
				}
				from, raised = min(from, d.MTU), true
				d.MTU = size
				desired.SetLink(d)
			}
			if raised {
				hosts[host] = desired
				changed = append(changed, l.Name+" of "+host)
			}
		}
	}
	if len(hosts) == 0 {
		return Proposal{}, false
	}
	p := Proposal{
		Change:  fmt.Sprintf("MTU %d on %s", size, strings.Join(changed, " and ")),
		Why:     fmt.Sprintf("frames of %d bytes spend more of the line on headers than frames of %d; hosts on the same subnet that keep the smaller ones will lose large UDP and ICMP packets", from, size),
		Hosts:   hosts,
		Traffic: s.Traffic, ProofA: s.Traffic, ProofB: s.Traffic,
		ProbeMTU: size,
	}
	return p, p.gain(s.Fabric, with(s.Fabric, hosts)) && p.Gain >= leastGain
}

// stack is a link, the bond under it and that bond's ports.
func stack(h netstate.Host, l netstate.Link) []string {
	names := []string{l.Name}
	for depth := 0; l.VLAN != nil && depth < 8; depth++ {
		parent, ok := h.Link(l.VLAN.Parent)
		if !ok {
			return names
		}
		l = parent
		names = append(names, l.Name)
	}
	if l.Bond != nil {
		names = append(names, l.Bond.Ports...)
	}
	return names
}

// LargestMTU is the largest MTU that every link of the pair says it takes, at
// most 9000; the smallest one set where a driver names no limit. Zero when the
// pair has no links.
func LargestMTU(f predict.Fabric, from, to string) int {
	size := jumbo
	all := pairLinks(State{Fabric: f, Traffic: predict.Traffic{From: from, To: to}})
	if len(all) == 0 {
		return 0
	}
	for host, links := range all {
		for _, l := range links {
			for _, name := range stack(f.Hosts[host], l) {
				d, ok := f.Hosts[host].Link(name)
				if !ok {
					continue
				}
				size = min(size, mostOf(d))
			}
		}
	}
	return size
}

// mostOf is the largest MTU that a link is known to take.
func mostOf(l netstate.Link) int {
	switch {
	case l.MaxMTU > 0:
		return l.MaxMTU
	case l.MTU > 0:
		return l.MTU
	}
	return predict.DefaultMTU
}

const (
	limitedShare = 0.30
	fullShare    = 0.97 // of the ceiling: the links bind, whatever TCP waited for
	rmemKey      = "net.ipv4.tcp_rmem"
	wmemKey      = "net.ipv4.tcp_wmem"
	// mostBuffer bounds what a proposal may ask for: beyond it memory, not
	// the network, is the next problem.
	mostBuffer = 64 << 20
)

// buffers: the kernel says that streams waited for a window or buffer, or the
// prediction at the round trip under load says they must.
func buffers(s State) (Proposal, bool) {
	t, ok := newest(s, s.Traffic.Direction)
	if !ok || len(t.Lanes) == 0 {
		return Proposal{}, false
	}
	waited, rtt := 0.0, 0.0
	for _, l := range t.Lanes {
		waited = max(waited, l.TCP.RwndLimited, l.TCP.SndbufLimited)
		rtt = max(rtt, l.TCP.RTTMS)
	}
	full := t.Ceiling > 0 && float64(t.Goodput) >= fullShare*float64(t.Ceiling)
	if (waited < limitedShare || full) && !s.Thorough {
		return Proposal{}, false
	}
	want := bufferFor(t, time.Duration(rtt*float64(time.Millisecond)))
	hosts := make(map[string]netstate.Host)
	for _, name := range []string{s.Traffic.From, s.Traffic.To} {
		if desired, ok := withBuffers(s.Fabric.Hosts[name], want); ok {
			hosts[name] = desired
		}
	}
	if len(hosts) == 0 {
		return Proposal{}, false
	}
	p := Proposal{
		Change: fmt.Sprintf("socket buffers up to %v on %s and %s", want, s.Traffic.From, s.Traffic.To),
		Why:    bufferReason(waited, rtt),
		Hosts:  hosts, Traffic: s.Traffic, ProofA: s.Traffic, ProofB: s.Traffic,
	}
	return p, p.gain(s.Fabric, with(s.Fabric, hosts))
}

// bufferReason says why buffers are tried, also when nothing speaks for them:
// they head every copied list of tunables, and a measurement settles it.
func bufferReason(waited, rttMS float64) string {
	if waited < limitedShare {
		return fmt.Sprintf("every copied list of tunables raises them; TCP waited for a window or buffer %.0f %% of the time, so no gain is expected: the measurement shows it", 100*waited)
	}
	return fmt.Sprintf("TCP waited for a window or buffer %.0f %% of the time, at %.1f ms under load", 100*waited, rttMS)
}

// leastBuffer is the smallest size worth trying: what distributions and
// providers set when they raise the default at all.
const leastBuffer = 16 << 20

// bufferFor is four times what the fastest stream had to keep in flight: the
// kernel lets half of a receive buffer be window, and a queue may double the
// round trip. Rounded up to a power of two.
func bufferFor(t record.Trial, rtt time.Duration) unit.Bytes {
	fastest := unit.BitRate(0)
	for _, l := range t.Lanes {
		fastest = max(fastest, l.Goodput)
	}
	need := uint64(4 * float64(fastest) / 8 * rtt.Seconds())
	return unit.Bytes(min(max(uint64(1)<<bits.Len64(max(need, 1)), leastBuffer), mostBuffer))
}

// withBuffers raises the largest receive and send buffer of a host; false
// when they are as large already or unknown.
func withBuffers(h netstate.Host, want unit.Bytes) (netstate.Host, bool) {
	desired, changed := h.Clone(), false
	for _, key := range []string{rmemKey, wmemKey} {
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
