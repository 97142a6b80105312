package paste

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ofSwitch says that what is read is a switch's. Where the text names nobody, or a
// host whose own outputs were read, the switch is one without a name.
func (s *sink) ofSwitch(vendor string, l Line) {
	if !s.host.Switch && (s.host.Name == "" || s.segment.Command == "" && s.host.ownOutputs()) {
		s.host = s.c.namelessSwitch()
	}
	s.host.Switch = true
	if vendor != "" {
		s.set("host", "vendor", vendor, l)
	}
}

// vendor is what was read of the switch's maker so far.
func (s *sink) vendor() string {
	v, _ := s.host.Get("host", "vendor")
	return v.Text
}

// ofSystem says which system prints what is read. Where the host is of another one,
// it is a host that nobody names; prompts of Windows never name theirs.
func (s *sink) ofSystem(os string, l Line) {
	now, known := s.host.Get("host", "os")
	_, linux := s.host.Get("host", "release")
	if known && now.Text != os || !known && (linux || os == "windows" && s.host.ownOutputs()) {
		s.host = s.c.namelessSystem(os)
	}
	s.set("host", "os", os, l)
}

func (c *Case) namelessSystem(os string) *Host {
	for _, h := range c.Hosts {
		if v, ok := h.Get("host", "os"); h.Name == "" && !h.Switch && ok && v.Text == os {
			return h
		}
	}
	h := &Host{Facts: make(map[string]map[string][]Value), Ports: make(map[string][]string)}
	c.Hosts = append(c.Hosts, h)
	return h
}

// ownOutputs reports that outputs of a host, not of a switch, were read.
func (h *Host) ownOutputs() bool {
	for subject := range h.Facts {
		if subject == "host" || subject == "sysctl" || strings.HasPrefix(subject, "link ") {
			return true
		}
	}
	return len(h.Routes)+len(h.Rules)+len(h.Sockets)+len(h.Cores) > 0
}

// namelessSwitch is the switch that no prompt names.
func (c *Case) namelessSwitch() *Host {
	for _, h := range c.Hosts {
		if h.Name == "" && h.Switch {
			return h
		}
	}
	h := &Host{Switch: true, Facts: make(map[string]map[string][]Value), Ports: make(map[string][]string)}
	c.Hosts = append(c.Hosts, h)
	return h
}

// eachLine hands on the lines that are not empty until one is refused, and returns
// how many were taken.
func eachLine(lines []Line, take func(l Line, text string) bool) (read int) {
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		if !take(l, text) {
			break
		}
		read = i + 1
	}
	return read
}

// late reports a line so far behind the first that a reader that has found nothing
// yet gives up.
func late(l Line, lines []Line) bool { return l.Number-lines[0].Number > 50 }

// shortNames are the words that summaries print for the names of configurations.
var shortNames = map[string]string{"fastethernet": "Fa", "gigabitethernet": "Gi", "tengigabitethernet": "Te", "tengige": "Te", "twogigabitethernet": "Tw",
	"fivegigabitethernet": "Fi", "twentyfivegige": "Twe", "twentyfivegigabitethernet": "Twe", "fortygigabitethernet": "Fo", "fortygige": "Fo",
	"fiftygige": "Fif", "hundredgige": "Hu", "hundredgigabitethernet": "Hu", "twohundredgige": "TwoH", "fourhundredgige": "Fou", "port-channel": "Po",
	"bundle-ether": "BE", "management": "Ma"}

// comwareNames are Comware's and Huawei's words.
var comwareNames = map[string]string{"gigabitethernet": "GE", "ten-gigabitethernet": "XGE", "xgigabitethernet": "XGE", "twenty-fivegige": "WGE",
	"fortygige": "FGE", "hundredgige": "HGE", "bridge-aggregation": "BAGG", "route-aggregation": "RAGG", "m-gigabitethernet": "MGE"}

// portName is a port's short name, so that outputs that print either one join.
// Names of other shapes stay as they are.
func (s *sink) portName(name string) string {
	name = strings.ReplaceAll(strings.TrimRight(strings.TrimSpace(name), ",:"), " ", "")
	at := strings.IndexFunc(name, func(r rune) bool { return r >= '0' && r <= '9' })
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

var channelName = regexp.MustCompile(`^(?i:po|port-channel|portchannel|ae|lag|trk|bagg|ragg|bridge-aggregation|route-aggregation|eth-trunk|be|bundle-ether|bond|ch|agg)-?\s?\d+$`)

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
func (s *sink) members(channel string, all []member, l Line) {
	var names []string
	up, told := 0, false
	for _, m := range all {
		subject := "port " + m.name
		s.set(subject, "channel", channel, l)
		if m.flag != "" {
			s.set(subject, "flag", m.flag, l)
		}
		if m.bundled != "" {
			s.set(subject, "bundled", m.bundled, l)
			told = true
		}
		if m.bundled == "yes" {
			up++
		}
		if !slices.Contains(names, m.name) {
			names = append(names, m.name)
		}
	}
	if len(names) > 0 {
		s.set("channel "+channel, "members", strings.Join(names, " "), l)
	}
	if told || len(names) == 0 {
		s.set("channel "+channel, "up", strconv.Itoa(up), l)
	}
}

// join adds a port to a channel's list, where each port names its channel.
func (s *sink) join(channel, port string, l Line) {
	s.set("port "+port, "channel", channel, l)
	now, _ := s.host.Get("channel "+channel, "members")
	names := strings.Fields(now.Text)
	if slices.Contains(names, port) {
		return
	}
	h := s.host.Facts["channel "+channel]
	if len(names) > 0 && h != nil { // one list that grows, not a history of lists
		h["members"] = h["members"][:len(h["members"])-1]
	}
	s.set("channel "+channel, "members", strings.Join(append(names, port), " "), l)
}

// setIf sets a fact that has a value.
func (s *sink) setIf(subject, key, value string, l Line) {
	if value != "" && value != "-" && value != "--" {
		s.set(subject, key, value, l)
	}
}

var anyMAC = regexp.MustCompile(`^(?:[0-9a-fA-F]{1,2}(?:[:-][0-9a-fA-F]{1,2}){5}|[0-9a-fA-F]{4}(?:[.-][0-9a-fA-F]{4}){2}|[0-9a-fA-F]{6}-[0-9a-fA-F]{6}|[0-9a-fA-F]{12})$`)

// macText is a MAC address in the form of the kernel; "" another text.
func macText(s string) string {
	s = strings.Trim(s, ",;()[]")
	if !anyMAC.MatchString(s) {
		return ""
	}
	parts := strings.FieldsFunc(s, func(r rune) bool { return r == ':' || r == '-' || r == '.' })
	var hex strings.Builder
	for _, p := range parts {
		if len(parts) == 6 && len(p) == 1 {
			hex.WriteByte('0')
		}
		hex.WriteString(strings.ToLower(p))
	}
	h := hex.String()
	if len(h) != 12 {
		return ""
	}
	out := make([]string, 0, 6)
	for i := 0; i < 12; i += 2 {
		out = append(out, h[i:i+2])
	}
	return strings.Join(out, ":")
}

// numberText is a text's decimal or hexadecimal number as decimal digits; "" no number.
func numberText(s string) string {
	s = strings.ReplaceAll(strings.Trim(s, ",;()"), ",", "")
	base := 10
	if rest, ok := strings.CutPrefix(strings.ToLower(s), "0x"); ok {
		s, base = rest, 16
	}
	n, err := strconv.ParseUint(s, base, 64)
	if err != nil {
		return ""
	}
	return strconv.FormatUint(n, 10)
}

var speedText = regexp.MustCompile(`^(?i:a-|auto-)?([\d.]+)\s?(?i:(k|m|g|t)?(?:bps|b/s|bit/s|bits/s|b|bits|base.*|gige?)?)(?:\([a-z]+\))?$`)

// mbits is a speed in whole Mbit/s as text: "a-1000", "10G", "10 Gb/s", "1000Mb/s";
// "" no speed. A number without a unit is in Mbit/s.
func mbits(s string) string {
	m := speedText.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return ""
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return ""
	}
	switch strings.ToLower(m[2]) {
	case "k":
		n /= 1e3
	case "g":
		n *= 1e3
	case "t":
		n *= 1e6
	}
	if n < 1 || n > 1e8 || n != math.Trunc(n) {
		return ""
	}
	return strconv.FormatFloat(n, 'f', 0, 64)
}

// bps is a rate in whole bits a second as text, of a number and a unit's first
// letter ("K", "M", "G", "" bits).
func bps(n, unit string) string {
	f, err := strconv.ParseFloat(strings.ReplaceAll(n, ",", ""), 64)
	if err != nil || f < 0 {
		return ""
	}
	f *= decimal[strings.ToUpper(unit)]
	if f > 1e18 {
		return ""
	}
	return strconv.FormatFloat(f, 'f', 0, 64)
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

var yesNo = map[bool]string{true: "yes", false: "no"}

func wholeNumber(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

func itoa(n int) string { return strconv.Itoa(n) }
