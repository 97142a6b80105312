// Package ethtool asks drivers about their links: speed, duplex, bus,
// features, permanent address, rings, channels, error counters. What a driver
// does not answer is unknown and said so; it is never a guess and never an
// error. It changes nothing.
//
// The ioctl calls are its own: the library at hand prints to standard output, and
// hands the kernel addresses of stacks that move.
package ethtool

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// Info is what the kernel says of one link. Zero fields are unknown.
type Info struct {
	// Speed is line rate as Ethernet counts it, each direction.
	Speed  unit.BitRate
	Duplex string // "full", "half"
	Driver string
	// Bus is where the device sits: a PCI address such as 0000:01:00.0, or
	// "virtio1", "usb-..." as the driver says.
	Bus          string
	PermanentMAC flow.MAC
	// Features are the offloads of the table in features.go, by the short
	// name that ethtool -K takes.
	Features map[string]bool
	// Device holds what the driver says beyond: firmware, modes, rings,
	// channels, moderation, pause, troubles counted, fixed features. Its
	// other fields are not the driver's to say.
	Device netstate.Device
	// Unknown says what was not answered and why, one line each.
	Unknown []string
}

// settings is the answer to ETHTOOL_GSET: struct ethtool_cmd of
// include/uapi/linux/ethtool.h.
const (
	settingsSize     = 44
	settingsSpeed    = 12 // low half, Mbit/s
	settingsDuplex   = 14
	settingsSpeedHi  = 28
	speedUnknownOld  = math.MaxUint16 // drivers older than speed_hi
	duplexHalf       = 0
	duplexFull       = 1
	driverInfoSize   = 196 // struct ethtool_drvinfo
	driverInfoDriver = 4
	driverInfoFw     = 68
	driverInfoBus    = 100
	driverInfoString = 32
	addressHead      = 8 // struct ethtool_perm_addr: cmd, size, data
)

// decodeSettings reads speed and duplex; zero and "" are unknown.
func decodeSettings(answer []byte) (speed unit.BitRate, duplex string) {
	if len(answer) < settingsSize {
		return 0, ""
	}
	native := binary.NativeEndian
	mbps := uint32(native.Uint16(answer[settingsSpeed:])) | uint32(native.Uint16(answer[settingsSpeedHi:]))<<16
	if mbps != speedUnknownOld && mbps <= math.MaxInt32 {
		speed = unit.BitRate(mbps) * unit.Mbps
	}
	switch answer[settingsDuplex] {
	case duplexHalf:
		duplex = "half"
	case duplexFull:
		duplex = "full"
	}
	return speed, duplex
}

// decodeDriver reads struct ethtool_drvinfo. Drivers without a firmware write
// nothing, or "N/A".
func decodeDriver(answer []byte) (driver, bus, firmware string) {
	if len(answer) < driverInfoSize {
		return "", "", ""
	}
	at := func(offset int) string { return text(answer[offset:][:driverInfoString]) }
	if firmware = at(driverInfoFw); firmware == "N/A" {
		firmware = ""
	}
	return at(driverInfoDriver), at(driverInfoBus), firmware
}

// decodeAddress reads struct ethtool_perm_addr; zero unless six bytes long.
func decodeAddress(answer []byte) (mac flow.MAC) {
	if len(answer) < addressHead+len(mac) || binary.NativeEndian.Uint32(answer[4:]) != uint32(len(mac)) {
		return mac
	}
	copy(mac[:], answer[addressHead:])
	return mac
}

// text is a C string in a field of fixed size.
func text(field []byte) string {
	s, _, _ := strings.Cut(string(field), "\x00")
	return strings.TrimSpace(strings.ToValidUTF8(s, "?"))
}

// speedReason says why a kind of link has no speed of its own; "" for a
// device that may have one. veth reports 10 Gbit/s, a tun device and a bridge
// likewise: constants of the driver that limit nothing (veth_get_link_ksettings,
// tun_get_link_ksettings).
func speedReason(kind string) string {
	switch kind {
	case "":
		return ""
	case "bond", "team", "vlan", "macvlan", "macvtap", "ipvlan":
		return fmt.Sprintf("speed: a %s runs at the rate of the links below it", kind)
	}
	return fmt.Sprintf("speed: a %s has no line rate", kind)
}
