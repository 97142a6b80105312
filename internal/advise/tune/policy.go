package tune

import (
	"strings"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// policyOptions: bonds whose policy cannot tell the pair's flows apart get
// layer3+4.
func policyOptions(s State) []option {
	return bondOptions(s, "transmit hash policy layer3+4 on ", "layer3+4 tells flows apart by their ports", func(b *netstate.Bond, reach steer.Reach) bool {
		if !b.Mode.Hashes() || reach.Ports && reach.Chosen {
			return false
		}
		b.HashPolicy = netstate.Layer34
		return true
	})
}

// modeOptions: balance-rr sends the packets of one flow over links that are
// not equally long, and TCP takes what comes late for lost. The mode
// balance-xor wants the same of the switch (a static aggregate) and keeps each
// flow on one link.
func modeOptions(s State) []option {
	out := bondOptions(s, "mode balance-xor with layer3+4 on ", "balance-xor keeps each flow in order, and wants of the switch what balance-rr wants", func(b *netstate.Bond, _ steer.Reach) bool {
		if b.Mode != netstate.BalanceRR {
			return false
		}
		b.Mode, b.HashPolicy = netstate.BalanceXOR, netstate.Layer34
		return true
	})
	for i := range out { // one stream would have one link from then on
		if n := width(s); out[i].load.Traffic.Streams < n {
			out[i].load.Traffic.Streams, out[i].load.Traffic.Ports = n, "chosen"
		}
	}
	return out
}

// bondOptions is one option that changes every bond of the pair with several
// usable ports that the change wants to change; none where there is no such
// bond.
func bondOptions(s State, what, good string, change func(*netstate.Bond, steer.Reach) bool) []option {
	hosts := make(map[string]netstate.Host)
	var changed []string
	why := ""
	all := pairLinks(s)
	for _, host := range hostsOf(all) {
		desired := s.Fabric.Hosts[host].Clone()
		for _, l := range all[host] {
			_, _, bond := desired.Below(l.Name)
			if bond == nil || len(desired.UsablePorts(bond.Name)) < 2 {
				continue
			}
			// A second interface on the same bond finds it changed.
			b, err := steer.BundleOf(desired, bond.Name)
			if err != nil || !change(bond.Bond, b.Reach()) {
				continue
			}
			desired.SetLink(*bond)
			hosts[host] = desired
			changed = append(changed, bond.Name+" of "+host)
			if why == "" {
				why = strings.TrimSuffix(b.Reach().Why, ".")
			}
		}
	}
	if len(hosts) == 0 {
		return nil
	}
	return []option{{change: what + strings.Join(changed, " and "), why: why + "; " + good, hosts: hosts, load: s.Load}}
}
