package ethtool

import (
	"encoding/binary"

	"github.com/linerate/linerate/unit"
)

// modeSpeeds are the link modes that name a speed, by ranges of the bits of
// enum ethtool_link_mode_bit_indices (include/uapi/linux/ethtool.h, 124 of them in 2026), in
// Mbit/s. Bits between them are no speeds: ports, pause, FEC.
var modeSpeeds = [...]struct{ first, last, mbps int }{
	{0, 1, 10}, {2, 3, 100}, {4, 5, 1000}, {12, 12, 10000}, {15, 15, 2500},
	{17, 17, 1000}, {18, 20, 10000}, {21, 22, 20000}, {23, 26, 40000}, {27, 30, 56000},
	{31, 33, 25000}, {34, 35, 50000}, {36, 39, 100000}, {40, 40, 50000}, {41, 41, 1000},
	{42, 46, 10000}, {47, 47, 2500}, {48, 48, 5000}, {52, 56, 50000}, {57, 61, 100000},
	{62, 66, 200000}, {67, 67, 100}, {68, 68, 1000}, {69, 73, 400000}, {75, 79, 100000},
	{80, 84, 200000}, {85, 89, 400000}, {90, 91, 100}, {92, 92, 10}, {93, 98, 800000},
	{99, 102, 10}, {103, 108, 200000}, {109, 114, 400000}, {115, 120, 800000},
	{121, 124, 1600000},
}

// The mask's words that are no modes but say how the link is used.
const modeAutoneg = 6

// linkSettings is struct ethtool_link_settings, the answer to
// ETHTOOL_GLINKSETTINGS (Linux 4.6): a head and three masks of as many 32-bit
// words as the head says.
const (
	linkSettingsSize    = 48
	linkSettingsSpeed   = 4
	linkSettingsDuplex  = 8
	linkSettingsAutoneg = 11
	linkSettingsWords   = 15 // signed: negative is the kernel's own number
	mostModeWords       = 127
	autonegOff          = 0
	autonegOn           = 1
)

// modes are a link's own and its partner's possibilities; zero is unknown.
type modes struct {
	autoneg      *bool
	own, partner unit.BitRate
}

// decodeModes reads an answer to ETHTOOL_GLINKSETTINGS with its masks.
// Autonegotiation is unknown where the device supports none and says it is
// off: a virtual function or an SFP port with one speed.
func decodeModes(answer []byte) modes {
	if len(answer) < linkSettingsSize {
		return modes{}
	}
	words := int(int8(answer[linkSettingsWords]))
	if words <= 0 || len(answer) < linkSettingsSize+3*words*4 {
		return modes{}
	}
	mask := func(n int) []byte { return answer[linkSettingsSize+n*words*4:][:words*4] }
	var m modes
	m.own, m.partner = fastest(mask(0)), fastest(mask(2))
	switch answer[linkSettingsAutoneg] {
	case autonegOn:
		on := true
		m.autoneg = &on
	case autonegOff:
		if bit(mask(0), modeAutoneg) {
			off := false
			m.autoneg = &off
		}
	}
	return m
}

// bit reads one bit of a mask of 32-bit words.
func bit(mask []byte, n int) bool {
	if n/32*4+4 > len(mask) {
		return false
	}
	return binary.NativeEndian.Uint32(mask[n/32*4:])>>(n%32)&1 == 1
}

// fastest is the highest speed among a mask's modes; zero for none.
func fastest(mask []byte) unit.BitRate {
	most := 0
	for _, r := range modeSpeeds {
		for n := r.first; n <= r.last; n++ {
			if bit(mask, n) {
				most = max(most, r.mbps)
			}
		}
	}
	return unit.BitRate(most) * unit.Mbps
}
