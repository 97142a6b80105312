package hosttext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Nmcli reads `nmcli con show NAME`, `nmcli dev show` and nmcli's tables.
var Nmcli = piece.Reader{
	Kind:     "nmcli",
	Commands: []string{"nmcli"},
	Starts: func(line string) bool {
		return strings.Contains(line, ".") && nmcliRow.MatchString(line) && nmcliSections[strings.SplitN(line, ".", 2)[0]] || nmcliTable.MatchString(line)
	},
	Read: reading(readNmcli),
}

var nmcliRow = piece.Compile(`^([A-Za-z0-9][\w-]*\.[\w.\[\]-]+):\s*(.*)$`)

var nmcliSections = piece.Words("connection bond ipv4 ipv6 802-3-ethernet vlan bridge team GENERAL WIRED-PROPERTIES IP4 IP6 CONNECTION bond-port bridge-port team-port infiniband proxy CAPABILITIES DHCP4 DHCP6 INTERFACE-FLAGS CONNECTIONS BOND SLAVES")

var nmcliTable = piece.Compile(`^(?:DEVICE +TYPE +\S+ +\S+|NAME +UUID +TYPE +DEVICE)\s*$`)

var nmcliTypes = piece.Words("ethernet bond team bridge vlan loopback wifi tun dummy vxlan ovs-bridge ovs-port ovs-interface infiniband veth")

var nmcliUUID = piece.Compile(`^(.*?)\s+[0-9a-f]{8}-[0-9a-f-]{27}\s+(\S+)\s+(\S+)\s*$`)

func readNmcli(s *sink, lines []piece.Line) (read int) {
	if nmcliTable.MatchString(lines[0].Text) {
		return readNmcliTable(s, lines)
	}
	var rows []int
	var texts [][2]string
	for i, l := range lines {
		if strings.TrimSpace(l.Text) == "" {
			continue
		}
		m := nmcliRow.FindStringSubmatch(strings.TrimSpace(l.Text))
		if m == nil || !nmcliSections[strings.SplitN(m[1], ".", 2)[0]] {
			break
		}
		if (m[1] == "connection.id" || m[1] == "GENERAL.DEVICE") && i > 0 && read > 0 {
			return read // another one begins
		}
		rows, texts, read = append(rows, i), append(texts, [2]string{m[1], m[2]}), i+1
	}
	name := ""
	for _, key := range []string{"connection.id", "connection.interface-name", "GENERAL.DEVICE", "GENERAL.DEVICES", "GENERAL.IP-IFACE"} {
		for _, t := range texts {
			if t[0] == key && t[1] != "--" && t[1] != "" {
				name = t[1]
			}
		}
	}
	if name == "" {
		if names := s.Segment.LinksOf("nmcli"); len(names) > 0 {
			name = names[0]
		}
	}
	if name == "" {
		return read
	}
	for j, t := range texts {
		l := lines[rows[j]]
		if t[1] == "--" || t[1] == "" {
			continue
		}
		if strings.HasPrefix(t[0], "connection.") {
			s.declare(name, "format", "keyfile", l)
		}
		if !s.device(name, t[0], t[1], l) {
			s.profile(name, t[0], t[1], l)
		}
	}
	return read
}

// device sets what `nmcli dev show` says of a link; false for a profile's property.
func (s *sink) device(name, key, value string, l piece.Line) bool {
	subject := "link " + name
	switch section, last, _ := strings.Cut(key, "."); {
	case key == "GENERAL.TYPE":
		if value != "ethernet" {
			s.Set(subject, "kind", value, l)
		}
	case key == "GENERAL.HWADDR":
		s.Set(subject, "mac", strings.ToLower(value), l)
	case key == "GENERAL.MTU":
		s.Set(subject, "mtu", value, l)
	case key == "WIRED-PROPERTIES.CARRIER":
		s.Set(subject, "carrier", map[string]string{"on": "yes", "off": "no"}[value], l)
	case section == "IP4" || section == "IP6":
		if strings.HasPrefix(last, "ADDRESS") {
			s.address(subject, value, l)
		}
	case section == strings.ToUpper(section) && section != strings.ToLower(section):
	default:
		return false
	}
	return true
}

// readNmcliTable reads the rows for kinds of links; states are translated.
func readNmcliTable(s *sink, lines []piece.Line) (read int) {
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		f := strings.Fields(text)
		switch {
		case text == "":
			continue
		case i == 0:
		case nmcliUUID.MatchString(text):
			if m := nmcliUUID.FindStringSubmatch(text); m[3] != "--" && m[2] != "ethernet" {
				s.Set("link "+m[3], "kind", m[2], l)
			}
		case len(f) >= 3 && nmcliTypes[f[1]]:
			s.Set("link "+f[0], "there", "yes", l)
			if f[1] != "ethernet" && f[1] != "loopback" {
				s.Set("link "+f[0], "kind", f[1], l)
			}
		default:
			return read
		}
		read = i + 1
	}
	return read
}
