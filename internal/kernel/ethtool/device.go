package ethtool

import (
	"encoding/binary"
	"math"

	"github.com/linerate/linerate/netstate"
)

// word reads the i-th 32-bit word of an answer, whose first is the command; as
// a count it is no more than an int32 holds.
func word(answer []byte, i int) int {
	if len(answer) < 4*(i+1) {
		return 0
	}
	return int(min(binary.NativeEndian.Uint32(answer[4*i:]), math.MaxInt32))
}

// Sizes of the structures below, in bytes.
const (
	ringsSize    = 9 * 4  // struct ethtool_ringparam
	channelsSize = 9 * 4  // struct ethtool_channels
	pauseSize    = 4 * 4  // struct ethtool_pauseparam
	coalesceSize = 23 * 4 // struct ethtool_coalesce
)

// decodeRings reads struct ethtool_ringparam: the most of rx, mini, jumbo and
// tx, then the same four as they are. Nil where the device has no rings.
func decodeRings(answer []byte) *netstate.Rings {
	r := netstate.Rings{RxMax: word(answer, 1), TxMax: word(answer, 4), Rx: word(answer, 5), Tx: word(answer, 8)}
	if r.RxMax == 0 && r.TxMax == 0 {
		return nil
	}
	return &r
}

// decodeChannels reads struct ethtool_channels: the most of rx, tx, other and
// combined, then the same four as they are.
func decodeChannels(answer []byte) *netstate.Channels {
	c := netstate.Channels{
		RxMax: word(answer, 1), TxMax: word(answer, 2), CombinedMax: word(answer, 4),
		Rx: word(answer, 5), Tx: word(answer, 6), Combined: word(answer, 8),
	}
	if c == (netstate.Channels{}) {
		return nil
	}
	return &c
}

// decodePause reads struct ethtool_pauseparam.
func decodePause(answer []byte) *netstate.Pause {
	if len(answer) < pauseSize {
		return nil
	}
	return &netstate.Pause{Autoneg: word(answer, 1) != 0, Rx: word(answer, 2) != 0, Tx: word(answer, 3) != 0}
}

// coalesceNames are the words of struct ethtool_coalesce behind the command,
// by the names of `ethtool -C`.
var coalesceNames = [...]string{
	"rx-usecs", "rx-frames", "rx-usecs-irq", "rx-frames-irq",
	"tx-usecs", "tx-frames", "tx-usecs-irq", "tx-frames-irq",
	"stats-block-usecs", "adaptive-rx", "adaptive-tx", "pkt-rate-low",
	"rx-usecs-low", "rx-frames-low", "tx-usecs-low", "tx-frames-low",
	"pkt-rate-high", "rx-usecs-high", "rx-frames-high", "tx-usecs-high", "tx-frames-high",
	"sample-interval",
}

// alwaysTold are the settings of interrupt moderation that are worth a word
// when they are zero, too: of the others zero is what a device that lacks them
// answers.
var alwaysTold = [...]string{"rx-usecs", "tx-usecs", "adaptive-rx", "adaptive-tx"}

// CoalesceNames lists the settings of interrupt moderation in the order of
// struct ethtool_coalesce, its command left out.
func CoalesceNames() []string { return append([]string(nil), coalesceNames[:]...) }

// decodeCoalesce reads struct ethtool_coalesce; nil when it is too short.
func decodeCoalesce(answer []byte) map[string]int {
	if len(answer) < coalesceSize {
		return nil
	}
	set := make(map[string]int)
	for _, name := range alwaysTold {
		set[name] = 0
	}
	for i, name := range coalesceNames {
		if v := word(answer, i+1); v != 0 {
			set[name] = v
		}
	}
	return set
}
