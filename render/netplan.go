package render

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
)

// ErrEmpty is the error for a network that declares nothing.
var ErrEmpty = errors.New("the host has no network")

// netplanOwn is the file of definitions that no other file has; netplanMode is
// what netplan asks of files that may hold secrets.
const (
	netplanOwn  = "/etc/netplan/90-linerate.yaml"
	netplanMode = 0o600
)

// underNetwork is a mapping's text below the key "network".
func underNetwork(source string) string {
	var b strings.Builder
	b.WriteString("network:\n")
	for _, line := range strings.Split(strings.TrimSuffix(source, "\n"), "\n") {
		if line != "" {
			b.WriteString("  " + line)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// writeNetplan writes the user's own text, with what netplan can say of the
// settings beside it, and drop-ins of systemd-networkd for what it cannot. A
// definition that one of netplan's files has is changed there.
func writeNetplan(in Input) (Output, error) {
	var out Output
	if in.Host.Network.Source == "" {
		return out, ErrEmpty
	}
	l := newLedger(in, &out)
	wanted, err := fabric.ParseYAML("network", []byte(in.Host.Network.Source))
	if err != nil {
		return out, fmt.Errorf("read the host's network: %w", err)
	}
	netplanSays(in, wanted, l)
	if err := netplanFiles(in, wanted, l); err != nil {
		return out, err
	}
	if netplanRenderer(in) == "NetworkManager" {
		l.finish(func(w wish) string {
			return netplanWhy(w, "with NetworkManager as renderer there is no other file for it")
		})
		return out, nil
	}
	dropIns(in, l, func(o option) bool {
		_, netplan := fabric.BondParameter(o.name)
		return !netplan && o.name != "active_slave" || zeroUnsaid(o)
	}, netplanMakesLink)
	l.finish(func(w wish) string { return netplanWhy(w, "nor has systemd-networkd") })
	return out, nil
}

// netplanWhy is the reason for a wish that was not written.
func netplanWhy(w wish, otherwise string) string {
	switch {
	case w.key == "source_rules":
		return sourceRulesWhy
	case strings.HasPrefix(w.key, "mptcp."):
		return "netplan has no MPTCP: ip-mptcp(8) at boot"
	case w.key == "absent":
		return "no file of netplan's defines it"
	}
	return "netplan has no word for it, " + otherwise
}

// netplanSays marks what the user's own text says by itself, and puts in the
// tree what netplan can say of the settings beside it.
func netplanSays(in Input, wanted *fabric.Node, l *ledger) {
	for _, w := range l.wishes {
		switch head, _, _ := strings.Cut(w.key, "."); head {
		case "bonding", "offloads", "rings", "channels", "coalesce", "qdisc", "port_prio", "queue_id", "actor_port_prio", "mptcp", "source_rules", "absent":
		case "sysctl":
			l.say(w.where, w.key) // the sysctl format's
		default:
			if !strings.HasPrefix(w.key, "multipath[") {
				l.say(w.where, w.key)
			}
		}
	}
	for _, d := range definitionsOf(in) {
		n := wanted.Get(netplanSection(d.kind)).Get(d.ID)
		if n == nil {
			continue
		}
		for _, row := range offloadRows {
			if on, set := d.settings.Offloads[row.ethtool]; set && row.netplan != "" && d.kind == kindEthernet {
				setKey(n, row.netplan, plain(strconv.FormatBool(on)))
				l.say(d.ID, "offloads."+row.ethtool)
			}
		}
		netplanOptions(in, d, n, l)
		netplanSourceRules(in, d, n, l)
	}
}

// netplanSection is where netplan defines a kind of device.
func netplanSection(k kind) string {
	switch k {
	case kindEthernet:
		return "ethernets"
	case kindBond:
		return "bonds"
	case kindVLAN:
		return "vlans"
	case kindBridge:
		return "bridges"
	}
	return string(k)
}

// netplanOptions puts bond options in that stand under bonding and netplan has
// a word for.
func netplanOptions(in Input, d device, n *fabric.Node, l *ledger) {
	for _, o := range d.options {
		name, ok := fabric.BondParameter(o.name)
		value, beside := in.Host.Bonding[d.ID][o.name]
		if !ok || !beside || zeroUnsaid(o) || o.name == "xmit_hash_policy" && value == "vlan+srcmac" || o.name == "arp_validate" && strings.HasPrefix(value, "filter") {
			continue
		}
		parameters := n.Get("parameters")
		if parameters == nil || parameters.Kind != fabric.MappingNode {
			parameters = &fabric.Node{Kind: fabric.MappingNode}
			setKey(n, "parameters", parameters)
		}
		node := plain(value)
		switch {
		case o.name == "arp_ip_target":
			node = flowList(strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' }))
		case o.name == "all_slaves_active":
			node = plain(strconv.FormatBool(value == "1"))
		}
		setKey(parameters, name, node)
		l.say(d.ID, o.key)
	}
}

// zeroUnsaid reports an option whose zero netplan takes for nothing said
// (write_bond_parameters of src/networkd.c, netplan 0.106 to 1.2).
func zeroUnsaid(o option) bool {
	switch o.name {
	case "resend_igmp", "packets_per_slave", "num_grat_arp":
		return o.value == "0"
	}
	return false
}

// netplanSourceRules puts in the rules and routes that the definition does not
// have itself.
func netplanSourceRules(in Input, d device, n *fabric.Node, l *ledger) {
	own, _ := in.Host.Network.Device(d.ID)
	for _, r := range d.Rules[len(own.Rules):] {
		push(n, "routing-policy", flowMap("from", r.From.String(), "to", prefixText(r.To), "table", strconv.Itoa(r.Table), "priority", numberText(r.Priority)))
		l.say(d.ID, "source_rules")
	}
	for _, r := range d.Routes[len(own.Routes):] {
		to := r.To.String()
		if r.To.Bits() == 0 {
			to = "default"
		}
		via, from := "", ""
		if r.Via.IsValid() {
			via = r.Via.String()
		}
		if r.From.IsValid() {
			from = r.From.String()
		}
		onLink := ""
		if r.OnLink {
			onLink = "true"
		}
		push(n, "routes", flowMap("to", to, "via", via, "from", from, "on-link", onLink, "scope", r.Scope, "metric", numberText(r.Metric), "table", numberText(r.Table), "mtu", numberText(r.MTU)))
	}
}

// netplanRenderer is what netplan hands over to: the last file's word.
func netplanRenderer(in Input) string {
	renderer := in.Host.Network.Renderer
	if renderer != "" {
		return renderer
	}
	for _, file := range netplanOrder(in.Old) {
		if n, err := fabric.ParseYAML(file, []byte(in.Old[file])); err == nil {
			if r := n.Get("network").Get("renderer"); r != nil {
				renderer = r.Text
			}
		}
	}
	return renderer
}

// netplanOrder are netplan's files in the order that it reads them: by name,
// of one name the one in /run, then /etc, then /lib (netplan-yaml.md).
func netplanOrder(files map[string]string) []string {
	byName := map[string]string{}
	for _, dir := range []string{"/lib/netplan", "/usr/lib/netplan", "/etc/netplan", "/run/netplan"} {
		for file := range files {
			if path.Dir(file) == dir && strings.HasSuffix(file, ".yaml") {
				byName[path.Base(file)] = file
			}
		}
	}
	names := slices.Sorted(maps.Keys(byName))
	sort.Strings(names)
	for i, name := range names {
		names[i] = byName[name]
	}
	return names
}

// netplanMakesLink reports that netplan writes a .link file for the device
// (write_link_file of src/networkd.c): for a new name, an MTU, wake-on-LAN and
// offloads.
func netplanMakesLink(d device) bool {
	wol, _ := d.truth("wakeonlan")
	if d.setName != "" || d.MTU > 0 || wol {
		return true
	}
	offloads := d.offloads()
	for _, row := range offloadRows {
		if _, said := offloads[row.ethtool]; said && row.netplan != "" {
			return true
		}
	}
	return false
}
