package change

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// A proof of traffic: a little, long enough for links' counters to show it.
const (
	trafficTime = time.Second
	trafficRate = 16 * unit.Mbps // in each direction
	streamsEach = 2              // on every link
	mostStreams = 32
)

// traffic sends a little over every path that the change touches, over streams
// chosen so that each link has some, and looks at the links' own counters.
func (c *Change) traffic(ctx context.Context, after predict.Fabric) []Proved {
	var proofs []Proved
	network := c.network(after)
	for _, pair := range c.pairs(after) {
		if !c.carries(pair.From) && !c.carries(pair.To) {
			continue // addresses and tunables alone: no link carries otherwise
		}
		if _, err := predict.Lanes(after, pair.From, pair.To, pair.Family); err != nil {
			continue
		}
		proofs = append(proofs, seenOnEach(ctx, network, pair))
	}
	return proofs
}

// carries reports that the change touched a link of the host.
func (c *Change) carries(name string) bool { return len(c.touched(name)) > 0 }

func seenOnEach(ctx context.Context, network measure.Network, pair fabric.Path) Proved {
	p := Proved{Proof: ProofTraffic, What: pair.From + " to " + pair.To, Verdict: Impossible}
	streams := streamsFor(network, pair)
	expected, err := predict.Predict(supposed(network.Fabric), predict.Between(pair.From, pair.To, flow.Both, streams))
	if err != nil && len(expected.Links) == 0 {
		p.Detail = err.Error()
		return p
	}
	trial, err := measure.Run(ctx, measure.Config{Network: network}, measure.Spec{
		From: pair.From, To: pair.To, Direction: flow.Both, Streams: streams, Protocol: "tcp", Ports: predict.PortsChosen,
		Rate: trafficRate, Duration: trafficTime,
	})
	if err != nil {
		p.Verdict, p.Detail = Broken, err.Error()
		return p
	}
	quiet, loud := silent(expected, trial, streams)
	if len(quiet) > 0 {
		p.Verdict, p.Detail = Broken, "nothing seen on "+strings.Join(quiet, ", ")
		return p
	}
	p.Verdict, p.Detail = Passed, fmt.Sprintf("bytes seen on %s", strings.Join(loud, ", "))
	return p
}

// supposed is the hosts with a speed for every link that has none: which link
// a flow takes does not depend on it.
func supposed(f predict.Fabric) predict.Fabric {
	out := predict.Fabric{Hosts: make(map[string]netstate.Host, len(f.Hosts)), Paths: f.Paths}
	for name, h := range f.Hosts {
		h = h.Clone()
		for i := range h.Links {
			if h.Links[i].Speed == 0 {
				h.Links[i].Speed = unit.Gbps
			}
		}
		out.Hosts[name] = h
	}
	return out
}

// streamsFor is enough streams for every link of either end.
func streamsFor(n measure.Network, pair fabric.Path) int {
	most := 1
	for _, name := range []string{pair.From, pair.To} {
		host := n.Fabric.Hosts[name]
		for _, l := range host.Links {
			if l.Bond != nil {
				most = max(most, len(host.UsablePorts(l.Name)))
			}
		}
	}
	lanes, _ := predict.Lanes(n.Fabric, pair.From, pair.To, pair.Family)
	return min(streamsEach*max(most, len(lanes)), mostStreams)
}

// silent are the links that surely have a stream and sent less than a tenth of
// its share, and those that carried what they should.
func silent(expected predict.Prediction, t record.Trial, streams int) (quiet, loud []string) {
	for _, share := range expected.Links {
		// A share below one stream is a chance, not a certainty.
		if !share.Transmit || share.Streams < 1 {
			continue
		}
		name := share.Host + " " + share.Link
		least := unit.BitRate(share.Streams/float64(streams)/10) * trafficRate
		i := slices.IndexFunc(t.Links, func(l record.LinkUse) bool { return l.Host == share.Host && l.Link == share.Link })
		if i < 0 || t.Links[i].Tx < least {
			quiet = append(quiet, name)
			continue
		}
		loud = append(loud, name)
	}
	return quiet, loud
}
