package render

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/bondopt"
)

// sectionReaders are what reads each section of each kind of file.
var sectionReaders = map[string]func(networkdReader, placedSection, string){
	".netdevNetDev":             readNetDev,
	".netdevBond":               readBondSection,
	".netdevVLAN":               readVLANSection,
	".netdevBridge":             readBridgeSection,
	".networkLink":              readNetworkLink,
	".networkNetwork":           readNetworkSection,
	".networkAddress":           readAddressSection,
	".networkRoute":             readRouteSection,
	".networkRoutingPolicyRule": readRuleSection,
	".networkDHCP":              readDHCP("dhcp4-overrides", "dhcp6-overrides"),
	".networkDHCPv4":            readDHCP("dhcp4-overrides"),
	".networkDHCPv6":            readDHCP("dhcp6-overrides"),
	".linkLink":                 readLinkSection,
}

func readNetDev(r networkdReader, s placedSection, id string) {
	for _, a := range s.keys {
		switch a.key {
		case "Name", "Kind":
		case "MTUBytes":
			r.mtu(s, a, id)
		case "MACAddress":
			put(r.device(id), "macaddress", quoted(strings.ToLower(a.value)))
		default:
			r.left(s, a)
		}
	}
}

func (r networkdReader) mtu(s placedSection, a assignment, id string) {
	if n, err := strconv.Atoi(sizeText(a.value, 1024)); err == nil && n > 0 && n <= 65536 {
		put(r.device(id), "mtu", plain(strconv.Itoa(n)))
		return
	}
	r.left(s, a)
}

func readBondSection(r networkdReader, s placedSection, id string) {
	for _, a := range s.keys {
		o, known := bondopt.Named(bondopt.Networkd, a.key)
		if value, ok := networkdValue(o, a.value); known && ok && value != "" {
			r.option(id, o.Name, value)
			continue
		}
		r.left(s, a)
	}
}

func readVLANSection(r networkdReader, s placedSection, id string) {
	for _, a := range s.keys {
		if a.key != "Id" {
			r.left(s, a)
			continue
		}
		put(r.device(id), "id", plain(a.value))
	}
}

func readBridgeSection(r networkdReader, s placedSection, id string) {
next:
	for _, a := range s.keys {
		for _, row := range bridgeRows {
			if row[1] == a.key {
				put(within(r.device(id), "parameters"), row[0], plain(a.value))
				continue next
			}
		}
		r.left(s, a)
	}
}

func readNetworkLink(r networkdReader, s placedSection, id string) {
	policy := s.get("ActivationPolicy")
	for _, a := range s.keys {
		off, isBool := zeroOne(a.value)
		switch {
		case a.key == "MTUBytes":
			r.mtu(s, a, id)
		case a.key == "MACAddress":
			put(r.device(id), "macaddress", quoted(strings.ToLower(a.value)))
		case a.key == "RequiredForOnline" && isBool && off == "0":
			if policy == "" {
				put(r.device(id), "optional", plain("true"))
			}
		case a.key == "RequiredForOnline" && isBool:
		case a.key == "ActivationPolicy" && (a.value == "manual" || a.value == "always-down"):
			put(r.device(id), "activation-mode", plain(map[string]string{"manual": "manual", "always-down": "off"}[a.value]))
		default:
			r.left(s, a)
		}
	}
}

func readNetworkSection(r networkdReader, s placedSection, id string) {
	d := r.device(id)
	port := s.get("Bond") != "" || s.get("Bridge") != ""
	for _, a := range s.keys {
		if !r.tie(s, a, id) && !r.plainKey(a, d) && !r.layer3(s, a, id) && !r.custom(a, d, id, port) {
			r.left(s, a)
		}
	}
}

// tie reads what ties devices together.
func (r networkdReader) tie(s placedSection, a assignment, id string) bool {
	switch a.key {
	case "Bond", "Bridge":
		if !linkName(a.value) {
			return false
		}
		r.kinds[a.value] = map[string]string{"Bond": "bonds", "Bridge": "bridges"}[a.key]
		master := r.device(a.value)
		if list := master.Get("interfaces"); list == nil || !contains(list.Items, plain(id)) {
			push(master, "interfaces", plain(id))
		}
	case "PrimarySlave":
		on, _ := zeroOne(a.value)
		if bond := s.get("Bond"); linkName(bond) && on == "1" {
			r.option(bond, "primary", id)
		}
	case "VLAN":
		for _, name := range strings.Fields(a.value) {
			if linkName(name) {
				r.kinds[name] = "vlans"
				put(r.device(name), "link", plain(id))
			}
		}
	default:
		return false
	}
	return true
}

// plainKey reads the keys that netplan has one of its own for.
func (r networkdReader) plainKey(a assignment, d *yamldoc.Node) bool {
	for _, row := range plainKeys {
		if row[1] != a.key {
			continue
		}
		on, isBool := zeroOne(a.value)
		switch {
		case strings.HasSuffix(row[0], "mtu"), strings.HasSuffix(row[0], "generation"):
			put(d, row[0], plain(sizeText(a.value, 1024)))
		case isBool:
			put(d, row[0], plain(strconv.FormatBool(on == "1")))
		default:
			return false
		}
		return true
	}
	return false
}

func (r networkdReader) layer3(s placedSection, a assignment, id string) bool {
	switch a.key {
	case "Address":
		p, err := netip.ParsePrefix(a.value)
		if err != nil {
			return false
		}
		r.address(id, p, nil)
	case "Gateway":
		g, err := netip.ParseAddr(a.value)
		if err != nil {
			return false
		}
		route := mapping()
		put(route, "to", plain("default"))
		put(route, "via", quoted(g.String()))
		push(r.device(id), "routes", route)
	case "DNS":
		for _, v := range strings.Fields(a.value) {
			if _, err := netip.ParseAddr(v); err != nil {
				return false
			}
			push(within(r.device(id), "nameservers"), "addresses", quoted(v))
		}
	case "Domains":
		for _, v := range strings.Fields(a.value) {
			push(within(r.device(id), "nameservers"), "search", quoted(v))
		}
	default:
		return false
	}
	return true
}

// custom reads the keys that a file mostly has by custom.
func (r networkdReader) custom(a assignment, d *yamldoc.Node, id string, port bool) bool {
	on, isBool := zeroOne(a.value)
	switch a.key {
	case "DHCP":
		four, six := a.value == "ipv4" || on == "1", a.value == "ipv6" || on == "1"
		if !isBool && !four && !six {
			return false
		}
		if four || !six {
			put(d, "dhcp4", plain(strconv.FormatBool(four)))
		}
		if six {
			put(d, "dhcp6", plain("true"))
		}
	case "LinkLocalAddressing":
		families := map[string][]string{"ipv4": {"ipv4"}, "ipv6": {"ipv6"}, "1": {"ipv4", "ipv6"}, "0": nil}
		word := a.value
		if isBool {
			word = on
		}
		list, known := families[word]
		switch {
		case !known:
			return false
		case word == "ipv6", word == "0" && port:
		case list == nil:
			setKey(d, "link-local", &yamldoc.Node{Kind: yamldoc.SequenceNode, Flow: true})
		default:
			put(d, "link-local", flowList(list))
		}
	case "ConfigureWithoutCarrier":
		if r.kinds[id] == "" && isBool && on == "1" {
			put(d, "ignore-carrier", plain("true"))
		}
		return isBool
	default:
		return false
	}
	return true
}

func readAddressSection(r networkdReader, s placedSection, id string) {
	p, err := netip.ParsePrefix(s.get("Address"))
	options := mapping()
	for _, a := range s.keys {
		switch {
		case a.key == "Address" && err == nil:
		case a.key == "Label" && err == nil:
			put(options, "label", quoted(a.value))
		case a.key == "PreferredLifetime" && a.value == "0" && err == nil:
			put(options, "lifetime", plain("0"))
		default:
			r.left(s, a)
		}
	}
	if err == nil {
		options.Flow = true
		r.address(id, p, options)
	}
}
