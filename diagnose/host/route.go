package host

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

// multipaths finds routes over several next hops that one flow's neighbours
// cannot use, and legs that are dead.
func multipaths(h netstate.Host) []Finding {
	var found []Finding
	said := map[string]bool{}
	for _, r := range h.Routes {
		if len(r.Hops) < 2 || r.Type != "" {
			continue
		}
		var dead, live []string
		for _, hop := range r.Hops {
			name := strings.TrimSpace(text(hop.Gateway) + " " + hop.Link)
			if hop.Dead {
				dead = append(dead, name)
			} else {
				live = append(live, name)
			}
		}
		if len(dead) > 0 {
			found = append(found, Finding{
				Kind:     ECMPDead,
				What:     fmt.Sprintf("the route to %s uses %d of its %d next hops: %s is dead", r.Dst, len(live), len(r.Hops), strings.Join(dead, ", ")),
				Severity: Fault,
				Evidence: []record.Evidence{diagnose.Fact("next hops of "+r.Dst.String(), strings.Join(dead, ", ")+" dead", "RTNH_F_DEAD of RTM_GETROUTE")},
				Remedy:   "bring the link or its carrier back; the kernel takes the leg up again by itself",
			})
		}
		family := "ipv4"
		if r.Dst.Addr().Is6() {
			family = "ipv6"
		}
		key := "net." + family + ".fib_multipath_hash_policy"
		if len(live) < 2 || said[key] || oneValue(h, key) != 0 {
			continue
		}
		said[key] = true
		found = append(found, Finding{
			Kind:     ECMPHash,
			What:     fmt.Sprintf("routes with several next hops (%s) send all flows between two addresses by one of them", r.Dst),
			Severity: Warning,
			Evidence: []record.Evidence{diagnose.Fact(key, "0: addresses only", sysctlFile(key))},
			Remedy:   "sysctl -w " + key + "=1 (ports too)",
		})
	}
	return found
}

func text(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	return a.String()
}

// mptcpEndpoints finds endpoints of the path manager that cannot work.
func mptcpEndpoints(h netstate.Host) []Finding {
	m := h.MPTCP
	if m == nil || len(m.Endpoints) == 0 {
		return nil
	}
	var found []Finding
	subflows := 0
	for _, e := range m.Endpoints {
		if e.Flags&netstate.MPTCPSubflow != 0 || e.Flags&netstate.MPTCPFullmesh != 0 {
			subflows++
		}
		if _, ok := h.LinkWith(e.Addr); ok || e.Flags&netstate.MPTCPImplicit != 0 {
			continue
		}
		found = append(found, Finding{
			Kind:     MPTCPAbsent,
			What:     fmt.Sprintf("MPTCP has an endpoint %s, which is no address of this host: no subflow leaves from it", e.Addr),
			Severity: Warning,
			Evidence: []record.Evidence{diagnose.Fact(fmt.Sprintf("endpoint %d", e.ID), e.Addr.String(), "MPTCP_PM_CMD_GET_ADDR")},
			Remedy:   fmt.Sprintf("ip mptcp endpoint delete id %d, or give the host the address", e.ID),
		})
	}
	if subflows > 0 && m.Subflows == 0 {
		found = append(found, Finding{
			Kind:     MPTCPLimits,
			What:     "MPTCP has endpoints for subflows and allows none: every connection stays on its first path",
			Severity: Warning,
			Evidence: []record.Evidence{diagnose.Fact("limit of subflows", "0", "MPTCP_PM_CMD_GET_LIMITS")},
			Remedy:   fmt.Sprintf("ip mptcp limits set subflows %d add_addr_accepted %d", min(subflows, netstate.MPTCPMax), min(max(m.AddAddrAccepted, subflows), netstate.MPTCPMax)),
		})
	}
	return found
}
