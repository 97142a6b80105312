package without

import (
	"slices"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/routing"
	"github.com/linerate/linerate/record"
)

// NearTie is how close two limits are, as a part of one, that cannot be told apart.
const NearTie = 0.01

// Traffic is a trial's, with ports chosen, over the links that it counted, and with what
// its run and its programs asked of it, but for what the cause names: the remedy leaves
// that as it is.
func Traffic(f predict.Fabric, t record.Trial, cause record.Cause) predict.Traffic {
	out := predict.TrafficOfTrial(t)
	out.Ports, out.Lanes, out.ChosenOnly = predict.PortsChosen, Counted(f, t), true
	switch cause {
	case record.Pacing, record.Application:
		out.Pace = 0
	case record.ReceiveWindow, record.SendBuffer:
		out.SocketBuffer = 0
	}
	return out
}

// Counted is the pair's lanes, From's address first, over the links that the
// trial counted: it may have been one of some lanes only. Nil is every lane.
func Counted(f predict.Fabric, t record.Trial) []flow.Lane {
	all, err := predict.Lanes(f, t.From, t.To, "")
	if err != nil {
		return nil
	}
	held := func(host string, lane flow.Lane) bool {
		links := routing.Facing(f.Hosts[host], lane.Src, lane.Dst)
		var below []netstate.Link
		for _, l := range links {
			ports, _, _ := f.Hosts[host].Below(l.Name)
			below = append(below, ports...)
		}
		return len(links) == 0 || slices.ContainsFunc(below, func(l netstate.Link) bool {
			return slices.ContainsFunc(t.Links, func(u record.LinkUse) bool { return u.Host == host && u.Link == l.Name })
		})
	}
	own := slices.DeleteFunc(slices.Clone(all), func(l flow.Lane) bool { return !held(t.From, l) })
	if len(own) == 0 || len(own) == len(all) {
		return nil
	}
	// A ceiling above what those links carry was the whole pair's.
	alone := predict.Between(t.From, t.To, t.Direction, 1)
	alone.Protocol, alone.Lanes = t.Protocol, own
	most, _, err := predict.CeilingOf(f, alone, t.CeilingMTU)
	if err != nil || t.Ceiling > most*(1+NearTie) {
		return nil
	}
	return own
}
