package othertext

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// GuestCards reads how a hypervisor gives its guests their cards: Proxmox's qm and pct
// configurations, libvirt's XML, domiflist and domiftune, a .vmx, and ESXi's traffic
// shaping. A card is "vnic GUEST/NAME".
var GuestCards = piece.Reader{
	Kind:     "guest's cards",
	Commands: []string{"qm", "pct", "virsh", "esxcli", "cat", "grep"},
	Starts: func(line string) bool {
		return pveNet.MatchString(line) || virtXML.MatchString(line) || virtRow.MatchString(line) || virtTune.MatchString(line) || vmxCard.MatchString(line) || esxShaping.MatchString(line)
	},
	Owns: func(s piece.Segment, line string) bool {
		return pveGuest(s) != "" && pveLine.MatchString(line) || strings.Contains(s.Command, "shaping get") && esxPair.MatchString(strings.TrimSpace(line))
	},
	Read: reading(readGuestCards),
}

var pveNet = piece.Compile(`^\s*(net\d+): (?:((?:virtio|e1000e?|e1000-82540em|e1000-82544gc|e1000-82545em|rtl8139|vmxnet3|ne2k_\w+|pcnet|i82551|i82557b|i82559er)=|model=|name=)\S*|\S*\bbridge=\S*)`)

var pveLine = piece.Compile(`^\s*[a-z_]+\d*: \S`)

var pveFile = piece.Compile(`(?:\bqm config|\bpct config|qemu-server/|lxc/)\s*(\d+)`)

var virtXML = piece.Compile(`^\s*(?:<interface type=|<model type=['"](?:virtio(?:-(?:non-)?transitional)?|e1000e?|rtl8139|pcnet|ne2k_pci|vmxnet3)['"]|<(?:in|out)bound average=)`)

var virtAttr = piece.Compile(`(\w+)=['"]([^'"]*)['"]`)

var virtRow = piece.Compile(`^\s*(\w[\w.-]*|-)\s+(bridge|network|direct|ethernet|user|vhostuser)\s+(\S+)\s+(virtio|e1000e?|rtl8139|pcnet|ne2k_pci|vmxnet3|-)\s+([0-9a-f]{2}(?::[0-9a-f]{2}){5})$`)

var virtTune = piece.Compile(`^\s*(inbound|outbound)\.(average|peak|burst|floor)\s*: ?(\d+)$`)

var vmxCard = piece.Compile(`^\s*(ethernet\d+)\.virtualDev\s*=\s*"(\w+)"`)

var esxShaping = piece.Compile(`^\s*(?:Average|Peak) Bandwidth: \d+ ?[KMG]bps$`)

var esxOf = piece.Compile(`(?:-[pv]|--(?:portgroup|vswitch)-name)[ =]"?([^"-][^"]*)`)

var esxKbps = piece.Compile(`^(\d+) ?([KMG]?)bps$`)

// pveGuest is the number of the guest whose configuration is printed; "" none.
func pveGuest(s piece.Segment) string {
	if m := pveFile.FindStringSubmatch(s.Command + " " + s.Path); m != nil {
		return m[1]
	}
	return ""
}

func readGuestCards(s *sink, lines []piece.Line) int {
	guest := pveGuest(s.Segment)
	if call := s.CallOf("virsh"); len(call) > 2 {
		guest = call[2]
	}
	card, n, shaped := "", 0, make(map[string]string)
	subject := func() string { return "vnic " + cmp.Or(guest, "guest") + "/" + cmp.Or(card, "net"+strconv.Itoa(n)) }
	var at piece.Line
	inside := false
	read := piece.EachLine(lines, func(l piece.Line, text string) bool {
		switch {
		case pveNet.MatchString(text):
			s.pveCard(cmp.Or(guest, "guest"), text, l)
		case strings.HasPrefix(text, "<"):
			if !inside && !virtXML.MatchString(text) {
				return false
			}
			attrs := make(map[string]string)
			for _, m := range virtAttr.FindAllStringSubmatch(text, 16) {
				attrs[m[1]] = m[2]
			}
			switch {
			case strings.HasPrefix(text, "<interface "):
				n, card, inside = n+1, "", true
			case strings.HasPrefix(text, "<model "):
				inside = true
				s.Set(subject(), "model", attrs["type"], l)
			case strings.HasPrefix(text, "<driver "):
				s.SetIf(subject(), "queues", attrs["queues"], l)
			case strings.HasPrefix(text, "<inbound"), strings.HasPrefix(text, "<outbound"):
				s.kilobytes(subject(), attrs["average"], l)
			case strings.HasPrefix(text, "</interface"):
				inside = false
			}
		case virtRow.MatchString(text):
			m := virtRow.FindStringSubmatch(text)
			card = m[1]
			s.SetIf(subject(), "model", m[4], l)
			s.Set(subject(), "bridge", m[3], l)
		case virtTune.MatchString(text):
			m := virtTune.FindStringSubmatch(text)
			if call := s.CallOf("virsh"); len(call) > 3 {
				card = call[3]
			}
			if m[2] == "average" {
				s.kilobytes(subject(), m[3], l)
			}
		case vmxCard.MatchString(text):
			m := vmxCard.FindStringSubmatch(text)
			card = m[1]
			s.Set(subject(), "model", strings.ToLower(m[2]), l)
		case esxShaping.MatchString(text), strings.HasPrefix(text, "Enabled: "), strings.HasPrefix(text, "Burst Size: "), strings.HasPrefix(text, "Override"):
			key, value, _ := strings.Cut(text, ": ")
			shaped[key], at = value, l
		case guest != "" && pveLine.MatchString(text):
			if name, ok := strings.CutPrefix(text, "name: "); ok {
				s.Set("guest "+guest, "name", name, l)
			}
		default:
			return strings.Trim(text, "- ") == "" || strings.HasPrefix(text, "Interface ") && strings.Contains(text, "Model")
		}
		return true
	})
	if m := esxKbps.FindStringSubmatch(shaped["Average Bandwidth"]); m != nil && shaped["Enabled"] != "false" {
		s.OfSystem("esxi", at)
		where := ""
		if name := esxOf.FindStringSubmatch(s.Segment.Command); name != nil {
			where = strings.TrimSpace(name[1])
		}
		if bits := piece.Bps(m[1], m[2]); bits != "" && bits != "0" {
			s.Set("vnic "+cmp.Or(where, "vSwitch"), "limit_bps", bits, at)
		}
	}
	return read
}

// pveCard reads a line such as net0: virtio=MAC,bridge=vmbr0,rate=100.
func (s *sink) pveCard(guest, text string, l piece.Line) {
	name, rest, _ := strings.Cut(text, ": ")
	subject := "vnic " + guest + "/" + name
	for i, part := range strings.Split(strings.TrimSpace(rest), ",") {
		key, value, _ := strings.Cut(part, "=")
		switch {
		case key == "model":
			s.SetIf(subject, "model", value, l)
		case i == 0 && key != "name" && key != "bridge":
			s.SetIf(subject, "model", key, l)
			s.SetIf(subject, "mac", piece.MacText(value), l)
		case key == "bridge" || key == "queues" || key == "mtu" || key == "tag":
			s.SetIf(subject, key, value, l)
		case key == "rate": // in MB/s, which tc is given as MiB (PVE::Network)
			if rate := piece.Float(value); rate > 0 {
				s.Set(subject, "limit_bps", strconv.FormatFloat(rate*8*1024*1024, 'f', 0, 64), l)
				s.Set(subject, "limit_words", "rate="+value+" (MB/s)", l)
			}
		}
	}
}

// kilobytes notes libvirt's average, in kilobytes a second; 0 is no limit.
func (s *sink) kilobytes(subject, average string, l piece.Line) {
	if n := piece.Float(average); n > 0 {
		s.Set(subject, "limit_bps", strconv.FormatFloat(n*8000, 'f', 0, 64), l)
		s.Set(subject, "limit_words", "average "+average+" KB/s", l)
	}
}

// sortedKeys are a map's keys in order.
func sortedKeys(m map[string]float64) []string { return slices.Sorted(maps.Keys(m)) }
