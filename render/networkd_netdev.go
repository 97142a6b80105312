package render

import (
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
)

// networkdOption is a bond option in systemd-networkd's words.
type networkdOption struct {
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

// networkdOptions is the one table of bond options (systemd.netdev(5) of
// systemd 252, [Bond]; those of 256 from its NEWS).
func networkdOptions() []networkdOption {
	ms := func(kernel, key string) networkdOption { return networkdOption{kernel, key, milliseconds, fromSpan, 0} }
	same := func(kernel, key string) networkdOption { return networkdOption{kernel, key, asIs, asIs, 0} }
	return []networkdOption{
		same("mode", "Mode"),
		same("lacp_rate", "LACPTransmitRate"),
		ms("miimon", "MIIMonitorSec"),
		same("min_links", "MinLinks"),
		{"xmit_hash_policy", "TransmitHashPolicy", func(s string) (string, bool) { return s, s != "vlan+srcmac" }, asIs, 0},
		same("ad_select", "AdSelect"),
		{"all_slaves_active", "AllSlavesActive", truthWord, zeroOne, 0},
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
		{"tlb_dynamic_lb", "DynamicTransmitLoadBalancing", truthWord, zeroOne, 0},
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
func bondSection(d device, l *ledger, pick func(option) bool) unitSection {
	s := unitSection{name: "Bond"}
	for _, row := range networkdOptions() {
		o, wanted := d.option(row.kernel)
		if !wanted || !pick(o) || o.value == "" {
			continue
		}
		text, ok := row.value(o.value)
		switch {
		case !ok:
			l.cannot(d.ID, o.key, "systemd-networkd has no "+row.key+"="+o.value)
			continue
		case row.since > 0:
			l.out.warn(d.ID, o.key, row.key+"= is systemd "+strconv.Itoa(row.since)+"'s and newer; older ones leave it out with a warning in their log")
		}
		s.put(row.key, text)
		l.say(d.ID, o.key)
	}
	return s
}

// netdevUnit are the sections of the file that makes a device; nil for one
// that is there already.
func netdevUnit(d device, l *ledger) []unitSection {
	head := unitSection{name: "NetDev"}
	head.put("Name", d.name)
	if !d.MAC.IsZero() {
		head.put("MACAddress", d.MAC.String())
	}
	if d.MTU > 0 {
		head.put("MTUBytes", strconv.Itoa(d.MTU))
	}
	switch d.kind {
	case kindBond:
		head.put("Kind", "bond")
		return []unitSection{head, bondSection(d, l, func(option) bool { return true })}
	case kindBridge:
		head.put("Kind", "bridge")
		if s := bridgeSection(d, l); len(s.keys) > 0 {
			return []unitSection{head, s}
		}
		return []unitSection{head}
	case kindVLAN:
		head.put("Kind", "vlan")
		l.say(d.ID, "id")
		return []unitSection{head, {name: "VLAN", keys: []assignment{{key: "Id", value: strconv.Itoa(d.tag)}}}}
	case kindDummy:
		head.put("Kind", "dummy")
		l.say(d.ID, string(kindDummy))
		return []unitSection{head}
	}
	return nil
}

// bridgeRows are netplan's bridge parameters (doc/netplan-yaml.md) in
// [Bridge]'s words.
var bridgeRows = [][2]string{
	{"ageing-time", "AgeingTimeSec"}, {"priority", "Priority"}, {"forward-delay", "ForwardDelaySec"},
	{"hello-time", "HelloTimeSec"}, {"max-age", "MaxAgeSec"}, {"stp", "STP"},
}

func bridgeSection(d device, l *ledger) unitSection {
	s := unitSection{name: "Bridge"}
	if d.parameters == nil {
		return s
	}
	for _, p := range d.parameters.Pairs {
		key := ""
		for _, row := range bridgeRows {
			if row[0] == p.Key {
				key = row[1]
			}
		}
		if key == "" || p.Value.Kind != fabric.ScalarNode {
			continue // the ledger knows
		}
		s.put(key, p.Value.Text)
		l.say(d.ID, "parameters."+p.Key)
	}
	return s
}
