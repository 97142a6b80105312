package othertext

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// ESXi reads what esxcli, the older esxcfg programs and esxtop print of cards,
// virtual switches, teaming, LACP and NFS datastores.
var ESXi = piece.Reader{
	Kind:     "ESXi",
	Commands: []string{"esxcli", "esxcfg-nics", "esxcfg-vswitch", "esxtop", "esxcfg-vmknic"},
	Starts: func(line string) bool {
		if strings.Contains(line, "vmnic") && (esxNIC.MatchString(line) || esxStat.MatchString(line)) {
			return true
		}
		return esxHead.MatchString(line)
	},
	Owns: func(s piece.Segment, line string) bool {
		return piece.Program(s.Command) == "esxcli" && strings.Contains(s.Command, "nfs") && esxNFS.MatchString(line) || piece.Program(s.Command) == "esxcfg-vswitch" && esxSwitch.MatchString(line) ||
			strings.Contains(s.Command, "vswitch standard list") && !strings.HasPrefix(line, " ") && len(strings.Fields(line)) == 1
	},
	Read: reading(readESXi),
}

var esxNIC = piece.Compile(`^\s*(vmnic\d+|vusb\d+)\s+([0-9a-fA-F:.]+|Pseudo)\s+(\S+)\s+(?:(Up|Down)\s+)?(Up|Down)\s+(\d+)\s?(?:Mbps)?\s+(Full|Half|Auto)\s+(?:([0-9a-f:]{17})\s+)?(\d+)\s*(.*)$`)

var esxHead = piece.Compile(`^\s*(?:Name\s+PCI(?: Device)?\s+Driver\s|Switch Name\s+Num Ports|Load Balancing: (?:srcport|iphash|mac|explicit|portid)|Network Failure Detection: |Active Adapters: |Volume Name\s+Host(?:\(s\))?\s+Share|PORT-ID\s+(?:USED-BY|UPLINK)|DVSwitch: |LAGID: |DVS Name\s+Num Ports|Uplinks: vmnic)`)

var esxStat = piece.Compile(`^\s*NIC statistics for (vmnic\d+)`)

var esxSwitch = piece.Compile(`^(\S+)\s+\d+\s+\d+\s+\d+\s+(\d+)\s+((?:vmnic|vusb)\d+(?:,\s?(?:vmnic|vusb)\d+)*)?$`)

var esxGroup = piece.Compile(`^(.+?)\s{2,}(\d+)\s+(\d+)\s+((?:vmnic|vusb|lag)\d+(?:,\s?\S+)*)?$`)

var esxNFS = piece.Compile(`^(\S.*?)\s{2,}(\S+)\s+(/\S*)\s+(?:(vmk\d+|None)\s+)?(true|false)\s+(true|false)\s+(?:(\d+)\s+)?(true|false)\b`)

var esxTop = piece.Compile(`^(\d{6,})\s+(.*?)\s+(\S+)\s+(\S+)((?:\s+-?[\d.]+){4,})$`)

var esxPair = piece.Compile(`^([A-Z][\w /-]*?):\s*(.*)$`)

var esxNamed = piece.Compile(`(?:-v|--vswitch-name)[ =]"?([\w.-]+)`)

var esxWords = map[string]int{"ACT": 1, "STO": 2, "AGG": 4, "SYN": 8, "COL": 16, "DIST": 32, "DEF": 64, "EXP": 128}

// esxReader gathers one output.
type esxReader struct {
	s                       *sink
	vswitch, nic, lag, side string
	titles                  []string
	before                  map[string]string // of a card whose name comes below
}

func readESXi(s *sink, lines []piece.Line) int {
	s.OfSystem("esxi", lines[0])
	r := esxReader{s: s}
	if m := esxNamed.FindStringSubmatch(s.Segment.Command); m != nil {
		r.vswitch = m[1]
	}
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		if strings.Trim(text, "- ") == "" || esxLegend(text) {
			return true
		}
		return r.table(text, l) || r.pair(text, l) || r.name(text, l)
	})
}

// esxLegend reports the titles of tables whose rows explain themselves.
func esxLegend(text string) bool {
	for _, begin := range []string{"Name ", "Switch Name", "PortGroup Name", "Volume Name", "DVS Name", "DVPort ID"} {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	return false
}

// table reads a row of one of the tables.
func (r *esxReader) table(text string, l piece.Line) bool {
	s := r.s
	if strings.HasPrefix(text, "PORT-ID") {
		r.titles = strings.Fields(text)
		return true
	}
	if m := esxTop.FindStringSubmatch(text); m != nil && r.titles != nil {
		r.top(m, l)
		return true
	}
	if m := esxNIC.FindStringSubmatch(text); m != nil {
		subject := "link " + m[1]
		s.Set(subject, "bus", m[2], l)
		s.Set(subject, "driver", m[3], l)
		s.Set(subject, "state", strings.ToUpper(cmp.Or(m[4], m[5])), l)
		s.Set(subject, "carrier", piece.YesNo[m[5] == "Up"], l)
		s.Set(subject, "speed", map[bool]string{true: "unknown", false: m[6]}[m[6] == "0"], l)
		s.Set(subject, "duplex", strings.ToLower(m[7]), l)
		s.SetIf(subject, "mac", m[8], l)
		s.Set(subject, "mtu", m[9], l)
		s.SetIf(subject, "description", strings.TrimSpace(m[10]), l)
		return true
	}
	if m := esxSwitch.FindStringSubmatch(text); m != nil {
		r.vswitch = m[1]
		s.Set("link "+m[1], "kind", "vswitch", l)
		s.Set("link "+m[1], "mtu", m[2], l)
		r.ports(m[3], l)
		return true
	}
	if m := esxNFS.FindStringSubmatch(text); m != nil {
		options := map[string]string{"accessible": m[5], "mounted": m[6]}
		if m[7] != "" {
			options["nconnect"] = m[7]
		}
		s.Host.Mounts = append(s.Host.Mounts, piece.Mount{Device: m[2] + ":" + m[3], Path: m[1], Kind: "nfs", Options: options, Source: l.Source()})
		return true
	}
	if m := esxGroup.FindStringSubmatch(text); m != nil && r.vswitch != "" {
		s.Set("portgroup "+strings.TrimSpace(m[1]), "vlan", m[2], l)
		s.SetIf("portgroup "+strings.TrimSpace(m[1]), "uplinks", listed(m[4]), l)
		return true
	}
	return false
}

// top reads a row of esxtop's network screen: which card carries which guest.
func (r *esxReader) top(m []string, l piece.Line) {
	values, at := strings.Fields(m[5]), 0
	for i, title := range r.titles {
		if title == "DNAME" {
			at = i + 1
		}
	}
	subject := "vport " + strings.TrimSpace(m[2])
	if strings.HasPrefix(m[2], "vmnic") && m[3] == "-" {
		subject = "link " + m[2]
	} else if m[3] != "-" && m[3] != "n/a" {
		r.s.Set(subject, "uplink", m[3], l)
	}
	r.s.Set(subject, "vswitch", m[4], l)
	for i, value := range values {
		if at+i >= len(r.titles) {
			break
		}
		switch r.titles[at+i] {
		case "MbTX/s":
			r.s.SetIf(subject, "seen_tx_bps", piece.Bps(value, "M"), l)
		case "MbRX/s":
			r.s.SetIf(subject, "seen_rx_bps", piece.Bps(value, "M"), l)
		case "%DRPTX":
			r.s.Set(subject, "tx_dropped_percent", value, l)
		case "%DRPRX":
			r.s.Set(subject, "rx_dropped_percent", value, l)
		}
	}
}

// pair reads a line of a word and its value.
func (r *esxReader) pair(text string, l piece.Line) bool {
	s := r.s
	if m := esxStat.FindStringSubmatch(text); m != nil {
		r.nic = m[1]
		return true
	}
	m := esxPair.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	key, value := m[1], strings.TrimSpace(m[2])
	subject := "link " + cmp.Or(r.vswitch, "vswitch")
	switch key {
	case "Load Balancing":
		s.Set(subject, "kind", "vswitch", l)
		s.Set(subject, "load_balance", value, l)
	case "Active Adapters":
		s.SetIf(subject, "active", listed(value), l)
		r.ports(value, l)
	case "Standby Adapters", "Unused Adapters":
		s.SetIf(subject, strings.ToLower(strings.Fields(key)[0]), listed(value), l)
	case "Network Failure Detection":
		s.Set(subject, "failure_detection", value, l)
	case "Uplinks":
		r.ports(value, l)
	case "MTU":
		s.SetIf(subject, "mtu", piece.NumberText(value), l)
	case "DVSwitch":
		r.vswitch = value
	case "LAGID":
		r.lag, r.nic = "lag-"+value, ""
		s.Set("link "+r.lag, "kind", "lag", l)
		s.Set("link "+r.lag, "protocol", "lacp", l)
	case "Mode":
		if r.lag != "" {
			s.Set("link "+r.lag, "lacp_mode", strings.ToLower(value), l)
		}
	case "Nic":
		r.nic = value
		if r.lag != "" {
			s.Port(r.lag, value, l)
		}
		for key, value := range r.before {
			s.SetIf("link "+r.nic, key, value, l)
		}
		r.before = nil
	case "Local Information", "Partner Information":
		if key == "Local Information" && r.side == "partner" {
			r.nic = "" // its name stands between the two
		}
		r.side = map[bool]string{true: "actor", false: "partner"}[key == "Local Information"]
	case "Device ID":
		s.SetIf("link "+r.nic, "partner_mac", piece.MacText(value), l)
	case "Port State":
		n := 0
		for _, w := range strings.FieldsFunc(value, func(c rune) bool { return c == ',' || c == ' ' }) {
			n |= esxWords[w]
		}
		if r.nic != "" && r.side != "" {
			s.Set("link "+r.nic, r.side+"_state", strconv.Itoa(n), l)
		} else if r.side != "" {
			r.before = map[string]string{r.side + "_state": strconv.Itoa(n)}
		}
	case "Oper Key":
		if r.nic != "" && r.side != "" {
			s.SetIf("link "+r.nic, r.side+"_key", piece.NumberText(value), l)
		}
	case "State":
		if r.nic != "" && r.lag != "" {
			s.Set("link "+r.nic, "bundled", piece.YesNo[value == "Bundled"], l)
		}
	default:
		if counter := esxCounters[key]; counter != "" && r.nic != "" {
			s.SetIf("link "+r.nic, counter, piece.NumberText(value), l)
		}
	}
	return true
}

var esxCounters = map[string]string{"Packets received": "rx_packets", "Packets sent": "tx_packets", "Bytes received": "rx_bytes", "Bytes sent": "tx_bytes",
	"Receive packets dropped": "rx_dropped", "Transmit packets dropped": "tx_dropped", "Total receive errors": "rx_errors", "Total transmit errors": "tx_errors",
	"Receive CRC errors": "rx_crc", "Receive FIFO errors": "rx_fifo", "Receive missed errors": "rx_missed", "Receive frame errors": "rx_frame", "Receive length errors": "rx_length"}

// name reads a line that has a name alone: a virtual switch, or a card of a LAG.
func (r *esxReader) name(text string, l piece.Line) bool {
	if strings.Contains(text, " ") || strings.ContainsAny(text, "=()") {
		return strings.Contains(text, " - Device is ") || strings.HasSuffix(text, ",")
	}
	if strings.HasPrefix(text, "vmnic") && r.lag != "" {
		r.nic, r.side = text, ""
		r.s.Port(r.lag, text, l)
		return true
	}
	if !strings.HasPrefix(l.Text, " ") && strings.Contains(r.s.Segment.Command, "vswitch") {
		r.vswitch = text
		r.s.Set("link "+text, "kind", "vswitch", l)
		return true
	}
	return false
}

// ports notes a virtual switch's cards in their order.
func (r *esxReader) ports(list string, l piece.Line) {
	for _, nic := range strings.Fields(listed(list)) {
		r.s.Port(cmp.Or(r.vswitch, "vswitch"), nic, l)
	}
}

// listed is a list with one blank between its words.
func listed(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == ';' }), " ")
}
