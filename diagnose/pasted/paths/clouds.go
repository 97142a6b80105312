package paths

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/advise/cloud"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Parts of an instance's limit between which a rate that people tell is that limit.
const (
	leastOfCap = 0.88
	mostOfCap  = 1.03
)

// toldCaps: an instance that people name, and a rate that is what its provider gives it.
func toldCaps(v *scene.View) {
	h, provider, ok := v.SaidBy("cloud")
	_, name, named := v.SaidBy("instance")
	if !ok || !v.Complains() || v.HasFinding(record.Shaper) || len(v.Case.Runs) > 0 {
		return
	}
	evidence := []record.Evidence{scene.Saw("said", "an instance of "+provider.Text, provider.Source)}
	if named {
		evidence[0] = scene.Saw("said", strings.TrimSpace(name.Text+" ("+provider.Text+")"), name.Source)
	}
	one, _, oneAt := saidRate(v, "rate_one")
	most, _, at := saidRate(v, "rate_many", "rate_most", "net_bps")
	_, public, outside := v.SaidBy("outside")
	caps, err := cloud.Table{}.Caps(cloud.Query{Cloud: netstate.Cloud{Provider: provider.Text, Instance: name.Text}})
	near := func(rate unit.BitRate, c cloud.Cap) bool {
		return rate > 0 && c.Rate > 0 && scene.Close(rate, c.Rate, leastOfCap, mostOfCap)
	}
	limit := func(sure float64, where string, c cloud.Cap, rate unit.BitRate) {
		v.Add(record.Shaper, sure, h, where, fmt.Sprintf("%v, by what is said, is what the provider gives there: %v. No driver and no setting of the host changes that.", rate, c.Rate),
			"Take a size or type with more, several instances, or (where it is a flow's limit) several flows at once; inside one network use private addresses.", evidence...).Ask = cloudAsks(provider.Text)
	}
	switch {
	case err == nil && named && outside && near(most, caps.OutsideEgress) && caps.OutsideEgress.Rate < caps.Egress.Rate:
		evidence = append(evidence, scene.Saw("said", most.String()+", "+public.Text, at))
		limit(0.66, "what leaves the provider's network", caps.OutsideEgress, most)
	case err == nil && named && near(most, caps.Egress):
		evidence = append(evidence, scene.Saw("said", most.String(), at))
		limit(0.68, "the instance's bandwidth ("+name.Text+")", caps.Egress, most)
	case err == nil && named && near(one, caps.Flow) && caps.Flow.Rate < caps.Egress.Rate:
		evidence = append(evidence, scene.Saw("said", one.String()+" by one flow", oneAt))
		limit(0.66, "the limit of a flow ("+provider.Text+")", caps.Flow, one)
	case v.Said("provider_cap"):
		_, x, _ := v.SaidBy("provider_cap")
		v.Add(record.Shaper, 0.55, h, "the instance's bandwidth ("+provider.Text+")",
			"By what is said, the provider limits the instance: each type and size has a bandwidth of its own, smaller ones share a port or have credits above a base rate, and a flow often has a lower limit still. No driver and no setting of the host changes that.",
			"Look the type's bandwidth up (AWS: `aws ec2 describe-instance-types`, baseline and peak; Azure: max network bandwidth of the size; Google: egress by machine type, less to public addresses), and take a larger one, or several; several flows where a flow is what ends.",
			append(evidence, scene.Saw("said", strings.TrimSpace(x.Text), x.Source))...).Ask = cloudAsks(provider.Text)
	}
}

// awsFlow: one flow that carries what AWS gives a flow, and nothing that says otherwise.
func awsFlow(v *scene.View) {
	h, provider, _ := v.SaidBy("cloud")
	if provider.Text != "aws" || v.HasFinding(record.Shaper) {
		return
	}
	said := scene.Saw("said", "an instance of "+provider.Text, provider.Source)
	if runs := v.Case.Runs; v.Said("instance") && len(runs) == 1 && !runs[0].UDP && len(runs[0].Streams) <= 1 && runs[0].Parallel <= 1 {
		if r := runs[0]; scene.Close(r.Rate, 5*unit.Gbps, 0.94, 1.02) || scene.Close(r.Rate, 10*unit.Gbps, 0.94, 1.02) {
			awsLimit(v, h, 0.62, r.Rate, said, scene.Saw(r.Tool, r.Rate.String()+" by one flow", r.Source))
			return
		}
	}
	one, _, at := saidRate(v, "rate_one")
	most, _, _ := saidRate(v, "carried_bps")
	if scene.Close(one, 5*unit.Gbps, 0.94, 1.01) && most <= one && len(v.Case.Runs) == 0 {
		awsLimit(v, h, 0.64, one, said, scene.Saw("said", one.String()+" by one flow", at))
	}
}

// awsLimit names AWS's limit of a flow, which one flow has reached.
func awsLimit(v *scene.View, h *piece.Host, sure float64, one unit.BitRate, evidence ...record.Evidence) {
	v.Add(record.Shaper, sure, h, "AWS's limit of a flow",
		fmt.Sprintf("%v is what AWS gives a single flow (5 Gbit/s, 10 within a cluster placement group), whatever the instance has.", one),
		"Use several flows, a cluster placement group, or ENA Express.", evidence...).Ask = cloudAsks("aws")
}

// Parts of a limit between which a rate is that limit: less is something else.
const (
	leastOfLimit = 0.72
	mostOfLimit  = 1.08
)

// toldLimit: a rate to which a rule limits something, as a sentence says, and a test that
// gets just that.
func toldLimit(v *scene.View) {
	limit, h, at := saidRate(v, "limit_told_bps")
	if limit == 0 || v.HasFinding(record.Shaper) {
		return
	}
	var run piece.Run
	for _, r := range v.Case.Runs {
		if !r.UDP && r.Target == 0 && r.Rate > 0 && scene.Close(r.Rate, limit, leastOfLimit, mostOfLimit) {
			run = r
		}
	}
	if net, _, from := saidRate(v, "net_bps"); len(v.Case.Runs) == 0 && scene.Close(net, limit, leastOfLimit, mostOfLimit) {
		run = piece.Run{Tool: "a test", Rate: net, Source: from}
	}
	if run.Rate == 0 || float64(v.Best()) > mostOfLimit*float64(limit) {
		return
	}
	v.Add(record.Shaper, 0.62, h, "the rate limit of "+limit.String(),
		fmt.Sprintf("By what is said, the way is limited to %v by rule, and %v is what gets through: that is the limit, whatever the links carry.", limit, run.Rate),
		"Raise or remove the rule where it stands (`tc -s qdisc show`, `show policy-map interface`, the router's queues, the provider's plan). Where it stays: a shaper with a queue loses less than a policer, and TCP comes closer to it.",
		scene.Saw("said of the limit", limit.String(), at), scene.Saw(run.Tool, run.Rate.String(), run.Source)).Ask = []scene.Missing{
		{Command: "tc -s qdisc show; tc -s class show dev LINK (a switch: show policy-map interface)", Host: "the device with the rule", Why: "while it runs: its rate, and what it delays or drops"},
	}
}
