package trial

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/predict/routing"
	"github.com/linerate/linerate/record"
)

// narrowRoute: the sender's route takes fewer links than the receiver's back to it, and
// a link of the sender's has nothing to do: a next hop is missing.
func (v *wayView) narrowRoute() (hypothesis, bool) {
	from, to := v.fabric.Hosts[v.from], v.fabric.Hosts[v.to]
	used, back := map[string]bool{}, 0
	dst := ""
	for _, lane := range v.lanes {
		for _, l := range routing.Facing(from, lane.Src, lane.Dst) {
			used[l.Name] = true
		}
		back = max(back, len(routing.Facing(to, lane.Dst, lane.Src)))
		dst = lane.Dst.String()
	}
	if len(used) != 1 || back < 2 {
		return hypothesis{}, false
	}
	var idle []string
	for _, l := range from.Links {
		if l.Up && l.Carrier && l.Master == "" && l.VLAN == nil && len(l.Addresses) > 0 && !used[l.Name] && !from.LeadsNowhere(l) {
			idle = append(idle, l.Name)
		}
	}
	slices.Sort(idle)
	if len(idle) == 0 || len(idle) >= 8 {
		return hypothesis{}, false
	}
	only := ""
	for name := range used {
		only = name
	}
	links := strings.Join(idle, ", ")
	return hypothesis{
		cause: record.SingleLink, seen: true, sure: 0.8, mended: "With a next hop on each",
		summary: fmt.Sprintf("%s of %s is full: the route to %s has that one way, and %s's return path has %d; %s carries nothing of it.", only, v.from, dst, v.to, back, links),
		evidence: append(v.loads(),
			record.Evidence{What: "ways from " + v.from + " to " + dst, Value: only + " alone", Source: "its routes"},
			record.Evidence{What: "return paths from " + v.to, Value: fmt.Sprint(back), Source: "its routes"}),
		remedy: record.ByHand(fmt.Sprintf("add a next hop over %s to the route to %s on %s (`ip route replace %s nexthop via ... nexthop via ...`, or what the routing daemon announces there)", links, dst, v.from, dst)),
	}, true
}
