package othertext

import (
	"cmp"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Wireless reads what a station says of its radio link: iw link and station dump,
// iwconfig, netsh wlan show interfaces, and macOS's airport -I.
var Wireless = piece.Reader{
	Kind:     "Wi-Fi",
	Commands: []string{"iw", "iwconfig", "netsh", "airport", "wdutil"},
	Starts: func(line string) bool {
		return iwBegin.MatchString(line) || iwOld.MatchString(line) || wlanBegin.MatchString(line) || airBegin.MatchString(line)
	},
	Owns: func(s piece.Segment, line string) bool {
		return piece.Program(s.Command) == "iw" && iwLine.MatchString(line)
	},
	Read: reading(readWireless),
}

var iwBegin = piece.Compile(`^\s*(?:Connected to [0-9a-f:]{17} \(on ([\w.-]+)\)|\w+ [0-9a-f:]{17} \(on ([\w.-]+)\))`)

var iwOld = piece.Compile(`^\s*([\w.-]+)\s+IEEE 802\.11\w*\s`)

var iwDev = piece.Compile(`\bdev (\S+) `)

var iwLine = piece.Compile(`^\s*(SSID|freq|RX|TX|signal|signal avg|[rt]x bitrate|bss flags|dtim period|beacon int(?:erval)?|inactive time|[rt]x (?:bytes|packets|retries|failed|duration|drop misc)|expected throughput|authorized|authenticated|associated|preamble|WMM/WME|MFP|TDLS peer|short (?:preamble|slot time)|connected time|last ack signal|avg ack signal|beacon (?:loss|rx|signal avg)|airtime weight|associated at.*|current time):\s*(.*)$`)

var iwOldWord = piece.Compile(`(Bit Rate|Signal level|Frequency|Tx-Power|Link Quality)[=:]\s?(-?[\d.]+(?:/\d+)?) ?([MG]b/s|dBm|GHz)?`)

var wlanBegin = piece.Compile(`^\s*There (?:is|are) \d+ interfaces? on the system`)

var wlanPair = piece.Compile(`^\s*([A-Z][\w ()/.-]*?)\s+: (.*)$`)

var airBegin = piece.Compile(`^\s*agrCtlRSSI: -?\d+`)

var airPair = piece.Compile(`^\s*([\w. ]+?): (.*)$`)

var firstNumber = piece.Compile(`-?[\d.]+`)

func readWireless(s *sink, lines []piece.Line) int {
	subject, kind := "", ""
	if m := iwDev.FindStringSubmatch(s.Segment.Command + " "); m != nil {
		subject, kind = "link "+m[1], "iw"
	}
	set := func(key, value string, l piece.Line) {
		if n := firstNumber.FindString(value); n != "" && subject != "" {
			s.Set(subject, "wifi", "yes", l)
			s.Set(subject, key, n, l)
		}
	}
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		if m := iwBegin.FindStringSubmatch(text); m != nil {
			subject, kind = "link "+cmp.Or(m[1], m[2]), "iw"
			s.Set(subject, "wifi", "yes", l)
			return true
		}
		if m := iwOld.FindStringSubmatch(l.Text); m != nil {
			subject, kind = "link "+m[1], "iwconfig"
			s.Set(subject, "wifi", "yes", l)
		}
		if wlanBegin.MatchString(text) {
			s.OfSystem("windows", l)
			subject, kind = "link Wi-Fi", "netsh"
			return true
		}
		if airBegin.MatchString(text) {
			subject, kind = "link en0", "airport"
		}
		switch kind {
		case "iw":
			m := iwLine.FindStringSubmatch(text)
			if m == nil {
				return false
			}
			if key := map[string]string{"freq": "wifi_mhz", "signal": "wifi_signal", "tx bitrate": "wifi_tx", "rx bitrate": "wifi_rx", "tx packets": "wifi_packets", "tx retries": "wifi_retries"}[m[1]]; key != "" {
				set(key, m[2], l)
			}
			return true
		case "iwconfig":
			for _, m := range iwOldWord.FindAllStringSubmatch(text, 8) {
				switch m[1] {
				case "Bit Rate":
					set("wifi_tx", m[2], l)
				case "Signal level":
					set("wifi_signal", m[2], l)
				case "Frequency":
					set("wifi_mhz", strings.Replace(m[2], ".", "", 1), l)
				}
			}
			return strings.HasPrefix(l.Text, " ") || iwOld.MatchString(l.Text)
		case "netsh":
			m := wlanPair.FindStringSubmatch(text)
			if m == nil {
				return false
			}
			switch m[1] {
			case "Name":
				subject = "link " + m[2]
				s.Set(subject, "wifi", "yes", l)
			case "Receive rate (Mbps)":
				set("wifi_rx", m[2], l)
			case "Transmit rate (Mbps)":
				set("wifi_tx", m[2], l)
			case "Signal":
				set("wifi_percent", m[2], l)
			case "Channel":
				set("wifi_channel", m[2], l)
			case "Rssi":
				set("wifi_signal", m[2], l)
			}
			return true
		case "airport":
			m := airPair.FindStringSubmatch(text)
			if m == nil {
				return false
			}
			switch m[1] {
			case "agrCtlRSSI":
				set("wifi_signal", m[2], l)
			case "lastTxRate":
				set("wifi_tx", m[2], l)
			case "channel":
				set("wifi_channel", m[2], l)
			}
			return true
		}
		return false
	})
}
