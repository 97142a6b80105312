package pasted

import (
	"fmt"

	"github.com/linerate/linerate/record"
)

// noAggregator: the driver says itself that none of a bond's ports is in use.
func noAggregator(v *view) {
	for _, b := range v.bonds {
		x, ok := b.host.Get("link "+b.name, "active_aggregator")
		if !ok {
			continue
		}
		evidence := []record.Evidence{saw("active aggregator of "+b.name, "none", x.Source)}
		up := 0
		for _, p := range b.ports {
			if s, ok := b.host.Get("link "+p.name, "mii_status"); ok && s.Text == "up" {
				up++
				evidence = append(evidence, saw("MII status of "+p.name, s.Text, s.Source))
			}
		}
		if up == 0 {
			continue // no cable, no aggregator
		}
		v.add(record.LACPDown, 0.9, b.host, fmt.Sprintf("%s of %s", b.name, nameOf(b.host)),
			fmt.Sprintf("%s has no active aggregator: its ports have a link, but none of them is in an LACP group, and the bond carries nothing.", b.name),
			"On the switch put these ports into one LACP group (mode active), at one speed and with the same VLANs; then `cat /proc/net/bonding/"+b.name+"` (as root) shows the partner. After a change of a port's speed take the bond down and up.", evidence...)
	}
}
