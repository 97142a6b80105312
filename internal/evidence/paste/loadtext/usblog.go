package loadtext

import (
	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

var usbNew = piece.Compile(`^usb (\d+-[\d.]+): (?:new|reset) (low-speed|full-speed|high-speed|SuperSpeed|SuperSpeed Gen 1|SuperSpeed Plus|SuperSpeed Plus Gen 2x?1?|SuperSpeed Plus Gen 2x2) USB device number`)

var usbProduct = piece.Compile(`^usb (\d+-[\d.]+): Product: .*(?:LAN|Ethernet|Network|NIC|10/100|AX88|RTL81|AQC)`)

// usbBelow is a device that could do more than its port.
var usbBelow = piece.Compile(`^usb (\d+-[\d.]+): not running at top speed`)

// usbOther is a device that is no network adapter, as its name or its driver says.
var usbOther = piece.Compile(`^usb (\d+-[\d.]+): Product: |^(?:usb-storage|uas|hub|usbhid) (\d+-[\d.]+):\d`)

var usbDriver = piece.Compile(`^(r8152|r8153_ecm|ax88179_178a|asix|cdc_ncm|cdc_ether|aqc111|smsc95xx|smsc75xx|lan78xx) (\d+-[\d.]+):\d+\.\d+`)

// usbSpeeds are the kernel's words in Mbit/s (usb_speed_string).
var usbSpeeds = map[string]string{"low-speed": "1.5", "full-speed": "12", "high-speed": "480", "SuperSpeed": "5000", "SuperSpeed Gen 1": "5000"}

var pcieLost = piece.Compile(`^\w+ [0-9a-f:.]+ ([\w.]+): PCIe link lost`)

// usbLog notes at what rate of the bus a USB network adapter came up, and a card whose PCIe link
// went away.
func (s *sink) usbLog(text string, l piece.Line) {
	if m := usbNew.FindStringSubmatch(text); m != nil {
		speed := usbSpeeds[m[2]]
		if speed == "" {
			speed = "10000"
		}
		s.Set("usbport "+m[1], "speed", speed, l)
		return
	}
	if m := pcieLost.FindStringSubmatch(text); m != nil {
		s.Set("link "+m[1], "pcie_lost", text, l)
		return
	}
	key, value, where := "product", "yes", ""
	if m := usbDriver.FindStringSubmatch(text); m != nil {
		key, value, where = "driver", m[1], m[2]
	} else if m := usbProduct.FindStringSubmatch(text); m != nil {
		where = m[1]
	} else if m := usbBelow.FindStringSubmatch(text); m != nil {
		where, key = m[1], "below"
	} else if m := usbOther.FindStringSubmatch(text); m != nil {
		where, key = m[1]+m[2], "other"
	}
	if x, ok := s.Host.Get("usbport "+where, "speed"); ok {
		s.Host.Set("usb "+where, "speed", x.Text, x.Source)
		s.Set("usb "+where, key, value, l)
	}
}
