package keyfile

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/render/node"
)

// weightedHop is one next hop of a route over several, which connections hold
// apart.
type weightedHop struct {
	to            netip.Prefix
	table, metric int
	hop           netstate.NextHop
	path          string
	line          int
}

// addresses reads [ipv4] and [ipv6]. A connection without one has its default
// method, auto.
func (r *connectionReader) addresses() {
	local := []string{}
	r.Mark(r.path, r.text, 1, len(r.file.lines)) // what was read before, so that the lines below are of what they add
	for _, group := range []string{"ipv4", "ipv6"} {
		r.gateway(group)
		for _, l := range r.numbered() {
			switch m := listKey.FindStringSubmatch(l.key); {
			case l.group != group || l.key == "" || m == nil:
			case m[2] != "":
				// Read with its route.
			case m[1] == "address" || m[1] == "addresses":
				r.address(l)
			case m[1] == "routing-rule":
				r.rule(l)
			default:
				r.route(l)
			}
			if l.group == group {
				r.Device(r.name)
				r.Mark(r.path, r.text, l.number, l.number)
			}
		}
		r.table(group)
		if r.method(group) {
			local = append(local, group)
		}
		r.keys(group)
	}
	r.nameservers()
	if slices.Equal(local, []string{"ipv6"}) {
		return // what netplan has without a word
	}
	node.SetKey(r.entry, "link-local", node.FlowList(local))
}

// numbered are the file's lines with those of lists in NetworkManager's order: by their
// number, and a key without one before all.
func (r *connectionReader) numbered() []keyLine {
	number := func(l keyLine) int {
		m := listKey.FindStringSubmatch(l.key)
		if m == nil || m[2] != "" {
			return -1
		}
		n, err := strconv.Atoi(strings.TrimPrefix(l.key, m[1]))
		if err != nil {
			return -1
		}
		return n
	}
	lines := slices.Clone(r.file.lines)
	slices.SortStableFunc(lines, func(a, b keyLine) int { return cmp.Compare(number(a), number(b)) })
	return lines
}

// method reads where addresses come from, and answers whether the family has
// link-local ones.
func (r *connectionReader) method(group string) (local bool) {
	l, ok := r.file.find(group, "method")
	r.used[l.number] = ok || r.used[l.number]
	dhcp := map[string]string{"ipv4": "dhcp4", "ipv6": "dhcp6"}[group]
	switch {
	case !ok || l.value == "auto":
		node.Put(r.entry, dhcp, node.Plain("true"))
		return group == "ipv6" || r.besideOthers()
	case l.value == "manual":
		r.take(group, "never-default")
		return group == "ipv6" || r.besideOthers()
	case l.value == "link-local":
		return true
	case l.value == "disabled" || l.value == "ignore":
		return false
	case l.value == "dhcp" && group == "ipv6":
		node.Put(r.entry, dhcp, node.Plain("true"))
		node.Put(r.entry, "accept-ra", node.Plain("false"))
		return true
	}
	r.refuse(l, "a fabric has no such method")
	return group == "ipv6"
}

// besideOthers reports IPv4 link-local addresses beside those of the method.
func (r *connectionReader) besideOthers() bool {
	l, ok := r.file.find("ipv4", "link-local")
	r.used[l.number] = ok && linkLocalWords[l.value] || r.used[l.number]
	return l.value == linkLocalOn
}

func (r *connectionReader) gateway(group string) {
	l, ok := r.file.find(group, "gateway")
	if !ok {
		return
	}
	a, err := netip.ParseAddr(l.value)
	if err != nil || a.Zone() != "" || a.Is4() != (group == "ipv4") {
		r.refuse(l, "is no address of this family")
		return
	}
	r.used[l.number] = true
	r.defaultRoute(l, a)
}

// defaultRoute adds the route by a connection's gateway, of which NetworkManager takes
// the first of each family: gateway's, then that of the first address that has one.
func (r *connectionReader) defaultRoute(l keyLine, via netip.Addr) {
	if first := r.gateways[l.group]; first.IsValid() {
		if first != via {
			r.refuse(l, "the gateway is not read: NetworkManager takes one of a family, "+first.String())
		}
		return
	}
	r.gateways[l.group] = via
	if node.Yes(r.file.value(l.group, "never-default")) {
		return // NetworkManager sets none
	}
	node.Push(r.entry, "routes", node.FlowMap("to", "default", "via", via.String(), "metric", r.metric(l.group), "table", r.table(l.group)))
}

// table is the one of a family's routes without one of their own; "" main. The routes of
// the addresses' own networks, which a fabric has in main alone, are in it too.
func (r *connectionReader) table(group string) string {
	l, ok := r.file.find(group, "route-table")
	n, err := strconv.ParseUint(l.value, 10, 32)
	if !ok || err != nil {
		return ""
	}
	if !r.used[l.number] && n > 0 {
		r.refuse(l, "routes that are said go to this table; those of the addresses' own networks a fabric has in main alone")
	}
	r.used[l.number] = true
	if n == 0 || n == mainTable {
		return ""
	}
	return strconv.FormatUint(n, 10)
}

// mainTable is the kernel's number of the table that routes are in by themselves.
const mainTable = 254

// metric is what a family's routes without a metric of their own get
// (nm-settings-keyfile(5), route-metric); "" leaves it to NetworkManager.
func (r *connectionReader) metric(group string) string {
	if n, err := strconv.ParseUint(r.file.value(group, "route-metric"), 10, 32); err == nil && n > 0 {
		return strconv.FormatUint(n, 10)
	}
	return ""
}

// delimited are a value's fields: NetworkManager takes each of the three between any two
// (read_one_ip_address_or_route, nm-keyfile.c of 1.42).
func delimited(value string) []string {
	fields := strings.Split(strings.NewReplacer("/", ",", ";", ",").Replace(value), ",")
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	for len(fields) > 0 && fields[len(fields)-1] == "" {
		fields = fields[:len(fields)-1]
	}
	return fields
}

// prefixed reads a value's address and length, and gives what stands behind them. Where
// there is no length it is NetworkManager's (DEFAULT_PREFIX): 24 bits of IPv4, 64 of
// an address of IPv6, 128 of a route.
func prefixed(l keyLine, route bool) (p netip.Prefix, rest []string, ok bool) {
	fields := delimited(l.value)
	if len(fields) == 0 {
		return p, nil, false
	}
	a, err := netip.ParseAddr(fields[0])
	bits := 24
	switch {
	case err != nil || a.Zone() != "" || a.Is4() != (l.group == "ipv4"):
		return p, nil, false
	case !a.Is4() && route:
		bits = 128
	case !a.Is4():
		bits = 64
	}
	if len(fields) > 1 && fields[1] != "" {
		if bits, err = strconv.Atoi(fields[1]); err != nil {
			return p, nil, false
		}
	}
	p = netip.PrefixFrom(a, bits)
	return p, fields[min(2, len(fields)):], p.IsValid()
}

// address reads "ADDRESS/LENGTH[,GATEWAY]".
func (r *connectionReader) address(l keyLine) {
	p, rest, ok := prefixed(l, false)
	if !ok {
		r.refuse(l, "is no address with its prefix length")
		return
	}
	r.used[l.number] = true
	if list := r.entry.Get("addresses"); list == nil || !slices.ContainsFunc(list.Items, func(n *yamldoc.Node) bool { return n.Text == p.String() }) {
		node.Push(r.entry, "addresses", node.Quoted(p.String()))
		r.entry.Get("addresses").Flow = true
	}
	if len(rest) == 0 {
		return
	}
	if a, err := netip.ParseAddr(rest[0]); err == nil && !a.IsUnspecified() && a.Zone() == "" && a.Is4() == p.Addr().Is4() {
		r.defaultRoute(l, a)
	}
}

// route reads "NET/LENGTH[,GATEWAY[,METRIC]]" with its options.
func (r *connectionReader) route(l keyLine) {
	to, fields, ok := prefixed(l, true)
	if !ok || len(fields) > 2 {
		r.refuse(l, "is no route")
		return
	}
	var err error
	to = to.Masked()
	var via netip.Addr
	if len(fields) > 0 && fields[0] != "" {
		if via, err = netip.ParseAddr(fields[0]); err != nil || via.Is4() != to.Addr().Is4() || via.Zone() != "" {
			r.refuse(l, "is no route")
			return
		}
	}
	metric, _ := strconv.Atoi(r.metric(l.group))
	if len(fields) > 1 && fields[1] != "" {
		n, err := strconv.ParseUint(fields[1], 10, 32)
		if err != nil {
			r.refuse(l, "its metric is no number")
			return
		}
		metric = int(n)
	}
	if via.IsUnspecified() {
		via = netip.Addr{}
	}
	if metric == 1024 && !to.Addr().Is4() {
		metric = 0 // IPv6's own default
	}
	r.used[l.number] = true
	r.placeRoute(l, to, via, metric)
}

func (r *connectionReader) placeRoute(l keyLine, to netip.Prefix, via netip.Addr, metric int) {
	words := []string{"to", to.String()}
	if to.Bits() == 0 && (to.Addr().Is4() || via.IsValid()) {
		words[1] = "default"
	}
	typed, scoped, weight := false, false, 0
	tableNumber, _ := strconv.Atoi(r.table(l.group))
	if options, ok := r.file.find(l.group, l.key+"_options"); ok {
		r.used[options.number] = true
		for _, option := range strings.Split(options.value, ",") {
			key, value, _ := strings.Cut(strings.TrimSpace(option), "=")
			n, err := strconv.ParseUint(value, 10, 32)
			number := err == nil
			switch {
			case key == "table" && number:
				tableNumber = int(n)
			case key == "weight" && number && n > 0 && n < 257:
				weight = int(n)
			case key == "mtu" && number && n <= 65536:
				words = append(words, "mtu", value)
			case key == "onlink" && value == "true" && via.IsValid():
				words = append(words, "on-link", "true")
			case key == "src" && validAddr(value, to):
				words = append(words, "from", value)
			case key == "type" && slices.Contains([]string{"unicast", "local", "blackhole", "unreachable", "prohibit", "throw"}, value):
				typed = value != "unicast"
				words = append(words, "type", value)
			case key == "scope" && (value == "0" || value == "253" || value == "254"):
				scoped = value != "0"
				words = append(words, "scope", map[string]string{"0": "global", "253": "link", "254": "host"}[value])
			case number && key != "src" && key != "scope" && optionKey(key) != "":
				words = append(words, optionKey(key), value)
			default:
				r.refuse(options, fmt.Sprintf("a fabric has no route option %q", option))
			}
		}
	}
	if weight > 0 && via.IsValid() && to.Addr().Is4() {
		r.hops = append(r.hops, weightedHop{to, tableNumber, metric, netstate.NextHop{Gateway: via, Link: r.name, Weight: weight}, r.path, l.number})
		return
	}
	if via.IsValid() {
		words = append(words, "via", via.String())
	} else if !typed && !scoped {
		words = append(words, "scope", "link")
	}
	if metric != 0 {
		words = append(words, "metric", strconv.Itoa(metric))
	}
	if tableNumber != 0 {
		words = append(words, "table", strconv.Itoa(tableNumber))
	}
	node.Push(r.entry, "routes", node.FlowMap(words...))
}

// optionKey is netplan's key for a word of a route's options; "" none.
func optionKey(word string) string {
	for _, o := range routeOptions {
		if o.word == word {
			return o.key
		}
	}
	return ""
}

func validAddr(s string, to netip.Prefix) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Zone() == "" && a.Is4() == to.Addr().Is4()
}

// placeHops writes the routes over several next hops; a lone one is a route
// of its device.
func (r *reader) placeHops() {
	for len(r.hops) > 0 {
		first := r.hops[0]
		same := func(h weightedHop) bool {
			return h.to == first.to && h.table == first.table && h.metric == first.metric
		}
		item, hops := node.FlowMap("to", destination(first.to)), node.FlowList(nil)
		if first.table != 0 {
			node.Put(item, "table", node.PlainInt(first.table))
		}
		if first.metric != 0 {
			node.Put(item, "metric", node.PlainInt(first.metric))
		}
		for _, h := range r.hops {
			if same(h) {
				hop := node.FlowMap("via", h.hop.Gateway.String(), "dev", h.hop.Link, "weight", strconv.Itoa(h.hop.Weight))
				r.PlaceAt(hop, h.path, h.line)
				hops.Items = append(hops.Items, hop)
			}
		}
		node.Put(item, "hops", hops)
		r.PlaceAt(item, first.path, first.line)
		node.Push(r.Beside, "multipath", item)
		r.hops = slices.DeleteFunc(r.hops, same)
	}
}

func destination(p netip.Prefix) string {
	if p.Bits() == 0 && p.Addr().Is4() {
		return "default"
	}
	return p.String()
}

// rule reads "priority N from NET table N ...".
func (r *connectionReader) rule(l keyLine) {
	words := strings.Fields(l.value)
	var out []string
	for i := 0; i+1 < len(words); i += 2 {
		value := words[i+1]
		n, err := strconv.ParseUint(value, 0, 32)
		switch word := words[i]; {
		case (word == "priority" || word == "table") && err == nil:
			out = append(out, word, strconv.FormatUint(n, 10))
		case word == "from" || word == "to":
			p, err := netip.ParsePrefix(value)
			if a, single := netip.ParseAddr(value); single == nil && a.Zone() == "" {
				p, err = netip.PrefixFrom(a, a.BitLen()), nil
			}
			if err != nil || p.Addr().Is4() != (l.group == "ipv4") {
				r.refuse(l, "is no routing rule")
				return
			}
			if p.Bits() > 0 || l.group == "ipv6" {
				out = append(out, word, p.Masked().String())
			}
		case word == "fwmark" && err == nil:
			out = append(out, "mark", strconv.FormatUint(n, 10))
		case word == "tos" && err == nil && n < 256:
			out = append(out, "type-of-service", strconv.FormatUint(n, 10))
		default:
			r.refuse(l, "a fabric has no rule with "+word)
			return
		}
	}
	if len(words)%2 != 0 || len(out) == 0 {
		r.refuse(l, "is no routing rule")
		return
	}
	r.used[l.number] = true
	node.Push(r.entry, "routing-policy", node.FlowMap(out...))
}

func (r *connectionReader) nameservers() {
	servers, search := node.Sequence(), node.Sequence()
	servers.Flow, search.Flow = true, true
	for _, group := range []string{"ipv4", "ipv6"} {
		for _, word := range strings.FieldsFunc(r.take(group, "dns"), func(c rune) bool { return c == ';' || c == ',' || c == ' ' }) {
			a, err := netip.ParseAddr(word)
			if err != nil {
				l, _ := r.file.find(group, "dns")
				r.refuse(l, word+" is no address")
				continue
			}
			servers.Items = append(servers.Items, node.Quoted(a.String()))
		}
		for _, word := range strings.FieldsFunc(r.take(group, "dns-search"), func(c rune) bool { return c == ';' || c == ',' || c == ' ' }) {
			if !slices.ContainsFunc(search.Items, func(n *yamldoc.Node) bool { return n.Text == word }) {
				search.Items = append(search.Items, node.Quoted(word))
			}
		}
	}
	if len(servers.Items)+len(search.Items) > 0 {
		n := node.Mapping()
		node.Put(n, "addresses", servers)
		node.Put(n, "search", search)
		node.Put(r.entry, "nameservers", n)
	}
}
