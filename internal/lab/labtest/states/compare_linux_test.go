package states

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// fields are everything of a host that a plan governs, one line a field, spelled
// without help of package plan, whose own comparison is under proof.
func fields(h netstate.Host) map[string]string {
	out := make(map[string]string)
	for _, l := range h.Links {
		linkFields(out, l)
	}
	for _, l := range h.Links {
		if l.Bond == nil || l.Bond.Mode != netstate.ActiveBackup || l.Bond.Options["fail_over_mac"] == "none" {
			continue
		}
		// Its address is its active port's, whichever that is, and each port has
		// its own.
		for _, o := range h.Links {
			if o.Name == l.Name || o.Master == l.Name || o.VLAN != nil && o.VLAN.Parent == l.Name {
				delete(out, o.Name+" mac")
			}
		}
	}
	for _, l := range h.Links {
		if l.Bond != nil && (l.Bond.Mode == netstate.BalanceTLB || l.Bond.Mode == netstate.BalanceALB) {
			dealt(out, h, l)
		}
	}
	for _, r := range h.Routes {
		if r.Protocol != "" && r.Protocol != "static" && r.Protocol != "boot" {
			continue
		}
		out["route "+routeField(r)] = "there"
	}
	for _, r := range h.Rules {
		if r.Protocol == "kernel" || r.Priority == 0 || r.Priority >= 32766 {
			continue
		}
		out[fmt.Sprintf("rule %s %d from %v to %v table %d %s %s", r.Family, r.Priority, r.From, r.To, r.Table, r.Action, conditions(r.Selectors))] = "there"
	}
	if m := h.MPTCP; m != nil {
		out["mptcp limits"] = fmt.Sprint(m.Subflows, m.AddAddrAccepted)
		for _, e := range m.Endpoints {
			out[fmt.Sprintf("mptcp endpoint %s port %d %s dev %s", e.Addr, e.Port, e.Flags, e.Link)] = "there"
		}
	}
	for key, v := range h.Sysctls {
		out["sysctl "+key] = strings.Join(strings.Fields(v.Value), " ")
	}
	return out
}

// dealt puts the addresses of a bond's ports together where the kernel deals them
// out: in these modes the active port has the bond's own, and gives its to the
// one that had it (alb_swap_mac_addr). Which port's own nobody has by then
// depends on which was active when the bond got its address; what must hold is
// that one has the bond's and each other one of the ports' own, none twice.
func dealt(out map[string]string, h netstate.Host, bond netstate.Link) {
	own := make(map[string]bool)
	var all []string
	for _, name := range bond.Bond.Ports {
		p, _ := h.Link(name)
		own[p.PermanentMAC.String()] = true
		all = append(all, p.MAC.String())
		delete(out, name+" mac")
	}
	slices.Sort(all)
	good := slices.Contains(all, bond.MAC.String()) && len(slices.Compact(slices.Clone(all))) == len(all)
	for _, mac := range all {
		good = good && (mac == bond.MAC.String() || own[mac])
	}
	out[bond.Name+" macs"] = "the bond's once, else the ports' own"
	if !good {
		out[bond.Name+" macs"] = fmt.Sprint(all)
	}
}

// conditions are a rule's in one order, whatever the kernel's is.
func conditions(text string) string {
	words := strings.Fields(text)
	slices.Sort(words)
	return strings.Join(words, " ")
}

func linkFields(out map[string]string, l netstate.Link) {
	put := func(key string, v any) { out[l.Name+" "+key] = fmt.Sprint(v) }
	put("there", l.Kind)
	put("up", l.Up)
	put("mtu", l.MTU)
	put("mac", l.MAC)
	put("master", l.Master)
	var addresses []string
	for _, a := range l.Addresses {
		if !a.Addr().Is6() || !a.Addr().IsLinkLocalUnicast() {
			addresses = append(addresses, a.String())
		}
	}
	slices.Sort(addresses)
	put("addresses", addresses)
	if l.VLAN != nil {
		put("vlan", *l.VLAN)
	}
	if l.Port != nil && l.Master != "" {
		put("prio", l.Port.Priority)
		put("queue_id", l.Port.QueueID)
	}
	if q, err := plan.RootQdisc(l); err == nil {
		put("qdisc", q)
	}
	if l.Kind == "veth" || l.Kind == "dummy" {
		for _, name := range slices.Sorted(maps.Keys(l.Offloads)) {
			put("offload "+name, l.Offloads[name])
		}
	}
	if l.Bond == nil {
		return
	}
	ports := slices.Clone(l.Bond.Ports)
	if !l.Bond.Mode.Hashes() {
		slices.Sort(ports)
	}
	put("ports", ports)
	for name, v := range told(*l.Bond) {
		if name != "active_slave" {
			put("option "+name, v)
		}
	}
}

func routeField(r netstate.Route) string {
	if r.Table == 0 {
		r.Table = 254
	}
	if r.Metric == 0 && r.Dst.Addr().Is6() {
		r.Metric = 1024
	}
	hops := make([]string, 0, len(r.Hops))
	for _, h := range r.Hops {
		hops = append(hops, fmt.Sprintf("%v %s %d %v", h.Gateway, h.Link, max(h.Weight, 1), h.OnLink))
	}
	slices.Sort(hops)
	var metrics []string
	for _, name := range slices.Sorted(maps.Keys(r.Metrics)) {
		metrics = append(metrics, name+" "+r.Metrics[name])
	}
	gateway := ""
	if r.Gateway != (netip.Addr{}) {
		gateway = r.Gateway.String()
	}
	return strings.Join([]string{r.Type, r.Dst.Masked().String(), "via", gateway, "dev", r.Link, "table", strconv.Itoa(r.Table), "metric", strconv.Itoa(r.Metric),
		"mtu", strconv.Itoa(r.MTU), "onlink", strconv.FormatBool(r.OnLink), strings.Join(metrics, " "), strings.Join(hops, "; ")}, " ")
}

// differ are the fields that are not the same, one line each; those for which
// only says false are left out.
func differ(want, have map[string]string, only func(string) bool) []string {
	var lines []string
	for key, w := range want {
		if h, ok := have[key]; only(key) && (!ok || h != w) {
			lines = append(lines, fmt.Sprintf("%s: %q, want %q", key, have[key], w))
		}
	}
	for key, h := range have {
		if _, ok := want[key]; !ok && only(key) {
			lines = append(lines, fmt.Sprintf("%s: %q, want none", key, h))
		}
	}
	slices.Sort(lines)
	return lines
}
