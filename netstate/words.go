package netstate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// tableMain is RT_TABLE_MAIN (include/uapi/linux/rtnetlink.h).
const tableMain = 254

// Words spells a route as ip-route(8) does, without who made it; quote is asked
// for the names in it, nil leaves them as they are.
func (r Route) Words(quote func(string) string) string {
	name := quote
	if name == nil {
		name = func(s string) string { return s }
	}
	var b strings.Builder
	if r.Type != "" {
		b.WriteString(name(r.Type) + " ")
	}
	b.WriteString(r.Dst.String())
	if r.Gateway.IsValid() {
		b.WriteString(via(r.Dst.Addr().Is4(), r.Gateway.Is4(), r.Gateway.String()))
	}
	if r.Link != "" {
		fmt.Fprintf(&b, " dev %s", name(r.Link))
	}
	if r.OnLink && r.Gateway.IsValid() {
		b.WriteString(" onlink")
	}
	if r.Source.IsValid() {
		fmt.Fprintf(&b, " src %s", r.Source)
	}
	// Where none is named, ip-route(8) means main, but local for addresses.
	if r.Table != 0 && (r.Table != tableMain || r.Type != "") {
		fmt.Fprintf(&b, " table %d", r.Table)
	}
	if r.Metric != 0 {
		fmt.Fprintf(&b, " metric %d", r.Metric)
	}
	if r.MTU != 0 {
		fmt.Fprintf(&b, " mtu %d", r.MTU)
	}
	for _, key := range slices.Sorted(maps.Keys(r.Metrics)) {
		fmt.Fprintf(&b, " %s %s", name(key), name(r.Metrics[key]))
	}
	if r.Object != 0 {
		fmt.Fprintf(&b, " nhid %d", r.Object)
	}
	for _, key := range slices.Sorted(maps.Keys(r.Extra)) {
		fmt.Fprintf(&b, " %s %s", name(key), name(r.Extra[key]))
	}
	for _, hop := range r.Hops {
		b.WriteString(" nexthop")
		if hop.Gateway.IsValid() {
			b.WriteString(via(r.Dst.Addr().Is4(), hop.Gateway.Is4(), hop.Gateway.String()))
		}
		fmt.Fprintf(&b, " dev %s weight %d", name(hop.Link), max(hop.Weight, 1))
		if hop.OnLink {
			b.WriteString(" onlink")
		}
	}
	return b.String()
}

// via names the family where a gateway is of another than its route (RFC 5549).
func via(dst4, gateway4 bool, gateway string) string {
	if dst4 && !gateway4 {
		return " via inet6 " + gateway
	}
	return " via " + gateway
}

// Words spells a rule as ip-rule(8) does, without who made it.
func (r Rule) Words() string {
	var words []string
	if r.Priority != 0 {
		words = append(words, fmt.Sprintf("priority %d", r.Priority))
	}
	from := "all"
	if r.From.IsValid() {
		from = r.From.String()
	}
	words = append(words, "from "+from)
	if r.To.IsValid() {
		words = append(words, "to "+r.To.String())
	}
	if r.Selectors != "" {
		words = append(words, r.Selectors)
	}
	switch {
	case r.Goto != 0:
		words = append(words, fmt.Sprintf("%s %d", r.Action, r.Goto))
	case r.Action != "":
		words = append(words, r.Action)
	default:
		words = append(words, fmt.Sprintf("table %d", r.Table))
	}
	return strings.Join(words, " ")
}

// IPv6 reports a rule of IPv6.
func (r Rule) IPv6() bool {
	return r.Family == "ipv6" || r.From.IsValid() && r.From.Addr().Is6() || r.To.IsValid() && r.To.Addr().Is6()
}

// Words spells an endpoint as ip-mptcp(8) does, without its number, which the
// kernel chooses.
func (e MPTCPEndpoint) Words() string {
	words := e.Addr.String()
	if e.Port != 0 {
		words += fmt.Sprintf(" port %d", e.Port)
	}
	if e.Link != "" {
		words += " dev " + e.Link
	}
	if e.Flags != 0 {
		words += " " + e.Flags.String()
	}
	return words
}
