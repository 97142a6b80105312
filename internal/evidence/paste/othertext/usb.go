package othertext

import (
	"cmp"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// USB reads the bus that a USB network adapter hangs on: lsusb -t of Linux, the tree
// that DSM's lsusb prints, FreeBSD's usbconfig and macOS's system_profiler. Adapters
// are "usb NAME" with the bus's rate in Mbit/s.
var USB = piece.Reader{
	Kind:     "USB",
	Commands: []string{"lsusb", "usbconfig", "system_profiler"},
	Starts: func(line string) bool {
		return usbTree.MatchString(line) || usbDSM.MatchString(line) || usbBSD.MatchString(line) || usbRoot.MatchString(line) || usbID.MatchString(line)
	},
	Owns: func(s piece.Segment, line string) bool {
		return piece.Program(s.Command) == "system_profiler" && (usbMac.MatchString(line) || usbMacName.MatchString(line))
	},
	Read: reading(readUSB),
}

var usbRoot = piece.Compile(`^\s*/: +Bus \d+\.Port \d+: Dev \d+, Class=root_hub, Driver=\S+, (\d+)M`)

var usbTree = piece.Compile(`^[\s|]*\|__ Port \d+: Dev (\d+), If \d+, Class=([^,]*), Driver=([^,]*), ([\d.]+)M`)

var usbDSM = piece.Compile(`^[\s|]*\|__(\S+)\s+([0-9a-f]{4}:[0-9a-f]{4}):\S+ \S+\s+[\d.]+\s+([\d.]+)MBit/s \S+ \d+IFs?\s+\((.*)\)`)

var usbBSD = piece.Compile(`^(ugen[\d.]+): <(.*)> at usbus\d+, cfg=\d+ md=\w+ spd=(\w+) \((\d+)([MG])bps\)`)

var usbID = piece.Compile(`^\s*Bus (\d{3}) Device (\d{3}): ID ([0-9a-f]{4}:[0-9a-f]{4}) ?(.*)$`)

var usbMac = piece.Compile(`^\s+(Speed|Product ID|Vendor ID|Manufacturer|Version|Serial Number|Location ID|Current Available.*|Current Required.*|Extra Operating.*|Host Controller.*|PCI .*): (.*)$`)

var usbMacName = piece.Compile(`^\s+(\S.*):$`)

var usbMacSpeed = piece.Compile(`^Up to (\d+) ([MG])b/s$`)

// usbDrivers are those of network adapters.
var usbDrivers = piece.Words("r8152 r8153_ecm ax88179_178a asix cdc_ncm cdc_ether cdc_mbim aqc111 smsc75xx smsc95xx lan78xx dm9601 rtl8150 pegasus mcs7830 sr9700 ax_usb_nic")

var usbNetwork = piece.Compile(`(?i)\b(?:LAN|Ethernet|Network|NIC|10/100|Gigabit|RTL815[2-9]|AX88\d+|AQC\d+|2\.5G|5G ?base|10G|[\d.]+ ?GbE)\b`)

func readUSB(s *sink, lines []piece.Line) int {
	name := ""
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		if m := usbTree.FindStringSubmatch(l.Text); m != nil {
			if usbDrivers[m[3]] {
				s.adapter(m[3]+", device "+m[1], m[3], m[4], l)
			}
			return true
		}
		if m := usbDSM.FindStringSubmatch(l.Text); m != nil {
			if usbNetwork.MatchString(m[4]) && !strings.Contains(m[4], "Host Controller") {
				s.adapter(m[1]+" "+m[4], "", m[3], l)
			} else if strings.HasPrefix(m[1], "usb") {
				s.Set("usbbus "+m[1], "speed", m[3], l)
			}
			return true
		}
		if m := usbBSD.FindStringSubmatch(text); m != nil {
			if usbNetwork.MatchString(m[2]) {
				s.adapter(m[1]+" "+m[2], "", m[4]+map[string]string{"G": "000"}[m[5]], l)
			}
			return true
		}
		if m := usbRoot.FindStringSubmatch(l.Text); m != nil {
			s.Set("usbbus "+m[1], "speed", m[1], l)
			return true
		}
		if m := usbMac.FindStringSubmatch(l.Text); m != nil {
			if v := usbMacSpeed.FindStringSubmatch(m[2]); v != nil && usbNetwork.MatchString(name) {
				s.adapter(name, "", v[1]+map[string]string{"G": "000"}[v[2]], l)
			}
			return true
		}
		if m := usbMacName.FindStringSubmatch(l.Text); m != nil {
			name = m[1]
			return true
		}
		return usbID.MatchString(text) || strings.HasPrefix(text, "ID ") || strings.HasPrefix(text, "/sys/bus/usb") || strings.Contains(text, "|__")
	})
}

func (s *sink) adapter(name, driver, mbits string, l piece.Line) {
	subject := "usb " + cmp.Or(name, "adapter")
	s.Set(subject, "speed", mbits, l)
	s.SetIf(subject, "driver", driver, l)
}
