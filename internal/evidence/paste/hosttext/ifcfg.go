package hosttext

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/render/shell"
)

// Ifcfg reads the files of Red Hat's network scripts and SUSE's wicked, and FreeBSD's
// rc.conf: assignments of a shell's. A file without DEVICE is named by its heading.
var Ifcfg = piece.Reader{
	Kind:   "ifcfg",
	Starts: func(line string) bool { return strings.Contains(line, "=") && ifcfgLine.MatchString(line) },
	Owns: func(s piece.Segment, line string) bool {
		return ifcfgFile.MatchString(s.Path+" "+s.Command) && assignment.MatchString(line)
	},
	Read: reading(readIfcfg),
}

var ifcfgLine = piece.Compile(`^\s*(DEVICE|BONDING_OPTS|BONDING_MASTER|BONDING_MODULE_OPTS|BONDING_SLAVE_?\d+|ONBOOT|BOOTPROTO|STARTMODE|TEAM_CONFIG|TEAM_MASTER|DEVICETYPE|NM_CONTROLLED|IPADDR\d*|PREFIX\d*|ETHERDEVICE)=|^\s*(ifconfig_[\w.]+|cloned_interfaces|defaultrouter|create_args_\w+)=`)

var ifcfgFile = piece.Compile(`ifcfg-([\w.@-]+)|rc\.conf`)

var assignment = piece.Compile(`^\s*(?:export )?[A-Za-z_]\w*=`)

var slaveNo = piece.Compile(`^BONDING_SLAVE_?\d+$`)

var addressNo = piece.Compile(`^IPADDR_?(\w*)$`)

func readIfcfg(s *sink, lines []piece.Line) (read int) {
	type pair struct {
		key, value string
		at         piece.Line
	}
	var all []pair
	flush := func() {
		name := ""
		values := make(map[string]string)
		for _, p := range all {
			values[p.key] = p.value
		}
		if name = values["DEVICE"]; name == "" {
			if m := ifcfgFile.FindStringSubmatch(s.Segment.Path + " " + s.Segment.Command); m != nil {
				name = m[1]
			}
		}
		if _, bond := values["BONDING_OPTS"]; name == "" && bond {
			name = "bond0" // the line alone was pasted: the usual name
		}
		for _, p := range all {
			switch {
			case strings.HasPrefix(p.key, "ifconfig_") || p.key == "cloned_interfaces" || p.key == "defaultrouter" || strings.HasPrefix(p.key, "create_args_"):
				s.rcConf(p.key, p.value, p.at)
			case name != "":
				s.ifcfg(name, p.key, p.value, values, p.at)
			}
		}
		all = nil
	}
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		if !assignment.MatchString(text) {
			break
		}
		parsed := shell.Read(text)
		if len(parsed) == 0 || parsed[0].Key == "" {
			break
		}
		if parsed[0].Key == "DEVICE" {
			for _, p := range all {
				if p.key == "DEVICE" { // the next file
					flush()
					break
				}
			}
		}
		all = append(all, pair{parsed[0].Key, parsed[0].Value, l})
		read = i + 1
	}
	flush()
	return read
}

// ifcfg declares an assignment; values are all of the file's.
func (s *sink) ifcfg(name, key, value string, values map[string]string, l piece.Line) {
	s.declare(name, "format", "ifcfg", l)
	switch {
	case key == "BONDING_OPTS" || key == "BONDING_MODULE_OPTS":
		s.declare(name, "kind", "bond", l)
		s.optionList(name, value, bondopt.Ifcfg, l)
	case key == "BONDING_MASTER" && strings.EqualFold(value, "yes"), key == "TYPE" && value == "Bond":
		s.declare(name, "kind", "bond", l)
	case slaveNo.MatchString(key):
		s.addPort(name, value, l)
	case key == "MASTER" || key == "TEAM_MASTER" || key == "BRIDGE":
		s.addPort(value, name, l)
	case key == "MTU":
		s.declare(name, "mtu", value, l)
	case key == "HWADDR" || key == "MACADDR" || key == "LLADDR":
		s.declare(name, "mac", value, l)
	case strings.HasPrefix(key, "GATEWAY") && !strings.HasPrefix(key, "GATEWAYDEV"):
		s.declare(name, "gateway", value, l)
	case key == "BOOTPROTO" && strings.HasPrefix(value, "dhcp"):
		s.declare(name, "dhcp", "yes", l)
	case key == "VLAN_ID":
		s.declare(name, "id", value, l)
	case key == "PHYSDEV" || key == "ETHERDEVICE":
		s.declare(name, "below", value, l)
		s.declare(name, "kind", "vlan", l)
	case key == "DEVICETYPE" && strings.HasPrefix(value, "Team") && value == "Team":
		s.declare(name, "kind", "team", l)
	case key == "TEAM_CONFIG" && strings.HasPrefix(value, "{"):
		s.declare(name, "kind", "team", l)
		l.Text = value
		readDocument(&sink{&piece.Sink{C: s.C, Host: s.Host, Segment: piece.Segment{Command: "teamdctl " + name}}}, []piece.Line{l})
	case key == "ETHTOOL_OPTS":
		s.declare(name, "ethtool_opts", value, l)
	default:
		if m := addressNo.FindStringSubmatch(key); m != nil && value != "" {
			bits := values["PREFIX"+m[1]]
			if bits == "" {
				bits = values["PREFIXLEN"]
			}
			if n, ok := maskBits(values["NETMASK"+m[1]]); bits == "" && ok {
				bits = strconv.Itoa(n)
			}
			if strings.Contains(value, "/") {
				bits = ""
			}
			s.declare(name, "address", withBits(value, bits), l)
		}
	}
}

// rcConf declares an assignment of FreeBSD's.
func (s *sink) rcConf(key, value string, l piece.Line) {
	f := strings.Fields(value)
	name, ok := strings.CutPrefix(key, "ifconfig_")
	if !ok {
		if name, ok = strings.CutPrefix(key, "create_args_"); !ok {
			if key == "defaultrouter" {
				s.Set("host", "gateway", value, l)
			}
			return
		}
	}
	s.Set("host", "os", "freebsd", l)
	name, _, _ = strings.Cut(name, "_alias")
	name = strings.TrimSuffix(name, "_ipv6")
	s.declare(name, "format", "rc.conf", l)
	for i := 0; i < len(f); i++ {
		next := ""
		if i+1 < len(f) {
			next = f[i+1]
		}
		switch f[i] {
		case "laggproto":
			s.declare(name, "kind", "lagg", l)
			s.declare(name, "laggproto", next, l)
			s.declare(name, "mode", laggModes[next], l)
		case "lagghash", "mtu", "vlandev":
			s.declare(name, map[string]string{"lagghash": "lagghash", "mtu": "mtu", "vlandev": "below"}[f[i]], next, l)
		case "laggport":
			s.addPort(name, next, l)
		case "vlan":
			s.declare(name, "kind", "vlan", l)
			s.declare(name, "id", next, l)
		case "DHCP", "SYNCDHCP":
			s.declare(name, "dhcp", "yes", l)
			continue
		case "-tso", "-lro", "-rxcsum", "-txcsum":
			s.Set("config "+name, "off."+f[i][1:], "yes", l)
			continue
		default:
			s.rcAddress(name, f[i:], l)
			continue
		}
		i++
	}
}

// rcAddress declares the address that stands first, with the mask behind it.
func (s *sink) rcAddress(name string, f []string, l piece.Line) {
	bare, _, _ := strings.Cut(f[0], "/")
	if _, err := netip.ParseAddr(bare); err != nil {
		return
	}
	bits := ""
	for i := 1; i+1 < len(f) && bare == f[0] && f[i] != "inet" && f[i] != "inet6"; i++ {
		if n, ok := maskBits(f[i+1]); ok && f[i] == "netmask" {
			bits = strconv.Itoa(n)
		} else if f[i] == "prefixlen" {
			bits = f[i+1]
		}
	}
	s.declare(name, "address", withBits(f[0], bits), l)
}
