package ethtool

import (
	"encoding/binary"

	"github.com/linerate/linerate/netstate"
)

// trouble reports whether a counter's name tells of errors or drops.
func trouble(name string) bool {
	m := netstate.MeaningOf(name)
	return m != "" && m != netstate.CounterRingFull
}

// telling reports whether a counter's name tells why packets wait or are lost.
func telling(name string) bool { return netstate.MeaningOf(name) != "" }

// Layout of struct ethtool_stats and bounds of what a driver may claim.
const (
	statisticsHead = 8 // cmd, n_stats
	// mostStatistics bounds what a driver may claim to count; mlx5 with 128
	// channels has some 10000.
	mostStatistics = 1 << 16
	// keptStatistics bounds what one link's troubles may fill: a driver that
	// counts drops by queue has as many lines as queues.
	keptStatistics = 256
)

// decodeStatistics joins the answers to ETHTOOL_GSTRINGS and ETHTOOL_GSTATS:
// the counters that are wanted and not zero, by the driver's names.
// Two of one name are added up. Of more than keptStatistics the first are
// kept. Nil for none.
func decodeStatistics(names, values []byte, wanted func(string) bool) map[string]uint64 {
	var found map[string]uint64
	for i := 0; stringsHead+(i+1)*stringSize <= len(names) && statisticsHead+(i+1)*8 <= len(values); i++ {
		v := binary.NativeEndian.Uint64(values[statisticsHead+i*8:])
		if v == 0 {
			continue
		}
		name := text(names[stringsHead+i*stringSize:][:stringSize])
		if name == "" || !wanted(name) {
			continue
		}
		if found == nil {
			found = make(map[string]uint64)
		}
		if _, again := found[name]; !again && len(found) == keptStatistics {
			break
		}
		found[name] += v
	}
	return found
}
