package networkd

import (
	"strconv"
	"strings"

	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/ledger"
	"github.com/linerate/linerate/render/unitfile"
)

// settingRow is a number that a driver is asked for: the key of a link's
// settings, and networkd's with the unit that its value takes.
type settingRow struct{ key, word, unit string }

// settingRows is the one table of them (ethtool(8) -G, -L, -C; systemd.link(5)
// of systemd 252, all since 250). The unit "bool" is a switch.
var settingRows = [...]settingRow{
	{"rings.rx", "RxBufferSize", ""}, {"rings.tx", "TxBufferSize", ""},
	{"channels.rx", "RxChannels", ""}, {"channels.tx", "TxChannels", ""}, {"channels.combined", "CombinedChannels", ""}, {"channels.other", "OtherChannels", ""},
	{"coalesce.adaptive-rx", "UseAdaptiveRxCoalesce", "bool"}, {"coalesce.adaptive-tx", "UseAdaptiveTxCoalesce", "bool"},
	{"coalesce.rx-usecs", "RxCoalesceSec", "us"}, {"coalesce.rx-usecs-irq", "RxCoalesceIrqSec", "us"},
	{"coalesce.rx-usecs-low", "RxCoalesceLowSec", "us"}, {"coalesce.rx-usecs-high", "RxCoalesceHighSec", "us"},
	{"coalesce.tx-usecs", "TxCoalesceSec", "us"}, {"coalesce.tx-usecs-irq", "TxCoalesceIrqSec", "us"},
	{"coalesce.tx-usecs-low", "TxCoalesceLowSec", "us"}, {"coalesce.tx-usecs-high", "TxCoalesceHighSec", "us"},
	{"coalesce.rx-frames", "RxMaxCoalescedFrames", ""}, {"coalesce.rx-frames-irq", "RxMaxCoalescedIrqFrames", ""},
	{"coalesce.rx-frames-low", "RxMaxCoalescedLowFrames", ""}, {"coalesce.rx-frames-high", "RxMaxCoalescedHighFrames", ""},
	{"coalesce.tx-frames", "TxMaxCoalescedFrames", ""}, {"coalesce.tx-frames-irq", "TxMaxCoalescedIrqFrames", ""},
	{"coalesce.tx-frames-low", "TxMaxCoalescedLowFrames", ""}, {"coalesce.tx-frames-high", "TxMaxCoalescedHighFrames", ""},
	{"coalesce.pkt-rate-low", "CoalescePacketRateLow", ""}, {"coalesce.pkt-rate-high", "CoalescePacketRateHigh", ""},
	{"coalesce.sample-interval", "CoalescePacketRateSampleIntervalSec", "s"},
	{"coalesce.stats-block-usecs", "StatisticsBlockCoalesceSec", "us"},
}

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
	numbers := map[string]int{}
	for _, n := range device.Numbers(d.Settings) {
		numbers[n.Key()] = n.Value
	}
	for _, row := range settingRows {
		n, wanted := numbers[row.key]
		if !wanted || n == 0 && strings.HasPrefix(row.key, "channels.") {
			continue
		}
		value := strconv.Itoa(n) + row.unit
		if row.unit == "bool" {
			value = strconv.FormatBool(n != 0)
		}
		s.Put(row.word, value)
		l.Say(d.ID, row.key)
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
		s.Put("Type", "ether")
	}
	return s
}
