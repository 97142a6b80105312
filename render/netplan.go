package render

import (
	"errors"
	"fmt"
	"path"
	"sort"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/bondopt"
)

// ErrEmpty is the error for a network that declares nothing.
var ErrEmpty = errors.New("the host has no network")

// netplanOwn is the file of definitions that no other file has; netplanMode is
// what netplan asks of files that may hold secrets.
const (
	netplanOwn  = "/etc/netplan/90-linerate.yaml"
	netplanMode = 0o600
)

// Netplan returns the network as a netplan file: the user's own text below a
// top-level "network:" key, comments and order as they are, indented by two.
// The file belongs in /etc/netplan with mode 0600. The error is ErrEmpty.
func Netplan(n fabric.Network) ([]byte, error) {
	if n.Source == "" {
		return nil, ErrEmpty
	}
	return []byte(underNetwork(n.Source)), nil
}

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
	wanted, err := yamldoc.Parse("network", []byte(in.Host.Network.Source))
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
	netplanDropIns(in, l)
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
func netplanSays(in Input, wanted *yamldoc.Node, l *ledger) {
	for _, w := range l.wishes {
		switch head, _, _ := strings.Cut(w.key, "."); head {
		case "bonding", "offloads", "rings", "channels", "coalesce", "qdisc", "mptcp", "source_rules", "absent":
		case "sysctl":
			l.say(w.where, w.key) // the sysctl format's
		default:
			if _, ofPort := bondopt.FindKey(head); !ofPort && !strings.HasPrefix(w.key, "multipath[") {
				l.say(w.where, w.key)
			}
		}
	}
	for _, d := range in.definitions() {
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
func netplanOptions(in Input, d device, n *yamldoc.Node, l *ledger) {
	for _, o := range d.options {
		value, beside := in.Host.Bonding[d.ID][o.name]
		name, node, ok := fabric.ParameterOf(nil, o.name, value)
		if !ok || !beside || zeroUnsaid(o) {
			continue
		}
		parameters := n.Get("parameters")
		if parameters == nil || parameters.Kind != yamldoc.MappingNode {
			parameters = &yamldoc.Node{Kind: yamldoc.MappingNode}
			setKey(n, "parameters", parameters)
		}
		setKey(parameters, name, node)
		l.say(d.ID, o.key)
	}
}

// zeroUnsaid reports an option whose zero netplan takes for nothing said
// (write_bond_parameters of src/networkd.c, netplan 0.106 to 1.2).
func zeroUnsaid(o option) bool {
	row, _ := bondopt.Find(o.name)
	said, _ := row.Saying(bondopt.Netplan)
	return said.ZeroUnsaid && o.value == "0"
}

// netplanSourceRules puts in the rules and routes that the definition does not
// have itself.
func netplanSourceRules(in Input, d device, n *yamldoc.Node, l *ledger) {
	own, _ := in.Host.Network.Device(d.ID)
	for _, r := range d.Rules[len(own.Rules):] {
		appendItem(n, "routing-policy", flowMap("from", r.From.String(), "to", prefixText(r.To), "table", strconv.Itoa(r.Table), "priority", numberText(r.Priority)))
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
		appendItem(n, "routes", flowMap("to", to, "via", via, "from", from, "on-link", onLink, "scope", r.Scope, "metric", numberText(r.Metric), "table", numberText(r.Table), "mtu", numberText(r.MTU)))
	}
}

// netplanRenderer is what netplan hands over to: the last file's word.
func netplanRenderer(in Input) string {
	renderer := in.Host.Network.Renderer
	if renderer != "" {
		return renderer
	}
	for _, file := range netplanOrder(in.Old) {
		if n, err := yamldoc.Parse(file, []byte(in.Old[file])); err == nil {
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
	names := sortedKeys(byName)
	sort.Strings(names)
	for i, name := range names {
		names[i] = byName[name]
	}
	return names
}
