package switchtext

import (
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// ofSwitch says that what is read is a switch's. Where the text names nobody, or a
// host whose own outputs were read, the switch is one without a name.
func (s *sink) ofSwitch(vendor string, l piece.Line) {
	if !s.Host.Switch && (s.Host.Name == "" || s.Segment.Command == "" && s.Host.OwnOutputs()) {
		s.Host = s.C.NamelessSwitch()
	}
	s.Host.Switch = true
	if vendor != "" {
		s.Set("host", "vendor", vendor, l)
	}
}

// vendor is what was read of the switch's maker so far.
func (s *sink) vendor() string {
	v, _ := s.Host.Get("host", "vendor")
	return v.Text
}

// shortNames are the words that summaries print for the names of configurations.
var shortNames = map[string]string{"fastethernet": "Fa", "gigabitethernet": "Gi", "tengigabitethernet": "Te", "tengige": "Te", "twogigabitethernet": "Tw",
	"fivegigabitethernet": "Fi", "twentyfivegige": "Twe", "twentyfivegigabitethernet": "Twe", "fortygigabitethernet": "Fo", "fortygige": "Fo",
	"fiftygige": "Fif", "hundredgige": "Hu", "hundredgigabitethernet": "Hu", "twohundredgige": "TwoH", "fourhundredgige": "Fou", "port-channel": "Po",
	"bundle-ether": "BE", "management": "Ma",
	// CDP's tables have three letters.
	"fas": "Fa", "gig": "Gi", "ten": "Te", "two": "Tw", "fiv": "Fi", "for": "Fo", "hun": "Hu"}

// comwareNames are Comware's and Huawei's words.
var comwareNames = map[string]string{"gigabitethernet": "GE", "ten-gigabitethernet": "XGE", "xgigabitethernet": "XGE", "twenty-fivegige": "WGE",
	"fortygige": "FGE", "hundredgige": "HGE", "bridge-aggregation": "BAGG", "route-aggregation": "RAGG", "m-gigabitethernet": "MGE"}

// portName is a port's short name, so that outputs that print either one join.
// Names of other shapes stay as they are.
func (s *sink) portName(name string) string {
	name = strings.ReplaceAll(strings.TrimRight(strings.TrimSpace(name), ",:"), " ", "")
	at := strings.IndexFunc(name, func(r rune) bool { return r >= '0' && r <= '9' })
	if at == 0 && s.vendor() == "os10" && dellNumber.MatchString(name) { // of a summary
		return "ethernet" + name
	}
	if at <= 0 {
		return name
	}
	word, rest := strings.ToLower(name[:at]), name[at:]
	vendor := s.vendor()
	if vendor == "comware" || vendor == "huawei" {
		if short, ok := comwareNames[word]; ok {
			return short + rest
		}
		return name
	}
	if _, ok := comwareNames[word]; !ok && strings.Contains(word, "-gig") {
		return name
	}
	if dellPort.MatchString(name) {
		return name
	}
	if vendor == "os10" && (word == "ethernet" || word == "port-channel") {
		return word + rest
	}
	if word == "ethernet" && vendor != "sonic" && vendor != "os10" && vendor != "panos" {
		if vendor == "eos" || vendor == "" && !strings.Contains(rest, "/") {
			return "Et" + rest
		}
		return "Eth" + rest
	}
	if strings.Contains(word, "-gig") || word == "xgigabitethernet" { // nobody else has these
		return comwareNames[word] + rest
	}
	if short, ok := shortNames[word]; ok && vendor != "os10" {
		return short + rest
	}
	return name
}

// dellPort is OS10's name of a port, which nobody else writes so.
var dellPort = piece.Compile(`^ethernet\d{1,2}/\d+/\d+(?::\d+)?$`)

var dellNumber = piece.Compile(`^\d{1,2}/\d+/\d+(?::\d+)?$`)

var channelName = piece.Compile(`^(?i:po|port-channel|portchannel|ae|lag|trk|bagg|ragg|bridge-aggregation|route-aggregation|eth-trunk|be|bundle-ether|bond|ch|agg)-?\s?\d+$|^Po\d+[A-Z]$`)

// portSubject is the subject of a port or of a channel, told by the name.
func (s *sink) portSubject(name string) string {
	if name = s.portName(name); channelName.MatchString(name) {
		return "channel " + name
	}
	return "port " + name
}

// member is one port of a channel as a table shows it.
type member struct{ name, flag, bundled string }

// members sets what a table shows of a channel's ports: the list and the number
// that carry traffic.
func (s *sink) members(channel string, all []member, l piece.Line) {
	var names []string
	seen := make(map[string]bool)
	up, told := 0, false
	for _, m := range all {
		subject := "port " + m.name
		s.Set(subject, "channel", channel, l)
		if m.flag != "" {
			s.Set(subject, "flag", m.flag, l)
		}
		if m.bundled != "" {
			s.Set(subject, "bundled", m.bundled, l)
			told = true
		}
		if m.bundled == "yes" {
			up++
		}
		if !seen[m.name] && len(names) < mostMembers {
			names = append(names, m.name)
		}
		seen[m.name] = true
	}
	if len(names) > 0 {
		s.Set("channel "+channel, "members", strings.Join(names, " "), l)
	}
	if told || len(names) == 0 {
		s.Set("channel "+channel, "up", strconv.Itoa(up), l)
	}
}

// mostMembers is how many members of a channel are listed: a switch allows a few dozen.
const mostMembers = 256

// join adds a port to a channel's list, where each port names its channel.
func (s *sink) join(channel, port string, l piece.Line) {
	s.Set("port "+port, "channel", channel, l)
	now, _ := s.Host.Get("channel "+channel, "members")
	names := strings.Fields(now.Text)
	if slices.Contains(names, port) || len(names) >= mostMembers {
		return
	}
	s.setOnly("channel "+channel, "members", strings.Join(append(names, port), " "), l)
}

// setOnly sets a fact that has no history: a list that grows, a count.
func (s *sink) setOnly(subject, key, value string, l piece.Line) {
	facts := s.Host.Facts[subject]
	if facts == nil {
		facts = make(map[string][]piece.Value)
		s.Host.Facts[subject] = facts
	}
	facts[key] = []piece.Value{{Text: value, Source: l.Source()}}
}

// protocolWord is a channel's protocol by the word that is printed.
func protocolWord(word string) string {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "lacp", "dynamic", "active", "passive", "802.3ad", "lacp-static":
		return "lacp"
	case "-", "static", "on", "trunk", "manual", "normal":
		return "static"
	case "none":
		return "static"
	case "pagp":
		return "pagp"
	}
	return ""
}

// lacpState are the bits of a port's LACP state (IEEE 802.1AX 6.4.2.3) by letters.
func lacpState(letters string, bits map[rune]int) string {
	n := 0
	for _, r := range letters {
		n |= bits[r]
	}
	return strconv.Itoa(n)
}
