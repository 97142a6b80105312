package render

import (
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
)

// layer3 is how a device gets its addresses, and those it has for itself.
func (w ifcfgWriter) layer3(d device) []shellPair {
	var p pairs
	proto := "none"
	if four, said := d.truth("dhcp4"); said {
		w.l.say(d.ID, "dhcp4")
		if four {
			proto = "dhcp"
		}
	}
	p.put("BOOTPROTO", proto)
	options := w.in.addressOptions(d.ID)
	var four, six []netip.Prefix
	for _, a := range d.Addresses {
		w.l.say(d.ID, "addresses")
		o := options[a]
		for _, q := range pairsOf(o) {
			if q.Key != "label" {
				w.l.cannot(d.ID, "addresses."+q.Key, "is not written as ifcfg")
			}
		}
		_, aliased := alias(d, a, o)
		if o.Get("label") != nil {
			if aliased {
				w.l.say(d.ID, "addresses.label")
			} else {
				w.l.cannot(d.ID, "addresses.label", "an alias of an IPv4 address is named "+d.name+":NUMBER; "+a.String()+" is written without")
			}
		}
		switch {
		case !a.Addr().Is4():
			six = append(six, a)
		case !aliased:
			four = append(four, a)
		}
	}
	for i, a := range four {
		n := ""
		if i > 0 {
			n = strconv.Itoa(i)
		}
		p.put("IPADDR"+n, a.Addr().String())
		p.put("PREFIX"+n, strconv.Itoa(a.Bits()))
	}
	w.ipv6(d, six, &p)
	w.names(d, &p)
	return p
}

func pairsOf(n *yamldoc.Node) []yamldoc.Pair {
	if n == nil {
		return nil
	}
	return n.Pairs
}

func (w ifcfgWriter) ipv6(d device, six []netip.Prefix, p *pairs) {
	dhcp, said := d.truth("dhcp6")
	if said {
		w.l.say(d.ID, "dhcp6")
	}
	accept, saidRA := d.truth("accept-ra")
	if saidRA {
		w.l.say(d.ID, "accept-ra")
	}
	if len(six) == 0 && !dhcp && !saidRA {
		return
	}
	p.put("IPV6INIT", "yes")
	if saidRA {
		p.put("IPV6_AUTOCONF", map[bool]string{true: "yes", false: "no"}[accept])
	} else if len(six) > 0 {
		p.put("IPV6_AUTOCONF", "no")
	}
	if dhcp {
		p.put("DHCPV6C", "yes")
	}
	var more []string
	for i, a := range six {
		if i == 0 {
			p.put("IPV6ADDR", a.String())
			continue
		}
		more = append(more, a.String())
	}
	p.put("IPV6ADDR_SECONDARIES", strings.Join(more, " "))
	if mtu := d.key("ipv6-mtu"); mtu != nil {
		p.put("IPV6_MTU", mtu.Text)
		w.l.say(d.ID, "ipv6-mtu")
	}
}

// names are the name servers, search domains, and what DHCP may change.
func (w ifcfgWriter) names(d device, p *pairs) {
	servers := d.key("nameservers")
	for i, s := range texts(servers.Get("addresses")) {
		p.put("DNS"+strconv.Itoa(i+1), s)
		w.l.say(d.ID, "nameservers.addresses")
	}
	if search := texts(servers.Get("search")); len(search) > 0 {
		p.put("DOMAIN", strings.Join(search, " "))
		w.l.say(d.ID, "nameservers.search")
	}
	for _, row := range [][2]string{{"use-dns", "PEERDNS"}, {"use-ntp", "PEERNTP"}, {"send-hostname", "DHCP_SEND_HOSTNAME"}, {"route-metric", "IPV4_ROUTE_METRIC"}, {"hostname", "DHCP_HOSTNAME"}} {
		n := d.key("dhcp4-overrides").Get(row[0])
		if n == nil {
			continue
		}
		value := n.Text
		if strings.HasPrefix(row[0], "use-") || strings.HasPrefix(row[0], "send-") {
			value = map[bool]string{true: "yes", false: "no"}[yes(value)]
		}
		p.put(row[1], value)
		w.l.say(d.ID, "dhcp4-overrides."+row[0])
	}
}

// aliasNumber is what follows the colon of an alias; it becomes part of a
// file's name.
var aliasNumber = regexp.MustCompile(`^[A-Za-z0-9_]{1,13}$`)

// alias is the part of an address's label that names its file; false for an
// address that stands in the device's own.
func alias(d device, a netip.Prefix, options *yamldoc.Node) (string, bool) {
	label := options.Get("label")
	if label == nil || !a.Addr().Is4() {
		return "", false
	}
	number, ok := strings.CutPrefix(label.Text, d.name+":")
	return number, ok && aliasNumber.MatchString(number)
}

// aliases are files of their own for addresses with a label of their own.
func (w ifcfgWriter) aliases(d device, suffix string) {
	options := w.in.addressOptions(d.ID)
	for _, a := range d.Addresses {
		number, ok := alias(d, a, options[a])
		if !ok {
			continue
		}
		var p pairs
		p.put("DEVICE", d.name+":"+number)
		p.put("ONPARENT", "yes")
		p.put("IPADDR", a.Addr().String())
		p.put("PREFIX", strconv.Itoa(a.Bits()))
		file := ifcfgDir + "ifcfg-" + suffix + ":" + number
		w.out.add(file, 0o644, updateShell(w.in.Old[file], p, func(key string) bool { return key == "NETMASK" || key == "NETWORK" || key == "BROADCAST" }))
	}
}

// lines are the route and rule files, in ip(8)'s words.
func (w ifcfgWriter) lines(d device, suffix string) {
	files := map[string][]string{}
	for i, r := range d.Routes {
		name := "route-"
		if !r.To.Addr().Is4() {
			name = "route6-"
		}
		files[name] = append(files[name], w.route(d, r, fmt.Sprintf("routes[%d]", i)))
	}
	for i, r := range d.Rules {
		name := "rule-"
		if !is4(r) {
			name = "rule6-"
		}
		key := fmt.Sprintf("routing-policy[%d]", i)
		w.l.say(d.ID, key, key+".priority", key+".mark", key+".type-of-service")
		if r.From.IsValid() {
			w.l.say(d.ID, "source_rules")
		}
		files[name] = append(files[name], ruleLine(r))
	}
	for _, name := range sortedKeys(files) {
		file := ifcfgDir + name + suffix
		w.out.add(file, 0o644, updateLines(w.in.Old[file], files[name]))
		if strings.HasPrefix(name, "rule") {
			w.out.warn(d.ID, "routing-policy", "NetworkManager reads "+file+" only with its package NetworkManager-dispatcher-routing-rules")
		}
	}
}

func (w ifcfgWriter) route(d device, r fabric.Route, key string) string {
	w.l.say(d.ID, key, key+".from", key+".on-link", key+".metric", key+".table", key+".type", key+".mtu", key+".scope")
	var words []string
	if r.Type != "" && r.Type != "unicast" {
		words = append(words, r.Type)
	}
	if r.To.Bits() == 0 {
		words = append(words, "default")
	} else {
		words = append(words, r.To.String())
	}
	delivers := r.Type == "" || r.Type == "unicast" || r.Type == "local"
	if via := d.via(r); via.IsValid() {
		words = append(words, "via", via.String())
	}
	if delivers {
		words = append(words, "dev", d.name)
	}
	if r.From.IsValid() {
		words = append(words, "src", r.From.String())
	}
	if r.Scope != "" {
		words = append(words, "scope", r.Scope)
	}
	if r.OnLink {
		words = append(words, "onlink")
	}
	for _, n := range []struct {
		word  string
		value int
	}{{"table", r.Table}, {"metric", r.Metric}, {"mtu", r.MTU}} {
		if n.value != 0 {
			words = append(words, n.word, strconv.Itoa(n.value))
		}
	}
	for _, p := range r.Unread {
		if word := map[string]string{"congestion-window": "initcwnd", "advertised-receive-window": "initrwnd", "advertised-mss": "advmss"}[p.Key]; word != "" {
			words = append(words, word, p.Value.Text)
			w.l.say(d.ID, key+"."+p.Key)
		}
	}
	return strings.Join(words, " ")
}

// ruleLine is a rule in ip-rule(8)'s words.
func ruleLine(r fabric.Rule) string {
	var words []string
	for _, n := range []struct {
		word string
		p    netip.Prefix
	}{{"from", r.From}, {"to", r.To}} {
		if n.p.IsValid() {
			words = append(words, n.word, bareHost(n.p.String()))
		}
	}
	if r.Mark != 0 {
		words = append(words, "fwmark", strconv.Itoa(r.Mark))
	}
	if r.TOS != 0 {
		words = append(words, "tos", fmt.Sprintf("%#x", r.TOS))
	}
	words = append(words, "table", strconv.Itoa(table(r.Table)))
	if r.Priority != 0 {
		words = append(words, "priority", strconv.Itoa(r.Priority))
	}
	return strings.Join(words, " ")
}
