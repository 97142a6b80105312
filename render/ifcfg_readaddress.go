package render

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
)

// mostAddresses is how many numbered keys initscripts look at (expand_config
// of network-functions).
const mostAddresses = 256

func (r *ifcfgReader) addresses(d *yamldoc.Node) {
	switch proto := strings.ToLower(r.get("BOOTPROTO")); proto {
	case "dhcp", "bootp":
		put(d, "dhcp4", plain("true"))
	case "", "none", "static":
	default:
		r.wrong("BOOTPROTO", "is not read")
	}
	for i := -1; i < mostAddresses; i++ {
		n := ""
		if i >= 0 {
			n = strconv.Itoa(i)
		}
		if p, ok := r.address4(n); ok {
			r.finder.address(r.id, p, nil)
		}
		if g := r.get("GATEWAY" + n); g != "" {
			r.gateway("GATEWAY"+n, g)
		}
		if s := r.get("DNS" + n); s != "" {
			if _, err := netip.ParseAddr(s); err != nil {
				r.wrong("DNS"+n, "is no address")
				continue
			}
			push(within(d, "nameservers"), "addresses", quoted(s))
		}
		r.numberedRule("ROUTING_RULE_" + n)
		r.numberedRule("ROUTING_RULE6_" + n)
	}
	for _, s := range strings.Fields(r.get("DOMAIN")) {
		push(within(d, "nameservers"), "search", quoted(s))
	}
	r.ipv6(d)
	for _, row := range [][2]string{{"PEERDNS", "use-dns"}, {"PEERNTP", "use-ntp"}, {"DHCP_SEND_HOSTNAME", "send-hostname"}, {"IPV4_ROUTE_METRIC", "route-metric"}, {"DHCP_HOSTNAME", "hostname"}} {
		value := r.get(row[0])
		if value == "" || d.Get("dhcp4") == nil {
			if value != "" {
				r.wrong(row[0], "matters with DHCP only")
			}
			continue
		}
		if strings.HasPrefix(row[1], "use-") || strings.HasPrefix(row[1], "send-") {
			value = strconv.FormatBool(r.truth(row[0]))
		}
		put(within(d, "dhcp4-overrides"), row[1], quoted(value))
	}
	r.bridge(d)
}

// address4 is the address with a number behind its keys.
func (r *ifcfgReader) address4(n string) (netip.Prefix, bool) {
	text := r.get("IPADDR" + n)
	if text == "" {
		return netip.Prefix{}, false
	}
	a, err := netip.ParseAddr(text)
	if err != nil || !a.Is4() {
		r.wrong("IPADDR"+n, "is no IPv4 address")
		return netip.Prefix{}, false
	}
	bits, err := strconv.Atoi(r.get("PREFIX" + n))
	mask := r.get("NETMASK" + n)
	if err != nil {
		var ok bool
		if bits, ok = dottedLength(mask); !ok {
			if mask != "" || r.get("PREFIX"+n) != "" {
				r.wrong("IPADDR"+n, "has no prefix length that can be read")
				return netip.Prefix{}, false
			}
			bits = classful(a)
		}
	}
	p := netip.PrefixFrom(a, bits)
	if !p.IsValid() {
		r.wrong("PREFIX"+n, "is no prefix length")
	}
	return p, p.IsValid()
}

// classful is the length that ipcalc(1) gives an address without one.
func classful(a netip.Addr) int {
	switch b := a.As4()[0]; {
	case b < 128:
		return 8
	case b < 192:
		return 16
	}
	return 24
}

func (r *ifcfgReader) gateway(key, text string) {
	g, err := netip.ParseAddr(text)
	if err != nil || g.Zone() != "" {
		r.wrong(key, "is no address")
		return
	}
	if r.get("DEFROUTE") != "" && !r.truth("DEFROUTE") {
		return
	}
	route := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
	put(route, "to", plain("default"))
	put(route, "via", quotedNumber(g.String()))
	push(r.device(r.id), "routes", route)
}

func (r *ifcfgReader) ipv6(d *yamldoc.Node) {
	if r.get("IPV6INIT") != "" && !r.truth("IPV6INIT") && r.values["IPV6ADDR"].key == "" {
		setKey(d, "link-local", &yamldoc.Node{Kind: yamldoc.SequenceNode, Flow: true})
	}
	for _, key := range []string{"IPV6ADDR", "IPV6ADDR_SECONDARIES"} {
		for _, word := range strings.Fields(r.get(key)) {
			if !strings.Contains(word, "/") {
				word += "/64"
			}
			p, err := netip.ParsePrefix(word)
			if err != nil {
				r.wrong(key, word+" is no address")
				continue
			}
			r.finder.address(r.id, p, nil)
		}
	}
	if r.truth("DHCPV6C") {
		put(d, "dhcp6", plain("true"))
	}
	if auto := r.get("IPV6_AUTOCONF"); auto != "" {
		put(d, "accept-ra", plain(strconv.FormatBool(r.truth("IPV6_AUTOCONF"))))
	}
	if mtu := r.get("IPV6_MTU"); mtu != "" {
		put(d, "ipv6-mtu", plain(mtu))
	}
	if g, _, _ := strings.Cut(r.get("IPV6_DEFAULTGW"), "%"); g != "" {
		r.gateway("IPV6_DEFAULTGW", g)
	}
}

func (r *ifcfgReader) bridge(d *yamldoc.Node) {
	if r.kinds[r.id] != "bridges" {
		return
	}
	if stp := r.get("STP"); stp != "" {
		put(within(d, "parameters"), "stp", plain(strconv.FormatBool(strings.EqualFold(stp, "on") || r.truth("STP"))))
	}
	if delay := r.get("DELAY"); delay != "" {
		put(within(d, "parameters"), "forward-delay", quoted(delay))
	}
}

// alias reads a file ifcfg-NAME:N.
func (r *ifcfgReader) alias(number string) {
	p, ok := r.address4("")
	r.get("DEVICE")
	if ok {
		options := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
		put(options, "label", quoted(r.id+":"+number))
		r.finder.address(r.id, p, options)
	}
	r.rest(nil)
}

// lines reads a route or rule file: ip(8)'s words, or numbered assignments.
func (r *ifcfgReader) lines(kind, text string) {
	four := !strings.HasSuffix(kind, "6")
	numbered := newIfcfgReader(r.finder, r.file, "")
	numbered.id = r.id
	for i, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if l := readShell(line)[0]; l.key != "" && !l.odd && kind == "route" {
			l.line = i + 1
			numbered.values[l.key] = l
			continue
		}
		read := r.routeWords
		if strings.HasPrefix(kind, "rule") {
			read = r.ruleWords
		}
		if why := read(words, four); why != "" {
			r.miss(r.file, i+1, kind, strings.TrimSpace(line), why)
		}
	}
	numbered.numbered()
}

// numbered reads ADDRESSn, NETMASKn, GATEWAYn, METRICn and OPTIONSn.
func (r *ifcfgReader) numbered() {
	for i := range mostAddresses {
		n := strconv.Itoa(i)
		to := r.get("ADDRESS" + n)
		if to == "" {
			continue
		}
		bits, ok := dottedLength(r.get("NETMASK" + n))
		if l, err := strconv.Atoi(r.get("PREFIX" + n)); err == nil {
			bits, ok = l, true
		}
		if !ok {
			bits = 32
		}
		words := []string{to + "/" + strconv.Itoa(bits)}
		if g := r.get("GATEWAY" + n); g != "" {
			words = append(words, "via", g)
		}
		if m := r.get("METRIC" + n); m != "" {
			words = append(words, "metric", m)
		}
		words = append(words, strings.Fields(r.get("OPTIONS"+n))...)
		if why := r.routeWords(words, true); why != "" {
			r.wrong("ADDRESS"+n, why)
		}
	}
	r.rest(nil)
}

func (r *ifcfgReader) numberedRule(key string) {
	text := r.get(key)
	if text == "" {
		return
	}
	if why := r.ruleWords(strings.Fields(text), !strings.Contains(key, "6_")); why != "" {
		r.wrong(key, why)
	}
}
