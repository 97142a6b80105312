package networkd

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/render/node"
	"github.com/linerate/linerate/render/readback"
	"github.com/linerate/linerate/render/unitfile"
)

// sectionReaders are what reads each section of each kind of file.
var sectionReaders = map[string]func(reader, placedSection, string){
	".netdevNetDev":             readNetDev,
	".netdevBond":               readBondSection,
	".netdevVLAN":               readVLANSection,
	".netdevBridge":             readBridge,
	".networkLink":              readNetworkLink,
	".networkNetwork":           readNetworkSection,
	".networkAddress":           readAddressSection,
	".networkRoute":             readRouteSection,
	".networkRoutingPolicyRule": readRuleSection,
	".networkDHCP":              readDHCP("DHCPv4", "DHCPv6"),
	".networkDHCPv4":            readDHCP("DHCPv4"),
	".networkDHCPv6":            readDHCP("DHCPv6"),
	".linkLink":                 readLinkSection,
}

func readNetDev(r reader, s placedSection, id string) {
	for _, a := range s.Keys {
		switch a.Key {
		case "Name", "Kind":
		case "MTUBytes":
			r.mtu(s, a, id)
		case "MACAddress":
			r.address48(s, a, id)
		default:
			r.left(s, a)
		}
	}
}

func (r reader) address48(s placedSection, a unitfile.Assignment, id string) {
	if _, err := flow.ParseMAC(strings.ToLower(a.Value)); err != nil {
		r.left(s, a)
		return
	}
	node.Put(r.Device(id), "macaddress", node.Quoted(strings.ToLower(a.Value)))
}

func (r reader) mtu(s placedSection, a unitfile.Assignment, id string) {
	if n, err := strconv.Atoi(readback.SizeText(a.Value, 1024)); err == nil && n > 0 && n <= 65536 {
		node.Put(r.Device(id), "mtu", node.Plain(strconv.Itoa(n)))
		return
	}
	r.left(s, a)
}

// likelyMilliseconds is a number without a unit, and so of seconds, that the kernel's own
// milliseconds were mistaken for: no link is watched that seldom.
const likelyMilliseconds = 20

func readBondSection(r reader, s placedSection, id string) {
	for _, a := range s.Keys {
		o, known := bondopt.Named(bondopt.Networkd, a.Key)
		if value, ok := valueOf(o, a.Value); known && ok && value != "" {
			r.Option(id, o.Name, value)
			if n, err := strconv.Atoi(a.Value); err == nil && n >= likelyMilliseconds && o.Unit == bondopt.Milliseconds {
				r.Miss(s.file, a.Line, "["+s.Name+"] "+a.Key, a.Value, "is read as systemd reads it, in seconds: milliseconds would be "+a.Value+"ms")
			}
			continue
		}
		r.left(s, a)
	}
}

func readVLANSection(r reader, s placedSection, id string) {
	for _, a := range s.Keys {
		if a.Key != "Id" {
			r.left(s, a)
			continue
		}
		node.Put(r.Device(id), "id", node.Plain(a.Value))
	}
}

func readBridge(r reader, s placedSection, id string) {
	for _, a := range s.Keys {
		if !r.key(a, id, "Bridge") {
			r.left(s, a)
		}
	}
}

func readNetworkLink(r reader, s placedSection, id string) {
	policy := s.Get("ActivationPolicy")
	for _, a := range s.Keys {
		off, isBool := readback.ZeroOne(a.Value)
		switch {
		case a.Key == "MTUBytes":
			r.mtu(s, a, id)
		case a.Key == "MACAddress":
			r.address48(s, a, id)
		case a.Key == "RequiredForOnline" && isBool && off == "0":
			if policy == "" {
				node.Put(r.Device(id), "optional", node.Plain("true"))
			}
		case a.Key == "RequiredForOnline" && isBool:
		case a.Key == "ActivationPolicy" && (a.Value == "manual" || a.Value == "always-down"):
			node.Put(r.Device(id), "activation-mode", node.Plain(map[string]string{"manual": "manual", "always-down": "off"}[a.Value]))
		default:
			r.left(s, a)
		}
	}
}

func readNetworkSection(r reader, s placedSection, id string) {
	d := r.Device(id)
	port := s.Get("Bond") != "" || s.Get("Bridge") != ""
	for _, a := range s.Keys {
		if !r.tie(s, a, id) && !r.key(a, id, "Network") && !r.layer3(s, a, id) && !r.custom(a, d, id, port) {
			r.left(s, a)
		}
		r.Mark(s.file, r.files[s.file], a.Line, a.Line)
	}
}

// tie reads what ties devices together.
func (r reader) tie(s placedSection, a unitfile.Assignment, id string) bool {
	switch a.Key {
	case "Bond", "Bridge":
		if !readback.LinkName(a.Value) {
			return false
		}
		r.Kinds[a.Value] = map[string]string{"Bond": "bonds", "Bridge": "bridges"}[a.Key]
		master := r.Device(a.Value)
		if list := master.Get("interfaces"); list == nil || !node.Contains(list.Items, node.Plain(id)) {
			node.Push(master, "interfaces", node.Plain(id))
		}
	case "PrimarySlave":
		on, isBool := readback.ZeroOne(a.Value)
		if !isBool {
			return false
		}
		if bond := s.Get("Bond"); readback.LinkName(bond) && on == "1" {
			r.Option(bond, "primary", id)
		}
	case "VLAN":
		for _, name := range strings.Fields(a.Value) {
			if !readback.LinkName(name) {
				return false
			}
			r.Kinds[name] = "vlans"
			node.Put(r.Device(name), "link", node.Plain(id))
		}
	default:
		return false
	}
	return true
}

func (r reader) layer3(s placedSection, a unitfile.Assignment, id string) bool {
	switch a.Key {
	case "Address":
		p, err := netip.ParsePrefix(a.Value)
		if err != nil {
			return false
		}
		r.Address(id, p, nil)
	case "Gateway":
		g, err := netip.ParseAddr(a.Value)
		if err != nil {
			return false
		}
		route := node.Mapping()
		node.Put(route, "to", node.Plain("default"))
		node.Put(route, "via", node.Quoted(g.String()))
		node.Push(r.Device(id), "routes", route)
	case "DNS":
		for _, v := range strings.Fields(a.Value) {
			address, name, ofTLS := strings.Cut(v, "#")
			if _, err := netip.ParseAddr(address); err != nil {
				return false
			}
			node.Push(node.Within(r.Device(id), "nameservers"), "addresses", node.Quoted(address))
			if ofTLS {
				r.Miss(s.file, a.Line, "["+s.Name+"] "+a.Key, v, "a fabric has no name of a server's certificate: "+name)
			}
		}
	case "Domains":
		for _, v := range strings.Fields(a.Value) {
			node.Push(node.Within(r.Device(id), "nameservers"), "search", node.Quoted(v))
		}
	default:
		return false
	}
	return true
}

// custom reads the keys that a file mostly has by custom.
func (r reader) custom(a unitfile.Assignment, d *yamldoc.Node, id string, port bool) bool {
	on, isBool := readback.ZeroOne(a.Value)
	switch a.Key {
	case "DHCP":
		// The words of before systemd 219 are taken still.
		both := on == "1" || a.Value == "both"
		four, six := both || a.Value == "ipv4" || a.Value == "v4", both || a.Value == "ipv6" || a.Value == "v6"
		if !isBool && !four && !six && a.Value != "none" {
			return false
		}
		if four || !six {
			node.Put(d, "dhcp4", node.Plain(strconv.FormatBool(four)))
		}
		if six {
			node.Put(d, "dhcp6", node.Plain("true"))
		}
	case "LinkLocalAddressing":
		families := map[string][]string{"ipv4": {"ipv4"}, "ipv6": {"ipv6"}, "1": {"ipv4", "ipv6"}, "0": nil}
		word := a.Value
		if isBool {
			word = on
		}
		list, known := families[word]
		switch {
		case !known:
			return false
		case word == "ipv6", word == "0" && port:
		case list == nil:
			node.SetKey(d, "link-local", &yamldoc.Node{Kind: yamldoc.SequenceNode, Flow: true})
		default:
			node.Put(d, "link-local", node.FlowList(list))
		}
	case "ConfigureWithoutCarrier":
		if made := r.Kinds[id] != ""; isBool && made != (on == "1") { // else as netplan has it by itself
			node.Put(d, "ignore-carrier", node.Plain(strconv.FormatBool(on == "1")))
		}
		return isBool
	default:
		return false
	}
	return true
}

func readAddressSection(r reader, s placedSection, id string) {
	p, err := netip.ParsePrefix(s.Get("Address"))
	options := node.Mapping()
	for _, a := range s.Keys {
		switch {
		case a.Key == "Address" && err == nil:
		case a.Key == "Label" && err == nil:
			node.Put(options, "label", node.Quoted(a.Value))
		case a.Key == "PreferredLifetime" && a.Value == "0" && err == nil:
			node.Put(options, "lifetime", node.Plain("0"))
		default:
			r.left(s, a)
		}
	}
	if err == nil {
		options.Flow = true
		r.Address(id, p, options)
	}
}
