// Package netplan writes a host's network as netplan's files, with drop-ins of
// systemd-networkd for what netplan cannot say, and reads them.
package netplan

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/cloudinit"
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/ledger"
	"github.com/linerate/linerate/render/networkd"
	"github.com/linerate/linerate/render/node"
	"github.com/linerate/linerate/render/readback"
)

// ownFile is the file of definitions that no other file has; netplanMode is
// what netplan asks of files that may hold secrets.
const (
	ownFile  = "/etc/netplan/90-linerate.yaml"
	fileMode = 0o600
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

// Write writes the user's own text, with what netplan can say of the
// settings beside it, and drop-ins of systemd-networkd for what it cannot. A
// definition that one of netplan's files has is changed there.
func Write(in render.Input) (render.Output, error) {
	var out render.Output
	if in.Host.Network.Source == "" {
		return out, render.ErrEmpty
	}
	l := ledger.New(in, &out)
	wanted, err := yamldoc.Parse("network", []byte(in.Host.Network.Source))
	if err != nil {
		return out, fmt.Errorf("read the host's network: %w", err)
	}
	markSaid(in, wanted, l)
	for _, r := range refusals(wanted) {
		out.Warn(r.id, r.key, r.String())
	}
	if err := placeFiles(in, wanted, l); err != nil {
		return out, err
	}
	otherwise := "with NetworkManager as renderer there is no other file for it"
	if rendererOf(in) != "NetworkManager" {
		otherwise = "nor has systemd-networkd"
		networkd.DropIns(in, l, func(o device.Option) bool {
			_, netplan := fabric.BondParameter(o.Name)
			return !netplan || zeroUnsaid(o)
		}, makesLink)
	}
	l.Finish("netplan cannot represent it, "+otherwise,
		ledger.Reason{Keys: "source_rules", Why: ledger.SourceRulesWhy},
		ledger.Reason{Keys: "mptcp.", Why: "netplan has no MPTCP: ip-mptcp(8) at boot"},
		ledger.Reason{Keys: "absent", Why: "no file of netplan's defines it"},
	)
	return out, nil
}

// markSaid marks what the user's own text says by itself, and puts in the
// tree what netplan can say of the settings beside it.
func markSaid(in render.Input, wanted *yamldoc.Node, l *ledger.Ledger) {
	for _, w := range l.Entries {
		switch head, _, _ := strings.Cut(w.Key, "."); head {
		case "bonding", "offloads", "rings", "channels", "coalesce", "qdisc", "mptcp", "source_rules", "absent":
		case "sysctl":
			l.Say(w.Where, w.Key) // the sysctl format's
		default:
			if _, ofPort := bondopt.FindKey(head); !ofPort && !strings.HasPrefix(w.Key, "multipath[") {
				l.Say(w.Where, w.Key)
			}
		}
	}
	for _, d := range device.Definitions(in) {
		n := wanted.Get(sectionOf(d.Kind)).Get(d.ID)
		if n == nil {
			continue
		}
		for _, row := range device.Offloads {
			if on, set := d.Settings.Offloads[row.Ethtool]; set && row.Netplan != "" && d.Kind == device.Ethernet {
				node.SetKey(n, row.Netplan, node.Plain(strconv.FormatBool(on)))
				l.Say(d.ID, "offloads."+row.Ethtool)
			}
		}
		putOptions(in, d, n, l)
		putSourceRules(in, d, n, l)
	}
}

// sectionOf is where netplan defines a kind of device.
func sectionOf(k device.Kind) string {
	if section, own := map[device.Kind]string{device.Ethernet: "ethernets", device.Bond: "bonds", device.VLAN: "vlans", device.Bridge: "bridges", device.OVSBond: "bonds", device.OVSBridge: "bridges"}[k]; own {
		return section
	}
	return string(k)
}

// putOptions puts bond options in that stand under bonding and netplan has
// a word for.
func putOptions(in render.Input, d device.Device, n *yamldoc.Node, l *ledger.Ledger) {
	for _, o := range d.Options {
		value, beside := in.Host.Bonding[d.ID][o.Name]
		name, said, ok := fabric.ParameterOf(nil, o.Name, value)
		if !ok || !beside || zeroUnsaid(o) {
			continue
		}
		parameters := n.Get("parameters")
		if parameters == nil || parameters.Kind != yamldoc.MappingNode {
			parameters = &yamldoc.Node{Kind: yamldoc.MappingNode}
			node.SetKey(n, "parameters", parameters)
		}
		node.SetKey(parameters, name, said)
		l.Say(d.ID, o.Key)
	}
}

// zeroUnsaid reports an option whose zero netplan takes for nothing said
// (write_bond_parameters of src/networkd.c, netplan 0.106 to 1.2).
func zeroUnsaid(o device.Option) bool {
	row, _ := bondopt.Find(o.Name)
	said, _ := row.Saying(bondopt.Netplan)
	return said.ZeroUnsaid && o.Value == "0"
}

// putSourceRules puts in the rules and routes that the definition does not
// have itself.
func putSourceRules(in render.Input, d device.Device, n *yamldoc.Node, l *ledger.Ledger) {
	own, _ := in.Host.Network.Device(d.ID)
	add := func(list string, said map[string]string, keys ...string) {
		var pairs []string
		for _, key := range keys {
			pairs = append(pairs, key, said[key])
		}
		node.Push(n, list, node.FlowMap(pairs...))
	}
	for _, r := range d.Rules[len(own.Rules):] {
		add("routing-policy", device.RuleKeys(r), "from", "to", "table", "priority")
		l.Say(d.ID, "source_rules")
	}
	for _, r := range d.Routes[len(own.Routes):] {
		said := d.RouteKeys(r)
		if r.To.Bits() == 0 {
			said["to"] = "default"
		}
		add("routes", said, "to", "via", "from", "on-link", "scope", "metric", "table", "mtu")
	}
}

// rendererOf is what netplan hands over to: the last file's word.
func rendererOf(in render.Input) string {
	renderer := in.Host.Network.Renderer
	if renderer != "" {
		return renderer
	}
	for _, file := range inOrder(in.Old) {
		if n, err := yamldoc.Parse(file, []byte(in.Old[file])); err == nil {
			if r := n.Get("network").Get("renderer"); r != nil {
				renderer = r.Text
			}
		}
	}
	return renderer
}

// Dirs are the directories that netplan looks in, an administrator's first.
func Dirs() []string {
	return []string{"/etc/netplan/", "/run/netplan/", "/usr/lib/netplan/", "/lib/netplan/"}
}

// inOrder are netplan's files in the order that it reads them: by name,
// of one name the one in /run, then /etc, then /lib (netplan-yaml.md).
func inOrder(files map[string]string) []string {
	dirs := []string{"/lib/netplan", "/usr/lib/netplan", "/etc/netplan", "/run/netplan"}
	return append(render.ByName(files, "/"+cloudinit.FileName, dirs...), render.ByName(files, ".yaml", dirs...)...)
}

// makesLink reports that netplan writes a .link file for the device
// (write_link_file of src/networkd.c): for a new name, an MTU, wake-on-LAN and
// offloads.
func makesLink(d device.Device) bool {
	wol, _ := d.Truth("wakeonlan")
	if d.SetName != "" || d.MTU > 0 || wol {
		return true
	}
	offloads := d.Offloads()
	for _, row := range device.Offloads {
		if _, said := offloads[row.Ethtool]; said && row.Netplan != "" {
			return true
		}
	}
	return false
}

// merge is what the files say together, each part marked with where it stands.
func merge(f *readback.Host, files map[string]string) (*yamldoc.Node, error) {
	merged := node.Mapping()
	var broken yamldoc.Problems
	for _, file := range inOrder(files) {
		tree, err := yamldoc.ParseRepeated(file, []byte(files[file])) // as libyaml hands it to netplan
		var problems yamldoc.Problems
		if errors.As(err, &problems) {
			broken = append(broken, problems...)
			continue
		}
		if err != nil {
			return nil, err
		}
		f.MarkRead(file, tree)
		f.Twice(file, files[file])
		n := networkOf(tree)
		if cloudinit.IsFirst(n) {
			n = cloudinit.Network(f, file, n)
			f.MarkRead(file, n)
			f.MarkRead(file, f.Beside)
		}
		switch {
		case tree.Kind == yamldoc.NullNode:
		case tree.Kind != yamldoc.MappingNode || n == nil:
			return nil, yamldoc.Problems{{File: file, Line: 1, Column: 1, What: "this is no netplan file: it has no key network, and neither has its autoinstall"}}
		case n.Kind == yamldoc.MappingNode:
			mergeNodes(merged, n)
		}
	}
	if len(merged.Pairs) == 0 && broken != nil {
		return nil, broken
	}
	if len(merged.Pairs) == 0 {
		return nil, render.ErrEmpty
	}
	for _, p := range broken { // the other files say what they say
		f.Unread = append(f.Unread, render.Unread{Path: p.File, Line: p.Line, Column: p.Column, Key: "file", Why: p.What + "; the file is left out, and `netplan generate` refuses all of them"})
	}
	return merged, nil
}

// words are keys of which each file of netplan's has one.
var words = regexp.MustCompile(`(?m)^[\s{"']*(?:network|ethernets|bonds|vlans|bridges|autoinstall|config)["']?\s*:`)

// Is reports a text that may be netplan's.
func Is(text string) bool { return text == "" || words.MatchString(text) }

// networkOf is netplan's mapping in a file of its own, in the configuration of Ubuntu's
// installer (autoinstall, where it may stand below network once more) and in cloud-init's
// network-config, which has it without a key, of version 1 too; nil for none.
func networkOf(tree *yamldoc.Node) *yamldoc.Node {
	if v := tree.Get("version"); v != nil && (v.Text == "2" || cloudinit.IsFirst(tree)) && tree.Get("network") == nil {
		return tree
	}
	if a := tree.Get("autoinstall"); a.Get("network") != nil {
		tree = a
	}
	n := tree.Get("network")
	if inner := n.Get("network"); inner != nil {
		return inner
	}
	return n
}

func mergeNodes(into, from *yamldoc.Node) {
	for _, p := range from.Pairs {
		have := into.Get(p.Key)
		switch {
		case have != nil && have.Kind == yamldoc.MappingNode && p.Value.Kind == yamldoc.MappingNode:
			mergeNodes(have, p.Value)
		case have != nil && have.Kind == yamldoc.SequenceNode && p.Value.Kind == yamldoc.SequenceNode:
			for _, item := range p.Value.Items {
				if !node.Contains(have.Items, item) {
					have.Items = append(have.Items, item)
				}
			}
		default:
			node.SetKey(into, p.Key, p.Value)
		}
	}
}

// Read reads netplan's files, cloud-init's network-config of either version, and the
// drop-ins of systemd-networkd beside them.
func Read(files map[string]string) (render.Found, error) {
	f := readback.New()
	merged, err := merge(f, files)
	if err != nil {
		return render.Found{}, err
	}
	f.Network = merged
	leaveOutOthers(f)
	for _, r := range refusals(merged) {
		f.Note(r.at, r.id+"."+r.key, r.String())
	}
	for _, section := range merged.Pairs {
		if section.Value.Kind == yamldoc.MappingNode && section.Key != "ethernets" {
			for _, d := range section.Value.Pairs {
				f.Kinds[d.Key] = section.Key
			}
		}
	}
	networkd.ReadDropIns(f, files)
	return f.Found()
}

// leaveOutOthers leaves out VLANs in a card's filter (netplan-yaml(5), renderer sriov),
// which the kernel's own driver does not make.
func leaveOutOthers(f *readback.Host) {
	for _, d := range slices.Clone(node.Pairs(f.Network.Get("vlans"))) {
		if renderer := d.Value.Get("renderer"); renderer != nil && renderer.Text == "sriov" {
			f.LeaveOut("vlans", d.Key, "the card's VLAN filter makes it (renderer sriov), not the kernel: left out")
		}
	}
}
