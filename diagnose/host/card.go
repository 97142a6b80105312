package host

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// offloads are those without which a fast link costs cores, with what each
// does, by the short names of ethtool -K.
var offloads = [...]struct{ name, does string }{
	{"gro", "joins received segments"},
	{"gso", "hands large segments down the stack"},
	{"tso", "lets the card cut segments"},
	{"rx", "lets the card check sums"},
	{"tx", "lets the card write check sums"},
	{"sg", "sends from several places in memory"},
}

// multigig is from which rate a core of a small host does not receive packet by packet.
const multigig = 2500 * unit.Mbps

// offloadsOff finds ports whose offloads somebody switched off. Those that a
// device has not are fixed.
func offloadsOff(h netstate.Host) []Finding {
	var found []Finding
	for _, l := range h.Links {
		if !Physical(l) || !l.Up || l.Device == nil {
			continue
		}
		var off, commands []string
		var evidence []record.Evidence
		for _, o := range offloads {
			on, known := l.Offloads[o.name]
			if !known || on || slices.Contains(l.Device.Fixed, o.name) {
				continue
			}
			off = append(off, o.name+" ("+o.does+")")
			commands = append(commands, o.name+" on")
			evidence = append(evidence, diagnose.Fact(o.name+" of "+l.Name, "off", "ETHTOOL_GFEATURES"))
		}
		if len(off) == 0 {
			continue
		}
		severity := Info
		if gro, known := l.Offloads["gro"]; l.Speed >= fast || known && !gro && l.Speed >= multigig && !slices.Contains(l.Device.Fixed, "gro") {
			severity = Warning
		}
		found = append(found, Finding{
			Kind:     OffloadOff,
			What:     fmt.Sprintf("%s works without %s: each packet costs a core more", l.Name, strings.Join(off, ", ")),
			Severity: severity, Evidence: evidence,
			Remedy: fmt.Sprintf("ethtool -K %s %s", l.Name, strings.Join(commands, " ")),
		})
	}
	return found
}

// mergedWhileForwarding finds LRO on where packets are passed on: it loses
// the segments' own headers, so what is forwarded is wrong in size
// (dev_disable_lro is what the kernel does when forwarding is switched on).
func mergedWhileForwarding(h netstate.Host) []Finding {
	var found []Finding
	for _, l := range h.Links {
		if !Physical(l) || !l.Offloads["lro"] {
			continue
		}
		var why record.Evidence
		master, _ := h.Link(l.Master)
		switch {
		case master.Kind == "bridge":
			why = diagnose.Fact("bridge of "+l.Name, l.Master, "IFLA_MASTER")
		case confValue(h, "ipv4", l.Name, "forwarding") > 0:
			key := netstate.LinkSysctl("ipv4", l.Name, "forwarding")
			why = diagnose.Fact(key, "1", sysctlFile(key))
		case oneValue(h, "net.ipv4.ip_forward") == 1:
			why = diagnose.Fact("net.ipv4.ip_forward", "1", sysctlFile("net.ipv4.ip_forward"))
		default:
			continue
		}
		found = append(found, Finding{
			Kind:     LROForwards,
			What:     fmt.Sprintf("%s merges segments in hardware (LRO) and its packets are passed on: those arrive broken or not at all", l.Name),
			Severity: Warning, Evidence: []record.Evidence{diagnose.Fact("lro of "+l.Name, "on", "ETHTOOL_GFEATURES"), why},
			Remedy: fmt.Sprintf("ethtool -K %s lro off; GRO does the same and can be rolled back", l.Name),
		})
	}
	return found
}

// Shares of packets from which drops and pauses count.
const (
	droppedShare = 1e-6
	droppedLeast = 100
	pausedShare  = 1e-3
	pausedLeast  = 1000
)

// ringWords are parts of drivers' counters for packets that found no
// descriptor.
var ringWords = []string{"rx_missed", "rx_no_buf", "rx_nobuf", "no_buffer", "out_of_buf", "rx_no_dma", "rx_no_desc", "rx_fifo_err", "rx_over_err"}

// droppingRings finds ports that had no room for what arrived.
func droppingRings(h netstate.Host) []Finding {
	var found []Finding
	for _, l := range h.Links {
		if !Physical(l) || l.Counters.RxPackets == 0 {
			continue
		}
		n, name, source := l.Counters.RxMissed, "rx_missed_errors", "rtnl_link_stats64 rx_missed_errors"
		if v, stat := largest(l, ringWords); v > n {
			n, name, source = v, stat, fromStatistics
		}
		if n < droppedLeast || float64(n)/float64(l.Counters.RxPackets) < droppedShare {
			continue
		}
		f := Finding{
			Kind:     RingDrops,
			What:     fmt.Sprintf("%s had no room for %d packets that arrived, 1 in %.3g", l.Name, n, float64(l.Counters.RxPackets)/float64(n)),
			Severity: Warning,
			Evidence: []record.Evidence{diagnose.Fact(name, strconv.FormatUint(n, 10), source)},
			Remedy:   "spread its interrupts over more cores, and let adaptive moderation be on (ethtool -C " + l.Name + " adaptive-rx on)",
		}
		if l.Device != nil && l.Device.Rings != nil {
			r := l.Device.Rings
			f.Evidence = append(f.Evidence, diagnose.Fact("receive ring of "+l.Name, fmt.Sprintf("%d of at most %d", r.Rx, r.RxMax), "ETHTOOL_GRINGPARAM"))
			if r.Rx < r.RxMax {
				f.Remedy = fmt.Sprintf("ethtool -G %s rx %d (the link goes down for a moment)", l.Name, r.RxMax)
			}
		}
		found = append(found, f)
	}
	return found
}

// pauseWords are parts of drivers' counters for pause frames received.
var pauseWords = []string{"rx_pause", "rx_global_pause", "rx_flow_control", "rx_xoff", "rx_link_xoff", "rx_mac_ctrl_pause", "rx_prio0_pause", "rx_pfc"}

// pausedLinks finds ports that the far end holds back with pause frames.
func pausedLinks(h netstate.Host) []Finding {
	var found []Finding
	for _, l := range h.Links {
		if !Physical(l) || l.Counters.TxPackets == 0 || l.Device == nil {
			continue
		}
		if p := l.Device.Pause; p != nil && !p.Rx {
			continue // it does not obey them
		}
		n, name := largestBut(l, pauseWords, []string{"duration", "transition", "storm"})
		if n < pausedLeast || float64(n)/float64(l.Counters.TxPackets) < pausedShare {
			continue
		}
		found = append(found, Finding{
			Kind:     PauseFrames,
			What:     fmt.Sprintf("the far end of %s slows it with pause frames, one for every %.3g packets it sends", l.Name, float64(l.Counters.TxPackets)/float64(n)),
			Severity: Warning,
			Evidence: []record.Evidence{diagnose.Fact(name, strconv.FormatUint(n, 10), fromStatistics), diagnose.Fact("packets sent", strconv.FormatUint(l.Counters.TxPackets, 10), "rtnl_link_stats64 tx_packets")},
			Remedy:   fmt.Sprintf("look for the slow receiver behind the switch port; if losing packets is better than waiting for it: ethtool -A %s rx off", l.Name),
		})
	}
	return found
}

// largestBut is largest without counters that have another word in them.
func largestBut(l netstate.Link, words, but []string) (uint64, string) {
	kept := make(map[string]uint64)
	for n, v := range l.Device.Statistics {
		if !slices.ContainsFunc(but, func(w string) bool { return strings.Contains(strings.ToLower(n), w) }) {
			kept[n] = v
		}
	}
	device := *l.Device
	device.Statistics = kept
	l.Device = &device
	return largest(l, words)
}

// cappedLinks finds interfaces of a cloud that dropped what was above the
// instance's allowance (the ena driver's *_allowance_exceeded).
func cappedLinks(h netstate.Host) []Finding {
	var found []Finding
	for _, l := range h.Links {
		n, name := largest(l, []string{"allowance_exceeded"})
		packets := l.Counters.RxPackets + l.Counters.TxPackets
		if !Physical(l) || packets == 0 || n < droppedLeast || float64(n)/float64(packets) < droppedShare {
			continue
		}
		found = append(found, Finding{
			Kind:     CloudCap,
			What:     fmt.Sprintf("the cloud dropped or delayed %d packets of %s: the instance's allowance was used up", n, l.Name),
			Severity: Info,
			Evidence: []record.Evidence{diagnose.Fact(name, strconv.FormatUint(n, 10), fromStatistics)},
			Remedy:   "no setting helps: a larger instance, or fewer and larger packets",
		})
	}
	return found
}

// poorSlots finds cards that run below what they could, although their ports
// do not need it now.
func poorSlots(h netstate.Host) []Finding {
	narrow := narrowSlots(h)
	var found []Finding
	for _, c := range h.Cards {
		better := predict.BetterSlot(c)
		said := slices.ContainsFunc(narrow, func(f Finding) bool { return strings.Contains(f.What, "card "+c.Name+" ") })
		carries := slices.ContainsFunc(h.Links, func(l netstate.Link) bool { return l.Card == c.Name && l.Up })
		if better == "" || said || !carries {
			continue
		}
		found = append(found, Finding{
			Kind:     CardBelow,
			What:     fmt.Sprintf("card %s runs at PCIe generation %d x%d: %s", c.Name, c.Generation, c.Lanes, better),
			Severity: Info,
			Evidence: []record.Evidence{
				diagnose.Fact(c.Name, fmt.Sprintf("PCIe generation %d x%d", c.Generation, c.Lanes), diagnose.FromSlot),
				diagnose.Fact(c.Name+" at most", fmt.Sprintf("PCIe generation %d x%d", max(c.MaxGeneration, c.Generation), max(c.MaxLanes, c.Lanes)), "max_link_speed and max_link_width of the PCI device"),
			},
			Remedy: "none needed for the ports it has up now; reseat it or move it before more are used",
		})
	}
	return found
}

// slowGovernor finds processors that may clock down below a fast link.
func slowGovernor(h netstate.Host) []Finding {
	l := fastest(h)
	if h.CPU.Governor == "" || h.CPU.Governor == "performance" || l.Speed < fast {
		return nil
	}
	return []Finding{{
		Kind:     Governor,
		What:     fmt.Sprintf("the processor's governor is %s: cores clock down between packets, which costs %s latency and rate", h.CPU.Governor, l.Name),
		Severity: Info,
		Evidence: []record.Evidence{
			diagnose.Fact("scaling_governor", h.CPU.Governor, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
			diagnose.Fact("speed of "+l.Name, unit.BitRate(l.Speed).String(), fromLinkSettings),
		},
		Remedy: "cpupower frequency-set -g performance",
	}}
}

// narrowSlots finds cards whose slot moves less than their ports.
func narrowSlots(h netstate.Host) []Finding {
	var found []Finding
	for _, c := range h.Cards {
		var ports unit.BitRate
		var names []string
		frame := 0
		for _, l := range h.Links {
			if l.Card == c.Name && l.Speed > 0 && l.Up {
				ports += l.Speed
				names = append(names, l.Name)
				frame = max(frame, l.MTU+ethernetHeader)
			}
		}
		rate, _, most := predict.CardRate(c, frame, false)
		frames := ports * unit.BitRate(frame) / unit.BitRate(frame+outsideFrame)
		if len(names) == 0 || most == 0 || most >= frames {
			continue
		}
		remedy := "use ports of several cards for one bond"
		if better := predict.BetterSlot(c); better != "" {
			remedy = better
		}
		found = append(found, Finding{
			Kind:     CardSlot,
			What:     fmt.Sprintf("the slot of card %s moves about %s of the %s of its ports %s", c.Name, rate, ports, strings.Join(names, ", ")),
			Severity: Warning,
			Evidence: []record.Evidence{diagnose.Fact(c.Name, fmt.Sprintf("PCIe generation %d x%d", c.Generation, c.Lanes), diagnose.FromSlot)},
			Remedy:   remedy,
		})
	}
	return found
}

const (
	ethernetHeader = 14
	outsideFrame   = 24 // preamble, FCS and gap, which no card hands on
)
