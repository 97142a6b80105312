package ifcfg

import (
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/ipwords"
	"github.com/linerate/linerate/render/node"
	"github.com/linerate/linerate/render/shell"
)

// layer3 is how a device gets its addresses, and those it has for itself.
func (w writer) layer3(d device.Device) []shell.Pair {
	var p pairs
	proto := "none"
	if four, said := d.Truth("dhcp4"); said {
		w.l.Say(d.ID, "dhcp4")
		if four {
			proto = "dhcp"
		}
	}
	p.put("BOOTPROTO", proto)
	options := device.AddressOptions(w.in, d.ID)
	var four, six []netip.Prefix
	for _, a := range d.Addresses {
		w.l.Say(d.ID, "addresses")
		o := options[a]
		for _, q := range node.Pairs(o) {
			if q.Key != "label" {
				w.l.Cannot(d.ID, "addresses."+q.Key, "is not written as ifcfg")
			}
		}
		_, aliased := alias(d, a, o)
		if o.Get("label") != nil {
			if aliased {
				w.l.Say(d.ID, "addresses.label")
			} else {
				w.l.Cannot(d.ID, "addresses.label", "an alias of an IPv4 address is named "+d.Name+":NUMBER; "+a.String()+" is written without")
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

func (w writer) ipv6(d device.Device, six []netip.Prefix, p *pairs) {
	dhcp, said := d.Truth("dhcp6")
	if said {
		w.l.Say(d.ID, "dhcp6")
	}
	accept, saidRA := d.Truth("accept-ra")
	if saidRA {
		w.l.Say(d.ID, "accept-ra")
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
	if mtu := d.Key("ipv6-mtu"); mtu != nil {
		p.put("IPV6_MTU", mtu.Text)
		w.l.Say(d.ID, "ipv6-mtu")
	}
}

// dhcpWords are netplan's dhcp4-overrides and what says the same.
var dhcpWords = [...][2]string{
	{"use-dns", "PEERDNS"}, {"use-ntp", "PEERNTP"}, {"send-hostname", "DHCP_SEND_HOSTNAME"}, {"route-metric", "IPV4_ROUTE_METRIC"}, {"hostname", "DHCP_HOSTNAME"},
}

// names are the name servers, search domains, and what DHCP may change.
func (w writer) names(d device.Device, p *pairs) {
	servers := d.Key("nameservers")
	for i, s := range node.Texts(servers.Get("addresses")) {
		p.put("DNS"+strconv.Itoa(i+1), s)
		w.l.Say(d.ID, "nameservers.addresses")
	}
	if search := node.Texts(servers.Get("search")); len(search) > 0 {
		p.put("DOMAIN", strings.Join(search, " "))
		w.l.Say(d.ID, "nameservers.search")
	}
	for _, row := range dhcpWords {
		n := d.Key("dhcp4-overrides").Get(row[0])
		if n == nil {
			continue
		}
		value := n.Text
		if strings.HasPrefix(row[0], "use-") || strings.HasPrefix(row[0], "send-") {
			value = map[bool]string{true: "yes", false: "no"}[node.True(n)]
		}
		p.put(row[1], value)
		w.l.Say(d.ID, "dhcp4-overrides."+row[0])
	}
}

// aliasNumber is what follows the colon of an alias; it becomes part of a
// file's name.
var aliasNumber = regexp.MustCompile(`^[A-Za-z0-9_]{1,13}$`)

// alias is the part of an address's label that names its file; false for an
// address that stands in the device's own.
func alias(d device.Device, a netip.Prefix, options *yamldoc.Node) (string, bool) {
	label := options.Get("label")
	if label == nil || !a.Addr().Is4() {
		return "", false
	}
	number, ok := strings.CutPrefix(label.Text, d.Name+":")
	return number, ok && aliasNumber.MatchString(number)
}

// aliases are files of their own for addresses with a label of their own.
func (w writer) aliases(d device.Device, suffix string) {
	options := device.AddressOptions(w.in, d.ID)
	for _, a := range d.Addresses {
		number, ok := alias(d, a, options[a])
		if !ok {
			continue
		}
		var p pairs
		p.put("DEVICE", d.Name+":"+number)
		p.put("ONPARENT", "yes")
		p.put("IPADDR", a.Addr().String())
		p.put("PREFIX", strconv.Itoa(a.Bits()))
		file := Dir + "ifcfg-" + suffix + ":" + number
		w.out.Add(file, 0o644, shell.Update(w.in.Old[file], p, func(key string) bool { return key == "NETMASK" || key == "NETWORK" || key == "BROADCAST" }))
	}
}

// lines are the route and rule files, in ip(8)'s words.
func (w writer) lines(d device.Device, suffix string) {
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
		if !device.Is4(r) {
			name = "rule6-"
		}
		key := fmt.Sprintf("routing-policy[%d]", i)
		w.l.Say(d.ID, key, key+".priority", key+".mark", key+".type-of-service")
		if r.From.IsValid() {
			w.l.Say(d.ID, "source_rules")
		}
		files[name] = append(files[name], strings.Join(ipwords.RuleLine(r), " "))
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := Dir + name + suffix
		w.out.Add(file, 0o644, shell.UpdateLines(w.in.Old[file], files[name]))
		if strings.HasPrefix(name, "rule") {
			w.out.Warn(d.ID, "routing-policy", "NetworkManager reads "+file+" only with its package NetworkManager-dispatcher-routing-rules")
		}
	}
}

func (w writer) route(d device.Device, r fabric.Route, key string) string {
	w.l.Say(d.ID, key, key+".type")
	for _, word := range ipwords.RouteKeys() {
		w.l.Say(d.ID, key+"."+word)
	}
	return strings.Join(ipwords.RouteLine(d, r), " ")
}
