package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/linerate/linerate/netstate"
)

// routeWords spells a route as ip-route(8) does; shell quotes the names in it.
// Who made the route is not part of what it is, and not spelled.
func routeWords(r *netstate.Route, shell bool) string {
	if r == nil {
		return "?"
	}
	name := func(s string) string { return s }
	if shell {
		name = quote
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

// ruleWords spells a rule as ip-rule(8) does.
func ruleWords(r *netstate.Rule) string {
	if r == nil {
		return "?"
	}
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
	if r.Action != "" {
		words = append(words, r.Action)
	} else {
		words = append(words, fmt.Sprintf("table %d", r.Table))
	}
	return strings.Join(words, " ")
}

// ipv6Rule reports a rule of IPv6.
func ipv6Rule(r *netstate.Rule) bool {
	return r.Family == "ipv6" || r.From.IsValid() && r.From.Addr().Is6() || r.To.IsValid() && r.To.Addr().Is6()
}

// endpointWords spells an MPTCP endpoint as ip-mptcp(8) does, without its
// number, which the kernel chooses.
func endpointWords(e *netstate.MPTCPEndpoint) string {
	if e == nil {
		return "?"
	}
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

// made says what a step makes: "bond", "VLAN 100 on bond0".
func (m *Made) words() string {
	switch {
	case m == nil:
		return "?"
	case m.Kind == kindVLAN:
		return fmt.Sprintf("VLAN %d on %s", m.ID, m.Parent)
	}
	return m.Kind
}

// quote makes s one word of a POSIX shell. A link's name may hold almost any
// byte, and these lines are pasted into root shells.
func quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-+:/@%,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// quoteAll quotes every word of a line by itself.
func quoteAll(line string) string {
	f := strings.Fields(line)
	for i := range f {
		f[i] = quote(f[i])
	}
	return strings.Join(f, " ")
}
