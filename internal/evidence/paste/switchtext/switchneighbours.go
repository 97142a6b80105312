package switchtext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// CDPDetail reads `show cdp neighbors detail`: who is there first, then at which port.
var CDPDetail = piece.Reader{
	Kind:     "CDP neighbours",
	Commands: []string{"show", "sh"},
	Starts: func(line string) bool {
		return strings.HasPrefix(line, "Device ID:") && cdpName.MatchString(line) || strings.Contains(line, "Port ID (outgoing port)") || strings.HasPrefix(line, "Total cdp entries displayed")
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		name, address, port := "", "", ""
		free := false // a version's text
		heard := func(string, string) {}
		return piece.EachLine(lines, func(l piece.Line, text string) bool {
			if m := cdpName.FindStringSubmatch(text); m != nil {
				name, address, port, free = m[1], "", "", false
				if at := strings.IndexByte(name, '('); at > 0 { // NX-OS has the serial number behind it
					name = name[:at]
				}
				return true
			}
			if m := cdpPort.FindStringSubmatch(text); m != nil {
				s.ofSwitch("", l)
				port = m[1]
				heard = s.heard(port, l)
				heard("neighbour", name)
				heard("neighbour_port", strings.TrimSpace(m[2]))
				heard("neighbour_address", address)
				return true
			}
			key, value, ok := strings.Cut(text, ":")
			key, value = strings.TrimSpace(key), strings.TrimSpace(value)
			switch {
			case strings.Trim(text, "-") == "":
				free = false
			case key == "IP address" || key == "IPv4 Address":
				if address = value; port != "" {
					heard("neighbour_address", value)
				}
			case key == "Version":
				free = true
			case key == "MTU" && port != "":
				heard("neighbour_mtu", piece.NumberText(value))
			case (key == "Native VLAN" || key == "Native VLAN ID") && port != "":
				heard("neighbour_vlan", piece.NumberText(strings.Fields(value + " -")[0]))
			case ok && cdpKey.MatchString(key):
				free = false
			case free:
				return !s.OthersLine("CDP neighbours", l)
			default:
				return cdpKey.MatchString(text)
			}
			return true
		})
	}),
}

var cdpName = piece.Compile(`^Device ID: ?(\S.*?)\s*$`)

var cdpPort = piece.Compile(`^Interface: ?([A-Za-z][\w/. -]*?),\s+Port ID \(outgoing port\): ?(\S.*)$`)

var cdpKey = piece.Compile(`^(?:Entry address|Platform|Capabilities|Holdtime|Hold ?time|advertisement|Advertisement|Protocol Hello|VTP|Native|Duplex|Management|Mgmt|Power|Unidirectional|Spare|Second Port|Total cdp|System Name|Physical Location|Interface address|IPv6|Local Interface MAC|Remote Interface MAC|Peer|SysObjectID|Version|Switch ID|Auxiliary|OID|Unsupported)`)
