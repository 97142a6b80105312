package inspect

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/netstate"
)

// mostRoutes is how many routes and rules are shown without --all.
const mostRoutes = 12

// printRouting prints the routes that somebody made, the rules beside the
// kernel's own three, and what MPTCP may do; everything where all is asked for.
func printRouting(con *console.Console, h netstate.Host, all bool) {
	var lines []string
	for _, r := range h.Routes {
		if all || worthRoute(r) {
			lines = append(lines, "route "+routeText(r))
		}
	}
	for _, r := range h.Rules {
		if all || r.Priority != 0 && r.Priority != 32766 && r.Priority != 32767 {
			lines = append(lines, "rule "+ruleText(r))
		}
	}
	more := 0
	if !all && len(lines) > mostRoutes {
		more, lines = len(lines)-mostRoutes, lines[:mostRoutes]
	}
	if len(lines) > 0 {
		fmt.Fprintln(con.Stdout)
	}
	for _, line := range lines {
		fmt.Fprint(con.Stdout, hanging(line, con.Width()))
	}
	if more > 0 {
		fmt.Fprintf(con.Stdout, "and %d routes and rules more (--all lists them)\n", more)
	}
	printMPTCP(con, h, all)
}

// hanging is text whose further lines are indented.
func hanging(text string, width int) string {
	first, rest, _ := strings.Cut(text, " ")
	return strings.ReplaceAll(console.Wrapped(first+" ", rest, width), "\n"+strings.Repeat(" ", len(first)+1), "\n    ")
}

// worthRoute leaves out what the kernel makes from addresses by itself.
func worthRoute(r netstate.Route) bool {
	if r.Dst.Addr().IsMulticast() || r.Dst.Addr().IsLinkLocalUnicast() {
		return false
	}
	return len(r.Hops) > 0 || r.Gateway.IsValid() || r.Type != "" || r.Protocol != "kernel" && r.Protocol != ""
}

// routeText is a route in ip-route(8)'s words.
func routeText(r netstate.Route) string {
	var b strings.Builder
	if r.Type != "" {
		b.WriteString(r.Type + " ")
	}
	if r.Dst.Bits() == 0 {
		b.WriteString("default")
		if r.Dst.Addr().Is6() {
			b.WriteString(" (IPv6)")
		}
	} else {
		b.WriteString(r.Dst.String())
	}
	add := func(there bool, format string, values ...any) {
		if there {
			fmt.Fprintf(&b, " "+format, values...)
		}
	}
	add(r.Gateway.IsValid(), "via %v", r.Gateway)
	add(r.Link != "", "dev %s", r.Link)
	add(r.OnLink, "onlink")
	add(r.Source.IsValid(), "src %v", r.Source)
	add(r.Metric != 0, "metric %d", r.Metric)
	add(r.Table != tableMain && r.Table != 0, "table %s", tableText(r.Table))
	add(r.MTU != 0, "mtu %d", r.MTU)
	for _, name := range slices.Sorted(maps.Keys(r.Metrics)) {
		add(true, "%s %s", name, r.Metrics[name])
	}
	add(r.Protocol != "", "proto %s", r.Protocol)
	for _, hop := range r.Hops {
		add(true, "nexthop")
		add(hop.Gateway.IsValid(), "via %v", hop.Gateway)
		add(hop.Link != "", "dev %s", hop.Link)
		add(true, "weight %d", hop.Weight)
		add(hop.Dead, "(left out: its link is down)")
	}
	return b.String()
}

// Tables that every host has by these names (rtnetlink(7), RT_TABLE_*).
const (
	tableDefault = 253
	tableMain    = 254
	tableLocal   = 255
)

func tableText(table int) string {
	switch table {
	case tableDefault:
		return "default"
	case tableMain:
		return "main"
	case tableLocal:
		return "local"
	}
	return strconv.Itoa(table)
}

// ruleText is a rule in ip-rule(8)'s words.
func ruleText(r netstate.Rule) string {
	parts := []string{fmt.Sprintf("%d:", r.Priority)}
	from, to := "all", ""
	if r.From.IsValid() {
		from = r.From.String()
	}
	if r.To.IsValid() {
		to = " to " + r.To.String()
	}
	parts = append(parts, "from "+from+to)
	if r.Selectors != "" {
		parts = append(parts, r.Selectors)
	}
	if r.Action != "" {
		parts = append(parts, r.Action)
	} else {
		parts = append(parts, "lookup "+tableText(r.Table))
	}
	if r.Family == "ipv6" && !r.From.IsValid() && !r.To.IsValid() {
		parts = append(parts, "(IPv6)")
	}
	return strings.Join(parts, " ")
}

func printMPTCP(con *console.Console, h netstate.Host, all bool) {
	m := h.MPTCP
	// What Linux starts with says nothing about this host.
	if m == nil || !all && len(m.Endpoints) == 0 && m.Subflows == 2 && m.AddAddrAccepted == 0 {
		return
	}
	fmt.Fprintf(con.Stdout, "MPTCP: %d subflows, %d announced addresses accepted\n", m.Subflows, m.AddAddrAccepted)
	for _, e := range m.Endpoints {
		text := e.Addr.String()
		if e.Link != "" {
			text += " dev " + e.Link
		}
		fmt.Fprint(con.Stdout, console.Wrapped("  endpoint ", strings.TrimSpace(text+" "+e.Flags.String()), con.Width()))
	}
}

// printQdiscs says which queueing discipline each link's traffic passes: one
// line a kind. Those below mq are one for each queue.
func printQdiscs(con *console.Console, h netstate.Host) {
	links := make(map[string][]string)
	for _, l := range h.Links {
		kind := rootQdisc(l)
		if kind != "" && kind != "noqueue" {
			links[kind] = append(links[kind], l.Name)
		}
	}
	for i, kind := range slices.Sorted(maps.Keys(links)) {
		if i == 0 {
			fmt.Fprintln(con.Stdout)
		}
		fmt.Fprint(con.Stdout, console.Wrapped("qdisc "+kind+": ", strings.Join(links[kind], ", "), con.Width()))
	}
}

// rootQdisc is a link's root discipline, with what is below where it only deals
// out: "mq (fq_codel)".
func rootQdisc(l netstate.Link) string {
	root := ""
	var below []string
	for _, q := range l.Qdiscs {
		switch {
		case q.Parent == "root":
			root = q.Kind
		case q.Kind != "ingress" && q.Kind != "clsact" && !slices.Contains(below, q.Kind):
			below = append(below, q.Kind)
		}
	}
	if root == "mq" && len(below) > 0 {
		return "mq (" + strings.Join(below, ", ") + ")"
	}
	return root
}
