package hosttext

import (
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Ifconfig reads net-tools' output, old and new, in any language, and BSD's with
// what lagg says.
var Ifconfig = piece.Reader{
	Kind:     "ifconfig",
	Commands: []string{"ifconfig"},
	Starts: func(line string) bool {
		return ifNew.MatchString(line) || strings.Contains(line, "ncap") && ifOld.MatchString(line) || strings.Contains(line, ":Ethernet ") && ifOld.MatchString(line) ||
			strings.Contains(line, "laggp") && laggLine.MatchString(line)
	},
	Owns: func(s piece.Segment, line string) bool { // what grep left of one link
		return ifDetailLine.MatchString(line) && s.Runs("ifconfig") && len(s.LinksOf("ifconfig")) == 1
	},
	Read: reading(readIfconfig),
}

var ifNew = piece.Compile(`^\s*([\w.:@-]+?): flags=([0-9a-fA-F]+)(?:<([^>]*)>)?(.*)$`)

var ifOld = piece.Compile(`^\s*([\w.:@-]+)\s+\S[^:]*:(Ethernet|Local|InfiniBand|\S+)\s.*?([0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5})?\s*$`)

var laggLine = piece.Compile(`^\s*(?:laggproto (\w+)|laggport: (\S+) flags=([0-9a-f]+))`)

var ifDetailLine = piece.Compile(`^\s*(?:media:|status:|options=|ether |inet |description:|laggproto |RX |TX )`)

var laggState = piece.Compile(` state=([0-9a-f]+)<`)

var oldCount = piece.Compile(`^([RT]X)[ -]\S+:(\d+) \S+:(\d+) \S+:(\d+) \S+:(\d+) \S+:(\d+)`)

var oldBytes = piece.Compile(`RX \S+?:\s*(\d+) \(.*TX \S+?:\s*(\d+)`)

var newCount = piece.Compile(`^([RT]X) packets (\d+)\s+bytes (\d+)`)

var newError = piece.Compile(`^([RT]X) errors (\d+)\s+dropped (\d+)\s+overruns (\d+)\s+(?:frame|carrier) (\d+)`)

var oldMTU = piece.Compile(`\bMTU:\s*(\d+)`)

var oldInet = piece.Compile(`^inet \S+?:\s*([\d.]+).*?(?:\S+:([\d.]+))?$`)

var oldInet6 = piece.Compile(`^inet6 [^:]*:\s*([0-9a-fA-F:]+/\d+)`)

var newInet = piece.Compile(`^inet ([\d.]+)(?:/(\d+))?(?:.*netmask (\S+))?`)

var newInet6 = piece.Compile(`^inet6 ([0-9a-fA-F:]+)(?:%\S+)?(?:/(\d+))?\s*(?:prefixlen (\d+))?`)

var ifMTU = piece.Compile(`\bmtu (\d+)`)

var mediaBy = piece.Compile(`(?i)\b(\d+(?:\.\d+)?)(G?)base`)

var ifWords = piece.Words(`inet inet6 ether RX TX UP media: status: laggproto laggport: options= nd6 groups: collisions: txqueuelen description: vlan: member:
		hwaddr lladdr loop unspec lagg Interrupt: device Memory: id root groups active flapping plugged: supported drivername:`)

var laggModes = map[string]string{"lacp": "802.3ad", "failover": "active-backup", "loadbalance": "balance-xor", "roundrobin": "balance-rr", "broadcast": "broadcast"}

func readIfconfig(s *sink, lines []piece.Line) (read int) {
	subject := ""
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		if m := ifNew.FindStringSubmatch(l.Text); m != nil {
			subject = "link " + m[1]
			s.ifHead(subject, m, l)
		} else if m := ifOld.FindStringSubmatch(l.Text); m != nil && (m[3] != "" || strings.Contains(text, "ncap")) && (subject == "" || l.Text == text) {
			subject = "link " + m[1]
			s.Set(subject, "there", "yes", l)
			if m[3] != "" {
				s.Set(subject, "mac", strings.ToLower(m[3]), l)
			}
		} else {
			first, _, _ := strings.Cut(text, " ")
			key, _, _ := strings.Cut(first, "=")
			key, _, _ = strings.Cut(key, ":")
			if text == l.Text && !ifWords[first] && !ifWords[key+":"] && !ifWords[key+"="] || subject == "" && !laggLine.MatchString(text) && i > 0 {
				return read
			}
			if subject == "" {
				subject = s.onlyLink("ifconfig")
			}
			if subject != "" {
				s.ifDetail(subject, text, l)
			}
		}
		read = i + 1
	}
	s.bonded(lines[:read])
	return read
}

// bonded notes what ifconfig of Linux says of a bond and its ports by their flags alone:
// a port that is UP and not RUNNING has no carrier, and with one bond all ports are its.
func (s *sink) bonded(lines []piece.Line) {
	master, bonds := "", 0
	var ports []string
	for _, name := range s.Host.Subjects("link") {
		x, ok := s.Host.Get("link "+name, "flags")
		if !ok || x.From < lines[0].Number || x.From > lines[len(lines)-1].Number {
			continue
		}
		flags := strings.Split(x.Text, ",")
		switch {
		case slices.Contains(flags, "MASTER"):
			master, bonds = name, bonds+1
		case slices.Contains(flags, "SLAVE") && slices.Contains(flags, "UP"):
			ports = append(ports, name)
			if _, known := s.Host.Get("link "+name, "carrier"); !known {
				s.Set("link "+name, "carrier", piece.YesNo[slices.Contains(flags, "RUNNING")], piece.Line{File: x.File, Number: x.From})
			}
		}
	}
	for _, name := range ports {
		if _, known := s.Host.Get("link "+name, "master"); !known && bonds == 1 && len(ports) > 1 {
			x, _ := s.Host.Get("link "+name, "flags")
			s.Port(master, name, piece.Line{File: x.File, Number: x.From})
		}
	}
}

// onlyLink is the subject of an output whose command names one link; "" otherwise.
func (s *sink) onlyLink(program string) string {
	if names := s.Segment.LinksOf(program); len(names) == 1 {
		return "link " + names[0]
	}
	return ""
}

func (s *sink) ifHead(subject string, m []string, l piece.Line) {
	s.Set(subject, "there", "yes", l)
	if m[3] != "" {
		s.Set(subject, "flags", m[3], l)
	}
	if mtu := ifMTU.FindStringSubmatch(m[4]); mtu != nil {
		s.Set(subject, "mtu", mtu[1], l)
	}
	base, bsd := 10, strings.Contains(m[4], "metric") // BSD writes them in hexadecimal
	if bsd {
		base = 16
		s.Set("host", "os", "freebsd", l)
	}
	if n, err := strconv.ParseUint(m[2], base, 32); err == nil {
		state := "DOWN"
		if n&1 != 0 { // IFF_UP
			state = "UP"
		}
		s.Set(subject, "state", state, l)
	}
	if strings.HasPrefix(subject, "link lagg") {
		s.Set(subject, "kind", "lagg", l)
	}
}

// ifDetail reads a line below a link's first.
func (s *sink) ifDetail(subject, text string, l piece.Line) {
	f := strings.Fields(text)
	switch {
	case strings.HasPrefix(text, "RX ") || strings.HasPrefix(text, "TX ") || strings.HasPrefix(text, "RX-") || strings.HasPrefix(text, "TX-"):
		s.ifCounters(subject, text, l)
	case f[0] == "inet" || f[0] == "inet6":
		s.ifAddress(subject, text, l)
	case (f[0] == "ether" || f[0] == "lladdr") && len(f) > 1:
		s.Set(subject, "mac", strings.ToLower(f[1]), l)
	case f[0] == "hwaddr" && len(f) > 1:
		s.Set(subject, "perm_mac", strings.ToLower(f[1]), l)
	case f[0] == "laggproto" && len(f) > 1:
		s.Set("host", "os", "freebsd", l)
		s.Set(subject, "kind", "lagg", l)
		s.Set(subject, "laggproto", f[1], l)
		if mode := laggModes[f[1]]; mode != "" {
			s.Set(subject, "mode", mode, l)
		}
		s.pairs(subject, f[2:], piece.Words("lagghash"), l)
	case f[0] == "laggport:" && len(f) > 1:
		s.laggPort(subject, text, l)
	case strings.HasPrefix(text, "bond "):
		s.macBond(subject, text, l)
	case macPort.MatchString(text):
		m := macPort.FindStringSubmatch(text)
		s.Set("link "+m[1], "bundled", piece.YesNo[m[2] == "selected" && strings.Contains(text, "distributing")], l)
	case f[0] == "member:" && len(f) > 1:
		s.Set(subject, "kind", "bridge", l)
		s.Set("link "+f[1], "master", strings.TrimPrefix(subject, "link "), l)
	case f[0] == "status:":
		carrier := "yes"
		if strings.Contains(text, "no carrier") || strings.Contains(text, "no network") || strings.Contains(text, "inactive") {
			carrier = "no"
		}
		s.Set(subject, "carrier", carrier, l)
	case f[0] == "media:":
		s.Set(subject, "media", strings.TrimSpace(strings.TrimPrefix(text, "media:")), l)
		if m := mediaBy.FindStringSubmatch(text[strings.IndexByte(text, '(')+1:]); m != nil {
			s.Set(subject, "speed", megabits(m[1]+map[bool]string{true: "G", false: "M"}[m[2] != ""]+"b/s"), l)
		}
	case strings.HasPrefix(text, "options=") && strings.Contains(text, "<"):
		s.Set(subject, "options", strings.Trim(text[strings.IndexByte(text, '<'):], "<>"), l)
	case f[0] == "description:":
		s.Set(subject, "description", strings.TrimSpace(strings.TrimPrefix(text, "description:")), l)
	case f[0] == "vlan:":
		s.Set(subject, "kind", "vlan", l)
		s.named(subject, f, map[string]string{"vlan:": "id", "interface:": "below"}, l)
	case oldMTU.MatchString(text):
		s.Set(subject, "mtu", oldMTU.FindStringSubmatch(text)[1], l)
		s.Set(subject, "flags", strings.Join(upper(f), ","), l)
		state := "DOWN"
		if f[0] == "UP" {
			state = "UP"
		}
		s.Set(subject, "state", state, l)
	}
}

// macPort is a port of a bond in macOS' `ifconfig -b`, with whether LACP took it.
var macPort = piece.Compile(`^(en\d+): (selected|unselected)\b`)

// macBond reads what `ifconfig` of macOS says of a bond (bond(4); if_bond_net.c).
func (s *sink) macBond(subject, text string, l piece.Line) {
	key, value, _ := strings.Cut(text, ":")
	switch value = strings.TrimSpace(value); key {
	case "bond interfaces":
		s.Set(subject, "kind", "lagg", l)
		for _, port := range strings.Fields(value) {
			s.Port(strings.TrimPrefix(subject, "link "), port, l)
		}
	case "bond mode":
		s.Set(subject, "kind", "lagg", l)
		s.Set(subject, "laggproto", strings.ToLower(value), l)
		if value == "LACP" {
			s.Set(subject, "mode", "802.3ad", l)
		}
	}
}

// laggPort reads a port's row. Its flags are a number, whose names forums eat: 1
// master, 4 active, 8 collecting, 10 distributing (net/if_lagg.h LAGG_PORT_*).
func (s *sink) laggPort(subject, text string, l piece.Line) {
	m := laggLine.FindStringSubmatch(text)
	if m == nil || m[2] == "" {
		return
	}
	port := "link " + m[2]
	s.Port(strings.TrimPrefix(subject, "link "), m[2], l)
	s.Set(port, "lagg_flags", m[3], l)
	if state := laggState.FindStringSubmatch(text); state != nil {
		if n, err := strconv.ParseUint(state[1], 16, 16); err == nil {
			s.Set(port, "actor_state", strconv.FormatUint(n, 10), l)
		}
	}
	n, err := strconv.ParseUint(m[3], 16, 32)
	if err != nil {
		return
	}
	wanted := uint64(0x4)
	if proto, _ := s.Host.Get(subject, "laggproto"); proto.Text == "lacp" {
		wanted = 0x18
	}
	bundled := "no"
	if n&wanted == wanted {
		bundled = "yes"
	}
	s.Set(port, "bundled", bundled, l)
}

// ifCounters reads counters: net-tools' old rows by their places, since their words
// are translated.
func (s *sink) ifCounters(subject, text string, l piece.Line) {
	third := map[string]string{"RX": "_frame", "TX": "_carrier"}
	set := func(way string, values []string, names ...string) {
		for i, name := range names {
			s.Set(subject, strings.ToLower(way)+name, values[i], l)
		}
	}
	if m := oldCount.FindStringSubmatch(text); m != nil {
		set(m[1], m[2:], "_packets", "_errors", "_dropped", "_overrun", third[m[1]])
	} else if m := oldBytes.FindStringSubmatch(text); m != nil {
		set("RX", m[1:], "_bytes")
		set("TX", m[2:], "_bytes")
	} else if m := newCount.FindStringSubmatch(text); m != nil {
		set(m[1], m[2:], "_packets", "_bytes")
	} else if m := newError.FindStringSubmatch(text); m != nil {
		set(m[1], m[2:], "_errors", "_dropped", "_overrun", third[m[1]])
	}
}

// ifAddress reads an address, whose prefix is a mask's.
func (s *sink) ifAddress(subject, text string, l piece.Line) {
	if m := newInet.FindStringSubmatch(text); m != nil {
		bits := m[2]
		if n, ok := maskBits(m[3]); bits == "" && ok {
			bits = strconv.Itoa(n)
		}
		s.address(subject, withBits(m[1], bits), l)
	} else if m := newInet6.FindStringSubmatch(text); m != nil {
		s.address(subject, withBits(m[1], m[2]+m[3]), l)
	} else if m := oldInet6.FindStringSubmatch(text); m != nil {
		s.address(subject, m[1], l)
	} else if m := oldInet.FindStringSubmatch(text); m != nil {
		bits := ""
		if n, ok := maskBits(m[2]); ok {
			bits = strconv.Itoa(n)
		}
		s.address(subject, withBits(m[1], bits), l)
	}
}

// withBits is an address with its prefix's length; alone where none is said.
func withBits(addr, bits string) string {
	if bits == "" {
		return addr
	}
	return addr + "/" + bits
}

// upper are the words of capital letters alone: flags.
func upper(f []string) []string {
	var out []string
	for _, w := range f {
		if !strings.Contains(w, ":") && w == strings.ToUpper(w) {
			out = append(out, w)
		}
	}
	return out
}
