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
	n := width(s)
	var out []option
	for count := n; count <= max(mostStreams, n); count *= 2 {
		if now := s.Traffic; now.Streams == count && (now.Ports != predict.PortsKernel || n == 1) {
			continue
		}
		o := option{key: Name(fmt.Sprintf("%s=%d", Streams, count)), load: s.Load}
		o.load.Traffic.Streams, o.load.Traffic.Ports = count, predict.PortsChosen
		before, after := unit.Counted(s.Traffic.Streams, "stream"), unit.Counted(count, "stream")
		o.change = fmt.Sprintf("%s on chosen source ports instead of %s", after, before)
		if n == 1 { // no ports to choose between
			o.change = fmt.Sprintf("%s instead of %s", after, before)
		}
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
	return fmt.Sprintf("%s can use %s at most; ports chosen by the bond's own hash give each of the %d links its share", before, unit.Counted(min(s.Traffic.Streams, n), "link"), n)
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
