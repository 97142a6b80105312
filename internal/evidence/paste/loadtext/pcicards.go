package loadtext

import (
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// PCICards reads lspci, short and with -v to -vvv, and dmidecode of slots.
var PCICards = piece.Reader{
	Kind:     "lspci",
	Commands: []string{"lspci", "dmidecode"},
	Starts: func(line string) bool {
		text := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(text, "LnkCap:"), strings.HasPrefix(text, "LnkSta:"), strings.HasPrefix(text, "ACSCtl:"), strings.HasPrefix(text, "DevCtl:"), text == "System Slot Information":
			return true
		case strings.HasPrefix(text, "Capabilities: [") && strings.Contains(text, "Express"):
			return true
		}
		return len(text) > 8 && strings.Contains(text[:min(len(text), 13)], ".") && pciHead.MatchString(text)
	},
	Read: reading(readPCICards),
}

var pciHead = piece.Compile(`^((?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) ([A-Z][\w/ ()-]*?)(?: \[[0-9a-f]{4}\])?: (\S.*)$`)

var pciLink = piece.Compile(`Speed ([\d.]+|unknown)(?:GT/s)?(?: \((\w+)\))?, Width x(\d+)(?: \((\w+)\))?`)

var pciLine = piece.Compile(`^(?:Subsystem|Control|Status|Latency|Interrupt|Region|Capabilities|DevCap|DevCtl|DevSta|LnkCap|LnkCtl|LnkSta|Kernel driver|Kernel modules|NUMA node|Physical Slot|Expansion ROM|IOMMU group|Bus|I/O behind|Memory behind|Prefetchable|Secondary status|BridgeCtl|ACSC|Vector table|PBA|Address|Masking|Product Name|Read-only fields|\[[A-Z0-9]+\]|End|Flags|Part number|Serial number|Vital Product|RootC|RootSta|SltC|SltSta|AtomicOps|EqualizationComplete|Transmit Margin|Compliance|UESta|UEMsk|UESvrt|CESta|CEMsk|AERCap|HeaderLog|MaxPayload|ClockPM|ExtSynch|TrErr|CorrErr|RlxdOrd|ExtTag|PCI PM|IOV|Initial VFs|VF |Supported Page|ARI|LTR|L1Sub|T_|DevName|Device Serial|Subsystem|PriDiscTmr|Changed|Power|Slot|Target Link|Retimer|FRS|10BitTag|EmergencyPower|Max snoop|Max no snoop|LaneErr|Lane |Kernel|DeviceName|PCI-?X|Virtual|Arb|Port Arb|VC\d|Caps|Ctrl|Enable|LinkEqual)`)

var pciLetters = piece.Compile(`^(?:[A-Z]\w*[+-] ?)+`)

var pciPayload = piece.Compile(`MaxPayload (\d+) bytes(?:, MaxReadReq (\d+) bytes)?`)

var slotLine = piece.Compile(`^(Designation|Type|Current Usage|Length|ID|Characteristics|Bus Address|Data Bus Width|Slot Characteristics|Peer Devices|Height)\s*:\s*(.*)$`)

var slotWidth = piece.Compile(`^x(\d+) PCI Express(?: (?:Gen )?(\d))?`)

var slotOther = piece.Compile(`^(?:Handle 0x|# dmidecode|Getting SMBIOS|SMBIOS \d|Table at|\d+ structures|3\.3 V|5\.0 V|Opening is shared|PME signal|SMBus signal|Hot-plug|PCIe slot bifurcation|Supports)`)

// slotSpeeds are a generation's GT/s a lane (PCI Express Base Specification).
var slotSpeeds = map[string]string{"": "2.5", "1": "2.5", "2": "5", "3": "8", "4": "16", "5": "32", "6": "64"}

func readPCICards(s *sink, lines []piece.Line) int {
	for _, l := range lines[:min(len(lines), 6)] {
		if text := strings.TrimSpace(l.Text); text == "System Slot Information" {
			return s.slots(lines)
		} else if pciHead.MatchString(text) {
			break
		}
	}
	return s.lspci(lines)
}

// commandBDF is the card that a command names with -s; "" none.
func (s *sink) commandBDF() string {
	bdf := strings.Trim(s.CallOf("lspci").Value("-s"), `"'`)
	if strings.Count(bdf, ":") == 0 || !isBDF(bdf) {
		return ""
	}
	return fullBDF(bdf)
}

func (s *sink) lspci(lines []piece.Line) (read int) {
	subject := ""
	if bdf := s.commandBDF(); bdf != "" {
		subject = "pci " + bdf
	}
	nameless := subject == "" && ofOneCard(lines)
	section := ""
	bridges, redirect := 0, 0 // of lines that grep took from their cards
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		if m := pciHead.FindStringSubmatch(text); m != nil {
			subject, section = "pci "+fullBDF(m[1]), ""
			s.Set(subject, "name", m[3], l)
			s.Set(subject, "class", m[2], l)
			read = i + 1
			continue
		}
		if !pciLine.MatchString(text) && !pciLetters.MatchString(text) && !(i > 0 && (strings.HasPrefix(l.Text, "\t\t") || strings.HasPrefix(l.Text, "        "))) {
			break
		}
		key, rest, colon := strings.Cut(text, ":")
		if colon && (strings.HasPrefix(key, "Dev") || strings.HasPrefix(key, "Lnk") || strings.HasPrefix(key, "ACS")) {
			section = key
		}
		if subject == "" && key == "ACSCtl" {
			bridges++
			if strings.Contains(rest, "ReqRedir+") {
				redirect++
			}
			s.Set("host", "acs_bridges", strconv.Itoa(bridges), l)
			s.Set("host", "acs_redirecting", strconv.Itoa(redirect), l)
		}
		if subject == "" && nameless && (key == "LnkCap" || key == "LnkSta") {
			s.pciFacts("pci ", section, key, strings.TrimSpace(rest), text, l)
		}
		if subject != "" {
			s.pciFacts(subject, section, key, strings.TrimSpace(rest), text, l)
		}
		read = i + 1
	}
	return read
}

// ofOneCard reports lines that grep, or somebody who quotes, took from a single card:
// one LnkSta at most, and no card's first line.
func ofOneCard(lines []piece.Line) bool {
	states := 0
	for _, l := range lines {
		text := strings.TrimSpace(l.Text)
		if pciHead.MatchString(text) {
			return false
		}
		if strings.HasPrefix(text, "LnkSta:") {
			states++
		}
	}
	return states <= 1
}

// pciFacts reads a line below a card's first.
func (s *sink) pciFacts(subject, section, key, rest, text string, l piece.Line) {
	switch key {
	case "LnkCap", "LnkSta":
		m := pciLink.FindStringSubmatch(rest)
		if m == nil {
			return
		}
		prefix := map[string]string{"LnkCap": "cap_", "LnkSta": "sta_"}[key]
		if m[1] != "unknown" {
			s.Set(subject, prefix+"speed", trimmed(m[1]), l)
		}
		s.Set(subject, prefix+"width", m[3], l)
		if m[2] == "downgraded" || m[4] == "downgraded" {
			s.Set(subject, "downgraded", "yes", l)
		}
	case "LnkCtl":
		state, _, _ := strings.Cut(strings.TrimPrefix(rest, "ASPM "), ";")
		s.SetIf(subject, "aspm", strings.TrimSuffix(strings.ToLower(state), " enabled"), l)
	case "NUMA node":
		s.Set(subject, "numa", rest, l)
	case "Physical Slot":
		s.Set(subject, "slot", rest, l)
	case "Kernel driver in use":
		s.Set(subject, "driver", rest, l)
	case "Subsystem":
		s.Set(subject, "subsystem", rest, l)
	case "Product":
		s.SetIf(subject, "product", strings.TrimPrefix(rest, "Name: "), l)
	case "Bus":
		if strings.HasPrefix(rest, "primary=") {
			for _, part := range strings.Split(rest, ",") {
				if name, value, ok := strings.Cut(strings.TrimSpace(part), "="); ok && (name == "secondary" || name == "subordinate") {
					s.Set(subject, name+"_bus", value, l)
				}
			}
		}
	case "ACSCtl":
		var on []string
		for _, w := range strings.Fields(rest) {
			if strings.HasSuffix(w, "+") {
				on = append(on, w)
			}
		}
		if len(on) == 0 {
			on = []string{"off"}
		}
		s.Set(subject, "acs", strings.Join(on, " "), l)
	default:
		if m := pciPayload.FindStringSubmatch(text); m != nil && section == "DevCtl" {
			s.Set(subject, "payload", m[1], l)
			if m[2] != "" {
				s.Set(subject, "read_request", m[2], l)
			}
		} else if key == "Capabilities" && strings.Contains(rest, "Express") {
			for _, kind := range []string{"Endpoint", "Root Port", "Upstream Port", "Downstream Port"} {
				if strings.Contains(rest, kind) {
					s.Set(subject, "port_type", kind, l)
				}
			}
		}
	}
}

// slots reads dmidecode -t slot.
func (s *sink) slots(lines []piece.Line) (read int) {
	var name, width, speed, usage string
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		m := slotLine.FindStringSubmatch(text)
		switch {
		case text == "System Slot Information":
			name, width, speed, usage = "", "", "", ""
		case m != nil:
			switch m[1] {
			case "Designation":
				name = m[2]
			case "Type":
				if w := slotWidth.FindStringSubmatch(m[2]); w != nil {
					width, speed = w[1], slotSpeeds[w[2]]
				}
			case "Current Usage":
				usage = m[2]
				if name != "" {
					s.Set("slot "+name, "usage", usage, l)
					s.Set("slot "+name, "width", width, l)
				}
			case "Bus Address":
				if bdf := fullBDF(m[2]); isBDF(bdf) && width != "" {
					s.Set("pci "+bdf, "slot", name, l)
					s.Set("pci "+bdf, "slot_width", width, l)
					s.Set("pci "+bdf, "slot_speed", speed, l)
				}
			}
		case slotOther.MatchString(text):
		default:
			return read
		}
		read = i + 1
	}
	return read
}
