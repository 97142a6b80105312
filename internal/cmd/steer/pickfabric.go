package steer

import (
	"context"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/declared"
	"github.com/linerate/linerate/predict/tiers"
	"github.com/linerate/linerate/steer"
)

// pickFabricUsage is the help of --fabric.
const pickFabricUsage = "fabric file with hosts and switches: everything that spreads the flows from --src to --dst"

// fabricSides are what a fabric file says of all that spreads the first lane's flows: the
// hosts' bonds, the switches' links between them and to both, what was learned of them.
// Flags come first.
func (p *pickFlags) fabricSides(ctx context.Context, req *steer.PickRequest) error {
	if p.fabric == "" {
		return nil
	}
	file, err := console.ReadFabric(ctx, p.fabric)
	if err != nil {
		return err
	}
	state, err := declared.State(file)
	if err != nil {
		return console.BadUsage(p.fabric+": "+err.Error(), declared.RemedyFor(err))
	}
	there, back, err := bothWays(file, state.Hosts, req)
	if err != nil {
		return console.BadUsage("--fabric: "+err.Error(), "the file has the hosts' addresses under network, and their links under switches")
	}
	req.Near, req.SrcMAC, req.DstMAC = there.own, there.mac, back.mac
	req.Between = there.between
	for _, side := range []struct {
		to   *steer.Spreader
		said steer.Spreader
	}{{&req.Far, there.receiver}, {&req.Back, back.own}, {&req.BackFar, back.receiver}} {
		if *side.to == nil && side.said != nil && len(side.said.Links()) > 1 {
			*side.to = side.said
		}
	}
	return nil
}

// oneWay is what spreads flows from one host to another.
type oneWay struct {
	own      steer.Spreader // the sender's links
	mac      flow.MAC       // its address
	between  []steer.Spreader
	receiver steer.Spreader // nil where there is one link, or none is described
}

func bothWays(file fabric.Fabric, hosts map[string]netstate.Host, req *steer.PickRequest) (there, back oneWay, err error) {
	lane := req.Lanes[0]
	from, out, sends, err := end(hosts, lane.Src)
	if err != nil {
		return there, back, err
	}
	to, in, receives, err := end(hosts, lane.Dst)
	if err != nil {
		return there, back, err
	}
	last := ""
	for _, path := range file.Paths {
		if path.Joins(from.Name, to.Name) {
			last = path.SwitchHash
		}
	}
	sample := flow.Frame{Tuple: flow.Tuple{Proto: flow.TCP, Src: lane.Src, Dst: lane.Dst, Sport: steer.DefaultFirstPort, Dport: steer.DefaultDport}, SrcMAC: sends.MAC, DstMAC: receives.MAC}
	there = way(file, from, to, out, in, sends, sample, last)
	sample.Tuple, sample.SrcMAC, sample.DstMAC = sample.Reverse(), receives.MAC, sends.MAC
	back = way(file, to, from, in, out, receives, sample, last)
	return there, back, nil
}

func way(file fabric.Fabric, from, to netstate.Host, out, in []netstate.Link, sends netstate.Link, sample flow.Frame, last string) oneWay {
	w := oneWay{own: steer.Bundle{Mode: netstate.BalanceXOR, Ports: side(from, out).Links}, mac: sends.MAC}
	if b, err := steer.BundleOf(from, sends.Name); err == nil {
		w.own = b
	}
	over, ok := tiers.Between(file.Topology, side(from, out), side(to, in))
	if !ok {
		return w
	}
	between, receiver := over.Tiers(w.own, sample, last)
	for _, t := range between {
		w.between = append(w.between, t)
	}
	if receiver != nil {
		w.receiver = *receiver
	}
	return w
}
