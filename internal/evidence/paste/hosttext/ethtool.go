package hosttext

import (
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Ethtool reads what ethtool prints: a link's settings, -i, -k, -S, -g, -l, -c, -a,
// -P, -x, --show-fec, whole or what grep and head left of it.
var Ethtool = piece.Reader{
	Kind:     "ethtool",
	Commands: []string{"ethtool"},
	Starts: func(line string) bool {
		return strings.HasSuffix(line, ":") && ethHead.MatchString(line) || strings.HasPrefix(line, "driver: ") || strings.HasPrefix(line, "NIC statistics:") ||
			strings.HasPrefix(line, "Permanent address: ") || strings.Contains(line, "peed: ") && ethSpeed.MatchString(line) || ethLink.MatchString(line) || ethPorts.MatchString(line) || bareCounter.MatchString(line) || speedRefused.MatchString(line)
	},
	Owns: func(s piece.Segment, line string) bool {
		if echoed(s, strings.TrimSpace(line)) {
			return true
		}
		key, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		return ok && (value != "" || settings[key] != "") && s.Runs("ethtool") && ethLine.MatchString(line)
	},
	Read: reading(readEthtool),
}

var ethHead = piece.Compile(`^\s*(Settings|Features|Offload parameters|Ring parameters|Channel parameters|Coalesce parameters|Pause parameters|FEC parameters|Time stamping parameters|Private flags|EEE [Ss]ettings|RX flow hash indirection table|Module parameters) for ([\w.@-]+)(?: with (\d+) RX ring\(s\))?:?$`)

var ethSpeed = piece.Compile(`^\s*Speed: (\d+Mb/s|Unknown!)`)

// ethOwn are lines that ethtool alone prints near a link's speed.
var ethOwn = piece.Compile(`^\s*(?:Auto-negotiation|Link detected|PHYAD|Transceiver|MDI-X|Supports Wake-on): `)

var ethLink = piece.Compile(`^\s*Link detected: (yes|no)\b`)

var ethLine = piece.Compile(`^\s*[\[\w][^:]{0,60}(?:\]: [^:]+)?:(\s|$)|^\s*(netlink error|Cannot )`)

// ethPorts is the first line of a link's settings, where people leave the head out.
var ethPorts = piece.Compile(`^\s*Supported (?:ports: \[|link modes: +\d+base)`)

var ethModes = piece.Compile(`(\d+)base`)

// settings are lines that ethtool prints of a link, and of its driver.
var settings = map[string]string{"Port": "port", "Auto-negotiation": "autoneg", "Transceiver": "transceiver", "Lanes": "lanes", "driver": "driver",
	"version": "driver_version", "firmware-version": "firmware", "bus-info": "bus", "Permanent address": "perm_mac", "Active FEC encoding": "fec",
	"Active FEC encodings": "fec"}

// modeLists are lists of modes, of which the fastest is kept.
var modeLists = map[string]string{"Supported link modes": "speed_max", "Link partner advertised link modes": "partner_speed_max",
	"Advertised link modes": "advertised_speed_max"}

// features are ethtool's names of offloads that have no hyphenated word of tx-, rx-.
var features = piece.Words(`scatter-gather tcp-segmentation-offload udp-fragmentation-offload generic-segmentation-offload generic-receive-offload
	large-receive-offload ntuple-filters receive-hashing highdma loopback fcoe-mtu hw-tc-offload l2-fwd-offload busy-poll macsec-hw-offload vlan-challenged
	netns-local esp-hw-offload esp-tx-csum-hw-offload`)

// speedSet is a command that gives a link a speed.
var speedSet = piece.Compile(`\bethtool (?:-s|--change) (\S+)`)

// speedRefused is ethtool's word that a card has no such speed.
var speedRefused = piece.Compile(`^Cannot advertise speed (\d+)$`)

func readEthtool(s *sink, lines []piece.Line) (read int) {
	r := ethReader{sink: s, section: ethSection(s.Segment.Command)}
	r.turn.Names = s.Segment.LinksOf("ethtool")
	owned := len(r.turn.Names) > 0
	if bareCounter.MatchString(lines[0].Text) && !owned {
		r.section, owned, r.subject = "S", true, namelessCard
	}
	if (ethPorts.MatchString(lines[0].Text) || ethSpeed.MatchString(lines[0].Text) && slices.ContainsFunc(lines[1:min(len(lines), 5)], func(l piece.Line) bool { return ethOwn.MatchString(l.Text) })) && !owned {
		owned, r.subject = true, namelessCard
	}
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		if m := ethHead.FindStringSubmatch(l.Text); m != nil {
			r.head(m, l)
			owned = true
		} else if echoed(s.Segment, text) {
			r.subject, r.limits, r.list, owned = "link "+text, false, "", true
		} else if strings.HasPrefix(text, "NIC statistics:") {
			r.section, owned = "S", true
			if _, told := s.Host.Facts[namelessCard]; r.subject == "" && len(r.turn.Names) == 0 && !told {
				r.subject = namelessCard
			}
		} else if key, value, ok := cutLast(text, r.section); ok && (owned || read == 0 || l.Text != text || settings[key] != "") && ethLine.MatchString(l.Text) {
			if key == "driver" {
				r.section, owned = "i", true
			}
			if !r.line(key, value, l) {
				return read
			}
		} else if m := speedRefused.FindStringSubmatch(text); m != nil {
			if of := speedSet.FindStringSubmatch(s.Segment.Command); of != nil {
				s.Set("link "+of[1], "refused_speed", m[1], l)
			}
		} else if !(owned && (l.Text != text && r.more(text, l) || strings.HasPrefix(text, "netlink error") || strings.HasPrefix(text, "Cannot "))) {
			return read
		}
		read = i + 1
	}
	return read
}

// namelessCard is the subject of statistics and settings that stand without a command.
const namelessCard = "link NIC"

// bareCounter is a counter that says something by itself, as people quote it.
var bareCounter = piece.Compile(`^\s*(?:rx_missed_errors|rx_crc_errors|rx_no_buffer_count|rx_out_of_buffer|rx_fifo_errors|port_rx_nodesc_drops|(?:bw_in|bw_out|pps|conntrack)_allowance_exceeded): [1-9]\d{2,}\s*$`)

// echoed reports the name of a link that a loop prints before what ethtool says of it.
func echoed(s piece.Segment, text string) bool {
	return piece.LinkName.MatchString(text) && strings.Contains(s.Command, "echo") && slices.Contains(s.LinksOf("ethtool"), text)
}

// ethReader follows the sections.
type ethReader struct {
	*sink
	section string // ethtool's option, "" a link's settings
	subject string // "" by the command
	turn    piece.InTurn
	limits  bool   // the paragraph of maxima
	list    string // the fact of the list that goes on
}

// ethSection is the option of a command line, where only one is in it.
func ethSection(command string) string {
	section := ""
	for _, st := range piece.Statements(command) {
		if st[0] != "ethtool" {
			continue
		}
		for _, w := range st[1:] {
			switch w {
			case "-i", "-k", "-S", "-g", "-l", "-c", "-a", "-P", "-x":
				section = w[1:]
			case "--show-features", "--show-offload":
				section = "k"
			case "--statistics":
				section = "S"
			case "--driver":
				section = "i"
			case "--show-ring":
				section = "g"
			case "--show-channels":
				section = "l"
			case "--show-coalesce":
				section = "c"
			case "--show-pause":
				section = "a"
			}
		}
	}
	return section
}

var ethSections = map[string]string{"Features": "k", "Offload parameters": "k", "Ring parameters": "g", "Channel parameters": "l", "Coalesce parameters": "c",
	"Pause parameters": "a", "FEC parameters": "f", "Time stamping parameters": "T", "Private flags": "p", "RX flow hash indirection table": "x"}

func (r *ethReader) head(m []string, l piece.Line) {
	r.subject, r.section, r.limits, r.list = "link "+m[2], ethSections[m[1]], false, ""
	r.Set(r.subject, "there", "yes", l)
	if m[3] != "" {
		r.Set(r.subject, "rss_rings", m[3], l)
	}
}

// cutLast parts a line's name from its value. Names of counters may hold colons.
func cutLast(text, section string) (key, value string, ok bool) {
	at := strings.IndexByte(text, ':')
	if section == "S" || strings.HasPrefix(text, "[") {
		at = strings.LastIndexByte(text, ':')
	}
	if at <= 0 {
		return "", "", false
	}
	return strings.TrimSpace(text[:at]), strings.TrimSpace(text[at+1:]), true
}

// whose is the subject of a line.
func (r *ethReader) whose(key string) string {
	if r.subject != "" {
		return r.subject
	}
	return r.turn.Next(key)
}

func (r *ethReader) put(key, fact, value string, l piece.Line) {
	if subject := r.whose(key); subject != "" && fact != "" && value != "" {
		r.Set(subject, fact, value, l)
	}
}

// line reads one line; false for one that begins something else.
func (r *ethReader) line(key, value string, l piece.Line) bool {
	r.list = ""
	word, _, _ := strings.Cut(value, " ")
	switch {
	case piece.Digits.MatchString(value) && (r.section == "S" || strings.Contains(key, "_")):
		if value != "0" || strings.HasPrefix(key, "bw_") { // of a provider's allowance 0 says that it is kept
			r.put(key, "stat."+key, value, l)
		}
	case (value == "on" || value == "off" || strings.HasPrefix(value, "on [") || strings.HasPrefix(value, "off [")) && (r.section == "k" || features[key] || strings.HasPrefix(key, "tx-") || strings.HasPrefix(key, "rx-")):
		r.put(key, "offload."+key, word, l)
		if strings.Contains(value, "[fixed]") {
			r.put(key+" fixed", "fixed."+key, "yes", l)
		}
	case r.section == "g" || r.section == "l":
		r.amount(key, value, l)
	case r.section == "a" && (word == "on" || word == "off"):
		r.put(key, map[string]string{"Autonegotiate": "pause_autoneg", "RX": "pause_rx", "TX": "pause_tx", "RX negotiated": "pause_rx_negotiated",
			"TX negotiated": "pause_tx_negotiated"}[key], word, l)
	case r.section == "c" || strings.HasPrefix(key, "rx-usecs") || strings.HasPrefix(key, "tx-usecs") || key == "Adaptive RX":
		r.coalesce(key, value, l)
	case key == "Speed":
		r.put(key, "speed", megabits(value), l)
	case key == "Duplex":
		r.put(key, "duplex", strings.TrimSuffix(strings.ToLower(value), "! (255)"), l)
	case key == "Link detected":
		r.put(key, "carrier", word, l)
	case modeLists[key] != "":
		r.list = modeLists[key]
		r.modes(value, l)
	case settings[key] != "":
		r.put(key, settings[key], value, l)
	default: // a line that says nothing of rates, unless it is prose
		return strings.TrimSpace(l.Text) != l.Text || len(strings.Fields(key)) <= 4 && len(strings.Fields(value)) <= 4
	}
	return true
}

// amount reads rings and channels: a paragraph of maxima, one of what runs.
func (r *ethReader) amount(key, value string, l piece.Line) {
	switch {
	case strings.HasPrefix(key, "Pre-set"):
		r.limits = true
	case strings.HasPrefix(key, "Current hardware"):
		r.limits = false
	case !piece.Digits.MatchString(value):
	case r.section == "g" && (key == "RX" || key == "TX"):
		r.put(key+strconv.FormatBool(r.limits), "ring_"+strings.ToLower(key)+r.most(), value, l)
	case r.section == "l" && key == "Combined":
		r.put(key+strconv.FormatBool(r.limits), "channels"+r.most(), value, l)
	case r.section == "l" && (key == "RX" || key == "TX"):
		r.put(key+strconv.FormatBool(r.limits), "channels_"+strings.ToLower(key)+r.most(), value, l)
	}
}

func (r *ethReader) most() string {
	if r.limits {
		return "_max"
	}
	return ""
}

func (r *ethReader) coalesce(key, value string, l piece.Line) {
	if key == "Adaptive RX" {
		rx, tx, both := strings.Cut(value, "TX:")
		r.put(key, "coalesce.adaptive-rx", strings.TrimSpace(rx), l)
		if both {
			r.put("Adaptive TX", "coalesce.adaptive-tx", strings.TrimSpace(tx), l)
		}
		return
	}
	if piece.Digits.MatchString(value) {
		r.put(key, "coalesce."+key, value, l)
	}
}

// more reads a line without a name: a list of modes that goes on, or nothing.
func (r *ethReader) more(text string, l piece.Line) bool {
	if r.list != "" && ethModes.MatchString(text) {
		r.modes(text, l)
	}
	return true
}

// modes keeps the fastest of a list.
func (r *ethReader) modes(text string, l piece.Line) {
	subject := r.subject
	if subject == "" && len(r.turn.Names) > 0 {
		subject = "link " + r.turn.Names[0]
	}
	if subject == "" {
		return
	}
	most, was := 0, piece.Value{}
	if v, ok := r.Host.Get(subject, r.list); ok && v.From+12 > l.Number && v.From <= l.Number {
		most, was = piece.Atoi(v.Text), v
	}
	for _, m := range ethModes.FindAllStringSubmatch(text, -1) {
		most = max(most, piece.Atoi(m[1]))
	}
	if text := strconv.Itoa(most); most > 0 && was.Text != text {
		if was.Text != "" {
			all := r.Host.Facts[subject][r.list]
			r.Host.Facts[subject][r.list] = all[:len(all)-1] // the same list's earlier line
		}
		r.Set(subject, r.list, text, l)
	}
}
