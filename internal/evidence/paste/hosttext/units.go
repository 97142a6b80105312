package hosttext

import (
	"strings"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/render/unitfile"
)

// Units reads systemd-networkd's files and NetworkManager's keyfiles, several in a
// row too: a section that comes again begins another file.
var Units = piece.Reader{
	Kind:   "unit file",
	Starts: func(line string) bool { return unitHeads[strings.TrimSpace(line)] },
	Read:   reading(readUnits),
}

var unitHeads = piece.Phrases("[NetDev]", "[Match]", "[Network]", "[Bond]", "[Link]", "[VLAN]", "[Bridge]", "[Route]", "[Address]", "[connection]", "[bond]",
	"[ethernet]", "[ipv4]", "[ipv6]", "[vlan]", "[bond-port]", "[802-3-ethernet]", "[RoutingPolicyRule]", "[DHCPv4]", "[BridgeVLAN]", "[team]")

var unitSection = piece.Compile(`^\[[\w. -]+\]$`)

var unitKey = piece.Compile(`^[A-Za-z][\w.-]*\s*=`)

var unitStarts = piece.Words("NetDev Match connection Link")

func readUnits(s *sink, lines []piece.Line) (read int) {
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" || strings.HasPrefix(text, "#") || strings.HasPrefix(text, ";") {
			continue
		}
		if !unitSection.MatchString(text) && !unitKey.MatchString(text) {
			break
		}
		read = i + 1
	}
	var texts []string
	for _, l := range lines[:read] {
		texts = append(texts, strings.TrimSpace(l.Text))
	}
	var file []unitfile.Section
	seen := make(map[string]bool)
	flush := func() {
		s.unit(file, lines)
		file, seen = nil, make(map[string]bool)
	}
	for _, section := range unitfile.Read(strings.Join(texts, "\n"), nil) {
		if seen[section.Name] && unitStarts[section.Name] || (section.Name == "NetDev" || section.Name == "connection" || section.Name == "Match") && len(file) > 0 {
			flush()
		}
		seen[section.Name] = true
		file = append(file, section)
	}
	flush()
	return read
}

// unit reads one file.
func (s *sink) unit(file []unitfile.Section, lines []piece.Line) {
	get := func(section, key string) (string, piece.Line) {
		for _, part := range file {
			if part.Name != section {
				continue
			}
			for _, a := range part.Keys {
				if a.Key == key {
					return a.Value, lines[a.Line-1]
				}
			}
		}
		return "", piece.Line{}
	}
	if id, at := get("connection", "id"); id != "" || len(file) > 0 && file[0].Name == "connection" {
		name, where := get("connection", "interface-name")
		if name == "" {
			name, where = id, at
		}
		if name != "" {
			s.keyfile(name, file, lines, where)
		}
		return
	}
	name, at := get("NetDev", "Name")
	if name == "" {
		name, at = get("Match", "Name")
	}
	if name == "" {
		if name, at = get("Match", "OriginalName"); name == "" {
			return // a file that matches by MAC, or whose head was cut off
		}
	}
	for _, port := range strings.Fields(name) {
		s.declare(port, "format", "networkd", at)
		for _, section := range file {
			for _, a := range section.Keys {
				s.networkd(port, section.Name, a, lines[a.Line-1])
			}
		}
	}
}

// networkd declares an assignment.
func (s *sink) networkd(name, section string, a unitfile.Assignment, l piece.Line) {
	switch section + " " + a.Key {
	case "NetDev Kind":
		s.declare(name, "kind", a.Value, l)
	case "NetDev MTUBytes", "Link MTUBytes":
		s.declare(name, "mtu", a.Value, l)
	case "NetDev MACAddress", "Match MACAddress", "Match PermanentMACAddress":
		s.declare(name, "mac", a.Value, l)
	case "Network Bond", "Network Bridge":
		s.addPort(a.Value, name, l)
	case "Network Address", "Address Address":
		s.declare(name, "address", a.Value, l)
	case "Network Gateway", "Route Gateway":
		s.declare(name, "gateway", a.Value, l)
	case "Network DHCP":
		s.declare(name, "dhcp", a.Value, l)
	case "Network VLAN":
		for _, vlan := range strings.Fields(a.Value) {
			s.declare(vlan, "below", name, l)
		}
	case "VLAN Id":
		s.declare(name, "id", a.Value, l)
	case "Link GenericReceiveOffload", "Link TCPSegmentationOffload", "Link GenericSegmentationOffload", "Link LargeReceiveOffload":
		key := map[byte]string{'R': "generic-receive-offload", 'S': "generic-segmentation-offload", 'T': "tcp-segmentation-offload", 'L': "large-receive-offload"}
		first := a.Key[0]
		if first == 'G' {
			first = a.Key[len("Generic")]
		}
		s.declare(name, "offload."+key[first], map[bool]string{true: "on", false: "off"}[a.Value == "true" || a.Value == "yes" || a.Value == "1" || a.Value == "on"], l)
	default:
		if section == "Bond" {
			s.namedOption(name, bondopt.Networkd, a.Key, a.Value, l)
		}
	}
}

var keyAddress = piece.Compile(`^address(?:es)?\d*$`)

// keyfile declares a profile of NetworkManager's.
func (s *sink) keyfile(name string, file []unitfile.Section, lines []piece.Line, at piece.Line) {
	s.declare(name, "format", "keyfile", at)
	for _, section := range file {
		for _, a := range section.Keys {
			s.profile(name, section.Name+"."+a.Key, a.Value, lines[a.Line-1])
		}
	}
}

// profile declares a property of a profile, by its name in keyfiles or nmcli.
func (s *sink) profile(name, key, value string, l piece.Line) {
	section, last, _ := strings.Cut(key, ".")
	switch {
	case key == "connection.type":
		if value != "ethernet" && value != "802-3-ethernet" {
			s.declare(name, "kind", value, l)
		}
	case key == "connection.master" || key == "connection.controller":
		s.addPort(value, name, l)
	case key == "bond.options":
		s.optionList(name, value, bondopt.Keyfile, l)
	case section == "bond":
		s.namedOption(name, bondopt.Keyfile, last, value, l)
	case last == "mtu" && value != "auto" && value != "0":
		s.declare(name, "mtu", value, l)
	case last == "mac-address" || last == "cloned-mac-address":
		s.declare(name, "mac", value, l)
	case section == "vlan" && last == "parent":
		s.declare(name, "below", value, l)
	case section == "vlan" && last == "id":
		s.declare(name, "id", value, l)
	case (section == "ipv4" || section == "ipv6") && keyAddress.MatchString(last):
		first, gateway, both := strings.Cut(value, ",")
		for _, a := range splitList(value) {
			if strings.Contains(a, "/") {
				s.declare(name, "address", a, l)
			}
		}
		if both && !strings.Contains(gateway, "/") && first != "" {
			s.declare(name, "gateway", gateway, l)
		}
	case (section == "ipv4" || section == "ipv6") && last == "gateway":
		s.declare(name, "gateway", value, l)
	case section == "ipv4" && last == "method" && value == "auto":
		s.declare(name, "dhcp", "yes", l)
	case key == "team.config" && strings.HasPrefix(value, "{"):
		l.Text = strings.ReplaceAll(strings.ReplaceAll(value, `\n`, " "), `\"`, `"`)
		readDocument(&sink{&piece.Sink{C: s.C, Host: s.Host, Segment: piece.Segment{Path: name}}}, []piece.Line{l})
	}
}
