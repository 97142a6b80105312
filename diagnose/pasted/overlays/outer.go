package overlays

import (
	"fmt"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/tunnel"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Parts of one link's rate: from nearly on a run fills it, from partly on the link may
// still be what limits, beyond over it is not.
const (
	nearly = 0.80
	partly = 0.50
	over   = 1.02
)

// outerFlow: a tunnel over a bond. The bond's hash, and the switch's, see the outer
// packet.
func outerFlow(v *scene.View) {
	for _, t := range v.Tunnels() {
		if t.Bond.Mode != "" && t.Bond.Mode != "802.3ad" && t.Bond.Mode != "balance-xor" {
			continue // these choose by other things
		}
		if up := len(t.Bond.Ports) - t.Bond.Count(func(p scene.Port) bool { return p.Down }); len(t.Bond.Ports) > 0 && up < 2 {
			continue
		}
		var policy netstate.HashPolicy
		if policy.UnmarshalText([]byte(t.Bond.Policy)) != nil {
			if t.Bond.Policy != "" {
				continue
			}
			policy = netstate.Layer34 // not read: at its best
		}
		// What the host's own sockets send, or those of its containers.
		switch sight, why := tunnel.Seen(t.Tunnel, policy, true); {
		case sight == tunnel.OneFlow:
			oneFlow(v, t, policy, why)
		case sight == tunnel.ByChance && t.FlowPorts() && t.Bond.Policy != "":
			byChance(v, t, why)
		}
	}
}

// filled is how sure the runs through the tunnel make it that one link carries them
// all, with what shows it: 0 nothing of runs is known, negative they show that it is
// not so.
func filled(v *scene.View, t scene.Tunnel) (sure float64, flows int, evidence []record.Evidence) {
	_, one := t.Bond.Speeds()
	for _, r := range v.Case.Runs {
		way := t.Carries(r)
		n := max(len(r.Streams), r.Parallel)
		if r.Rate == 0 || r.Error != "" || way == scene.Beside || one == 0 {
			continue
		}
		if way == scene.WayUnknown && !v.Said("tunnel", "cluster") {
			continue
		}
		part := float64(r.Rate) / float64(one)
		if part > over && !r.Both {
			return -1, 0, nil
		}
		found := 0.0
		switch {
		case n < 2 || part < partly:
			continue
		case part < nearly:
			found = 0.5
		case way == scene.Through:
			found = 0.86
		default:
			found = 0.72
		}
		if found > sure {
			sure, flows = found, n
		}
		evidence = append(evidence, scene.Saw(r.Tool, fmt.Sprintf("%d streams come to %v, %.0f %% of one link", n, r.Rate, 100*part), r.Source))
	}
	return sure, flows, evidence
}

// oneFlow: all that goes through the tunnel to one peer is one flow to the hash.
func oneFlow(v *scene.View, t scene.Tunnel, policy netstate.HashPolicy, why string) {
	sure, _, runs := filled(v, t)
	if sure < 0 {
		return
	}
	evidence := append([]record.Evidence{}, t.Evidence...)
	hashed := "whatever its hash policy is"
	if x, ok := scene.Fact(t.Host, t.Bond.Name, "xmit_hash_policy"); ok && t.Bond.Policy != "" {
		hashed = "hashed by " + t.Bond.Policy
		evidence = append(evidence, scene.Saw("transmit hash policy of "+t.Bond.Name, x.Text, x.Source))
	}
	evidence = append(evidence, runs...)
	if name, part, at, ok := t.Bond.OneSided("tx"); ok {
		evidence = append(evidence, scene.Saw("sent", fmt.Sprintf("%.0f %% by %s, the others next to nothing", 100*part, name), at))
		sure = max(sure+0.05, 0.9)
	} else if _, _, ok := t.Bond.Carried("tx"); ok {
		return // counters show that it spreads
	}
	if sure == 0 {
		sure = least(v, t)
	}
	if !t.Bound {
		sure -= 0.06
	}
	mend := tunnel.Remedy(t.Tunnel, policy)
	f := v.Add(record.SingleLink, sure, t.Host, fmt.Sprintf("%s of %s below %s (%s)", t.Bond.Name, scene.NameOf(t.Host), t.Link, t.Title()),
		fmt.Sprintf("What goes through %s leaves %s by %s, %s: %s. So everything between the tunnel's two ends may be one flow, and one link carries it, however many streams run inside.", t.Link, scene.NameOf(t.Host), t.Bond.Name, hashed, why),
		"What spreads it: "+mend+"."+set(t, policy), evidence...)
	if sum, _ := t.Bond.Speeds(); sum > 0 {
		f.Expected = inside(t, sum)
	}
}

// least is how sure it is that one link is the matter while no run tells.
func least(v *scene.View, t scene.Tunnel) float64 {
	switch {
	case v.Complains() && v.Said("tunnel", "cluster"):
		return 0.45
	case v.Complains():
		return 0.4
	}
	return scene.LeastSure
}

// set is the command that sets the bond's policy, where that helps.
func set(t scene.Tunnel, policy netstate.HashPolicy) string {
	for _, better := range []netstate.HashPolicy{netstate.Layer34, netstate.Encap34} {
		if sight, _ := tunnel.Seen(t.Tunnel, better, false); sight != tunnel.OneFlow && better != policy {
			return " " + scene.SetBond(t.Host, t.Bond.Name, "xmit_hash_policy", better.String())
		}
	}
	return ""
}

// inside is what links carry of payload in full packets inside the tunnel, of TCP.
func inside(t scene.Tunnel, links unit.BitRate) unit.BitRate {
	const mtu, tcp, frame = 1500, 52, 38 // and on the wire with preamble, gap, header, FCS
	return links * unit.BitRate(mtu-t.Headroom()-tcp) / (mtu + frame)
}

// byChance: VXLAN or Geneve below a hash of ports. Its flows spread by themselves, by
// chance: few of them may fall on one link; that many do is somebody else's doing.
func byChance(v *scene.View, t scene.Tunnel, why string) {
	sure, flows, runs := filled(v, t)
	if sure < 0.7 || flows < 2 || len(t.Bond.Ports) == 0 {
		return
	}
	evidence := append(append([]record.Evidence{}, t.Evidence...), runs...)
	if x, ok := scene.Fact(t.Host, t.Bond.Name, "xmit_hash_policy"); ok {
		evidence = append(evidence, scene.Saw("transmit hash policy of "+t.Bond.Name, x.Text, x.Source))
	}
	chance := 1.0
	for range flows - 1 {
		chance /= float64(len(t.Bond.Ports))
	}
	name, part, at, one := t.Bond.OneSided("tx")
	if _, _, read := t.Bond.Carried("tx"); one {
		evidence = append(evidence, scene.Saw("sent", fmt.Sprintf("%.0f %% by %s", 100*part, name), at))
	} else if read {
		chance = 0
	}
	where := fmt.Sprintf("%s of %s below %s (%s)", t.Bond.Name, scene.NameOf(t.Host), t.Link, t.Title())
	if chance >= rare || one {
		v.Add(record.HashImbalance, 0.6, t.Host, where,
			fmt.Sprintf("%s spreads what leaves by %s: %s. Nobody can choose where a flow lands, and these %d fell on one link.", t.Bond.Policy, t.Link, why, flows),
			"More streams: many land more evenly, and each new connection is drawn anew. Several tunnels, each between outer addresses of its own, are more links for certain.", evidence...)
		return
	}
	f := v.Add(record.SingleLink, 0.45, t.Host, "the switch before the peer of "+t.Link,
		fmt.Sprintf("%s spreads what leaves by %s: %s. That all %d flows fall on one link there is not likely (%.1f %%). What comes to the peer is spread by the switch's hash: one that reads no UDP ports sends everything between the tunnel's two ends by one link.", t.Bond.Policy, t.Link, why, flows, 100*chance),
		"Let the switch hash UDP ports too (layer3+4), and look at which link the peer receives by.", evidence...)
	f.Ask = []scene.Missing{{Command: "cat /proc/net/dev; sleep 10; cat /proc/net/dev", Host: "both ends", Why: "which links carry the tunnel, leaving and arriving"},
		{Command: "show port-channel load-balance", Host: "the switch", Why: "whether it reads UDP ports"}}
}

// rare is the chance below which a coincidence is not believed.
const rare = 0.1
