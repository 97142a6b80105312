package networkd

import (
	"strconv"
	"strings"

	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/ledger"
	"github.com/linerate/linerate/render/unitfile"
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
func deviceSettings(d device.Device, l *ledger.Ledger, netplanWrites bool) unitfile.Section {
	s := unitfile.Section{Name: "Link"}
	offloads := d.Offloads()
	for _, row := range device.Offloads {
		on, wanted := offloads[row.Ethtool]
		if !wanted || row.Networkd == "" || netplanWrites && row.Netplan != "" {
			continue
		}
		s.Put(row.Networkd, strconv.FormatBool(on))
		l.Say(d.ID, "offloads."+row.Ethtool)
		if row.Netplan != "" {
			l.Say(d.ID, row.Netplan)
		}
	}
	ring := func(key, name string, n int) {
		if n > 0 {
			s.Put(name, strconv.Itoa(n))
			l.Say(d.ID, key)
		}
	}
	ring("rings.rx", "RxBufferSize", d.Settings.RingRx)
	ring("rings.tx", "TxBufferSize", d.Settings.RingTx)
	for _, row := range channelRows {
		ring("channels."+row[0], row[1], d.Settings.Channels[row[0]])
	}
	for _, row := range coalesceRows {
		n, wanted := d.Settings.Coalescing[row.ethtool]
		if !wanted {
			continue
		}
		value := strconv.Itoa(n) + row.unit
		if row.unit == "bool" {
			value = strconv.FormatBool(n != 0)
		}
		s.Put(row.networkd, value)
		l.Say(d.ID, "coalesce."+row.ethtool)
	}
	return s
}

// linkUnit are the sections of a device's .link file; nil for a device that
// needs none.
func linkUnit(d device.Device, l *ledger.Ledger) []unitfile.Section {
	if d.Kind == device.Bond || d.Kind == device.Bridge {
		if !d.MAC.IsZero() {
			return nil
		}
		// udev would give a bond an address of its own making, and the switch
		// would see a system that none of its ports belongs to.
		return []unitfile.Section{
			{Name: "Match", Keys: []unitfile.Assignment{{Key: "OriginalName", Value: d.Name}}},
			{Name: "Link", Keys: []unitfile.Assignment{{Key: "MACAddressPolicy", Value: "none"}}},
		}
	}
	settings := deviceSettings(d, l, false)
	if wol, said := d.Truth("wakeonlan"); said {
		settings.Put("WakeOnLan", map[bool]string{true: "magic", false: "off"}[wol])
		l.Say(d.ID, "wakeonlan")
	}
	if d.Kind != device.Ethernet || d.SetName == "" && len(settings.Keys) == 0 {
		return nil
	}
	link := unitfile.Section{Name: "Link"}
	if d.SetName != "" {
		link.Put("Name", d.SetName)
		l.Say(d.ID, "set-name")
	} else {
		// As 99-default.link has it, which this file stands in the place of.
		link.Put("NamePolicy", "keep kernel database onboard slot path")
		link.Put("AlternativeNamesPolicy", "database onboard slot path")
	}
	link.Keys = append(link.Keys, settings.Keys...)
	return []unitfile.Section{linkMatch(d, l), link}
}

// linkMatch selects a device before it has its name: by permanent address
// where it is known.
func linkMatch(d device.Device, l *ledger.Ledger) unitfile.Section {
	s := unitfile.Section{Name: "Match"}
	m := d.Match
	switch {
	case m != nil:
		if !m.MAC.IsZero() {
			s.Put("PermanentMACAddress", m.MAC.String())
		}
		s.Put("OriginalName", m.Name)
		s.Put("Driver", strings.Join(m.Drivers, " "))
	case !d.Permanent.IsZero():
		s.Put("PermanentMACAddress", d.Permanent.String())
	default:
		s.Put("OriginalName", d.ID)
		if !strings.HasPrefix(d.ID, "eth") {
			l.Out.Warn(d.ID, "links", "its permanent address is not known, and a .link file sees the kernel's name of a device, not "+d.ID+": give the definition a match with its macaddress")
		}
	}
	if len(s.Keys) == 0 {
		s.Put("OriginalName", "*")
	}
	return s
}
