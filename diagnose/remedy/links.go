package remedy

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

// HashPorts has a host's bond choose links by addresses and ports. The kernel takes it
// while the ports are up (bond_option_xmit_hash_policy_set has no flag against it).
func HashPorts(host, bond string) record.Action {
	return record.Run(host, "ip", "link", "set", "dev", bond, "type", "bond", "xmit_hash_policy", netstate.Layer34.String())
}

// Up brings links of a host up that somebody took down.
func Up(host string, links ...string) record.Way {
	var w record.Way
	for _, l := range links {
		w = append(w, record.Run(host, "ip", "link", "set", "dev", l, "up"))
	}
	return w
}

// MTU sets a link's, and those above and below it that must follow: a bond's ports
// follow by themselves (bond_change_mtu), a VLAN must not be larger than its parent, and a
// parent not smaller than its VLANs.
func MTU(h netstate.Host, link string, mtu int) record.Way {
	l, ok := h.Link(link)
	if !ok {
		return nil
	}
	set := func(name string) record.Action {
		return record.Run(h.Name, "ip", "link", "set", "dev", name, "mtu", strconv.Itoa(mtu))
	}
	w := record.Way{set(link)}
	if l.VLAN != nil {
		if parent, ok := h.Link(l.VLAN.Parent); ok && parent.MTU > 0 && parent.MTU < mtu {
			w = slices.Insert(w, 0, set(parent.Name))
		}
	}
	for _, above := range h.Links {
		if above.VLAN != nil && above.VLAN.Parent == link && above.MTU > mtu {
			w = slices.Insert(w, 0, set(above.Name))
		}
	}
	return w
}

// WithoutMetric takes a metric off the host's routes to some addresses, such as advmss,
// which asks the peers for small segments, or window, which bounds what they may send.
func WithoutMetric(h netstate.Host, metric string, to ...netip.Addr) record.Way {
	var w record.Way
	for _, r := range h.Routes {
		if r.Metrics[metric] == "" || !r.Dst.IsValid() || len(r.Hops) > 0 || r.Object != 0 || !slices.ContainsFunc(to, r.Dst.Contains) {
			continue
		}
		w = append(w, record.Run(h.Name, routeWithout(r, metric)...))
	}
	return w
}

// routeWithout changes a route to what it is without a metric: what is not named in a
// change is lost (fib_table_insert replaces the whole entry).
func routeWithout(r netstate.Route, metric string) []string {
	argv := []string{"ip", "route", "change", r.Dst.String()}
	if r.Dst.Addr().Is6() {
		argv = slices.Insert(argv, 1, "-6")
	}
	add := func(key, value string) {
		if value != "" {
			argv = append(argv, key, value)
		}
	}
	if r.Gateway.IsValid() {
		add("via", r.Gateway.String())
	}
	add("dev", r.Link)
	add("proto", r.Protocol)
	if r.Source.IsValid() {
		add("src", r.Source.String())
	}
	for _, n := range []struct {
		key   string
		value int
	}{{"table", r.Table}, {"metric", r.Metric}, {"mtu", r.MTU}} {
		if n.value != 0 && !(n.key == "table" && n.value == mainTable) {
			add(n.key, fmt.Sprint(n.value))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.Metrics)) {
		if key != metric {
			add(key, r.Metrics[key])
		}
	}
	if r.OnLink {
		argv = append(argv, "onlink")
	}
	return argv
}

const mainTable = 254 // RT_TABLE_MAIN, include/uapi/linux/rtnetlink.h
