package trial

import (
	"net/netip"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/diagnose/remedy"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/tunnel"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/steer"
)

// throughTunnel is what spreads flows that leave, or reach, an address inside a
// tunnel: its outer packets are all that the bond, or the switch, sees.
func throughTunnel(h netstate.Host, at netip.Addr, sending bool) (striped, bool) {
	link, ok := h.LinkWith(at)
	if !ok {
		return striped{}, false
	}
	under, ok := tunnel.Below(h, link)
	if !ok || under.Tunnel == nil {
		return striped{}, false
	}
	t, policy := *under.Tunnel, netstate.Layer34 // a switch's, at its best
	d := striped{evidence: []record.Evidence{{What: "what lies under " + at.String() + " on " + h.Name, Value: t.Title() + " (" + link.Name + ") over " + under.Base.Name, Source: "the host's links"}}}
	d.mended = "With flows that differ from outside"
	if b := under.Base.Bond; b != nil && sending {
		bundle, err := steer.BundleOf(h, under.Base.Name)
		switch {
		case err != nil || b.Mode == netstate.BalanceRR:
			return striped{}, false
		case !b.Mode.Hashes():
			return ofMode(under.Base.Name+" on "+h.Name, b.Mode, bundle.Reach()), true
		}
		policy = b.HashPolicy
		d.evidence = append(d.evidence, record.Evidence{What: "transmit hash policy of " + under.Base.Name + " on " + h.Name, Value: policy.String(), Source: diagnose.FromBond})
	} else if d, ok := receives(h, baseBond(under)); ok && !sending {
		return d, true
	}
	sight, why := tunnel.Seen(t, policy, sending)
	d.reach = steer.Reach{Ports: sight == tunnel.ByChance, Addresses: sight == tunnel.Inside, Why: why}
	d.hidden = sight == tunnel.ByChance
	d.mend = remedy.InWords(tunnel.Remedy(t, policy))
	return d, true
}

func baseBond(under tunnel.Stack) *netstate.Link {
	if under.Base.Bond == nil {
		return nil
	}
	return &under.Base
}
