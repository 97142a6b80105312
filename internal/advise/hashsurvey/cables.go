package hashsurvey

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// Cables are the lines that say how hosts hang together by what their links
// heard: which links are the two ends of one cable, and which are on one switch.
// In the order of the hosts and of what was heard; none where nobody spoke.
func Cables(hosts []netstate.Host, heard []HostNeighbor) []string {
	owner := make(map[flow.MAC]string) // "host link"
	for _, h := range hosts {
		for _, l := range h.Links {
			if l.Kind != "" && l.Kind != "veth" {
				continue // a bond has its ports' address
			}
			for _, mac := range []flow.MAC{l.MAC, l.PermanentMAC} {
				if !mac.IsZero() {
					owner[mac] = h.Name + " " + l.Name
				}
			}
		}
	}
	var out, names []string
	switches := make(map[string][]string)
	for _, n := range heard {
		at := n.Host + " " + n.Link
		if far, ours := owner[n.MAC]; ours {
			one := fmt.Sprintf("%s and %s are one cable", at, far)
			if !slices.Contains(out, one) && !slices.Contains(out, fmt.Sprintf("%s and %s are one cable", far, at)) {
				out = append(out, one)
			}
			continue
		}
		name := n.SystemName
		if name == "" {
			name = n.Chassis
		}
		if _, seen := switches[name]; !seen {
			names = append(names, name)
		}
		switches[name] = append(switches[name], fmt.Sprintf("%s on port %s", at, n.Port))
	}
	for _, name := range names {
		out = append(out, fmt.Sprintf("switch %s: %s", name, strings.Join(switches[name], ", ")))
	}
	return out
}
