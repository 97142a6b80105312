package procfs

import (
	"bytes"
	"fmt"
)

// evidence is the one table of the counters of /proc/net/netstat and snmp that say
// what TCP waits for on this host (Documentation/networking/snmp_counter.rst; the
// rest by the names of net/ipv4/proc.c). Those of TcpExt unless said.
var evidence = map[string]bool{
	// The receive buffer was full, or its packets took more memory than they
	// carry.
	"PruneCalled": true, "RcvPruned": true, "OfoPruned": true, "TCPRcvCollapsed": true, "TCPRcvQDrop": true,
	"TCPZeroWindowDrop": true, "TCPOFODrop": true,
	// The window went to nothing and came back: the reader is slow.
	"TCPToZeroWindowAdv": true, "TCPFromZeroWindowAdv": true, "TCPWantZeroWindowAdv": true, "TCPWinProbe": true,
	// The reader held the socket for so long that its backlog was full.
	"TCPBacklogDrop": true,
	// All sockets of the host together had no memory left (net.ipv4.tcp_mem).
	"TCPMemoryPressures": true, "TCPMemoryPressuresChrono": true, "PFMemallocDrop": true, "TCPWqueueTooBig": true,
	// Loss, and what it took to make it good.
	"TCPLostRetransmit": true, "TCPFastRetrans": true, "TCPSlowStartRetrans": true, "TCPTimeouts": true, "TCPLossProbes": true,
	"TCPLossProbeRecovery": true, "TCPSackRecovery": true, "TCPRenoRecovery": true, "TCPSackFailures": true,
	"TCPLossFailures": true, "TCPSackRecoveryFail": true, "TCPRetransFail": true, "TCPSACKReneging": true,
	// Repeated in vain: what was held for lost came late.
	"TCPSpuriousRTOs": true, "TCPDSACKRecv": true, "TCPDSACKOfoRecv": true, "TCPDSACKRecvSegs": true, "TCPDSACKUndo": true,
	"TCPFullUndo": true, "TCPPartialUndo": true, "TCPLossUndo": true,
	// Out of order.
	"TCPSACKReorder": true, "TCPRenoReorder": true, "TCPTSReorder": true, "TCPOFOQueue": true, "TCPOFOMerge": true,
	// What was to be sent again lay still in this host's own queue.
	"TCPSpuriousRtxHostQueues": true,
	// Slow start was left because round trips grew, not for loss.
	"TCPHystartTrainDetect": true, "TCPHystartDelayDetect": true,
	// Marked by a router (ECN), at the sender.
	"TCPDeliveredCE": true,
	// The path was chosen anew.
	"TcpTimeoutRehash": true, "TcpDuplicateDataRehash": true, "TCPPLBRehash": true,
	// Packets too large for the path (tcp_mtu_probing).
	"TCPMTUPFail": true, "TCPMTUPSuccess": true,
	// Arrived where no answer would leave by (rp_filter).
	"IPReversePathFilter": true,
	// IpExt: marked by a router, at the receiver; damaged.
	"InCEPkts": true, "InCsumErrors": true, "InTruncatedPkts": true,
	// Of snmp, with their group as nstat(8) says it: arrived with a wrong checksum.
	"TcpInCsumErrors": true, "UdpInCsumErrors": true,
}

// evidenceGroups are the groups of lines that evidence is of, and what stands before
// the names of each in the table.
var evidenceGroups = map[string]string{"TcpExt": "", "IpExt": "", "Tcp": "Tcp", "Udp": "Udp"}

// ParseEvidence reads /proc/net/netstat or snmp: those of its counters that are in
// the table and not zero. Not nil where the text has the groups; a text whose
// values do not match its names is an error.
func ParseEvidence(text []byte) (map[string]uint64, error) {
	out := make(map[string]uint64)
	var names, head []byte
	err := lines(text, func(line []byte) error {
		group, rest, ok := bytes.Cut(line, []byte(":"))
		before, known := evidenceGroups[string(group)]
		switch {
		case !ok || !known:
			return nil
		case names == nil:
			head, names = append(head[:0], group...), append([]byte(nil), rest...)
			return nil
		case !bytes.Equal(head, group):
			return fmt.Errorf("parse netstat: names of %.32q, then values of %.32q", head, group)
		}
		err := eachPair(names, rest, func(name, value []byte) error {
			if len(value) == 1 && value[0] == '0' {
				return nil
			}
			if before != "" {
				name = append([]byte(before), name...)
			}
			if !evidence[string(name)] {
				return nil
			}
			v, err := number(value, 10)
			if err != nil {
				return fmt.Errorf("parse netstat: %.32s: %w", name, err)
			}
			out[string(name)] = v
			return nil
		})
		names = nil
		return err
	})
	if err == nil && names != nil {
		err = fmt.Errorf("parse netstat: no values for %.32q", head)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// eachPair calls each with the words of two lines that belong together.
func eachPair(names, values []byte, each func(name, value []byte) error) error {
	for {
		var name, value []byte
		name, names = word(names)
		value, values = word(values)
		if (len(name) == 0) != (len(value) == 0) {
			return fmt.Errorf("parse netstat: names and values differ in number")
		}
		if len(name) == 0 {
			return nil
		}
		if err := each(name, value); err != nil {
			return err
		}
	}
}

// word is a line's first word and what is behind it; an empty word is its end.
func word(line []byte) (first, rest []byte) {
	for len(line) > 0 && line[0] == ' ' {
		line = line[1:]
	}
	if i := bytes.IndexByte(line, ' '); i >= 0 {
		return line[:i], line[i+1:]
	}
	return line, nil
}
