package predict

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/advise/cloud"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/tunnel"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// burstTime is how long an instance that rested reaches its burst bandwidth at
// least: "typically from 5 to 60 minutes, depending on the instance size"
// (Amazon EC2 instance network bandwidth).
const burstTime = 5 * time.Minute

// cloudEnd is one end of a way that is a cloud's instance.
type cloudEnd struct {
	host netstate.Host
	caps cloud.Caps
	err  error
	// totals are the host's in the way's sense.
	totals []cloud.Cap
	// at are the side's attachments, end tells a leg's.
	at    []attachment
	end   legEnd
	sends bool
}

// KnownClouds refuses a provider or an instance type that no rule knows and whose
// bandwidth nobody says: what it caps would be left out of every figure. Errors:
// cloud.ErrUnknownProvider, cloud.ErrUnknownInstance.
func KnownClouds(f Fabric) error {
	for _, name := range slices.Sorted(maps.Keys(f.Hosts)) {
		c := f.Hosts[name].Cloud
		if c == nil {
			continue
		}
		if _, err := f.Clouds.Caps(cloud.Query{Cloud: *c, Interfaces: 1}); unknownCloud(err) {
			return fmt.Errorf("hosts.%s.cloud: %w", name, err)
		}
	}
	return nil
}

func unknownCloud(err error) bool {
	return errors.Is(err, cloud.ErrUnknownProvider) || errors.Is(err, cloud.ErrUnknownInstance)
}

// cloudEnds are the ends of the way that are declared as instances.
func (w *way) cloudEnds() []cloudEnd {
	var all []cloudEnd
	for _, e := range []struct {
		host, peer netstate.Host
		at         []attachment
		end        legEnd
		transmit   bool
	}{{w.sender, w.receiver, w.out.at, legOut, true}, {w.receiver, w.sender, w.in.at, legIn, false}} {
		if e.host.Cloud == nil {
			continue
		}
		one := cloudEnd{host: e.host, at: e.at, end: e.end, sends: e.transmit}
		one.caps, one.err = w.fabric.Clouds.Caps(cloud.Query{
			Cloud: *e.host.Cloud, Peer: e.peer.Cloud, Interfaces: vNICs(e.host), UDP: w.traffic.protocol() == "udp",
		})
		one.totals = []cloud.Cap{one.caps.Ingress, one.caps.OutsideIngress}
		if e.transmit {
			one.totals = []cloud.Cap{one.caps.Egress, one.caps.OutsideEgress}
		}
		all = append(all, one)
	}
	return all
}

// onPath are kinds of links that carry a host's traffic out; the others
// (bridges, tunnels, lo) ride on them or stay inside.
var onPath = []string{"", "bond", "veth", "macvlan", "ipvlan"}

// vNICs counts the interfaces that a provider deals bandwidth out to: those
// that are up and hold addresses, or carry a VLAN or bridge that does. A
// bond's usable ports count, not the bond.
func vNICs(h netstate.Host) int {
	var seen []string
	n := 0
	for _, l := range h.Links {
		if !l.Up || len(l.Addresses) == 0 {
			continue
		}
		s, ok := tunnel.Below(h, l)
		if !ok || !slices.Contains(onPath, s.Base.Kind) || slices.Contains(seen, s.Base.Name) {
			continue
		}
		seen = append(seen, s.Base.Name)
		n += nicsOf(h, s.Base)
	}
	return n
}

// nicsOf is how many of the provider's interfaces make up a link.
func nicsOf(h netstate.Host, l netstate.Link) int {
	if l.Bond == nil {
		return 1
	}
	return len(h.UsablePorts(l.Name))
}

// cloudTotals are what the providers let the hosts and their interfaces carry.
// Those of interfaces that routes leave idle are counted in where idle is asked for.
// They count frames from the Ethernet header on, as a shaper in the host's
// path does; no provider says which bytes count.
func (w *way) cloudTotals(idle bool) []sharedLimit {
	var all []sharedLimit
	for _, e := range w.cloudEnds() {
		for _, c := range e.totals {
			if c.Rate > 0 {
				all = append(all, sharedLimit{cause: record.Shaper, where: e.host.Name, what: c.Why, total: w.capped(c)})
			}
		}
		all = append(all, w.interfaceCaps(e, idle)...)
	}
	return all
}

// interfaceCaps are one member for each interface that the way uses. Those of the
// sender that routes leave idle are why it is no more, or count as well.
func (w *way) interfaceCaps(e cloudEnd, idle bool) []sharedLimit {
	if e.caps.Interface.Rate == 0 {
		return nil
	}
	cause, more, why := record.Shaper, 1.0, ""
	if e.sends && len(w.out.idle) > 0 {
		more = float64(len(e.at)+len(w.out.idle)) / float64(len(e.at))
		cause, why = record.AsymmetricRoute, leftIdle(w.out.idle)+"; "
	}
	if !idle {
		more = 1
	}
	var all []sharedLimit
	for i, a := range e.at {
		s := sharedLimit{cause: cause, group: "interfaces of " + e.host.Name, where: e.host.Name + ": " + a.base.Name,
			what: why + e.caps.Interface.Why, total: w.capped(e.caps.Interface).times(more * float64(max(nicsOf(e.host, a.base), 1)))}
		for n, l := range w.legs {
			if at, _ := e.end(l); at == i {
				s.legs = append(s.legs, n)
			}
		}
		all = append(all, s)
	}
	return all
}

// capped is a provider's cap as an estimate. A short test of an instance that
// rested reads its burst. Counted without the Ethernet header, as some
// providers may, a little more fits.
func (w *way) capped(c cloud.Cap) estimate {
	e := estimate{rate: c.Rate, low: c.Low, high: max(c.High, c.Rate), open: c.Open}
	if t := w.traffic.Window; c.Burst > e.rate && t > 0 && t <= burstTime {
		e.rate, e.low = c.Burst, max(c.Low, c.Rate)
	}
	s := w.segment(w.legs[0])
	e.high *= unit.BitRate(float64(s.Frame(netstate.FramingL2, 0)) / float64(s.Mtu))
	if e.open != "" {
		e.open += "; "
	}
	e.open += "whether the provider counts the Ethernet header is not documented"
	return e
}

// cloudFlows are the providers' caps on one flow, and a word for a host whose
// caps nobody knows.
func (w *way) cloudFlows() []streamLimit {
	var all []streamLimit
	for _, e := range w.cloudEnds() {
		if e.err != nil {
			all = append(all, streamLimit{cause: record.Unknown, where: e.host.Name + ": " + e.host.Cloud.Provider,
				why: "the cloud's caps: " + e.err.Error() + "; write cloud.bandwidth, or the type in a file of your own (--clouds)"})
		}
		if e.caps.Flow.Rate == 0 || slices.ContainsFunc(all, func(s streamLimit) bool { return strings.HasPrefix(s.why, e.caps.Flow.Why+": ") }) {
			continue
		}
		flows := float64(w.flows()) / float64(w.traffic.Streams)
		one := w.capped(e.caps.Flow).times(w.shaperShare())
		why := fmt.Sprintf("%s: %s%s", e.caps.Flow.Why, e.caps.Flow.Rate, w.counted(sharedLimit{}, one.rate))
		if flows > 1 {
			why += fmt.Sprintf("; %.0f flows a stream = %s", flows, one.times(flows).rate)
		}
		all = append(all, streamLimit{cause: record.Shaper, where: w.between(), why: why, each: one.times(flows)})
	}
	return all
}
