package loadtext

import (
	"net/netip"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// KernelLog reads dmesg, journals and syslogs: the lines that speak of links. Others
// within are passed over.
var KernelLog = piece.Reader{
	Kind:     "log",
	Commands: []string{"dmesg", "journalctl", "talosctl", "kubectl", "grep", "tail"},
	Starts: func(line string) bool {
		text, stamp := logLine(line)
		return stamp.known && text != "" || unstampedEvent(text)
	},
	Read: reading(readKernelLog),
}

// logStamp is what stands before a message.
type logStamp struct {
	known   bool
	seconds float64
	host    string
}

var stampBoot = piece.Compile(`^(?:<\d+>)?\[ *(\d+\.\d+)\](?:\[ *[TC]\d+\])? ?(.*)$`)

var stampDate = piece.Compile(`^\[([A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d (?:[A-Z]{3,4} )?\d{4})\] (.*)$`)

var stampSyslog = piece.Compile(`^([A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d)(?:\.\d+)? (\S+) (?:kernel|[\w@./-]+(?:\[\d+\])?): (.*)$`)

var stampISO = piece.Compile(`^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?) (?:(\S+) (?:kernel|[\w@./-]+(?:\[\d+\])?): |)(.*)$`)

var stampTalos = piece.Compile(`^(?:([\w.:-]+): )?(?:kern|user|daemon): +\w+: \[([\dT:.Z-]+)\]: (.*)$`)

var stampLevel = piece.Compile(`^(?:kern|daemon|user|local\d) *:(?:emerg|alert|crit|err|warn|notice|info|debug) *: +(.*)$`)

// logLine parts a line into its message and what stands before it.
func logLine(line string) (string, logStamp) {
	text := strings.TrimSpace(line)
	stamp := logStamp{}
	if rest, ok := strings.CutPrefix(text, "kernel: "); ok {
		text, stamp.known = rest, true
	}
	if len(text) < 10 {
		return text, stamp
	}
	if text[0] == 'k' || text[0] == 'd' || text[0] == 'u' || text[0] == 'l' {
		if m := stampLevel.FindStringSubmatch(text); m != nil {
			text, stamp.known = m[1], true
		}
	}
	switch {
	case text == "":
	case text[0] == '[' || text[0] == '<':
		if m := stampBoot.FindStringSubmatch(text); m != nil {
			return m[2], logStamp{known: true, seconds: piece.Float(m[1])}
		}
		if m := stampDate.FindStringSubmatch(text); m != nil {
			return m[2], logStamp{known: true, seconds: unixTime(m[1], "Mon Jan _2 15:04:05 2006", "Mon Jan _2 15:04:05 MST 2006")}
		}
	case text[0] >= '0' && text[0] <= '9' && len(text) > 19 && text[4] == '-':
		if m := stampISO.FindStringSubmatch(text); m != nil {
			at := unixTime(strings.Replace(m[1], ",", ".", 1), time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04:05-0700", "2006-01-02 15:04:05.999999999")
			rest, inner := m[3], stampBoot.FindStringSubmatch(m[3])
			if inner != nil {
				rest = inner[2]
			}
			return rest, logStamp{known: at > 0, seconds: at, host: m[2]}
		}
	case text[3] == ' ' && text[0] >= 'A' && text[0] <= 'Z':
		if m := stampSyslog.FindStringSubmatch(text); m != nil {
			rest := m[3]
			if inner := stampBoot.FindStringSubmatch(rest); inner != nil {
				rest = inner[2]
			}
			return rest, logStamp{known: true, seconds: yearless(m[1]), host: m[2]}
		}
	}
	if strings.Contains(text, "kern:") || strings.Contains(text, "daemon:") {
		if m := stampTalos.FindStringSubmatch(text); m != nil {
			return m[3], logStamp{known: true, seconds: unixTime(m[2], time.RFC3339Nano), host: m[1]}
		}
	}
	return strings.TrimPrefix(strings.TrimLeft(text, "#*`-> "), "kernel: "), stamp
}

func unixTime(text string, layouts ...string) float64 {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return float64(t.UnixNano()) / 1e9
		}
	}
	return 0
}

// yearless is a syslog's time, in a year that nobody says: only distances count.
func yearless(text string) float64 {
	t, err := time.Parse("2006 Jan _2 15:04:05", "2000 "+text)
	if err != nil {
		return 0
	}
	return float64(t.Unix())
}

// eventShapes are the messages that count, by a word that each has, so that most
// lines are told by a search. The group, where there is one, is the link.
var eventShapes = []struct {
	mark, kind string
	shape      piece.Pattern
}{
	{"No 802.3ad response", "lacp-no-response", piece.Compile(`^(?:bonding: )?([\w.-]+): (?:Warning|warning): No 802\.3ad response`)},
	{"stopped DISTRIBUTING", "lagg-stopped", piece.Compile(`([\w.-]+): Interface stopped DISTRIBUTING`)},
	{"limited by", "pcie-limited", piece.Compile(`available PCIe bandwidth`)},
	{"available PCIe bandwidth", "pcie", piece.Compile(`available PCIe bandwidth \(`)},
	{"available PCIe bandwidth", "pcie-limited", piece.Compile(`available PCIe bandwidth`)},
	{"PCI Express bandwidth", "pcie-limited", piece.Compile(`PCI Express bandwidth of`)},
	{"Encoding Loss", "pcie-limited", piece.Compile(`Speed: ?[\d.]+GT/s, Width: ?x\d+`)},
	{"may be insufficient", "pcie-limited", piece.Compile(`bandwidth available for this device may be insufficient`)},
	{"PCI-Express: Speed", "pcie", piece.Compile(`PCI-Express: Speed [\d.]+GT/s Width x\d+`)},
	{"(PCI Express:", "pcie", piece.Compile(`\(PCI Express:[\d.]+GT/s:Width x\d+\)`)},
	{"device supports", "pcie", piece.Compile(`PCIe link (?:speed|width) is \S+, device supports`)},
	{"GHz", "pcie", piece.Compile(`PCI-E x\d+ [\d.]+GHz`)},
	{"PCIe: Speed", "pcie", piece.Compile(`PCIe: Speed [\d.]+GT/s Width x\d+`)},
	{"not sufficient for optimal performance", "pcie-limited", piece.Compile(`not sufficient for optimal performance`)},
	{"link status definitely down", "link-down", piece.Compile(`(?:\(slave ([^)]+)\): link status definitely down|link status definitely down for (?:interface|idle interface|active interface|backup interface) ([^,]+))`)},
	{"link status down", "link-down", piece.Compile(`(?:\(slave ([^)]+)\): link status down|link status down for (?:\w+ )?interface ([^,]+))`)},
	{"link status definitely up", "link-up", piece.Compile(`(?:\(slave ([^)]+)\): link status definitely up|link status definitely up for interface ([^,]+))`)},
	{"link status up", "link-up", piece.Compile(`(?:\(slave ([^)]+)\): link status up|link status up for (?:\w+ )?interface ([^,]+))`)},
	{"active interface up", "active-up", piece.Compile(`([\w.-]+): active interface up!`)},
	{"without any active interface", "no-active", piece.Compile(`([\w.-]+): now running without any active interface`)},
	{"new active one", "active-up", piece.Compile(`(?:\(slave ([^)]+)\): making interface the new active one|making interface ([\w.-]+) the new active one)`)},
	{"nslaving", "enslaved", piece.Compile(`(?:\(slave ([^)]+)\): Enslaving|[Ee]nslaving ([\w.-]+) as a)`)},
	{"Releasing", "released", piece.Compile(`(?:\(slave ([^)]+)\): Releasing|[Rr]eleasing (?:active|backup) interface ([\w.-]+)?)`)},
	{"Released all slaves", "released", piece.Compile(`([\w.-]+)(?: \(unregistering\))?: Released all slaves`)},
	{"Removing an active aggregator", "lacp", piece.Compile(`([\w.-]+): (?:\(slave [^)]+\): )?Removing an active aggregator`)},
	{"illegal loopback", "loopback", piece.Compile(`([\w.-]+): (?:\(slave ([^)]+)\): )?An illegal loopback occurred`)},
	{"speed changed to 0", "speed", piece.Compile(`(?:\(slave ([^)]+)\): )?speed changed to 0 (?:on|for) port (?:\d+\b|(\S+))`)},
	{"link speed/duplex", "speed", piece.Compile(`(?:\(slave ([^)]+)\): )?failed to get link speed/duplex(?: for (\S+))?`)},
	{"get speed and duplex", "speed", piece.Compile(`(?:failed|unable) to get speed and duplex from (\S+?),`)},
	{"permanent HWaddr", "mac", piece.Compile(`permanent HWaddr of (?:slave|(\S+))`)},
	{"Downshift occurred", "downshift", piece.Compile(`(?:([a-z][\w.-]*\d): )?.*Downshift occurred from negotiated speed`)},
	{"downgraded by SmartSpeed", "downshift", piece.Compile(`(?:([a-z][\w.-]*\d):? )?.*[Ss]peed was downgraded by SmartSpeed`)},
	{"NETDEV WATCHDOG", "watchdog", piece.Compile(`NETDEV WATCHDOG: ([\w.@-]+)`)},
	{"transmit queue", "watchdog", piece.Compile(`(?:([\w.-]+) )?.*transmit queue \d+ timed out`)},
	{"Tx Unit Hang", "hang", piece.Compile(`(?:([\w.-]+): )?Detected Tx Unit Hang`)},
	{"Hardware Unit Hang", "hang", piece.Compile(`(?:([\w.-]+): )?Detected Hardware Unit Hang`)},
	{"eset adapter", "reset", piece.Compile(`(?:([\w.-]+): )?[Rr]eset adapter`)},
	{"adapter reset", "reset", piece.Compile(`(?:([\w.-]+): )?[Aa]dapter reset`)},
	{"MTU", "mtu", piece.Compile(`(?:([\w.-]+): )?(?:[Cc]hanging MTU from \d+ to \d+|[Cc]hanged mtu|changing MTU|MTU (?:too|greater|larger|smaller|less|not supported|change)|Invalid MTU|[Ff]ailed to (?:set|change) MTU|mtu (?:greater|less) than)`)},
	{"mtu", "mtu", piece.Compile(`(?:([\w.-]+): )?(?:mtu (?:greater|less) than device|changing mtu from|change of mtu|set mtu to)`)},
	{"checksum", "checksum", piece.Compile(`(?:([\w.-]+): )?(?:.*(?:hw csum failure|bad checksum|mixed HW and IP checksum|[Cc]hecksum (?:error|failure)|TX checksum|checksum offload))`)},
	{"hw csum failure", "checksum", piece.Compile(`([\w.-]+): hw csum failure`)},
	{"neighbor table overflow", "arp-overflow", piece.Compile(`neighbor table overflow`)},
	{"table full", "conntrack-full", piece.Compile(`nf_conntrack: .*table full`)},
	{"SYN flooding", "other", piece.Compile(`[Pp]ossible SYN flooding on port`)},
	{"TCP: out of memory", "other", piece.Compile(`TCP: out of memory`)},
	{"Out of socket memory", "other", piece.Compile(`Out of socket memory`)},
	{"martian source", "other", piece.Compile(`martian source .* on dev (\S+)`)},
	{"extra channel", "channel-failed", piece.Compile(`(?:[Ff]ailed to open|too many).*(?:extra )?channel`)},
	{"channel open attempts", "channel-failed", piece.Compile(`too many channel open attempts`)},
	{"renamed from", "renamed", piece.Compile(`([\w.@-]+): renamed from \S+`)},
	{"lag map", "lacp", piece.Compile(`lag map`)},
	{"lacp", "lacp", piece.Compile(`(?i)\b(?:lacp|802\.3ad)\b.*(?:fail|expired|timeout|mismatch|not (?:in|negoti)|defaulted|down)`)},
	{"Link is Up", "link-up", piece.Compile(`(?:([\w.-]+): )?(?:[Nn][Ii][Cc] )?Link is Up`)},
	{"Link is up", "link-up", piece.Compile(`(?:([\w.-]+): )?(?:[Nn][Ii][Cc] )?Link is up`)},
	{"Link is Down", "link-down", piece.Compile(`(?:([\w.-]+): )?(?:[Nn][Ii][Cc] )?Link is Down`)},
	{"Link is down", "link-down", piece.Compile(`(?:([\w.-]+): )?(?:[Nn][Ii][Cc] )?Link is down`)},
	{"Link up", "link-up", piece.Compile(`(?:([\w.-]+): )Link up`)},
	{"Link down", "link-down", piece.Compile(`(?:([\w.-]+): )Link down`)},
	{"link up", "link-up", piece.Compile(`([\w.-]+): (?:([a-z][\w.@-]*\d[\w.@-]*) )?link up`)},
	{"link down", "link-down", piece.Compile(`([\w.-]+): (?:([a-z][\w.@-]*\d[\w.@-]*) )?link down`)},
	{"Set it down before adding it as a team port", "not-added", piece.Compile(`Device (\S+) is up\. Set it down before adding it as a team port`)},
	{"ust be down before it can be", "not-added", piece.Compile(`(?:slave|[Dd]evice) (\S+) must be down before it can be (?:added|enslaved)`)},
	{"is up - this may be due to an out of date ifenslave", "not-added", piece.Compile(`(\S+) is up - this may be due to an out of date ifenslave`)},
	{"carrier: link connected", "link-up", piece.Compile(`\(([\w.-]+)\): carrier: link connected`)},
	{"Gained carrier", "link-up", piece.Compile(`([\w.-]+): Gained carrier`)},
	{"Lost carrier", "link-down", piece.Compile(`([\w.-]+): Lost carrier`)},
	{"link becomes ready", "link-up", piece.Compile(`([\w.-]+): link becomes ready`)},
	{"is not ready", "link-down", piece.Compile(`([\w.-]+): link is not ready`)},
	{"link state changed to", "link-up", piece.Compile(`([\w.-]+): link state changed to UP`)},
	{"link state changed to", "link-down", piece.Compile(`([\w.-]+): link state changed to DOWN`)},
	{"[offline]", "wait-failed", piece.Compile(`Connecting\.+ +\d+s \[offline\]`)},
	{"ait-online", "wait-failed", piece.Compile(`[\w-]*[Ww]ait-online(?:@[\w.-]+)?\.service: (?:Main process exited|Failed)`)},
	{"Failed to start", "wait-failed", piece.Compile(`Failed to start .*(?:Wait Online|Wait for Network|wait-online)`)},
	{"Timeout occurred while waiting for network", "wait-failed", piece.Compile(`Timeout occurred while waiting for network connectivity`)},
	{"moved from", "arp-moved", piece.Compile(`arp: \S+ moved from [0-9a-f:]{17} to [0-9a-f:]{17} on (\S+)`)},
	{"entered promiscuous", "bridged", piece.Compile(`(?:device )?([\w.-]+):? entered promiscuous`)},
	{"left promiscuous", "unbridged", piece.Compile(`(?:device )?([\w.-]+):? left promiscuous`)},
}

// logShape is how a message without a stamp begins: with who says it.
var logShape = piece.Compile(`^[\w.@:-]+(?: [\w.@:-]+){0,2}(?: \([^)]*\))?: `)

// unstampedEvent reports a message without a stamp: prose speaks of links too, so it
// names a link or a card.
func unstampedEvent(text string) bool {
	kind, link := eventAndLink(text)
	if kind == "downshift" {
		return true // words that nobody says
	}
	if kind == "" || !logShape.MatchString(text) {
		return false
	}
	switch kind {
	case "lacp-no-response", "lagg-stopped", "pcie-limited", "pcie", "watchdog", "channel-failed", "arp-overflow", "arp-moved", "conntrack-full", "no-active", "active-up", "released", "enslaved", "not-added":
		return true
	}
	return strings.ContainsAny(link, "0123456789") || cardLink.MatchString(text)
}

// eventAndLink are the kind of a message and its link; "" for one that does not count.
func eventAndLink(text string) (kind, link string) {
	for i := range eventShapes {
		e := &eventShapes[i]
		if !strings.Contains(text, e.mark) {
			continue
		}
		m := e.shape.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		for _, g := range m[1:] {
			if g != "" {
				link = g
			}
		}
		return e.kind, logLink(text, link)
	}
	return "", ""
}

var afterBDF = piece.Compile(`(?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7] ([A-Za-z][\w.@-]*?)(?: \([^)]*\))?:`)

// colonBDF is how older drivers (bnx2, tg3, ixgbe before 3.13) write card and link.
var colonBDF = piece.Compile(`((?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]): ([a-z][a-z_.@-]*[0-9][\w.@-]*): `)

// logLink is the link that a message is of: drivers put the card's address before it,
// and messages of drivers alone name none.
func logLink(text, link string) string {
	if m := afterBDF.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	if m := colonBDF.FindStringSubmatch(text); m != nil && !knownDrivers[m[2]] {
		return m[2]
	}
	if isBDF(link) || knownDrivers[link] {
		return ""
	}
	return strings.TrimSpace(link)
}

var knownDrivers = piece.Words("ixgbe igb igc e1000 e1000e i40e ice bnx2 bnx2x bnxt_en mlx4_en mlx4_core mlx5_core tg3 r8168 r8169 r8125 atlantic be2net qede ena virtio_net vmxnet3 bonding bond kernel alx sfc cxgb4 enic hv_netvsc CIFS VFS")

var bdfShape = piece.Compile(`^(?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`)

func isBDF(s string) bool { return bdfShape.MatchString(s) }

func readKernelLog(s *sink, lines []piece.Line) (read int) {
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		text, stamp := logLine(l.Text)
		if text == "" && !stamp.known {
			continue
		}
		used := 1
		if next, ok := wrapped(text, lines[i+1:]); ok {
			text, used = text+" "+next, 2
		}
		kind, link := eventAndLink(text)
		if !stamp.known && !unstampedEvent(text) {
			break
		}
		s.usbLog(text, l)
		if kind != "" {
			at := l.Source()
			at.To = lines[i+used-1].Number
			of := s.logged(stamp.host, l)
			of.Host.Events = append(of.Host.Events, piece.Event{Text: text, Kind: kind, Link: link, Seconds: stamp.seconds, Source: at})
			of.logFacts(kind, link, text, l)
		}
		i += used - 1
		read = i + 1
	}
	return read
}

// logged is the sink for a line that names its host: that host, but where nobody else
// names one, the one whose text this is.
func (s *sink) logged(host string, l piece.Line) *sink {
	if host == "" || piece.HostName(host) == s.Segment.Host || isAddress(host) {
		return s
	}
	if s.Segment.Host == "" {
		s.Set("host", "name", piece.HostName(host), l)
		return s
	}
	other := *s
	other.Host = s.C.Host(piece.HostName(host))
	return &other
}

func isAddress(s string) bool { _, err := netip.ParseAddr(s); return err == nil }

// wrapped is the rest of a message that mail broke: the one of the PCI core is long.
func wrapped(text string, rest []piece.Line) (string, bool) {
	if len(rest) == 0 || !strings.Contains(text, "available PCIe bandwidth") || strings.Contains(text, "link)") || strings.HasSuffix(text, ")") {
		return "", false
	}
	next := strings.TrimSpace(rest[0].Text)
	if strings.HasPrefix(next, "[") || !strings.Contains(next, "capable of") && !strings.Contains(next, "link at") && !strings.Contains(next, "GT/s") {
		return "", false
	}
	return next, true
}

var pcieNew = piece.Compile(`(?:[\w_]+ )?((?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])(?: \S+)?: ([\d.]+) Gb/s available PCIe bandwidth(?:, limited by ([\d.]+) GT/s (?:PCIe )?x(\d+) link(?: at ((?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]))?)?(?: \(capable of ([\d.]+) Gb/s with ([\d.]+) GT/s (?:PCIe )?x(\d+))?`)

var pcieFits = piece.Compile(`((?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])(?: \S+)?: ([\d.]+) Gb/s available PCIe bandwidth \(([\d.]+) GT/s (?:PCIe )?x(\d+) link\)`)

var pcieOld = piece.Compile(`((?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])(?: \S+)?: PCI Express bandwidth of ([\d.]+)GT/s available`)

var pcieWidth = piece.Compile(`((?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])(?: \S+)?: \(?(?:Speed|PCI-Express: Speed|PCIe: Speed): ?([\d.]+)GT/s, Width: ?x(\d+)`)

var pcieSaid = piece.Compile(`((?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])(?: \S+)?: PCI-?E(?:xpress|xpress)?: Speed ([\d.]+)GT/s Width x(\d+)`)

// pcieBoot is what Intel's drivers say at the start: "(PCI Express:5.0GT/s:Width x8)".
var pcieBoot = piece.Compile(`((?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])(?: \S+)?: (?:\S+: )?\(PCI Express:([\d.]+)GT/s:Width x(\d+)\)`)

// pcieOfTwo is mlx4's: "PCIe link width is x4, device supports x8", speed alike.
var pcieOfTwo = piece.Compile(`((?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]): PCIe link (speed|width) is x?([\d.]+)(?:GT/s)?, device supports x?([\d.]+)`)

// pcieClock is bnx2x's: "PCI-E x8 5GHz (Gen2) found at mem".
var pcieClock = piece.Compile(`((?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])(?: \S+)?: .*PCI-E x(\d+) ([\d.]+)GHz`)

// pcieComplaint is a driver's own word that the slot is too slow for its card (ixgbe,
// i40e).
var pcieComplaint = piece.Compile(`((?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])(?: \S+)?: .*(?:not sufficient for optimal performance|may be insufficient)`)

var logSpeed = piece.Compile(`(?:Up,? (?:- )?|up at |up - |definitely up(?: for interface [\w.-]+)?, |[Ll]ink up,? )([\d.]+) ?([GMgm])b(?:ps|it|/s)`)

var logFlow = piece.Compile(`Flow [Cc]ontrol: (\S+)`)

var logDuplex = piece.Compile(`(?i)\b(full|half)[ -]duplex`)

var cardLink = piece.Compile(`((?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) ([A-Za-z][\w.@-]*):`)

// fullBDF is a PCI address with its domain.
func fullBDF(s string) string {
	if strings.Count(s, ":") == 1 {
		return "0000:" + s
	}
	return s
}

// logFacts notes what messages say of cards and links beside that they happened.
func (s *sink) logFacts(kind, link, text string, l piece.Line) {
	m := cardLink.FindStringSubmatch(text)
	if m == nil {
		m = colonBDF.FindStringSubmatch(text)
	}
	if m != nil && !knownDrivers[m[2]] {
		s.Set("link "+m[2], "bus", fullBDF(m[1]), l)
	}
	switch kind {
	case "pcie-limited", "pcie":
		s.logPCIe(text, l)
	case "link-up":
		if link == "" {
			return
		}
		if m := logSpeed.FindStringSubmatch(text); m != nil {
			s.Set("link "+link, "log_speed", wholeMegabits(m[1], m[2]), l)
		} else if m := logMegabits.FindStringSubmatch(text); m != nil {
			s.Set("link "+link, "log_speed", m[1], l)
		}
		if m := logDuplex.FindStringSubmatch(text); m != nil {
			s.Set("link "+link, "log_duplex", strings.ToLower(m[1]), l)
		}
		if m := logFlow.FindStringSubmatch(text); m != nil {
			s.Set("link "+link, "log_flow_control", m[1], l)
		}
	}
}

var logMegabits = piece.Compile(`, (\d+) ?Mbps`)

// wholeMegabits is a speed as whole Mbit/s.
func wholeMegabits(value, unit string) string {
	v := piece.Float(value)
	if strings.EqualFold(unit, "G") {
		v *= 1000
	}
	return strings.TrimSuffix(strings.TrimRight(piece.FormatFloat(v), "0"), ".")
}

// logPCIe reads what the PCI core (since 4.17) and older drivers say of a slot. What
// ixgbe prints is after encoding.
func (s *sink) logPCIe(text string, l piece.Line) {
	if m := pcieFits.FindStringSubmatch(text); m != nil {
		s.Set("pci "+fullBDF(m[1]), "available_gbps", m[2], l)
		s.Set("pci "+fullBDF(m[1]), "sta_speed", trimmed(m[3]), l)
		s.Set("pci "+fullBDF(m[1]), "sta_width", m[4], l)
		return
	}
	if m := pcieNew.FindStringSubmatch(text); m != nil {
		subject := "pci " + fullBDF(m[1])
		s.Set(subject, "available_gbps", m[2], l)
		for i, key := range []string{"limited_speed", "limited_width", "", "capable_gbps", "cap_speed", "cap_width"} {
			if key != "" && m[3+i] != "" {
				s.Set(subject, key, trimmed(m[3+i]), l)
			}
		}
		if m[5] != "" {
			s.Set(subject, "limited_by", fullBDF(m[5]), l)
		}
		return
	}
	if m := pcieOld.FindStringSubmatch(text); m != nil {
		s.Set("pci "+fullBDF(m[1]), "available_gbps", m[2], l)
		if driver, _, _ := strings.Cut(text, " "); knownDrivers[driver] {
			s.Set("pci "+fullBDF(m[1]), "driver", driver, l)
		}
	}
	if m := pcieComplaint.FindStringSubmatch(text); m != nil {
		s.Set("pci "+fullBDF(m[1]), "insufficient", "yes", l)
	}
	if m := pcieOfTwo.FindStringSubmatch(text); m != nil {
		s.Set("pci "+fullBDF(m[1]), "sta_"+m[2], trimmed(m[3]), l)
		s.Set("pci "+fullBDF(m[1]), "cap_"+m[2], trimmed(m[4]), l)
	}
	if m := pcieClock.FindStringSubmatch(text); m != nil {
		s.Set("pci "+fullBDF(m[1]), "sta_width", m[2], l)
		s.Set("pci "+fullBDF(m[1]), "sta_speed", trimmed(m[3]), l)
	}
	m := pcieWidth.FindStringSubmatch(text)
	if m == nil {
		m = pcieSaid.FindStringSubmatch(text)
	}
	if m == nil {
		m = pcieBoot.FindStringSubmatch(text)
	}
	if m != nil {
		s.Set("pci "+fullBDF(m[1]), "sta_speed", trimmed(m[2]), l)
		s.Set("pci "+fullBDF(m[1]), "sta_width", m[3], l)
	}
}

// trimmed is a number without zeroes behind the point: 8.0 is 8.
func trimmed(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}
