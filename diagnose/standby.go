package diagnose

import (
	"fmt"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

// idleStandby: the links in use are full and an active-backup bond keeps
// others idle, where nothing else is as tight as its one link.
func (v *wayView) idleStandby(side []linkLoad) (hypothesis, bool) {
	bond, idle := v.standby(side)
	if idle == 0 {
		return hypothesis{}, false
	}
	for _, other := range [][]linkLoad{v.egress, v.ingress} {
		if _, n := v.standby(other); n == 0 && len(other) > 0 && total(other) < total(side)*(1+nearTie) {
			return hypothesis{}, false
		}
	}
	host := side[0].host
	return hypothesis{
		cause: record.SingleLink, seen: true, sure: 0.95, evidence: v.loads(),
		summary: fmt.Sprintf("The one link in use runs at its line rate: %s of %s is active-backup, and %d more of its links only wait for that one to fail.", bond, host, idle),
		remedy:  fmt.Sprintf("change the mode of %s on %s to one that uses every link (802.3ad, with the switch), if spare links are not what it is for", bond, host),
	}, true
}

// standby is the active-backup bond of the side's links, and how many usable
// ports it keeps idle.
func (v *wayView) standby(side []linkLoad) (bond string, idle int) {
	for _, l := range side {
		h := v.fabric.Hosts[l.host]
		port, _ := h.Link(l.link)
		if port.Port == nil {
			continue
		}
		b, ok := h.Link(port.Port.Bond)
		if !ok || b.Bond == nil || b.Bond.Mode != netstate.ActiveBackup {
			continue
		}
		for _, name := range b.Bond.Ports {
			if p, ok := h.Link(name); ok && p.Up && p.Port != nil && p.Port.MIIUp && !p.Port.Active {
				bond, idle = b.Name, idle+1
			}
		}
	}
	return bond, idle
}
