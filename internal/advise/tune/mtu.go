package tune

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/framing"
)

// jumbo is the frame size that switches and cards agree on by custom; larger
// is rarely supported end to end.
const jumbo = 9000

// mtuOptions: larger frames, as far as every link of the pair takes them.
func mtuOptions(s State) []option {
	size := LargestMTU(s.Fabric, s.Traffic.From, s.Traffic.To)
	hosts := make(map[string]netstate.Host)
	var changed []string
	from := size
	all := pairLinks(s)
	for _, host := range hostsOf(all) {
		desired := s.Fabric.Hosts[host].Clone()
		for _, l := range all[host] {
			raised := false
			for _, name := range stack(desired, l) {
				d, ok := desired.Link(name)
				if !ok || d.MTU >= size {
					continue
				}
				from, raised = min(from, d.MTU), true
				d.MTU = size
				desired.SetLink(d)
			}
			if raised {
				hosts[host] = desired
				changed = append(changed, l.Name+" of "+host)
			}
		}
	}
	if len(hosts) == 0 {
		return nil
	}
	return []option{{
		change: fmt.Sprintf("MTU %d on %s", size, strings.Join(changed, " and ")),
		why:    fmt.Sprintf("frames of %d bytes spend more of the line on headers than frames of %d; warning: every host in the subnet must use MTU %[2]d too", from, size),
		hosts:  hosts, load: s.Load, probe: size,
	}}
}

// stack is a link, the bond under it and that bond's ports.
func stack(h netstate.Host, l netstate.Link) []string {
	names := []string{l.Name}
	for depth := 0; l.VLAN != nil && depth < 8; depth++ {
		parent, ok := h.Link(l.VLAN.Parent)
		if !ok {
			return names
		}
		l = parent
		names = append(names, l.Name)
	}
	if l.Bond != nil {
		names = append(names, l.Bond.Ports...)
	}
	return names
}

// LargestMTU is the largest MTU that every link of the pair says it takes, at
// most 9000; the smallest one set where a driver names no limit. Zero when the
// pair has no links.
func LargestMTU(f predict.Fabric, from, to string) int {
	size := jumbo
	all := pairLinks(State{Fabric: f, Load: Load{Traffic: predict.Between(from, to, "", 0)}})
	if len(all) == 0 {
		return 0
	}
	for host, links := range all {
		for _, l := range links {
			for _, name := range stack(f.Hosts[host], l) {
				d, ok := f.Hosts[host].Link(name)
				if !ok {
					continue
				}
				size = min(size, mostOf(d))
			}
		}
	}
	return size
}

// mostOf is the largest MTU that a link is known to take.
func mostOf(l netstate.Link) int {
	switch {
	case l.MaxMTU > 0:
		return l.MaxMTU
	case l.MTU > 0:
		return l.MTU
	}
	return framing.DefaultMTU
}
