package render

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/bondopt"
)

// ifcfgDir is where initscripts and NetworkManager's ifcfg-rh plugin look.
const ifcfgDir = "/etc/sysconfig/network-scripts/"

// writeIfcfg writes ifcfg-, route-, route6-, rule- and rule6- files (sysconfig.txt
// of initscripts 10.00; nm-settings-ifcfg-rh(5)).
func writeIfcfg(in Input) (Output, error) {
	var out Output
	l := newLedger(in, &out)
	if in.Host.Network.IsZero() {
		return out, ErrEmpty
	}
	w := ifcfgWriter{in: in, out: &out, l: l}
	for _, d := range in.devices() {
		switch d.kind {
		case kindEthernet, kindBond, kindBridge, kindVLAN:
		default:
			l.leaveOut(d.ID, string(d.kind), "devices of this kind are not written as ifcfg")
			continue
		}
		if d.name == "" {
			l.leaveOut(d.ID, "match", "which device this is is not known, and an ifcfg file is one device's")
			continue
		}
		w.device(d)
	}
	for key := range in.sysctls() {
		l.say("", "sysctl."+key) // the sysctl format's
	}
	for _, name := range in.Host.Absent {
		l.say(name, "absent")
		if _, there := in.Old[ifcfgDir+"ifcfg-"+name]; there {
			out.warn(name, "absent", "delete "+ifcfgDir+"ifcfg-"+name)
			continue
		}
		out.warn(name, "absent", "no file says that a link must not be there: delete "+ifcfgDir+"ifcfg-"+name+" where there is one")
	}
	l.finish(ifcfgWhy)
	return out, nil
}

func ifcfgWhy(w wish) string {
	switch {
	case w.key == "source_rules":
		return sourceRulesWhy
	case strings.HasPrefix(w.key, "multipath["):
		return "a route file's line belongs to one device: a route over several is a script's, or a dispatcher's"
	case strings.HasPrefix(w.key, "mptcp."):
		return "ifcfg has no MPTCP"
	}
	return "ifcfg has no key for it"
}

type ifcfgWriter struct {
	in  Input
	out *Output
	l   *ledger
}

func (w ifcfgWriter) device(d device) {
	own := ifcfgDir + "ifcfg-" + d.name
	for _, file := range sortedKeys(w.in.Old) {
		base := path.Base(file)
		if strings.HasPrefix(file, ifcfgDir) && strings.HasPrefix(base, "ifcfg-") && ifcfgIs(readShell(w.in.Old[file]), d) {
			own = file
			break
		}
	}
	suffix := strings.TrimPrefix(path.Base(own), "ifcfg-")
	pairs := append(w.identity(d), w.layer3(d)...)
	for _, l := range readShell(w.in.Old[own]) {
		for i := range pairs {
			switch {
			case l.key != pairs[i].key:
			case l.key == "BONDING_OPTS":
				pairs[i].value = mergedOptions(l.value, pairs[i].value)
			case l.key == "ETHTOOL_OPTS":
				pairs[i].value = mergedCalls(l.value, pairs[i].value)
			}
		}
	}
	w.out.add(own, 0o644, updateShell(w.in.Old[own], pairs, func(key string) bool { return ifcfgGone(d, pairs, key) }))
	w.aliases(d, suffix)
	w.lines(d, suffix)
}

// ifcfgIs reports a file that is the device's.
func ifcfgIs(lines []shellLine, d device) bool {
	name, mac := "", ""
	for _, l := range lines {
		switch l.key {
		case "DEVICE":
			name = l.value
		case "HWADDR":
			mac = l.value
		}
	}
	return name == d.name || name == "" && mac != "" && !d.permanent.IsZero() && strings.EqualFold(mac, d.permanent.String())
}

var addressKey = regexp.MustCompile(`^(IPADDR|PREFIX|NETMASK|NETWORK|BROADCAST|GATEWAY)[0-9]*$`)

// ifcfgGone reports a key that says something else than what is wanted.
func ifcfgGone(d device, pairs []shellPair, key string) bool {
	set := func(name string) bool {
		return slices.ContainsFunc(pairs, func(p shellPair) bool { return p.key == name })
	}
	switch {
	case key == "GATEWAY":
		return len(d.Routes) > 0 || set("IPADDR")
	case addressKey.MatchString(key):
		return set("IPADDR")
	case key == "IPV6ADDR_SECONDARIES":
		return set("IPV6ADDR")
	case key == "MASTER" || key == "SLAVE" || key == "MASTER_UUID":
		return d.masterKind != kindBond
	case key == "BRIDGE":
		return d.masterKind != kindBridge
	}
	return false
}

// identity says what the device is and what it belongs to.
func (w ifcfgWriter) identity(d device) []shellPair {
	var p pairs
	p.put("DEVICE", d.name)
	if !d.permanent.IsZero() && d.kind == kindEthernet {
		p.put("HWADDR", d.permanent.String())
	}
	w.l.say(d.ID, "match", "set-name")
	if d.match != nil && len(d.match.Drivers) > 0 {
		w.l.cannot(d.ID, "match", "an ifcfg file chooses no device by its driver")
	}
	p.put("TYPE", map[kind]string{kindEthernet: "Ethernet", kindBond: "Bond", kindBridge: "Bridge", kindVLAN: "Vlan"}[d.kind])
	onboot := "yes"
	if mode := d.key("activation-mode"); mode != nil && (mode.Text == "manual" || mode.Text == "off") {
		onboot = "no"
		w.l.say(d.ID, "activation-mode")
	}
	p.put("ONBOOT", onboot)
	if d.MTU > 0 {
		p.put("MTU", strconv.Itoa(d.MTU))
		w.l.say(d.ID, "mtu")
	}
	if !d.MAC.IsZero() {
		p.put("MACADDR", d.MAC.String())
		w.l.say(d.ID, "macaddress")
	}
	switch d.kind {
	case kindBond:
		p.put("BONDING_MASTER", "yes")
		p.put("BONDING_OPTS", w.bondingOpts(d))
		w.l.say(d.ID, "interfaces")
	case kindBridge:
		w.l.say(d.ID, "interfaces")
		w.bridge(d, &p)
	case kindVLAN:
		p.put("VLAN", "yes")
		p.put("PHYSDEV", d.parent)
		p.put("VLAN_ID", strconv.Itoa(d.tag))
		w.l.say(d.ID, "id", "link")
		if d.name != d.parent+"."+strconv.Itoa(d.tag) && d.name != "vlan"+strconv.Itoa(d.tag) {
			w.out.warn(d.ID, "vlans", "initscripts take a VLAN's number from its name, "+d.parent+"."+strconv.Itoa(d.tag)+": only NetworkManager reads this one")
		}
	}
	switch d.masterKind {
	case kindBond:
		p.put("MASTER", d.master)
		p.put("SLAVE", "yes")
	case kindBridge:
		p.put("BRIDGE", d.master)
	}
	w.ethtool(d, &p)
	return p
}

type pairs []shellPair

func (p *pairs) put(key, value string) {
	if value != "" {
		*p = append(*p, shellPair{key, value})
	}
}

// bondingOpts are the options by their kernel names, the mode first as the
// kernel wants it.
func (w ifcfgWriter) bondingOpts(d device) string {
	var words []string
	for _, o := range d.options {
		value := o.value
		row, _ := bondopt.Find(o.name)
		if row.Kind == bondopt.Port {
			if names := w.in.interfaces([]string{value}); len(names) == 1 {
				value = names[0]
			}
		}
		w.l.say(d.ID, o.key)
		if value == "" || strings.ContainsAny(value, " \t=") && !row.Listed() {
			continue
		}
		words = append(words, o.name+"="+strings.Join(strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' }), ","))
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

func (w ifcfgWriter) bridge(d device, p *pairs) {
	if d.parameters == nil {
		return
	}
	for _, q := range d.parameters.Pairs {
		switch {
		case q.Value.Kind != yamldoc.ScalarNode:
			continue
		case q.Key == "stp":
			p.put("STP", map[bool]string{true: "yes", false: "no"}[yes(q.Value.Text)])
		case q.Key == "forward-delay":
			p.put("DELAY", q.Value.Text)
		default:
			continue
		}
		w.l.say(d.ID, "parameters."+q.Key)
	}
}

// ethtool is what ethtool is to be run with, ";" between the calls.
func (w ifcfgWriter) ethtool(d device, p *pairs) {
	var calls []string
	call := func(letter string, words []string) {
		if len(words) > 0 {
			calls = append(calls, letter+" ${DEVICE} "+strings.Join(words, " "))
		}
	}
	if wol, said := d.truth("wakeonlan"); said {
		call("-s", []string{"wol", map[bool]string{true: "g", false: "d"}[wol]})
		w.l.say(d.ID, "wakeonlan")
	}
	offloads, s := d.offloads(), d.settings
	var words []string
	for _, name := range sortedKeys(offloads) {
		words = append(words, name, onOff(offloads[name]))
		w.l.say(d.ID, "offloads."+name)
		for _, row := range offloadRows {
			if row.ethtool == name && row.netplan != "" {
				w.l.say(d.ID, row.netplan)
			}
		}
	}
	call("-K", words)
	words = nil
	for _, ring := range []struct {
		name string
		n    int
	}{{"rx", s.RingRx}, {"tx", s.RingTx}} {
		if ring.n > 0 {
			words = append(words, ring.name, strconv.Itoa(ring.n))
			w.l.say(d.ID, "rings."+ring.name)
		}
	}
	call("-G", words)
	words = nil
	for _, name := range sortedKeys(s.Coalescing) {
		value := strconv.Itoa(s.Coalescing[name])
		if strings.HasPrefix(name, "adaptive-") {
			value = onOff(s.Coalescing[name] != 0)
		}
		words = append(words, name, value)
		w.l.say(d.ID, "coalesce."+name)
	}
	call("-C", words)
	words = nil
	for _, name := range sortedKeys(s.Channels) {
		words = append(words, name, strconv.Itoa(s.Channels[name]))
		w.l.say(d.ID, "channels."+name)
		w.out.warn(d.ID, "channels."+name, "NetworkManager reads no -L in ETHTOOL_OPTS: only initscripts set it")
	}
	call("-L", words)
	p.put("ETHTOOL_OPTS", strings.Join(calls, "; "))
	for _, o := range bondopt.Ports() {
		value, wanted := s.Port[o.Name]
		if said, ok := o.Saying(bondopt.Ifcfg); ok && wanted {
			p.put(said.Name, value)
			w.l.say(d.ID, o.Key)
			w.out.warn(d.ID, o.Key, said.Name+" is NetworkManager's, from "+said.Since+" on; initscripts leave it out")
		}
	}
}
