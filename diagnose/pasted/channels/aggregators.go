package channels

import (
	"fmt"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/record"
)

// noAggregator: the driver says itself that none of a bond's ports is in use.
func noAggregator(v *scene.View) {
	for _, b := range v.Bonds {
		x, ok := b.Host.Get("link "+b.Name, "active_aggregator")
		if !ok {
			continue
		}
		evidence := []record.Evidence{scene.Saw("active aggregator of "+b.Name, "none", x.Source)}
		up := 0
		for _, p := range b.Ports {
			if s, ok := b.Host.Get("link "+p.Name, "mii_status"); ok && s.Text == "up" {
				up++
				evidence = append(evidence, scene.Saw("MII status of "+p.Name, s.Text, s.Source))
			}
		}
		if up == 0 {
			continue // no cable, no aggregator
		}
		v.Add(record.LACPDown, 0.9, b.Host, fmt.Sprintf("%s of %s", b.Name, scene.NameOf(b.Host)),
			fmt.Sprintf("%s has no active aggregator: its ports have a link, but none of them is in an LACP group, and the bond carries nothing.", b.Name),
			"On the switch put these ports into one LACP group (mode active), at one speed and with the same VLANs; then `cat /proc/net/bonding/"+b.Name+"` (as root) shows the partner. After a change of a port's speed take the bond down and up.", evidence...)
	}
}
