package keyfile

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/node"
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
	if c.Master != "" {
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
	c.ledger.Say(c.ID, "addresses", "source_rules")
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
		c.keys(f.group)
	}
	c.nameservers()
	c.file.remove(func(group, key string) bool { return listed(group, key) && !c.written[group+"."+key] })
	for _, l := range before {
		if !c.says(l) {
			c.out.Warn(c.ID, l.group+"."+l.key, l.value+" was in the file and is not declared: removed")
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
	c.besideOthers(f, local && method != "link-local")
	if c.nameless(f.group) {
		// A file that says more of a family that is off is refused whole.
		c.file.remove(func(group, key string) bool { return group == f.group && strings.HasPrefix(key, "dns") })
	}
}

// besideOthers says whether link-local addresses stand beside those of the method.
func (c *connection) besideOthers(f family, local bool) {
	families := c.Key("link-local")
	switch {
	case families == nil:
	case f.is4 && local:
		c.set(f.group, "link-local", linkLocalOn)
		c.ledger.Cannot(c.ID, "link-local", "[ipv4] link-local is NetworkManager's from 1.40 on")
	case f.is4:
		c.file.remove(func(group, key string) bool { return group == f.group && key == "link-local" })
	case !local && !c.off(f.group) && c.file.value(f.group, "method") != "link-local":
		c.ledger.Cannot(c.ID, "link-local", "a device with IPv6 always has a link-local address with NetworkManager")
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
	for _, key := range []string{f.dhcp, "accept-ra"} {
		on, has := c.Truth(key)
		if !has || f.is4 && key == "accept-ra" {
			continue
		}
		said = true
		c.ledger.Say(c.ID, key)
		switch {
		case on:
			method = "auto"
		case key == "accept-ra" && method == "auto":
			method = "dhcp" // without what routers say
		}
	}
	return method, said
}

// linkLocal reports whether the family has link-local addresses: IPv6 unless
// link-local leaves it out, IPv4 where it names it.
func (c *connection) linkLocal(f family) bool {
	families := c.Key("link-local")
	if families == nil {
		return !f.is4
	}
	c.ledger.Say(c.ID, "link-local")
	return slices.Contains(node.Texts(families), f.group)
}

// route writes one route. The metric is always said: left out, NetworkManager
// takes one by the kind of device.
func (c *connection) route(f family, key string, r fabric.Route) {
	said := c.RouteKeys(r)
	switch said["type"] {
	case "", "local", "blackhole", "unreachable", "prohibit", "throw":
	default:
		c.ledger.Cannot(c.ID, key, "NetworkManager has no routes of type "+r.Type)
		return
	}
	if c.off(f.group) {
		c.ledger.Cannot(c.ID, key, "the device has no "+f.group+" address, and NetworkManager sets no route of a family that is off")
		return
	}
	if f.is4 && (r.Scope != "link" || said["via"] != "") {
		said["scope"] = scopeNumbers[r.Scope]
	} else {
		delete(said, "scope") // a route without a next hop is of link, and one of IPv6 of none
	}
	var options []string
	c.ledger.Say(c.ID, key, key+".metric")
	for _, o := range routeOptions {
		c.ledger.Say(c.ID, key+"."+o.key)
		if said[o.key] != "" {
			options = append(options, o.word+"="+said[o.key])
		}
	}
	c.list(f, "route", routeText(f, r.To, c.Via(r), r.Metric), strings.Join(options, ","))
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
			if hop.Link != c.ID && hop.Link != c.Name || m.To.Addr().Is4() != f.is4 {
				continue
			}
			if why := multipathWhy(f, hop); why != "" {
				c.ledger.Cannot("", key, why)
				continue
			}
			c.ledger.Say("", key)
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
		if device.Is4(r) != f.is4 {
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
		c.ledger.Say(c.ID, key, key+".priority", key+".mark", key+".type-of-service")
		c.list(f, "routing-rule", text+fmt.Sprintf(" table %d", device.Table(r.Table)), "")
	}
}

// host is what no connection alone says.
func (w *writer) host() {
	for i, m := range w.in.Host.Multipath {
		if m.To.Addr().Is4() && len(m.Hops) > 0 {
			w.out.Warn("", fmt.Sprintf("multipath[%d]", i), "NetworkManager joins the next hops from 1.42 on; earlier ones refuse the weights")
		}
	}
}
