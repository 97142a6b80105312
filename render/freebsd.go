package render

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
)

// freebsdWriter fills in rc.conf(5), loader.conf(5) and sysctl.conf(5).
type freebsdWriter struct {
	in     Input
	ledger *ledger
	names  otherNames
	all    []device
	rc     variables
	loader variables
	routes map[string][]string // names of routes by rc.conf's list
}

func writeFreeBSD(in Input) (Output, error) {
	var out Output
	w := &freebsdWriter{in: in, ledger: newLedger(in, &out), routes: map[string][]string{}}
	w.all, w.names = namedDevices(in, w.ledger, deviceName, freebsdName)
	for _, d := range w.all {
		w.device(d)
	}
	sysctls := w.sysctls()
	if len(w.rc.list) == 0 {
		return Output{}, fmt.Errorf("%w that can be written for FreeBSD: %s", ErrEmpty, reasons(out))
	}
	for _, list := range []string{"static_routes", "ipv6_static_routes"} {
		if names := w.routes[list]; len(names) > 0 {
			w.rc.add(list, strings.Join(names, " "))
		}
	}
	out.add("/etc/rc.conf", 0o644, w.rc.text(in.Old["/etc/rc.conf"], true, "cloned_interfaces", "static_routes", "ipv6_static_routes"))
	if len(w.loader.list) > 0 {
		out.add("/boot/loader.conf", 0o644, w.loader.text(in.Old["/boot/loader.conf"], true))
	}
	if len(sysctls.list) > 0 {
		out.add("/etc/sysctl.conf", 0o644, sysctls.text(in.Old["/etc/sysctl.conf"], false))
	}
	w.ledger.finish(freebsdWhy)
	return out, nil
}

// reasons are an output's warnings on one line.
func reasons(out Output) string {
	var all []string
	for _, w := range out.Warnings {
		all = append(all, w.Where+": "+w.Why)
	}
	return strings.Join(all, "; ")
}

// freebsdName names what rc.conf makes.
func freebsdName(d device, n int) string {
	switch d.kind {
	case kindBond:
		return fmt.Sprintf("lagg%d", n)
	case kindBridge:
		return fmt.Sprintf("bridge%d", n)
	case kindVLAN:
		return fmt.Sprintf("vlan%d.%d", n, d.tag) // until its parent's name is known, which its own begins with
	}
	return ""
}

func freebsdWhy(x wish) string {
	switch {
	case strings.HasPrefix(x.key, "sysctl."):
		return "FreeBSD has no counterpart of this tunable"
	case strings.HasPrefix(x.key, "parameters.mii-monitor") || x.key == "parameters.up-delay" || x.key == "parameters.down-delay":
		return "lagg follows the drivers' link state at once: there is nothing to set"
	case strings.HasPrefix(x.key, "parameters.") || strings.HasPrefix(x.key, "bonding."):
		return "lagg has no such option"
	case strings.HasPrefix(x.key, "routing-policy") || x.key == "source_rules":
		return "FreeBSD has no routing by source: use setfib(1) with a table of its own, or pf's route-to"
	case strings.HasPrefix(x.key, "rings.") || strings.HasPrefix(x.key, "channels.") || strings.HasPrefix(x.key, "coalesce."):
		return "each FreeBSD driver has tunables of its own for it (man 4 of the driver)"
	case strings.HasPrefix(x.key, "mptcp."):
		return "FreeBSD's kernel has no MPTCP"
	case strings.HasPrefix(x.key, "multipath"):
		return "write it with route(8)'s -weight where the kernel has ROUTE_MPATH; rc.conf is not made for it"
	case x.key == "absent":
		return "take it out of cloned_interfaces"
	}
	return "rc.conf has no word for it"
}

// variable is an interface's name in a variable of rc.conf.
func variable(name string) string { return strings.NewReplacer(".", "_", "-", "_").Replace(name) }

func (w *freebsdWriter) device(d device) {
	name := w.names.own(d)
	var args []string
	w.ledger.say(d.ID, string(d.kind), "match", "set-name")
	mtu := mtuOf(d, w.all)
	switch d.kind {
	case kindEthernet:
		args = append(args, "up")
		args = append(args, w.offloads(d)...)
	case kindBond:
		lagg, ok := w.lagg(d)
		if !ok {
			return
		}
		args = lagg
		w.rc.addWord("cloned_interfaces", name)
		w.loader.add("if_lagg_load", "YES")
		if mtu != 0 {
			w.ledger.say(d.ID, "mtu") // lagg takes its ports'
			mtu = 0
		}
	case kindVLAN:
		parent := w.names[d.parent]
		w.rc.addWord("vlans_"+variable(parent), strconv.Itoa(d.tag))
		name = fmt.Sprintf("%s.%d", parent, d.tag)
		w.names[d.handle()] = name
		w.ledger.say(d.ID, "id", "link")
	case kindBridge:
		for _, port := range w.names.of(d.ports) {
			args = append(args, "addm", port)
		}
		args = append(args, "up")
		w.rc.addWord("cloned_interfaces", name)
		w.loader.add("if_bridge_load", "YES")
		w.ledger.say(d.ID, "interfaces")
	default:
		w.ledger.leaveOut(d.ID, string(d.kind), "only physical devices, laggs, VLANs and bridges are written")
		return
	}
	if mtu != 0 {
		args = append(args, "mtu", strconv.Itoa(mtu))
		w.ledger.say(d.ID, "mtu")
	}
	if !d.MAC.IsZero() {
		args = append(args, "ether", d.MAC.String())
		w.ledger.say(d.ID, "macaddress")
	}
	w.addresses(d, name, args)
	for i, r := range d.Routes {
		w.route(d, name, fmt.Sprintf("routes[%d]", i), r)
	}
}

func (w *freebsdWriter) offloads(d device) []string {
	var args []string
	for _, key := range slices.Sorted(maps.Keys(d.settings.Offloads)) {
		word, ok := freebsdOffloads[key]
		if !ok {
			continue
		}
		if !d.settings.Offloads[key] {
			word = "-" + word
		}
		args = append(args, word)
		w.ledger.say(d.ID, "offloads."+key)
	}
	return args
}

// lagg is a bond's part of its ifconfig line.
func (w *freebsdWriter) lagg(d device) ([]string, bool) {
	protocol, ok := laggProtocols[d.mode()]
	if !ok {
		w.ledger.leaveOut(d.ID, d.options[0].key, "lagg has no counterpart of mode "+d.mode()+"; left out")
		return nil, false
	}
	w.ledger.say(d.ID, d.options[0].key, "interfaces")
	args := []string{"laggproto", protocol}
	if o, ok := d.option("xmit_hash_policy"); ok {
		hash, known := laggHashes[o.value]
		if known {
			args = append(args, "lagghash", hash)
			w.ledger.say(d.ID, o.key)
		} else {
			w.ledger.cannot(d.ID, o.key, "lagg hashes l2, l3 and l4 only, not "+o.value+": its default, all three, is used")
		}
	} else if protocol == "lacp" || protocol == "loadbalance" {
		args = append(args, "lagghash", "l2") // the bonding driver's default
	}
	if o, ok := d.option("lacp_rate"); ok && protocol == "lacp" {
		word := "-lacp_fast_timeout"
		if o.value == "fast" {
			word = "lacp_fast_timeout"
		}
		args = append(args, word)
		w.ledger.say(d.ID, o.key)
	}
	if o, ok := d.option("packets_per_slave"); ok && protocol == "roundrobin" && o.value != "0" {
		args = append(args, "rr_limit", o.value)
		w.ledger.say(d.ID, o.key)
	}
	for _, port := range w.names.of(portsInOrder(w.in, d, w.ledger)) {
		args = append(args, "laggport", port)
	}
	return append(args, "up"), true
}

// addresses writes the device's ifconfig lines: the first address of each
// family on the line itself, the others as aliases.
func (w *freebsdWriter) addresses(d device, name string, args []string) {
	prefix := "ifconfig_" + variable(name)
	var v4, v6 []netip.Prefix
	for _, a := range d.Addresses {
		if a.Addr().Is4() {
			v4 = append(v4, a)
		} else {
			v6 = append(v6, a)
		}
		w.ledger.say(d.ID, "addresses")
	}
	var inet6 []string
	for _, p := range d.Unread {
		switch p.Key {
		case "dhcp4":
			if isTrue(p.Value) {
				args = append(args, "SYNCDHCP")
			}
			w.ledger.say(d.ID, p.Key)
		case "accept-ra":
			if isTrue(p.Value) {
				inet6 = append(inet6, "accept_rtadv")
			}
			w.ledger.say(d.ID, p.Key)
		}
	}
	if len(v4) > 0 {
		args = append(args, "inet", v4[0].String())
	}
	w.rc.add(prefix, strings.Join(args, " "))
	aliases := 0
	alias := func(text string) {
		w.rc.add(fmt.Sprintf("%s_alias%d", prefix, aliases), text)
		aliases++
	}
	for i, a := range v4 {
		if i > 0 {
			alias("inet " + aliasPrefix(a, v4[:i]).String())
		}
	}
	for i, a := range v6 {
		text := fmt.Sprintf("inet6 %s prefixlen %d", a.Addr(), a.Bits())
		if i == 0 {
			w.rc.add(prefix+"_ipv6", strings.Join(append([]string{text}, inet6...), " "))
			continue
		}
		alias(text)
	}
	if len(v6) == 0 && len(inet6) > 0 {
		w.rc.add(prefix+"_ipv6", "inet6 accept_rtadv")
	}
}

// aliasPrefix is a further address as ifconfig(8) wants it: one in a network
// that the interface has already with a mask of all ones (Handbook, "Virtual
// Hosts").
func aliasPrefix(a netip.Prefix, before []netip.Prefix) netip.Prefix {
	for _, b := range before {
		if b.Contains(a.Addr()) {
			return netip.PrefixFrom(a.Addr(), a.Addr().BitLen())
		}
	}
	return a
}

func (w *freebsdWriter) route(d device, name, key string, r fabric.Route) {
	if table(r.Table) != mainTable {
		w.ledger.cannot(d.ID, key, fmt.Sprintf("table %d: FreeBSD's tables are FIBs, chosen by setfib(1) and not by rules", r.Table))
		return
	}
	w.ledger.say(d.ID, key, key+".table")
	v4, via := r.To.Addr().Is4(), d.via(r)
	if r.Scope == "link" && !via.IsValid() {
		w.ledger.say(d.ID, key+".scope")
	}
	list, prefix := "static_routes", "route_"
	if !v4 {
		list, prefix = "ipv6_static_routes", "ipv6_route_"
	}
	text := "-net " + r.To.String()
	switch {
	case r.Type == "blackhole":
		text += " " + map[bool]string{true: "127.0.0.1", false: "::1"}[v4] + " -blackhole"
		w.ledger.say(d.ID, key+".type")
	case r.Type == "unreachable" || r.Type == "prohibit":
		text += " " + map[bool]string{true: "127.0.0.1", false: "::1"}[v4] + " -reject"
		w.ledger.say(d.ID, key+".type")
	case !via.IsValid():
		text += " -interface " + name
	case r.To.Bits() == 0 && r.MTU == 0 && !r.OnLink:
		router := map[bool]string{true: "defaultrouter", false: "ipv6_defaultrouter"}[v4]
		if other, set := w.rc.value(router); set && other != via.String() {
			w.ledger.cannot(d.ID, key, "one default route of a family, and it leads to "+other+": routes have no metrics there")
			return
		}
		w.rc.add(router, via.String())
		return
	default:
		text += " " + via.String()
	}
	if r.MTU != 0 {
		text += fmt.Sprintf(" -mtu %d", r.MTU)
		w.ledger.say(d.ID, key+".mtu")
	}
	id := fmt.Sprintf("%s_%d", variable(name), len(w.routes[list])+1)
	w.routes[list] = append(w.routes[list], id)
	w.rc.add(prefix+id, text)
}

func (w *freebsdWriter) sysctls() variables {
	all := counterparts(w.in, w.ledger, freebsdSysctls)
	for _, buffer := range []string{"net.inet.tcp.recvbuf_max", "net.inet.tcp.sendbuf_max"} {
		if number(all[buffer]) > number(all["kern.ipc.maxsockbuf"]) {
			all["kern.ipc.maxsockbuf"] = all[buffer]
		}
	}
	var v variables
	for _, key := range slices.Sorted(maps.Keys(all)) {
		v.add(key, all[key])
	}
	if v.list == nil {
		return v
	}
	sort.SliceStable(v.list, func(i, j int) bool { return v.list[i].name < v.list[j].name })
	return v
}
