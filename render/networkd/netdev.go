package networkd

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/ledger"
	"github.com/linerate/linerate/render/readback"
	"github.com/linerate/linerate/render/unitfile"
)

// bondOption is a bond option in systemd-networkd's words.
type bondOption struct {
	kernel string
	key    string
	// value turns the kernel's word or number into networkd's; ok is false
	// for one that networkd cannot say.
	value func(string) (text string, ok bool)
	// option turns it back.
	option func(string) (text string, ok bool)
	// since is the first systemd that has the key, zero for all that are
	// older than the oldest supported (245, Ubuntu 20.04).
	since int
}

// bondOptions is the one table of bond options (systemd.netdev(5) of
// systemd 252, [Bond]; those of 256 from its NEWS).
func bondOptions() []bondOption {
	ms := func(kernel, key string) bondOption { return bondOption{kernel, key, milliseconds, fromSpan, 0} }
	same := func(kernel, key string) bondOption { return bondOption{kernel, key, asIs, asIs, 0} }
	return []bondOption{
		same("mode", "Mode"),
		same("lacp_rate", "LACPTransmitRate"),
		ms("miimon", "MIIMonitorSec"),
		same("min_links", "MinLinks"),
		{"xmit_hash_policy", "TransmitHashPolicy", func(s string) (string, bool) { return s, s != "vlan+srcmac" }, asIs, 0},
		same("ad_select", "AdSelect"),
		{"all_slaves_active", "AllSlavesActive", truthWord, readback.ZeroOne, 0},
		ms("arp_interval", "ARPIntervalSec"),
		{"arp_ip_target", "ARPIPTargets", commasToBlanks, blanksToCommas, 0},
		{"arp_validate", "ARPValidate", func(s string) (string, bool) { return s, !strings.HasPrefix(s, "filter") }, asIs, 0},
		same("arp_all_targets", "ARPAllTargets"),
		ms("updelay", "UpDelaySec"),
		ms("downdelay", "DownDelaySec"),
		same("fail_over_mac", "FailOverMACPolicy"),
		same("num_grat_arp", "GratuitousARP"),
		same("packets_per_slave", "PacketsPerSlave"),
		same("primary_reselect", "PrimaryReselectPolicy"),
		same("resend_igmp", "ResendIGMP"),
		{"lp_interval", "LearnPacketIntervalSec", asIs, wholeSeconds, 0},
		same("ad_actor_sys_prio", "AdActorSystemPriority"),
		same("ad_user_port_key", "AdUserPortKey"),
		same("ad_actor_system", "AdActorSystem"),
		{"tlb_dynamic_lb", "DynamicTransmitLoadBalancing", truthWord, readback.ZeroOne, 0},
		{"peer_notif_delay", "PeerNotifyDelaySec", milliseconds, fromSpan, 256},
		{"arp_missed_max", "ARPMissedMax", asIs, asIs, 256},
	}
}

func asIs(s string) (string, bool) { return s, true }

// milliseconds always writes the unit: networkd takes a bare number as seconds.
func milliseconds(s string) (string, bool) {
	n, err := strconv.Atoi(s)
	return strconv.Itoa(n) + "ms", err == nil && n >= 0
}

func truthWord(s string) (string, bool) {
	switch s {
	case "1", "on":
		return "true", true
	case "0", "off":
		return "false", true
	}
	return "", false
}

func commasToBlanks(s string) (string, bool) { return strings.ReplaceAll(s, ",", " "), true }

func blanksToCommas(s string) (string, bool) { return strings.Join(strings.Fields(s), ","), true }

// bondSection are the [Bond] keys of the options that pick chooses. What
// networkd cannot say is left to the ledger.
func bondSection(d device.Device, l *ledger.Ledger, pick func(device.Option) bool) unitfile.Section {
	s := unitfile.Section{Name: "Bond"}
	for _, row := range bondOptions() {
		o, wanted := d.Option(row.kernel)
		if !wanted || !pick(o) || o.Value == "" {
			continue
		}
		text, ok := row.value(o.Value)
		switch {
		case !ok:
			l.Cannot(d.ID, o.Key, "systemd-networkd has no "+row.key+"="+o.Value)
			continue
		case row.since > 0:
			l.Out.Warn(d.ID, o.Key, row.key+"= is systemd "+strconv.Itoa(row.since)+"'s and newer; older ones leave it out with a warning in their log")
		}
		s.Put(row.key, text)
		l.Say(d.ID, o.Key)
	}
	return s
}

// netdevUnit are the sections of the file that makes a device; nil for one
// that is there already.
func netdevUnit(d device.Device, l *ledger.Ledger) []unitfile.Section {
	head := unitfile.Section{Name: "NetDev"}
	head.Put("Name", d.Name)
	if !d.MAC.IsZero() {
		head.Put("MACAddress", d.MAC.String())
	}
	if d.MTU > 0 {
		head.Put("MTUBytes", strconv.Itoa(d.MTU))
	}
	switch d.Kind {
	case device.Bond:
		head.Put("Kind", "bond")
		return []unitfile.Section{head, bondSection(d, l, func(device.Option) bool { return true })}
	case device.Bridge:
		head.Put("Kind", "bridge")
		s := unitfile.Section{Name: "Bridge"}
		if putKeys(d, &s, l); len(s.Keys) > 0 {
			return []unitfile.Section{head, s}
		}
		return []unitfile.Section{head}
	case device.VLAN:
		head.Put("Kind", "vlan")
		l.Say(d.ID, "id")
		return []unitfile.Section{head, {Name: "VLAN", Keys: []unitfile.Assignment{{Key: "Id", Value: strconv.Itoa(d.Tag)}}}}
	case device.Dummy:
		head.Put("Kind", "dummy")
		l.Say(d.ID, string(device.Dummy))
		return []unitfile.Section{head}
	}
	return nil
}

// DropIns writes what netplan cannot say. Netplan writes files of its own to
// /run/systemd/network/10-netplan-ID.netdev, .network and .link; systemd reads
// /etc/systemd/network/NAME.d/*.conf with them (systemd.netdev(5)). Unsaid
// reports a bond option that netplan's .netdev file lacks, makesLink a device
// that has a .link file of netplan's.
func DropIns(in render.Input, l *ledger.Ledger, unsaid func(device.Option) bool, makesLink func(device.Device) bool) {
	for _, d := range device.Definitions(in) {
		add := func(suffix string, units []unitfile.Section) {
			file := Dir + "10-netplan-" + d.ID + suffix + ".d/90-linerate.conf"
			if len(units) > 0 || in.Old[file] != "" {
				l.Out.Add(file, fileMode, unitfile.Update(in.Old[file], units, unitfile.Merging{Sole: true}))
			}
		}
		if d.Kind == device.Bond {
			bond := bondSection(d, l, unsaid)
			if len(bond.Keys) > 0 {
				add(".netdev", []unitfile.Section{bond})
			} else {
				add(".netdev", nil)
			}
		}
		network := multipathSections(in, d, l)
		if s, ok := rootQdisc(d, l); ok {
			network = append(network, s)
		}
		add(".network", network)
		if d.Kind != device.Ethernet {
			continue
		}
		settings := deviceSettings(d, l, true)
		switch {
		case len(settings.Keys) == 0:
			add(".link", nil)
		case makesLink(d):
			add(".link", []unitfile.Section{settings})
		default:
			file := Dir + "20-" + d.Name + ".link"
			link := unitfile.Section{Name: "Link"}
			link.Put("NamePolicy", "keep kernel database onboard slot path")
			link.Put("AlternativeNamesPolicy", "database onboard slot path")
			link.Keys = append(link.Keys, settings.Keys...)
			units := []unitfile.Section{linkMatch(d, l), link}
			l.Out.Add(file, fileMode, unitfile.Update(in.Old[file], units, mergingOf(units)))
		}
	}
}

// ReadDropIns reads the files that dropIns writes.
func ReadDropIns(f *readback.Host, files map[string]string) {
	r := reader{Host: f, files: files}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		name, ok := strings.CutPrefix(file, Dir+"10-netplan-")
		dir, _, isDropIn := strings.Cut(name, ".d/")
		if !ok || !isDropIn {
			continue
		}
		for _, suffix := range []string{".netdev", ".network", ".link"} {
			if id, fits := strings.CutSuffix(dir, suffix); fits {
				for _, s := range unitfile.Read(files[file], r.odd(file)) {
					r.section(placedSection{s, file}, id, suffix)
				}
			}
		}
	}
}
