package ethtool

import (
	"encoding/binary"
	"strings"
)

// troubles is the one table of what in the name of a driver's counter tells of
// errors or drops: each entry is parts that must all be in the name. Drivers
// name counters as they like; these are the words of mlx5, ice, i40e, ixgbe,
// igb, bnxt, bnx2x, cxgb4, qede, sfc, ena, gve, mana, hns3, virtio and tg3.
var troubles = [...][]string{
	// Cable, module, far end's transmitter.
	{"crc"}, {"fcs"}, {"symbol"}, {"align"}, {"uncorrect"}, {"code_err"}, {"illegal"}, {"fec", "err"}, {"fec", "fail"},
	{"jabber"}, {"fragments"}, {"undersize"}, {"oversize"}, {"length_err"}, {"local_fault"}, {"remote_fault"}, {"link_down"},
	// No room where packets arrive.
	{"missed"}, {"no_buf"}, {"nobuf"}, {"no_buffer"}, {"out_of_buf"}, {"discard"}, {"drop"}, {"fifo"}, {"overflow"}, {"overrun"}, {"no_dma"}, {"no_desc"}, {"alloc_fail"}, {"alloc_rx"}, {"buff_alloc_err"},
	// Flow control.
	{"pause"}, {"xon"}, {"xoff"}, {"pfc"},
	// A cloud's shapers (ena).
	{"allowance_exceeded"},
	// Transmitter.
	{"timeout"}, {"hang"}, {"carrier_err"}, {"collision"}, {"tx_err"}, {"rx_err"}, {"_errors"},
}

// innocent are parts of names that say no trouble whatever else is in them.
var innocent = [...]string{"xdp", "csum", "checksum", "corrected_bits", "fec_corrected", "cache", "ptp", "macsec", "ipsec", "tls"}

// trouble reports whether a counter's name tells of errors or drops.
func trouble(name string) bool {
	name = strings.ToLower(strings.NewReplacer(" ", "_", "-", "_", ".", "_").Replace(name))
	for _, part := range innocent {
		if strings.Contains(name, part) {
			return false
		}
	}
next:
	for _, parts := range troubles {
		for _, part := range parts {
			if !strings.Contains(name, part) {
				continue next
			}
		}
		return true
	}
	return false
}

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
// the counters that tell of trouble and are not zero, by the driver's names.
// Two of one name are added up. Of more than keptStatistics the first are
// kept. Nil for none.
func decodeStatistics(names, values []byte) map[string]uint64 {
	var found map[string]uint64
	for i := 0; stringsHead+(i+1)*stringSize <= len(names) && statisticsHead+(i+1)*8 <= len(values); i++ {
		v := binary.NativeEndian.Uint64(values[statisticsHead+i*8:])
		if v == 0 {
			continue
		}
		name := text(names[stringsHead+i*stringSize:][:stringSize])
		if name == "" || !trouble(name) {
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
