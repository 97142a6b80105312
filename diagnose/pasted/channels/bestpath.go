package channels

import (
	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// bestPath: a router that knows several paths that are alike and uses one.
func bestPath(v *scene.View) {
	const remedy = "Let BGP use several: `maximum-paths 8` (and `maximum-paths ibgp 8`; `bgp bestpath as-path multipath-relax` where the neighbours' AS differ), BIRD `merge paths on`, Junos `multipath` with a policy `load-balance per-packet`, RouterOS and some routers' own daemon cannot. Then hash ports too (`sysctl -w net.ipv4.fib_multipath_hash_policy=1`; one flow still takes one path)."
	asks := []scene.Missing{
		{Command: "show ip route PREFIX; ip route show PREFIX", Host: "the router", Why: "whether one next hop is installed or several"},
		{Command: "show ip bgp PREFIX; show running-config | section bgp", Host: "the router", Why: "in what the paths differ, and maximum-paths"}}
	for _, h := range v.Case.Hosts {
		if x, ok := h.Get("bgp", "one_of"); ok && v.Complains() {
			if _, several := h.Get("bgp", "multipath"); !several {
				v.Add(record.SingleLink, 0.58, h, "BGP of "+scene.NameOf(h)+" (one path)",
					"BGP knows paths that are alike and uses one of them: all packets to that prefix take one next hop and its link, and the others wait for it to fail.", remedy,
					scene.Saw("BGP", x.Text, x.Source)).Ask = asks
				return
			}
		}
		if x, ok := h.Get("said", "one_bgp_path"); ok {
			onePathSaid(v, h, x, remedy, asks)
			return
		}
	}
}

func onePathSaid(v *scene.View, h *piece.Host, x piece.Value, remedy string, asks []scene.Missing) {
	v.Add(record.SingleLink, 0.5, h, "BGP (one path)",
		"By what is said, BGP uses one path of several: all packets to a prefix take one next hop and its link.", remedy,
		scene.Saw("said", x.Text, x.Source)).Ask = asks
}
