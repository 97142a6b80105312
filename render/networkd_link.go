package render

import (
	"strconv"
	"strings"
)

// coalesceRow is one interrupt moderation setting: ethtool's name, and
// networkd's with the unit that its value takes.
type coalesceRow struct{ ethtool, networkd, unit string }

// coalesceRows is the one table of them (ethtool(8) -C; systemd.link(5) of
// systemd 252, all since 250). The unit "bool" is a switch.
var coalesceRows = []coalesceRow{
	{"adaptive-rx", "UseAdaptiveRxCoalesce", "bool"}, {"adaptive-tx", "UseAdaptiveTxCoalesce", "bool"},
	{"rx-usecs", "RxCoalesceSec", "us"}, {"rx-usecs-irq", "RxCoalesceIrqSec", "us"},
	{"rx-usecs-low", "RxCoalesceLowSec", "us"}, {"rx-usecs-high", "RxCoalesceHighSec", "us"},
	{"tx-usecs", "TxCoalesceSec", "us"}, {"tx-usecs-irq", "TxCoalesceIrqSec", "us"},
	{"tx-usecs-low", "TxCoalesceLowSec", "us"}, {"tx-usecs-high", "TxCoalesceHighSec", "us"},
	{"rx-frames", "RxMaxCoalescedFrames", ""}, {"rx-frames-irq", "RxMaxCoalescedIrqFrames", ""},
	{"rx-frames-low", "RxMaxCoalescedLowFrames", ""}, {"rx-frames-high", "RxMaxCoalescedHighFrames", ""},
	{"tx-frames", "TxMaxCoalescedFrames", ""}, {"tx-frames-irq", "TxMaxCoalescedIrqFrames", ""},
	{"tx-frames-low", "TxMaxCoalescedLowFrames", ""}, {"tx-frames-high", "TxMaxCoalescedHighFrames", ""},
	{"pkt-rate-low", "CoalescePacketRateLow", ""}, {"pkt-rate-high", "CoalescePacketRateHigh", ""},
	{"sample-interval", "CoalescePacketRateSampleIntervalSec", "s"},
	{"stats-block-usecs", "StatisticsBlockCoalesceSec", "us"},
}

// channelRows are numbers of queues, ethtool's name and networkd's.
var channelRows = [][2]string{{"rx", "RxChannels"}, {"tx", "TxChannels"}, {"combined", "CombinedChannels"}, {"other", "OtherChannels"}}

// deviceSettings are the [Link] keys of a .link file for what a device's
// driver is asked for. Netplan's own are left out where netplan writes them.
func deviceSettings(d device, l *ledger, netplanWrites bool) unitSection {
	s := unitSection{name: "Link"}
	offloads := d.offloads()
	for _, row := range offloadRows {
		on, wanted := offloads[row.ethtool]
		if !wanted || row.networkd == "" || netplanWrites && row.netplan != "" {
			continue
		}
		s.put(row.networkd, strconv.FormatBool(on))
		l.say(d.ID, "offloads."+row.ethtool)
		if row.netplan != "" {
			l.say(d.ID, row.netplan)
		}
	}
	ring := func(key, name string, n int) {
		if n > 0 {
			s.put(name, strconv.Itoa(n))
			l.say(d.ID, key)
		}
	}
	ring("rings.rx", "RxBufferSize", d.settings.RingRx)
	ring("rings.tx", "TxBufferSize", d.settings.RingTx)
	for _, row := range channelRows {
		ring("channels."+row[0], row[1], d.settings.Channels[row[0]])
	}
	for _, row := range coalesceRows {
		n, wanted := d.settings.Coalescing[row.ethtool]
		if !wanted {
			continue
		}
		value := strconv.Itoa(n) + row.unit
		if row.unit == "bool" {
			value = strconv.FormatBool(n != 0)
		}
		s.put(row.networkd, value)
		l.say(d.ID, "coalesce."+row.ethtool)
	}
	return s
}

// linkUnit are the sections of a device's .link file; nil for a device that
// needs none.
func linkUnit(d device, l *ledger) []unitSection {
	if d.kind == kindBond || d.kind == kindBridge {
		if !d.MAC.IsZero() {
			return nil
		}
		// udev would give a bond an address of its own making, and the switch
		// would see a system that none of its ports belongs to.
		return []unitSection{
			{name: "Match", keys: []assignment{{key: "OriginalName", value: d.name}}},
			{name: "Link", keys: []assignment{{key: "MACAddressPolicy", value: "none"}}},
		}
	}
	settings := deviceSettings(d, l, false)
	if wol, said := d.truth("wakeonlan"); said {
		settings.put("WakeOnLan", map[bool]string{true: "magic", false: "off"}[wol])
		l.say(d.ID, "wakeonlan")
	}
	if d.kind != kindEthernet || d.setName == "" && len(settings.keys) == 0 {
		return nil
	}
	link := unitSection{name: "Link"}
	if d.setName != "" {
		link.put("Name", d.setName)
		l.say(d.ID, "set-name")
	} else {
		// As 99-default.link has it, which this file stands in the place of.
		link.put("NamePolicy", "keep kernel database onboard slot path")
		link.put("AlternativeNamesPolicy", "database onboard slot path")
	}
	link.keys = append(link.keys, settings.keys...)
	return []unitSection{linkMatch(d, l), link}
}

// linkMatch selects a device before it has its name: by permanent address
// where it is known.
func linkMatch(d device, l *ledger) unitSection {
	s := unitSection{name: "Match"}
	m := d.match
	switch {
	case m != nil:
		if !m.MAC.IsZero() {
			s.put("PermanentMACAddress", m.MAC.String())
		}
		s.put("OriginalName", m.Name)
		s.put("Driver", strings.Join(m.Drivers, " "))
	case !d.permanent.IsZero():
		s.put("PermanentMACAddress", d.permanent.String())
	default:
		s.put("OriginalName", d.ID)
		if !strings.HasPrefix(d.ID, "eth") {
			l.out.warn(d.ID, "links", "its permanent address is not known, and a .link file sees the kernel's name of a device, not "+d.ID+": give the definition a match with its macaddress")
		}
	}
	if len(s.keys) == 0 {
		s.put("OriginalName", "*")
	}
	return s
}
