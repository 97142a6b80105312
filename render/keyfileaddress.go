package render

import (
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/netstate"
)

// family is one of the sections [ipv4] and [ipv6].
type family struct {
	group, dhcp string
	is4         bool
	count       map[string]int // how many lines of a list are written
}

// addresses writes [ipv4] and [ipv6]. A port has neither. Lists of addresses, routes and rules that the fabric gives are all there is to be, and
// lines that go are named; a list that it does not give stays.
func (c *connection) addresses() {
	if c.master != "" {
		c.file.remove(func(group, _ string) bool { return group == "ipv4" || group == "ipv6" })
		return
	}
	listed := func(group, key string) bool {
		m := listKey.FindStringSubmatch(key)
		if group != "ipv4" && group != "ipv6" || m == nil {
			return false
		}
		switch m[1] {
		case "address", "addresses":
			return len(c.Addresses) > 0
		case "routing-rule":
			return len(c.Rules) > 0
		}
		return len(c.Routes) > 0 || len(c.in.Host.Multipath) > 0
	}
	var before []keyLine
	for _, l := range c.file.lines {
		if listed(l.group, l.key) {
			before = append(before, l)
		}
	}
	c.written = map[string]bool{}
	c.ledger.say(c.ID, "addresses", "source_rules")
	for _, f := range []family{{"ipv4", "dhcp4", true, map[string]int{}}, {"ipv6", "dhcp6", false, map[string]int{}}} {
		c.method(f)
		for _, a := range c.Addresses {
			if a.Addr().Is4() == f.is4 {
				c.list(f, "address", a.String(), "")
			}
		}
		for i, r := range c.Routes {
			if r.To.Addr().Is4() == f.is4 {
				c.route(f, fmt.Sprintf("routes[%d]", i), r)
			}
		}
		c.multipath(f)
		c.rules(f)
		c.overrides(f)
	}
	c.nameservers()
	c.file.remove(func(group, key string) bool { return listed(group, key) && !c.written[group+"."+key] })
	for _, l := range before {
		if !c.says(l) {
			c.out.warn(c.ID, l.group+"."+l.key, l.value+" was in the file and is not declared: removed")
		}
	}
}

var listKey = regexp.MustCompile(`^(address|addresses|route|routes|routing-rule)[0-9]*(_options)?$`)

// says reports whether the new file has what a line of the old one said.
func (c *connection) says(old keyLine) bool {
	prefix := listKey.FindStringSubmatch(old.key)[1]
	for _, l := range c.file.lines {
		if l.group == old.group && strings.HasPrefix(l.key, prefix) && strings.Trim(l.value, ";") == strings.Trim(old.value, ";") {
			return true
		}
	}
	return strings.HasSuffix(old.key, "_options")
}

// list adds a line of a numbered list, with its options.
func (c *connection) list(f family, word, value, options string) {
	f.count[word]++
	key := word + strconv.Itoa(f.count[word])
	c.set(f.group, key, value)
	c.written[f.group+"."+key] = true
	if options != "" {
		c.set(f.group, key+"_options", options)
		c.written[f.group+"."+key+"_options"] = true
	}
}

// method says where addresses come from. Without a word of the fabric's on it
// an existing connection's stays.
func (c *connection) method(f family) {
	automatic, said := c.automatic(f)
	own := false
	for _, a := range c.Addresses {
		own = own || a.Addr().Is4() == f.is4
	}
	local := c.linkLocal(f)
	method := ""
	switch {
	case automatic != "":
		method = automatic
	case own:
		method = "manual"
	case !said && len(c.Addresses) == 0 && c.file.value(f.group, "method") != "":
		return
	case local:
		method = "link-local"
	case said || c.file.value(f.group, "method") == "":
		method = "disabled"
	default:
		return
	}
	c.set(f.group, "method", method)
	if c.nameless(f.group) {
		// A file that says more of a family that is off is refused whole.
		c.file.remove(func(group, key string) bool { return group == f.group && strings.HasPrefix(key, "dns") })
	}
}

// nameless reports a family of which a connection may say nothing of DNS: it is
// off, or has link-local addresses alone (NetworkManager's verify of an IP
// setting: "this property is not allowed for method").
func (c *connection) nameless(group string) bool {
	method := c.file.value(group, "method")
	return method == "disabled" || method == "link-local" || method == "ignore"
}

// off reports a family without addresses of any kind.
func (c *connection) off(group string) bool { return c.file.value(group, "method") == "disabled" }

// automatic is the method for what dhcp4, dhcp6 and accept-ra ask for; said
// is whether the file has any of them.
func (c *connection) automatic(f family) (method string, said bool) {
	for _, p := range c.Unread {
		switch {
		case p.Key == f.dhcp:
			said = true
			c.ledger.say(c.ID, p.Key)
			if isTrue(p.Value) && method == "" {
				method = "auto"
			}
		case p.Key == "accept-ra" && !f.is4:
			said = true
			c.ledger.say(c.ID, p.Key)
			if isTrue(p.Value) {
				method = "auto"
			}
		}
	}
	return method, said
}

// linkLocal reports whether the family has link-local addresses: IPv6 unless
// link-local leaves it out, IPv4 where it names it.
func (c *connection) linkLocal(f family) bool {
	for _, p := range c.Unread {
		if p.Key != "link-local" || p.Value == nil {
			continue
		}
		c.ledger.say(c.ID, p.Key)
		for _, item := range p.Value.Items {
			if item.Text == f.group {
				return true
			}
		}
		return false
	}
	return !f.is4
}

// route writes one route. The metric is always said: left out, NetworkManager
// takes one by the kind of device.
func (c *connection) route(f family, key string, r fabric.Route) {
	options := []string{}
	add := func(sub, word string) {
		options = append(options, word)
		c.ledger.say(c.ID, key+"."+sub)
	}
	if r.Table != 0 {
		add("table", fmt.Sprintf("table=%d", r.Table))
	}
	if r.From.IsValid() {
		add("from", "src="+r.From.String())
	}
	if r.OnLink {
		add("on-link", "onlink=true")
	}
	if r.MTU != 0 {
		add("mtu", fmt.Sprintf("mtu=%d", r.MTU))
	}
	switch r.Type {
	case "", "unicast":
	case "local", "blackhole", "unreachable", "prohibit", "throw":
		add("type", "type="+r.Type)
	default:
		c.ledger.cannot(c.ID, key, "NetworkManager has no routes of type "+r.Type)
		return
	}
	if r.Scope == "link" && !c.via(r).IsValid() {
		c.ledger.say(c.ID, key+".scope") // what a route without a next hop has
	} else if r.Scope != "" && f.is4 {
		add("scope", "scope="+map[string]string{"global": "0", "link": "253", "host": "254"}[r.Scope])
	} else if r.Scope != "" {
		c.ledger.say(c.ID, key+".scope") // IPv6 routes have none: a route without a next hop is what it means
	}
	for _, o := range keyfileRouteOptions {
		for _, p := range r.Unread {
			if p.Key == o[0] && p.Value != nil {
				add(p.Key, o[1]+"="+p.Value.Text)
			}
		}
	}
	if c.off(f.group) {
		c.ledger.cannot(c.ID, key, "the device has no "+f.group+" address, and NetworkManager sets no route of a family that is off")
		return
	}
	c.ledger.say(c.ID, key, key+".metric")
	c.list(f, "route", routeText(f, r.To, c.via(r), r.Metric), strings.Join(options, ","))
}

// routeText is "net/length[,gateway],metric". IPv6's metric of zero means the
// kernel's 1024.
func routeText(f family, to netip.Prefix, via netip.Addr, metric int) string {
	if !via.IsValid() {
		via = netip.IPv4Unspecified()
		if !f.is4 {
			via = netip.IPv6Unspecified()
		}
	}
	if metric == 0 && !f.is4 {
		metric = 1024
	}
	return fmt.Sprintf("%s,%s,%d", to, via, metric)
}

// multipath writes this device's hops of the routes over several, which
// NetworkManager 1.42 and later joins by their weights, IPv4 only.
func (c *connection) multipath(f family) {
	for i, m := range c.in.Host.Multipath {
		key := fmt.Sprintf("multipath[%d]", i)
		for _, hop := range m.Hops {
			if hop.Link != c.ID && hop.Link != c.name || m.To.Addr().Is4() != f.is4 {
				continue
			}
			if why := multipathWhy(f, hop); why != "" {
				c.ledger.cannot("", key, why)
				continue
			}
			c.ledger.say("", key)
			options := fmt.Sprintf("weight=%d", max(hop.Weight, 1))
			if m.Table != 0 {
				options = fmt.Sprintf("table=%d,", m.Table) + options
			}
			c.list(f, "route", routeText(f, m.To, hop.Gateway, m.Metric), options)
		}
	}
}

func multipathWhy(f family, hop netstate.NextHop) string {
	switch {
	case !f.is4:
		return "NetworkManager joins next hops of IPv4 alone into one route"
	case !hop.Gateway.IsValid():
		return "NetworkManager joins only next hops with a gateway into one route"
	}
	return ""
}

// rules writes routing rules. NetworkManager wants a priority; the kernel's
// own choice for a rule without one is the next below 32766.
func (c *connection) rules(f family) {
	for i, r := range c.Rules {
		if is4(r) != f.is4 {
			continue
		}
		key := fmt.Sprintf("routing-policy[%d]", i)
		priority := r.Priority
		if priority == 0 {
			priority = 32765 - i
		}
		text := fmt.Sprintf("priority %d", priority)
		if r.From.IsValid() {
			text += " from " + r.From.String()
		}
		if r.To.IsValid() {
			text += " to " + r.To.String()
		}
		if !r.From.IsValid() && !r.To.IsValid() {
			text += " from " + map[bool]string{true: "0.0.0.0/0", false: "::/0"}[f.is4]
		}
		if r.Mark != 0 {
			text += fmt.Sprintf(" fwmark %#x", r.Mark)
		}
		if r.TOS != 0 {
			text += fmt.Sprintf(" tos %#x", r.TOS)
		}
		c.ledger.say(c.ID, key, key+".priority", key+".mark", key+".type-of-service")
		c.list(f, "routing-rule", text+fmt.Sprintf(" table %d", table(r.Table)), "")
	}
}

// overrides are netplan's keys about DHCP and IPv6 that the sections have.
func (c *connection) overrides(f family) {
	for _, p := range c.Unread {
		n := p.Value
		switch {
		case n == nil:
		case p.Key == f.dhcp+"-overrides":
			for _, o := range keyfileOverrides {
				value := n.Get(o.netplan)
				if value == nil {
					continue
				}
				text := value.Text
				if o.opposite {
					text = strconv.FormatBool(!isTrue(value))
				}
				c.set(f.group, o.word, text)
				c.ledger.say(c.ID, p.Key+"."+o.netplan)
			}
		case p.Key == "dhcp-identifier" && f.is4:
			c.set(f.group, "dhcp-client-id", n.Text)
			c.ledger.say(c.ID, p.Key)
		case f.is4:
		case p.Key == "ipv6-mtu":
			c.set(f.group, "mtu", n.Text)
			c.ledger.say(c.ID, p.Key)
		case p.Key == "ipv6-privacy":
			c.set(f.group, "ip6-privacy", map[bool]string{true: "2", false: "0"}[isTrue(n)])
			c.ledger.say(c.ID, p.Key)
		case p.Key == "ipv6-address-generation":
			c.set(f.group, "addr-gen-mode", map[bool]string{true: "0", false: "1"}[n.Text == "eui64"])
			c.ledger.say(c.ID, p.Key)
		case p.Key == "ipv6-address-token":
			c.set(f.group, "token", n.Text)
			c.ledger.say(c.ID, p.Key)
		}
	}
}

// host is what no connection alone says.
func (w *keyfileWriter) host() {
	for i, m := range w.in.Host.Multipath {
		if m.To.Addr().Is4() && len(m.Hops) > 0 {
			w.out.warn("", fmt.Sprintf("multipath[%d]", i), "NetworkManager joins the next hops from 1.42 on; earlier ones refuse the weights")
		}
	}
}

// words are the scalars of a list.
func words(n *yamldoc.Node) []string {
	if n == nil {
		return nil
	}
	var all []string
	for _, item := range n.Items {
		all = append(all, item.Text)
	}
	return all
}
