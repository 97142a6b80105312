package netstate

import (
	"slices"
	"strings"
)

// CounterMeaning is what a driver's own counter (ethtool -S) tells of, "" for
// one that tells of no trouble.
type CounterMeaning string

// The meanings.
const (
	CounterPCIe          CounterMeaning = "pcie"           // the slot held the card back, or damaged what it carried
	CounterShaped        CounterMeaning = "shaped"         // a cloud's allowance was used up
	CounterPauseReceived CounterMeaning = "pause-received" // the far end of the cable asked for a pause
	CounterPauseSent     CounterMeaning = "pause-sent"     // this end did
	CounterPause         CounterMeaning = "pause"          // flow control, which way is not said
	CounterCable         CounterMeaning = "cable"          // cable, module, far transmitter
	CounterNoRoom        CounterMeaning = "no-room"        // for packets that arrived
	CounterTransmitter   CounterMeaning = "transmitter"    // packets that did not leave
	CounterError         CounterMeaning = "error"          // of a kind that the name does not say
	// CounterRingFull: the queue was stopped because the ring to the card had no
	// room. It is no error: a link that is full does it all the time.
	CounterRingFull CounterMeaning = "ring-full"
)

// meanings is the one table of what in the name of a driver's counter tells of
// trouble: parts that must all be in the name, the first that fits counts.
// Drivers name counters as they like; these are the words of mlx5, ice, i40e,
// ixgbe, igb, bnxt, bnx2x, cxgb4, qede, sfc, ena, gve, mana, hns3, virtio and tg3.
var meanings = [...]struct {
	meaning CounterMeaning
	parts   [][]string
}{
	{CounterPCIe, [][]string{{"outbound_pci"}, {"pci_signal"}}},
	{CounterShaped, [][]string{{"allowance_exceeded"}}},
	{CounterPauseReceived, [][]string{{"rx", "pause"}, {"rx", "xon"}, {"rx", "xoff"}, {"rx", "flow_control"}, {"rx", "pfc"}}},
	{CounterPauseSent, [][]string{{"tx", "pause"}, {"tx", "xon"}, {"tx", "xoff"}, {"tx", "flow_control"}, {"tx", "pfc"}}},
	{CounterPause, [][]string{{"pause"}, {"xon"}, {"xoff"}, {"pfc"}}},
	{CounterCable, [][]string{{"crc"}, {"fcs"}, {"symbol"}, {"align"}, {"uncorrect"}, {"code_err"}, {"illegal"}, {"fec", "err"}, {"fec", "fail"},
		{"jabber"}, {"fragments"}, {"undersize"}, {"oversize"}, {"length_err"}, {"local_fault"}, {"remote_fault"}, {"link_down"}}},
	{CounterTransmitter, [][]string{{"tx", "drop"}, {"tx", "discard"}, {"tx", "fifo"}, {"tx", "overflow"}, {"tx", "overrun"}, {"tx", "underrun"},
		{"timeout"}, {"hang"}, {"carrier_err"}, {"collision"}, {"tx_err"}}},
	{CounterNoRoom, [][]string{{"missed"}, {"no_buf"}, {"nobuf"}, {"out_of_buf"}, {"discard"}, {"drop"}, {"fifo"}, {"overflow"}, {"overrun"},
		{"no_dma"}, {"no_desc"}, {"alloc_fail"}, {"alloc_rx"}, {"buff_alloc_err"}}},
	{CounterError, [][]string{{"rx_err"}, {"_errors"}}},
	{CounterRingFull, [][]string{{"tx", "busy"}, {"restart_queue"}, {"queue_stop"}, {"tx", "stop"}}},
}

// innocent are parts of names that say no trouble whatever else is in them.
var innocent = [...]string{"xdp", "csum", "checksum", "corrected_bits", "fec_corrected", "cache", "ptp", "macsec", "ipsec", "tls", "steer_missed"}

// MeaningOf is what a driver's counter of that name tells of.
func MeaningOf(counter string) CounterMeaning {
	name := strings.ToLower(strings.NewReplacer(" ", "_", "-", "_", ".", "_").Replace(counter))
	for _, part := range innocent {
		if strings.Contains(name, part) {
			return ""
		}
	}
	for _, m := range meanings {
		for _, parts := range m.parts {
			if hasAll(name, parts) {
				return m.meaning
			}
		}
	}
	return ""
}

func hasAll(name string, parts []string) bool {
	return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(name, p) })
}
