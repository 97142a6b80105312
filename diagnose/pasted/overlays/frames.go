package overlays

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

// tunnelFrames: a tunnel whose MTU with its header does not fit into the link below.
func tunnelFrames(v *scene.View) {
	for _, h := range v.Hosts {
		below, under := "", 0.0
		for _, link := range h.Subjects("link") {
			mtu, _, ok := scene.Number(h, "link "+link, "mtu")
			if ok && scene.Physical(link) && !scene.Contains(link, "tunl", "genev", "gre", "cilium", "lxc", "kube", "nodelocal", "ovn", "antrea", "vmbr") && scene.Word(h, link, "kind") == "" && mtu > under {
				below, under = link, mtu
			}
		}
		for _, link := range h.Subjects("link") {
			t := netstate.Tunnel{Kind: scene.TunnelKind(h, link)}
			header := float64(t.Headroom())
			mtu, at, ok := scene.Number(h, "link "+link, "mtu")
			if !ok || below == "" || t.Kind == "" || mtu+header <= under || mtu > 9216 || strings.HasPrefix(link, "vxlan_sys") || strings.HasPrefix(link, "genev_sys") {
				continue
			}
			sure := 0.72
			evidence := []record.Evidence{scene.Saw("MTU of "+link, fmt.Sprintf("%.0f (%s, %.0f bytes of header)", mtu, t.Title(), header), at), scene.Saw("MTU of "+below, fmt.Sprintf("%.0f", under), at)}
			lost := 0
			for _, host := range v.Hosts {
				for _, p := range host.Pings {
					if p.DontFragment && p.Sent > 0 && p.Received == 0 && float64(p.Size+28) > under-header && float64(p.Size+28) <= mtu {
						lost = p.Size
						evidence = append(evidence, scene.Saw("ping", fmt.Sprintf("%d bytes, none of %d arrived", p.Size, p.Sent), p.Source))
					}
				}
			}
			for _, r := range v.Case.Runs {
				if r.Intervals >= 4 && r.Stalled >= r.Intervals/2 {
					sure = 0.86
				}
			}
			if lost > 0 {
				sure = 0.93
			}
			v.Add(record.MTU, sure, h, fmt.Sprintf("%s over %s of %s (MTU)", link, below, scene.NameOf(h)),
				fmt.Sprintf("%s has MTU %.0f, too large: with %.0f bytes of %s header its packets do not fit into %s (MTU %.0f), so full packets vanish while small ones pass.", link, mtu, header, t.Title(), below, under),
				fmt.Sprintf("Set the tunnel's MTU to %.0f at most (Calico: veth_mtu and ipipMTU or vxlanMTU; flannel: Backend MTU; Cilium: mtu), on every node, and start the pods again.", under-header), evidence...)
			return
		}
	}
}
