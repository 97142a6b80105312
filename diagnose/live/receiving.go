package live

import (
	"fmt"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/internal/evidence/livetraffic"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// receiving says what limits a connection whose payload comes in, as far as
// this end knows: the reader, the buffer, the links and cores here. What the
// sender waits for only its own kernel knows.
func (v *view) receiving(f livetraffic.Flow) record.Finding {
	for _, rule := range []func(livetraffic.Flow) (record.Finding, bool){
		v.slowReader, v.fullIngress, v.busySoftirq, v.damagedIngress, v.cappedWindow, v.lossyIngress,
	} {
		if found, ok := rule(f); ok {
			return found
		}
	}
	reads := "what comes is read at once"
	if f.In.Unread > halfRead {
		reads = fmt.Sprintf("%v wait to be read, and the window has room for more", f.In.Unread)
	}
	return record.Finding{
		Cause: record.Unknown, Confidence: 0.3,
		Summary:  fmt.Sprintf("Nothing here is seen to limit it: %s, and no link or core is full. Run this on %s to see why the sender waits.", reads, f.Dst),
		Evidence: []record.Evidence{diagnose.Fact("unread, mean", f.In.Unread.String(), fromSockDiag+" rqueue"), diagnose.Fact("receive buffer", f.In.Buffer.String(), fromSockDiag+" SKMEMINFO")},
		Remedy:   fmt.Sprintf("`linerate explain --live` on %s", f.Dst),
		Missing:  []string{"the sender's own counters"},
	}
}

// halfRead is what may wait for a program that reads in rounds.
const halfRead = 128 * unit.KiB

// slowReader: what arrived waits for the program. One that a quota stops leaves it in
// its socket for a part of each period, in which no window has to be shut.
func (v *view) slowReader(f livetraffic.Flow) (record.Finding, bool) {
	if f.Program.Quota > 0 && f.Program.Throttled >= throttledShare && (f.In.Full >= starvedShare || f.In.Unread > halfRead) {
		return v.quota(f, record.ReceiverCPU), true
	}
	if f.In.Full < starvedShare {
		return record.Finding{}, false
	}
	evidence := []record.Evidence{
		diagnose.Fact("unread, mean", f.In.Unread.String(), fromSockDiag+" rqueue"),
		diagnose.Fact("looks in which it took more than half of the window", diagnose.Percent(f.In.Full), fromSockDiag+" rqueue, rcv_wnd"),
	}
	if found, ok := v.busyThread(f, record.ReceiverCPU, evidence); ok {
		return found, true
	}
	if f.Program.Threads > 0 {
		evidence = append(evidence, diagnose.Fact("its busiest thread", diagnose.Percent(f.Program.Ran)+" of a core", fromSchedule))
	}
	return record.Finding{
		Cause: record.Application, Confidence: 0.9,
		Summary:  fmt.Sprintf("%s does not read fast enough: %v waits in its socket, and the sender has to stop.", Who(f.Program), f.In.Unread),
		Evidence: evidence,
		Remedy:   "look at what the program waits for: its disk, what it does with the bytes, or its own limit",
	}, true
}

// fullIngress: the links that it can come by are full. Which port of a bond it
// comes by the switch decides.
func (v *view) fullIngress(f livetraffic.Flow) (record.Finding, bool) {
	ports, _, bond := v.watched.Host.Below(f.Way.Link)
	var full, room []string
	for _, l := range ports {
		switch load := v.links[l.Name]; {
		case load.inShare >= fullShare:
			full = append(full, l.Name)
		case load.inShare <= roomShare:
			room = append(room, l.Name)
		}
	}
	if len(full) == 0 {
		return record.Finding{}, false
	}
	load := v.links[full[0]]
	evidence := []record.Evidence{diagnose.Fact("received by "+full[0], fmt.Sprintf("%v, %s of what it carries", load.in, diagnose.Percent(load.inShare)), liveCounters)}
	if bond == nil || len(room) == 0 {
		return record.Finding{
			Cause: record.LineRate, Confidence: 0.9,
			Summary:  fmt.Sprintf("%s is full of what comes in (%s): this is all it carries.", full[0], diagnose.Percent(load.inShare)),
			Evidence: evidence, Remedy: "a faster link, or another one beside it",
		}, true
	}
	return record.Finding{
		Cause: record.HashImbalance, Confidence: 0.7,
		Summary:  fmt.Sprintf("%s is full of what comes in (%s) while %s has room: the switch's hash sends too much by one link of %s.", full[0], diagnose.Percent(load.inShare), room[0], bond.Name),
		Evidence: append(evidence, diagnose.Fact("received by "+room[0], diagnose.Percent(v.links[room[0]].inShare)+" of what it carries", liveCounters)),
		Remedy:   "let the switch hash ports too, or the senders use other ports: `linerate steer probe` finds out what the switch does",
		Expected: f.Received + max(0, v.links[room[0]].inCeiling-v.links[room[0]].in),
	}, true
}

// busySoftirq: a core has no time left for what comes in.
func (v *view) busySoftirq(f livetraffic.Flow) (record.Finding, bool) {
	for _, c := range v.watched.Cores {
		if c.Softirq < busyShare {
			continue
		}
		return record.Finding{
			Cause: record.ReceiverCPU, Confidence: 0.7,
			Summary: fmt.Sprintf("Core %d spends %s of its time taking packets in: there is no more in it.", c.Core, diagnose.Percent(c.Softirq)),
			Evidence: []record.Evidence{
				diagnose.Fact(fmt.Sprintf("core %d in software interrupts", c.Core), diagnose.Percent(c.Softirq), "/proc/stat"),
				diagnose.Fact("polls that ended with work left", fmt.Sprint(v.watched.SoftnetSqueezed), "/proc/net/softnet_stat"),
			},
			Remedy: "spread the card's queues over more cores, or use larger packets: `linerate inspect` says how they lie",
		}, true
	}
	return record.Finding{}, false
}

// cappedWindow: one window a round trip is what arrives, and it is read at
// once: a larger buffer would let more in.
func (v *view) cappedWindow(f livetraffic.Flow) (record.Finding, bool) {
	window := f.In.Window
	if window == 0 {
		window = f.In.Buffer / 2 // tcp_adv_win_scale 1
	}
	// The sender's round trip may be longer than the receiver's estimate.
	const law = 0.7
	could := unit.BitRate(0)
	if f.In.RTT > 0 {
		could = unit.FromBytes(float64(window), f.In.RTT.Seconds())
	}
	if could == 0 || f.Received < law*could {
		return record.Finding{}, false
	}
	return record.Finding{
		Cause: record.ReceiveWindow, Confidence: 0.6,
		Summary: fmt.Sprintf("A window of %v comes in every round trip of %s and is read at once: the receive buffer of %s is likely the limit.",
			window, brief(f.In.RTT), Who(f.Program)),
		Evidence: []record.Evidence{
			diagnose.Fact("window offered", window.String(), fromSockDiag+" rcv_wnd"), diagnose.Fact("receive buffer", f.In.Buffer.String(), fromSockDiag+" SKMEMINFO"),
			diagnose.Fact("round trip", brief(f.In.RTT), fromSockDiag+" rcv_rtt"), diagnose.Fact("unread, mean", f.In.Unread.String(), fromSockDiag+" rqueue"),
		},
		Remedy:  fmt.Sprintf("raise the largest of net.ipv4.tcp_rmem, or the SO_RCVBUF that %s asks for", Who(f.Program)),
		Missing: []string{"whether the sender waits for it: its own kernel knows"},
	}, true
}

// damagedIngress: segments come with a wrong checksum, as many of all as slow TCP down. A
// card drops what the wire damaged before TCP counts it.
func (v *view) damagedIngress(f livetraffic.Flow) (record.Finding, bool) {
	damaged, packets := v.watched.TCPExt["TcpInCsumErrors"], uint64(0)
	for _, other := range v.watched.Flows {
		packets += other.In.Packets
	}
	if damaged < fewestDamaged || float64(damaged) < lossShare*float64(packets) || f.In.OutOfOrder == 0 {
		return record.Finding{}, false
	}
	return record.Finding{
		Cause: record.Congestion, Confidence: 0.8,
		Summary: fmt.Sprintf("%d segments came here damaged, with a wrong checksum: they are discarded, and the sender slows down as for losses.", damaged),
		Evidence: []record.Evidence{
			diagnose.Fact("segments with a wrong checksum", fmt.Sprintf("+%d (TcpInCsumErrors)", damaged), "/proc/net/snmp"),
			diagnose.Fact("packets behind a gap", fmt.Sprintf("%d of %d", f.In.OutOfOrder, f.In.Packets), fromSockDiag+" rcv_ooopack"),
		},
		Remedy: diagnose.Undamaged("the sender", "this host"),
	}, true
}

// fewestDamaged are as many as tell more than chance.
const fewestDamaged = 10

// lossyIngress: packets come late or are missing. Which it is the sender knows.
func (v *view) lossyIngress(f livetraffic.Flow) (record.Finding, bool) {
	share := float64(f.In.OutOfOrder) / float64(max(f.In.Packets, 1))
	if f.In.OutOfOrder == 0 || share < lossShare {
		return record.Finding{}, false
	}
	return record.Finding{
		Cause: record.Congestion, Confidence: 0.5,
		Summary:  fmt.Sprintf("%s of the packets come after a gap: some are lost on the way here, or overtake each other.", diagnose.Percent(share)),
		Evidence: []record.Evidence{diagnose.Fact("packets behind a gap", fmt.Sprintf("%d of %d", f.In.OutOfOrder, f.In.Packets), fromSockDiag+" rcv_ooopack")},
		Remedy:   fmt.Sprintf("`linerate explain --live` on %s says which", f.Dst),
		Also:     []record.Alternative{{Cause: record.Reordering, Confidence: 0.3, Summary: "the packets overtake each other"}},
	}, true
}
