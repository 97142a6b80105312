package host

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

const fromLinkSettings = "ETHTOOL_GLINKSETTINGS"

// slowLinks finds ports that negotiated less than they could, or did not
// negotiate.
func slowLinks(h netstate.Host) []Finding {
	var found []Finding
	for _, l := range h.Links {
		if !Cabled(l) || !l.Up || !l.Carrier || l.Speed <= 0 {
			continue
		}
		for _, rule := range [...]func(netstate.Link) (Finding, bool){halfDuplex, autonegOff, slower} {
			if f, ok := rule(l); ok {
				found = append(found, f)
				break // one cause is enough
			}
		}
		if f, ok := flappingLink(l); ok {
			found = append(found, f)
		}
	}
	return found
}

func halfDuplex(l netstate.Link) (Finding, bool) {
	if !strings.EqualFold(l.Duplex, "half") {
		return Finding{}, false
	}
	f := Finding{
		Kind:     HalfDuplex,
		What:     fmt.Sprintf("%s runs half duplex: it cannot send while it receives, and collides", l.Name),
		Severity: Fault,
		Evidence: []record.Evidence{diagnose.Fact("duplex of "+l.Name, l.Duplex, fromLinkSettings), diagnose.Fact("speed of "+l.Name, l.Speed.String(), fromLinkSettings)},
		Remedy:   fmt.Sprintf("let both ends negotiate: ethtool -s %s autoneg on, and the switch port too", l.Name),
	}
	if d := l.Device; d != nil && d.Autoneg != nil && *d.Autoneg && d.FastestPartner == 0 {
		f.Evidence = append(f.Evidence, diagnose.Fact("link modes the far end advertises", "none", fromLinkSettings))
		f.Remedy = fmt.Sprintf("the far end does not negotiate, so %s falls back to half duplex (IEEE 802.3 28.2.3): set the switch port to negotiate", l.Name)
	}
	if n := l.Counters.Collisions; n > 0 {
		f.Evidence = append(f.Evidence, diagnose.Fact("collisions", strconv.FormatUint(n, 10), "rtnl_link_stats64 collisions"))
	}
	return f, true
}

// autonegOff: twisted pair up to 1 Gb/s. Above, fibres and copper cables are
// often fixed by design.
func autonegOff(l netstate.Link) (Finding, bool) {
	d := l.Device
	if d == nil || d.Autoneg == nil || *d.Autoneg || l.Speed > unit.Gbps || d.FastestOwn == 0 || d.FastestOwn > 10*unit.Gbps {
		return Finding{}, false
	}
	return Finding{
		Kind:     AutonegOff,
		What:     fmt.Sprintf("%s does not negotiate: a far end that does falls back to half duplex", l.Name),
		Severity: Warning,
		Evidence: []record.Evidence{diagnose.Fact("autonegotiation of "+l.Name, "off", fromLinkSettings), diagnose.Fact("speed of "+l.Name, l.Speed.String(), fromLinkSettings)},
		Remedy:   fmt.Sprintf("ethtool -s %s autoneg on, and the switch port too", l.Name),
	}, true
}

func slower(l netstate.Link) (Finding, bool) {
	d := l.Device
	if d == nil || d.FastestOwn == 0 || d.FastestPartner == 0 || l.Speed >= min(d.FastestOwn, d.FastestPartner) {
		return Finding{}, false
	}
	return Finding{
		Kind:     SlowLink,
		What:     fmt.Sprintf("%s runs at %s, and both ends could do %s", l.Name, l.Speed, min(d.FastestOwn, d.FastestPartner)),
		Severity: Warning,
		Evidence: []record.Evidence{
			diagnose.Fact("speed of "+l.Name, l.Speed.String(), fromLinkSettings),
			diagnose.Fact("fastest mode of "+l.Name, d.FastestOwn.String(), fromLinkSettings+" supported"),
			diagnose.Fact("fastest mode of the far end", d.FastestPartner.String(), fromLinkSettings+" link partner advertising"),
		},
		Remedy: fmt.Sprintf("replace the cable (a broken pair lowers the speed), then ethtool -s %s autoneg on; look for a fixed speed on the switch port", l.Name),
	}, true
}

// flappingLink: of a port outside a bond, whose changes nobody else tells.
func flappingLink(l netstate.Link) (Finding, bool) {
	n, err := strconv.ParseUint(l.Extra["carrier_changes"], 10, 64)
	if err != nil || n < linkFlaps || l.Port != nil {
		return Finding{}, false
	}
	return Finding{
		Kind:     LinkFlapping,
		What:     fmt.Sprintf("%s lost or found its carrier %d times since the host started", l.Name, n),
		Severity: Info,
		Evidence: []record.Evidence{diagnose.Fact("carrier changes of "+l.Name, strconv.FormatUint(n, 10), "IFLA_CARRIER_CHANGES")},
		Remedy:   fmt.Sprintf("if they go on (ip -s -s link show %s), clean or replace cable and module", l.Name),
	}, true
}

// What share of packets damaged frames may be before the cable is suspected: a
// link at the error rate that 802.3 allows (1e-12 a bit) loses 1.2e-8 of
// frames at MTU 1500.
const (
	damagedShare = 1e-6
	damagedLeast = 10
)

// cableWords are parts of drivers' counters that tell of damaged frames.
var cableWords = []string{"crc", "fcs", "symbol", "align", "code_err", "uncorrect"}

// brokenCables finds ports that receive damaged frames.
func brokenCables(h netstate.Host) []Finding {
	var found []Finding
	for _, l := range h.Links {
		if !Physical(l) || l.Counters.RxPackets == 0 {
			continue
		}
		damaged, evidence := l.Counters.RxCRC+l.Counters.RxFrame, []record.Evidence(nil)
		if damaged > 0 {
			evidence = append(evidence, diagnose.Fact("damaged frames", strconv.FormatUint(damaged, 10), "rtnl_link_stats64 rx_crc_errors, rx_frame_errors"))
		}
		if n, name := largest(l, cableWords); n > 0 {
			damaged = max(damaged, n)
			evidence = append(evidence, diagnose.Fact(name, strconv.FormatUint(n, 10), fromStatistics))
		}
		share := float64(damaged) / float64(l.Counters.RxPackets)
		if damaged < damagedLeast || share < damagedShare {
			continue
		}
		found = append(found, Finding{
			Kind:     LinkErrors,
			What:     fmt.Sprintf("%s receives damaged frames, 1 in %.3g: cable, module or far transmitter", l.Name, 1/share),
			Severity: Warning,
			Evidence: append(evidence, diagnose.Fact("packets received", strconv.FormatUint(l.Counters.RxPackets, 10), "rtnl_link_stats64 rx_packets")),
			Remedy:   fmt.Sprintf("clean or replace cable and module (ethtool -m %s shows its light), try another switch port, and see that the counter stands still", l.Name),
		})
	}
	return found
}

const fromStatistics = "ETHTOOL_GSTATS"

// largest is the driver's largest counter with one of the words in its name.
// Drivers count one thing under several names and by queue, so that a sum
// would count twice.
func largest(l netstate.Link, words []string) (most uint64, name string) {
	if l.Device == nil {
		return 0, ""
	}
	names := make([]string, 0, len(l.Device.Statistics))
	for n := range l.Device.Statistics {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		low := strings.ToLower(strings.NewReplacer(" ", "_", "-", "_").Replace(n))
		for _, w := range words {
			if v := l.Device.Statistics[n]; strings.Contains(low, w) && v > most {
				most, name = v, n
			}
		}
	}
	return most, name
}

// largeVLANs finds VLANs whose MTU is above that of the link below: full
// frames cannot leave.
func largeVLANs(h netstate.Host) []Finding {
	var found []Finding
	for _, l := range h.Links {
		if l.VLAN == nil {
			continue
		}
		parent, ok := h.Link(l.VLAN.Parent)
		if !ok || parent.MTU == 0 || l.MTU <= parent.MTU {
			continue
		}
		found = append(found, Finding{
			Kind:     VLANMTU,
			What:     fmt.Sprintf("VLAN %s has MTU %d on %s with %d: full packets do not leave", l.Name, l.MTU, parent.Name, parent.MTU),
			Severity: Fault,
			Evidence: []record.Evidence{diagnose.Fact("MTU of "+l.Name, fmt.Sprint(l.MTU), "IFLA_MTU"), diagnose.Fact("MTU of "+parent.Name, fmt.Sprint(parent.MTU), "IFLA_MTU")},
			Remedy:   fmt.Sprintf("ip link set %s mtu %d, if the switch takes it, else ip link set %s mtu %d", parent.Name, l.MTU, l.Name, parent.MTU),
		})
	}
	return found
}
