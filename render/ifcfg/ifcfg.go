// Package ifcfg writes a host's network as the ifcfg, route and rule files of
// initscripts (sysconfig.txt of initscripts 10.00; nm-settings-ifcfg-rh(5)), and
// reads them.
package ifcfg

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/ledger"
	"github.com/linerate/linerate/render/node"
	"github.com/linerate/linerate/render/shell"
)

// Dir is where initscripts and NetworkManager's ifcfg-rh plugin look, SUSEDir where
// SUSE's wicked does, whose files are read and not written (ifcfg(5) of wicked).
const (
	Dir     = "/etc/sysconfig/network-scripts/"
	SUSEDir = "/etc/sysconfig/network/"
)

// ours reports a file of one of them.
func ours(file string) bool {
	dir := path.Dir(file) + "/"
	return dir == Dir || dir == SUSEDir
}

// Write writes ifcfg-, route-, route6-, rule- and rule6- files (sysconfig.txt
// of initscripts 10.00; nm-settings-ifcfg-rh(5)).
func Write(in render.Input) (render.Output, error) {
	var out render.Output
	l := ledger.New(in, &out)
	if in.Host.Network.IsZero() {
		return out, render.ErrEmpty
	}
	w := writer{in: in, out: &out, l: l}
	for _, d := range device.All(in) {
		switch d.Kind {
		case device.Ethernet, device.Bond, device.Bridge, device.VLAN:
		default:
			l.LeaveOut(d.ID, string(d.Kind), "devices of this kind are not written as ifcfg")
			continue
		}
		if d.Name == "" {
			l.LeaveOut(d.ID, "match", "which device this is is not known, and an ifcfg file is one device's")
			continue
		}
		w.device(d)
	}
	for key := range in.AllSysctls() {
		l.Say("", "sysctl."+key) // the sysctl format's
	}
	for _, name := range in.Host.Absent {
		l.Say(name, "absent")
		if _, there := in.Old[Dir+"ifcfg-"+name]; there {
			out.Warn(name, "absent", "delete "+Dir+"ifcfg-"+name)
			continue
		}
		out.Warn(name, "absent", "no file says that a link must not be there: delete "+Dir+"ifcfg-"+name+" where there is one")
	}
	l.Finish("ifcfg has no key for it",
		ledger.Reason{Keys: "source_rules", Why: ledger.SourceRulesWhy},
		ledger.Reason{Keys: "multipath[", Why: "a route file's line belongs to one device: a route over several is a script's, or a dispatcher's"},
		ledger.Reason{Keys: "mptcp.", Why: "ifcfg has no MPTCP"},
	)
	return out, nil
}

type writer struct {
	in  render.Input
	out *render.Output
	l   *ledger.Ledger
}

func (w writer) device(d device.Device) {
	own := Dir + "ifcfg-" + d.Name
	for _, file := range slices.Sorted(maps.Keys(w.in.Old)) {
		base := path.Base(file)
		if strings.HasPrefix(file, Dir) && strings.HasPrefix(base, "ifcfg-") && isOf(shell.Read(w.in.Old[file]), d) {
			own = file
			break
		}
	}
	suffix := strings.TrimPrefix(path.Base(own), "ifcfg-")
	pairs := append(w.identity(d), w.layer3(d)...)
	for _, l := range shell.Read(w.in.Old[own]) {
		for i := range pairs {
			switch {
			case l.Key != pairs[i].Key:
			case l.Key == "BONDING_OPTS":
				pairs[i].Value = mergedOptions(l.Value, pairs[i].Value)
			case l.Key == "ETHTOOL_OPTS":
				pairs[i].Value = mergedCalls(l.Value, pairs[i].Value)
			}
		}
	}
	w.out.Add(own, 0o644, shell.Update(w.in.Old[own], pairs, func(key string) bool { return gone(d, pairs, key) }))
	w.aliases(d, suffix)
	w.lines(d, suffix)
}

// isOf reports a file that is the device's.
func isOf(lines []shell.Line, d device.Device) bool {
	name, mac := "", ""
	for _, l := range lines {
		switch l.Key {
		case "DEVICE":
			name = l.Value
		case "HWADDR":
			mac = l.Value
		}
	}
	return name == d.Name || name == "" && mac != "" && !d.Permanent.IsZero() && strings.EqualFold(mac, d.Permanent.String())
}

var addressKey = regexp.MustCompile(`^(IPADDR|PREFIX|NETMASK|NETWORK|BROADCAST|GATEWAY)[0-9]*$`)

// gone reports a key that says something else than what is wanted.
func gone(d device.Device, pairs []shell.Pair, key string) bool {
	set := func(name string) bool {
		return slices.ContainsFunc(pairs, func(p shell.Pair) bool { return p.Key == name })
	}
	switch {
	case key == "GATEWAY":
		return len(d.Routes) > 0 || set("IPADDR")
	case addressKey.MatchString(key):
		return set("IPADDR")
	case key == "IPV6ADDR_SECONDARIES":
		return set("IPV6ADDR")
	case key == "MASTER" || key == "SLAVE" || key == "MASTER_UUID":
		return d.MasterKind != device.Bond
	case key == "BRIDGE":
		return d.MasterKind != device.Bridge
	}
	return false
}

// identity says what the device is and what it belongs to.
func (w writer) identity(d device.Device) []shell.Pair {
	var p pairs
	p.put("DEVICE", d.Name)
	if !d.Permanent.IsZero() && d.Kind == device.Ethernet {
		p.put("HWADDR", d.Permanent.String())
	}
	w.l.Say(d.ID, "match", "set-name")
	if d.Match != nil && len(d.Match.Drivers) > 0 {
		w.l.Cannot(d.ID, "match", "an ifcfg file chooses no device by its driver")
	}
	p.put("TYPE", map[device.Kind]string{device.Ethernet: "Ethernet", device.Bond: "Bond", device.Bridge: "Bridge", device.VLAN: "Vlan"}[d.Kind])
	onboot := "yes"
	if mode := d.Key("activation-mode"); mode != nil && (mode.Text == "manual" || mode.Text == "off") {
		onboot = "no"
		w.l.Say(d.ID, "activation-mode")
		if mode.Text == "off" {
			w.l.Cannot(d.ID, "activation-mode", "ONBOOT=no leaves the device alone, and nothing keeps it down")
		}
	}
	p.put("ONBOOT", onboot)
	if d.MTU > 0 {
		p.put("MTU", strconv.Itoa(d.MTU))
		w.l.Say(d.ID, "mtu")
	}
	if !d.MAC.IsZero() {
		p.put("MACADDR", d.MAC.String())
		w.l.Say(d.ID, "macaddress")
	}
	switch d.Kind {
	case device.Bond:
		p.put("BONDING_MASTER", "yes")
		p.put("BONDING_OPTS", w.bondingOpts(d))
		w.l.Say(d.ID, "interfaces")
	case device.Bridge:
		w.l.Say(d.ID, "interfaces")
		w.bridge(d, &p)
	case device.VLAN:
		p.put("VLAN", "yes")
		p.put("PHYSDEV", d.Parent)
		p.put("VLAN_ID", strconv.Itoa(d.Tag))
		w.l.Say(d.ID, "id", "link")
		if d.Name != d.Parent+"."+strconv.Itoa(d.Tag) && d.Name != "vlan"+strconv.Itoa(d.Tag) {
			w.out.Warn(d.ID, "vlans", "initscripts take a VLAN's number from its name, "+d.Parent+"."+strconv.Itoa(d.Tag)+": only NetworkManager reads this one")
		}
	}
	switch d.MasterKind {
	case device.Bond:
		p.put("MASTER", d.Master)
		p.put("SLAVE", "yes")
	case device.Bridge:
		p.put("BRIDGE", d.Master)
	}
	w.ethtool(d, &p)
	return p
}

type pairs []shell.Pair

func (p *pairs) put(key, value string) {
	if value != "" {
		*p = append(*p, shell.Pair{Key: key, Value: value})
	}
}

// bondingOpts are the options by their kernel names, the mode first as the
// kernel wants it.
func (w writer) bondingOpts(d device.Device) string {
	var words []string
	for _, o := range d.Options {
		value := o.Value
		row, _ := bondopt.Find(o.Name)
		if row.Kind == bondopt.Port {
			if names := device.Interfaces(w.in, []string{value}); len(names) == 1 {
				value = names[0]
			}
		}
		w.l.Say(d.ID, o.Key)
		if value == "" || strings.ContainsAny(value, " \t=") && !row.Listed() {
			continue
		}
		words = append(words, o.Name+"="+strings.Join(strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' }), ","))
	}
	return strings.Join(words, " ")
}

// mergedOptions are the bond options that are there with the wanted ones in
// their place, others behind.
func mergedOptions(old, wanted string) string {
	words := strings.Fields(wanted)
	var all []string
	for _, have := range strings.Fields(old) {
		name, value, _ := strings.Cut(have, "=")
		at := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, name+"=") })
		if at >= 0 {
			if kernelWord(name, value) != strings.TrimPrefix(words[at], name+"=") {
				have = words[at]
			}
			words = slices.Delete(words, at, at+1)
		}
		all = append(all, have)
	}
	return strings.Join(append(all, words...), " ")
}

// mergedCalls are the wanted calls of ethtool, and those that are there of
// another kind.
func mergedCalls(old, wanted string) string {
	kindOf := func(call string) string { letter, _, _ := strings.Cut(strings.TrimSpace(call), " "); return letter }
	var all []string
	for _, call := range strings.Split(old, ";") {
		same := slices.ContainsFunc(strings.Split(wanted, ";"), func(w string) bool { return kindOf(w) == kindOf(call) })
		if strings.TrimSpace(call) != "" && !same {
			all = append(all, strings.TrimSpace(call))
		}
	}
	return strings.Join(append(all, wanted), "; ")
}

// kernelWord is an option's value as the kernel's word where it may be a
// number: "mode=4".
func kernelWord(name, value string) string {
	o, known := bondopt.Find(name)
	if word, err := o.Word(value); known && o.Words != nil && err == nil {
		return word
	}
	return value
}

func (w writer) bridge(d device.Device, p *pairs) {
	if d.Parameters == nil {
		return
	}
	for _, q := range d.Parameters.Pairs {
		switch {
		case q.Value.Kind != yamldoc.ScalarNode:
			continue
		case q.Key == "stp":
			p.put("STP", map[bool]string{true: "yes", false: "no"}[node.True(q.Value)])
		case q.Key == "forward-delay":
			p.put("DELAY", q.Value.Text)
		default:
			continue
		}
		w.l.Say(d.ID, "parameters."+q.Key)
	}
}

// ethtool is what ethtool is to be run with, ";" between the calls.
func (w writer) ethtool(d device.Device, p *pairs) {
	calls, said := d.EthtoolCalls("${DEVICE}")
	w.l.Say(d.ID, said...)
	for _, n := range device.Numbers(d.Settings) {
		if n.Kind == "channels" {
			w.out.Warn(d.ID, n.Key(), "NetworkManager reads no -L in ETHTOOL_OPTS: only initscripts set it")
		}
	}
	p.put("ETHTOOL_OPTS", strings.Join(calls, "; "))
	for _, o := range bondopt.Ports() {
		value, wanted := d.Settings.Port[o.Name]
		if said, ok := o.Saying(bondopt.Ifcfg); ok && wanted {
			p.put(said.Name, value)
			w.l.Say(d.ID, o.Key)
			w.out.Warn(d.ID, o.Key, said.Name+" is NetworkManager's, from "+said.Since+" on; initscripts leave it out")
		}
	}
}
