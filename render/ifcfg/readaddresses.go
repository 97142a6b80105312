package ifcfg

import (
	"cmp"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/render/ipwords"
	"github.com/linerate/linerate/render/node"
	"github.com/linerate/linerate/render/readback"
	"github.com/linerate/linerate/render/shell"
)

// mostAddresses is how many numbered keys initscripts look at (expand_config
// of network-functions).
const mostAddresses = 256

func (r *reader) addresses(d *yamldoc.Node) {
	switch proto := strings.ToLower(r.get("BOOTPROTO")); proto {
	case "dhcp", "bootp", "dhcp4", "dhcp+autoip":
		node.Put(d, "dhcp4", node.Plain("true"))
	case "dhcp6":
		if !strings.EqualFold(r.get("DHCLIENT6_MODE"), "info") {
			node.Put(d, "dhcp6", node.Plain("true"))
			break
		}
		// Addresses come with advertisements (ifcfg-dhcp(5) of wicked).
		node.Put(d, "accept-ra", node.Plain("true"))
		r.wrong("DHCLIENT6_MODE", "what DHCPv6 says beside the addresses of advertisements is not read")
	case "", "none", "no", "static":
	default:
		r.wrong("BOOTPROTO", "is not read")
	}
	for i := -1; i < mostAddresses; i++ {
		n := ""
		if i >= 0 {
			n = strconv.Itoa(i)
		}
		if p, ok := r.address4(n); ok {
			r.Host.Address(r.id, p, nil)
		}
		if g := r.get("GATEWAY" + n); g != "" {
			r.gateway("GATEWAY"+n, g)
		}
		if s := r.get("DNS" + n); s != "" {
			if _, err := netip.ParseAddr(s); err != nil {
				r.wrong("DNS"+n, "is no address")
				continue
			}
			node.Push(node.Within(d, "nameservers"), "addresses", node.Quoted(s))
		}
		r.numberedRule("ROUTING_RULE_" + n)
		r.numberedRule("ROUTING_RULE6_" + n)
	}
	for _, s := range strings.Fields(r.get("DOMAIN")) {
		node.Push(node.Within(d, "nameservers"), "search", node.Quoted(s))
	}
	r.suffixed()
	r.ipv6(d)
	for _, row := range dhcpWords {
		value := r.get(row[1])
		if value == "" || d.Get("dhcp4") == nil {
			if value != "" && row[0] != "use-dns" && (row[0] != "route-metric" || d.Get("routes") == nil) {
				r.wrong(row[1], "matters with DHCP only")
			}
			continue
		}
		if strings.HasPrefix(row[0], "use-") || strings.HasPrefix(row[0], "send-") {
			value = strconv.FormatBool(r.flag(row[1]))
		}
		node.Put(node.Within(d, "dhcp4-overrides"), row[0], node.Quoted(value))
	}
	r.bridge(d)
}

// address4 is the address with a number behind its keys.
func (r *reader) address4(n string) (netip.Prefix, bool) {
	text := r.get("IPADDR" + n)
	if text == "" {
		return netip.Prefix{}, false
	}
	if p, err := netip.ParsePrefix(text); err == nil {
		r.get("PREFIXLEN" + n)                                // which SUSE's address has already
		return p, p.Addr().Is4() || strings.HasPrefix(n, "_") // SUSE's form
	}
	a, err := netip.ParseAddr(text)
	if err != nil || !a.Is4() {
		r.wrong("IPADDR"+n, "is no IPv4 address")
		return netip.Prefix{}, false
	}
	bits, err := strconv.Atoi(r.get("PREFIX"+n) + r.get("PREFIXLEN"+n))
	mask := r.get("NETMASK" + n)
	if err != nil {
		var ok bool
		if bits, ok = readback.DottedLength(mask); !ok {
			for _, key := range []string{"PREFIX" + n, "NETMASK" + n} {
				if r.get(key) != "" {
					r.wrong(key, "is no prefix length: the address is left out")
					return netip.Prefix{}, false
				}
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

// suffixed are SUSE's further addresses, whose keys have any ending behind _.
func (r *reader) suffixed() {
	for _, key := range slices.Sorted(maps.Keys(r.values)) {
		ending, ok := strings.CutPrefix(key, "IPADDR_")
		if !ok {
			continue
		}
		if p, ok := r.address4("_" + ending); ok {
			r.Host.Address(r.id, p, nil)
		}
		r.get("LABEL_" + ending)
	}
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

func (r *reader) gateway(key, text string) {
	g, err := netip.ParseAddr(text)
	if err != nil || g.Zone() != "" {
		r.wrong(key, "is no address")
		return
	}
	if r.get("DEFROUTE") != "" && !r.flag("DEFROUTE") {
		return
	}
	route := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
	node.Put(route, "to", node.Plain("default"))
	node.Put(route, "via", node.Text(g.String()))
	metric := "IPV6_ROUTE_METRIC"
	if g.Is4() {
		// METRIC is initscripts' word for its default route (ifup-eth), the other
		// NetworkManager's for all of a connection's.
		if metric = "METRIC"; r.get(metric) == "" {
			metric = "IPV4_ROUTE_METRIC"
		}
	}
	if n, err := strconv.ParseUint(r.get(metric), 10, 32); err == nil && n > 0 {
		node.Put(route, "metric", node.Plain(strconv.FormatUint(n, 10)))
	}
	node.Push(r.Device(r.id), "routes", route)
}

func (r *reader) ipv6(d *yamldoc.Node) {
	if r.get("IPV6INIT") != "" && !r.flag("IPV6INIT") && r.values["IPV6ADDR"].Key == "" {
		node.SetKey(d, "link-local", &yamldoc.Node{Kind: yamldoc.SequenceNode, Flow: true})
	}
	if strings.EqualFold(r.get("DHCLIENT6_MODE"), "managed") {
		node.Put(d, "dhcp6", node.Plain("true"))
	}
	for _, key := range []string{"IPV6ADDR", "IPV6ADDR_SECONDARIES", "IPADDR6"} {
		for _, word := range strings.Fields(r.get(key)) {
			if !strings.Contains(word, "/") {
				word += "/64"
			}
			p, err := netip.ParsePrefix(word)
			if err != nil {
				r.wrong(key, word+" is no address")
				continue
			}
			r.Host.Address(r.id, p, nil)
		}
	}
	if r.flag("DHCPV6C") {
		node.Put(d, "dhcp6", node.Plain("true"))
	}
	if r.get("IPV6_AUTOCONF") != "" && (r.get("IPV6INIT") == "" || r.flag("IPV6INIT")) {
		node.Put(d, "accept-ra", node.Plain(strconv.FormatBool(r.flag("IPV6_AUTOCONF"))))
	}
	if mode := strings.ToLower(r.get("IPV6_ADDR_GEN_MODE")); mode == "eui64" || mode == "stable-privacy" {
		node.Put(d, "ipv6-address-generation", node.Plain(mode))
	} else if mode != "" && !strings.HasPrefix(mode, "default") {
		r.wrong("IPV6_ADDR_GEN_MODE", "is no way of making addresses")
	}
	if mtu := r.get("IPV6_MTU"); mtu != "" {
		node.Put(d, "ipv6-mtu", node.Plain(mtu))
	}
	if g, _, _ := strings.Cut(r.get("IPV6_DEFAULTGW"), "%"); g != "" {
		r.gateway("IPV6_DEFAULTGW", g)
	}
}

// bridgeWords are the words for a bridge's times of initscripts and of SUSE
// (ifcfg-bridge(5) of wicked), and netplan's.
var bridgeWords = [...][2]string{
	{"DELAY", "forward-delay"}, {"BRIDGE_FORWARDDELAY", "forward-delay"}, {"BRIDGE_HELLOTIME", "hello-time"}, {"BRIDGE_MAXAGE", "max-age"},
	{"BRIDGE_AGEINGTIME", "ageing-time"}, {"BRIDGE_PRIORITY", "priority"},
}

func (r *reader) bridge(d *yamldoc.Node) {
	if r.Kinds[r.id] != "bridges" {
		return
	}
	for _, key := range []string{"STP", "BRIDGE_STP"} {
		if r.get(key) != "" {
			node.Put(node.Within(d, "parameters"), "stp", node.Plain(strconv.FormatBool(r.flag(key))))
		}
	}
	for _, row := range bridgeWords {
		if value := r.get(row[0]); value != "" {
			node.Put(node.Within(d, "parameters"), row[1], node.Quoted(value))
		}
	}
}

// alias reads a file ifcfg-NAME:N.
func (r *reader) alias(number string) {
	p, ok := r.address4("")
	if name := r.get("DEVICE"); name != "" && name != r.id+":"+number {
		r.wrong("DEVICE", "is not "+r.id+":"+number+", the alias that the file's name says")
	}
	switch strings.ToLower(r.get("ONPARENT")) {
	case "", "yes", "true", "1":
	case "no", "false", "0":
		r.wrong("ONPARENT", "the alias does not come up with "+r.id+": its address is left out")
		ok = false
	default:
		r.wrong("ONPARENT", "is neither yes nor no")
	}
	if ok {
		options := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
		node.Put(options, "label", node.Quoted(r.id+":"+number))
		r.Host.Address(r.id, p, options)
	}
	r.rest(nil)
}

// ranges are the suffixes of files of many addresses (ifup-aliases of initscripts).
var ranges = regexp.MustCompile(`^(.+)-range[0-9]*$`)

// addressRange reads a file ifcfg-NAME-rangeN: an alias for each address of a range.
func (r *reader) addressRange() {
	defer r.rest(nil)
	first, err := netip.ParseAddr(r.get("IPADDR_START"))
	if err != nil || !first.Is4() {
		r.wrong("IPADDR_START", "is no IPv4 address: the range is left out")
		return
	}
	last, err := netip.ParseAddr(r.get("IPADDR_END"))
	a, b := first.As4(), last.As16()
	if err != nil || !last.Is4() || [3]byte(a[:3]) != [3]byte(b[12:15]) || last.Less(first) {
		r.wrong("IPADDR_END", "is no later address of the same 256: the range is left out")
		return
	}
	key := "NETMASK"
	bits, ok := readback.DottedLength(r.get(key))
	if text := r.get("PREFIX"); text != "" {
		key = "PREFIX"
		bits, err = strconv.Atoi(text)
		ok = err == nil && bits >= 0 && bits <= 32
	}
	if !ok {
		r.wrong(key, "is no prefix length: the range is left out")
		return
	}
	number, err := strconv.Atoi(cmp.Or(r.get("CLONENUM_START"), "0"))
	if err != nil {
		r.wrong("CLONENUM_START", "is no number: it is read as 0")
	}
	for ; !last.Less(first); first, number = first.Next(), number+1 {
		options := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
		node.Put(options, "label", node.Quoted(r.id+":"+strconv.Itoa(number)))
		r.Host.Address(r.id, netip.PrefixFrom(first, bits), options)
	}
}

// lines reads a route or rule file: ip(8)'s words, or numbered assignments.
func (r *reader) lines(kind, text string) {
	four := !strings.HasSuffix(kind, "6")
	numbered := newReader(r.Host, r.file, "")
	numbered.id = r.id
	for i, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if l := shell.Read(line)[0]; l.Key != "" && !l.Odd && kind == "route" {
			l.Line = i + 1
			numbered.values[l.Key] = l
			continue
		}
		read := r.route
		if strings.HasPrefix(kind, "rule") {
			read = r.rule
		}
		if why := read(words, four); why != "" {
			r.Miss(r.file, i+1, kind, strings.TrimSpace(line), why)
		}
	}
	numbered.numbered()
}

// route reads a route of the device in ip(8)'s words; why is what was wrong.
func (r *reader) route(words []string, four bool) (why string) {
	n, why := ipwords.ReadRoute(r.Host, r.id, words, four)
	if why == "" {
		node.Push(r.Device(r.id), "routes", n)
	}
	return why
}

// rule reads a rule in ip(8)'s words.
func (r *reader) rule(words []string, four bool) (why string) {
	n, why := ipwords.ReadRule(r.Host, words, four)
	if why == "" {
		node.Push(r.Device(r.id), "routing-policy", n)
	}
	return why
}

// numbered reads ADDRESSn, NETMASKn, GATEWAYn, METRICn and OPTIONSn.
func (r *reader) numbered() {
	for i := range mostAddresses {
		n := strconv.Itoa(i)
		to := r.get("ADDRESS" + n)
		if to == "" {
			continue
		}
		bits, ok := readback.DottedLength(r.get("NETMASK" + n))
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
		if why := r.route(words, true); why != "" {
			r.wrong("ADDRESS"+n, why)
		}
	}
	r.rest(nil)
}

func (r *reader) numberedRule(key string) {
	text := r.get(key)
	if text == "" {
		return
	}
	if why := r.rule(strings.Fields(text), !strings.Contains(key, "6_")); why != "" {
		r.wrong(key, why)
	}
}
