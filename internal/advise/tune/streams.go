package tune

import (
	"fmt"

	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/unit"
)

// mostStreams bounds what is proposed: more streams than that are an
// application's own affair.
const mostStreams = 64

// streamOptions: multiples of the links that the pair can use, on ports chosen
// for different links, the fewest first.
func streamOptions(s State) []option {
	n, where := width(s), ""
	if hashed(s) {
		where = " on chosen source ports"
	}
	var out []option
	for count := n; count <= max(mostStreams, n); count *= 2 {
		if now := s.Traffic; now.Streams == count && (now.Ports != predict.PortsKernel || n == 1) {
			continue
		}
		o := option{key: Name(fmt.Sprintf("%s=%d", Streams, count)), load: s.Load}
		o.load.Traffic.Streams, o.load.Traffic.Ports = count, predict.PortsChosen
		before, after := unit.Counted(s.Traffic.Streams, "stream"), unit.Counted(count, "stream")
		o.change = fmt.Sprintf("%s%s instead of %s", after, where, before)
		o.reason = func() string { return streamReason(s, n, before) }
		out = append(out, o)
	}
	return out
}

// streamReason is why other streams would carry more on n links.
func streamReason(s State, n int, before string) string {
	if n == 1 || s.Traffic.Streams >= n && s.Traffic.Ports != predict.PortsKernel { // the streams themselves are the limit
		return streamLimit(s, before)
	}
	if !hashed(s) {
		return fmt.Sprintf("%s can use %s at most; with one for each pair of addresses all %d links are used", before, unit.Counted(min(s.Traffic.Streams, n), "link"), n)
	}
	return fmt.Sprintf("%s can use %s at most; ports chosen by the bond's own hash give each of the %d links its share", before, unit.Counted(min(s.Traffic.Streams, n), "link"), n)
}

// hashed reports a bond between whose ports a hash chooses.
func hashed(s State) bool {
	for host, links := range pairLinks(s) {
		for _, l := range links {
			if ports, _, bond := s.Fabric.Hosts[host].Below(l.Name); bond != nil && len(ports) > 1 {
				return true
			}
		}
	}
	return false
}

// streamLimit is what keeps the present streams below what the links carry.
func streamLimit(s State, streams string) string {
	t := s.Traffic
	t.ChosenOnly = true
	p, err := predict.Predict(s.learnt.into(s.Fabric, t), t)
	links := "link"
	if width(s) > 1 {
		links = "links"
	}
	if err != nil || len(p.Limits) == 0 {
		return fmt.Sprintf("%s cannot fill the %s", streams, links)
	}
	return fmt.Sprintf("%s cannot fill the %s: %s", streams, links, p.Limits[0].Why)
}
