package steer

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/steer/affine"
)

// learnedUsage is the help of --learned.
const learnedUsage = "fabric file into which steer probe --learn wrote a switch's hash"

// learnedOf finds, in a fabric file, the last learned hash by a port of flows
// from one address to another.
func learnedOf(file fabric.Fabric, field string, lane flow.Lane) (affine.Rule, bool) {
	for _, p := range file.Paths {
		for _, l := range slices.Backward(p.Learned) {
			if l.Field == field && slices.ContainsFunc(l.Flows, func(f flow.LearnedFlow) bool { return f.Src == lane.Src.Unmap() && f.Dst == lane.Dst.Unmap() }) {
				return affine.Rule{LearnedHash: l}, true
			}
		}
	}
	return affine.Rule{}, false
}

// learnedSides are the switches of the lanes as a fabric file has learned them,
// where no flag declares them.
func (p *pickFlags) learnedSides(ctx context.Context, req *steer.PickRequest) (notes []string, err error) {
	path := cmp.Or(p.learned, p.fabric)
	if path == "" {
		return nil, nil
	}
	file, err := console.ReadFabric(ctx, path)
	if err != nil {
		return nil, err
	}
	dports := req.Dports
	if len(dports) == 0 {
		dports = []uint16{steer.DefaultDport}
	}
	found := false
	for _, side := range []struct {
		field string
		back  bool
		to    *steer.Spreader
	}{{flow.LearnedSport, false, &req.Far}, {flow.LearnedDport, true, &req.BackFar}} {
		first := req.Lanes[0]
		if side.back {
			first = first.Reverse()
		}
		rule, ok := learnedOf(file, side.field, first)
		if !ok || *side.to != nil {
			found = found || ok
			continue
		}
		found = true
		if why := unlearned(rule, req, dports, side.back); why != "" {
			if len(req.Lanes)*len(dports) > 1 {
				return nil, console.BadUsage("--learned: "+why, "name one pair of addresses and one port, or let `steer probe --learn` learn these too")
			}
			notes = append(notes, "to "+rule.To+": "+why+": which streams share a link is certain, which link that is is not")
			rule = rule.Unnumbered()
		}
		*side.to = rule
		if req.FirstPort == 0 {
			req.FirstPort, req.LastPort = max(steer.DefaultFirstPort, rule.Ports.First), min(steer.DefaultLastPort, rule.Ports.Last)
			if req.FirstPort > req.LastPort {
				req.FirstPort, req.LastPort = rule.Ports.First, rule.Ports.Last
			}
		}
	}
	if !found && p.learned != "" {
		return nil, console.BadUsage(fmt.Sprintf("--learned: %s has no learned hash for %s to %s", p.learned, req.Lanes[0].Src, req.Lanes[0].Dst), "`steer probe --learn` finds it")
	}
	return notes, nil
}

// unlearned says why a rule does not place the request's flows, "" where it does.
func unlearned(rule affine.Rule, req *steer.PickRequest, dports []uint16, back bool) string {
	for _, lane := range req.Lanes {
		for _, dport := range dports {
			t := flow.Tuple{Proto: req.Proto, Src: lane.Src, Dst: lane.Dst, Sport: rule.Ports.First, Dport: dport}
			if t.Proto == 0 {
				t.Proto = flow.TCP
			}
			if back {
				t.Src, t.Dst, t.Sport, t.Dport = t.Dst, t.Src, dport, rule.Ports.First
			}
			if at := rule.Place(flow.Frame{Tuple: t}); !at.Known {
				return fmt.Sprintf("%s to port %d: %s", lane, dport, at.Why)
			}
		}
	}
	return ""
}

// showLearned says which of a host's links the switch puts flows on.
func showLearned(ctx context.Context, con *console.Console, path string, frames []flow.Frame) error {
	file, err := console.ReadFabric(ctx, path)
	if err != nil {
		return err
	}
	if len(frames) == 0 {
		return console.BadUsage("steer show: no flow is given", "")
	}
	first := flow.Lane{Src: frames[0].Src, Dst: frames[0].Dst}
	rule, ok := learnedOf(file, flow.LearnedSport, first)
	if back, also := learnedOf(file, flow.LearnedDport, first); also && (!ok || !rule.Place(frames[0]).Known) {
		rule, ok = back, true
	}
	if !ok {
		return console.BadUsage(fmt.Sprintf("--learned: %s has no learned hash for %s to %s", path, first.Src, first.Dst), "`steer probe --learn` finds it")
	}
	shown := steer.ShowOn(rule, "learned", frames)
	shown.Names = rule.Links()
	if con.JSON {
		return showDocument.Print(con, shown)
	}
	header := fmt.Sprintf("the switch to %s, as learned from %d connections and checked by %d (%s)", rule.To, rule.Observed, rule.Checked, cmp.Or(rule.Date, "no date"))
	return printFlows(con, header, rule.Links(), shown)
}
