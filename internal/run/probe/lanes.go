package probe

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
)

// mostLanes bounds what many addresses multiply to.
const mostLanes = 256

// Lanes are all pairs of addresses that flows between two hosts may use: the
// lanes of the path, and every other pair of their addresses that shares a
// subnet. Family is "ipv4", "ipv6" or "", which prefers IPv4. No common
// address is ErrConfig.
func Lanes(a, b netstate.Host, family string) ([]flow.Lane, error) {
	base, err := predict.Lanes(predict.Fabric{Hosts: map[string]netstate.Host{"a": a, "b": b}}, "a", "b", family)
	if err != nil {
		left := ""
		if lines := fabric.LeftOut([]netstate.Host{a, b}); len(lines) > 0 {
			left = " (" + strings.Join(lines, "; ") + ")"
		}
		return nil, fmt.Errorf("probe: %w: %s and %s have no addresses in one subnet and no route to each other%s", ErrConfig, a.Name, b.Name, left)
	}
	lanes := slices.Clone(base)
	var near, far []netip.Addr
	for _, l := range base {
		near, far = appendNew(near, l.Src), appendNew(far, l.Dst)
	}
	for _, src := range near {
		l, _ := a.LinkWith(src)
		for _, dst := range far {
			lane := flow.Lane{Src: src, Dst: dst}
			if len(lanes) < mostLanes && l.Faces(lane.Src, lane.Dst) && !slices.Contains(lanes, lane) {
				lanes = append(lanes, lane)
			}
		}
	}
	return lanes, nil
}

func appendNew(list []netip.Addr, a netip.Addr) []netip.Addr {
	if slices.Contains(list, a) {
		return list
	}
	return append(list, a)
}
