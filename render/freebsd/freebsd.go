// Package freebsd writes a host's network as rc.conf(5), loader.conf(5) and
// sysctl.conf(5) of FreeBSD.
package freebsd

import (
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/counterpart"
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/ledger"
)

// writer fills in rc.conf(5), loader.conf(5) and sysctl.conf(5).
type writer struct {
	in     render.Input
	ledger *ledger.Ledger
	names  counterpart.Names
	all    []device.Device
	rc     variables
	loader variables
	routes map[string][]string // names of routes by rc.conf's list
}

// Write returns the host's network as FreeBSD's files. The error is
// render.ErrEmpty for a host that has nothing to write, with the reasons.
func Write(in render.Input) (render.Output, error) {
	var out render.Output
	w := &writer{in: in, ledger: ledger.New(in, &out), routes: map[string][]string{}}
	w.all, w.names = counterpart.Named(in, w.ledger, counterpart.DeviceName, func(d device.Device, n int) string {
		if d.Kind == device.Bond && bondopt.Foreign(in.Host.System) && laggName.MatchString(d.Name) {
			return d.Name
		}
		return madeName(d, n)
	})
	for _, d := range w.all {
		w.device(d)
	}
	sysctls := w.sysctls()
	if len(w.rc.list) == 0 {
		return render.Output{}, fmt.Errorf("%w that can be written for FreeBSD: %s", render.ErrEmpty, counterpart.Reasons(out))
	}
	for _, list := range []string{"static_routes", "ipv6_static_routes"} {
		if names := w.routes[list]; len(names) > 0 {
			w.rc.add(list, strings.Join(names, " "))
		}
	}
	out.Add("/etc/rc.conf", 0o644, w.rc.text(in.Old["/etc/rc.conf"], true, "cloned_interfaces", "static_routes", "ipv6_static_routes"))
	if len(w.loader.list) > 0 {
		out.Add("/boot/loader.conf", 0o644, w.loader.text(in.Old["/boot/loader.conf"], true))
	}
	if len(sysctls.list) > 0 {
		out.Add("/etc/sysctl.conf", 0o644, sysctls.text(in.Old["/etc/sysctl.conf"], false))
	}
	w.ledger.Finish("rc.conf cannot represent it",
		ledger.Reason{Keys: "sysctl.", Why: "FreeBSD has no counterpart of this tunable"},
		ledger.Reason{Keys: "parameters.mii-monitor parameters.up-delay parameters.down-delay", Why: "lagg follows the drivers' link state at once: there is nothing to set"},
		ledger.Reason{Keys: "parameters. bonding.", Why: "lagg has no such option"},
		ledger.Reason{Keys: "routing-policy source_rules", Why: "FreeBSD has no routing by source: use setfib(1) with a table of its own, or pf's route-to"},
		ledger.Reason{Keys: "rings. channels. coalesce.", Why: "each FreeBSD driver has tunables of its own for it (man 4 of the driver)"},
		ledger.Reason{Keys: "mptcp.", Why: "FreeBSD's kernel has no MPTCP"},
		ledger.Reason{Keys: "multipath", Why: "write it with route(8)'s -weight where the kernel has ROUTE_MPATH; rc.conf is not made for it"},
		ledger.Reason{Keys: "absent", Why: "take it out of cloned_interfaces"},
	)
	return out, nil
}

// laggName is what FreeBSD calls a lagg.
var laggName = regexp.MustCompile(`^lagg[0-9]{1,4}$`)

// madeName names what rc.conf makes.
func madeName(d device.Device, n int) string {
	switch d.Kind {
	case device.Bond:
		return fmt.Sprintf("lagg%d", n)
	case device.Bridge:
		return fmt.Sprintf("bridge%d", n)
	case device.VLAN:
		return fmt.Sprintf("vlan%d.%d", n, d.Tag) // until its parent's name is known, which its own begins with
	}
	return ""
}

// variable is an interface's name in a variable of rc.conf.
func variable(name string) string { return strings.NewReplacer(".", "_", "-", "_").Replace(name) }

func (w *writer) device(d device.Device) {
	name := w.names.Own(d)
	var args []string
	w.ledger.Say(d.ID, string(d.Kind), "match", "set-name")
	mtu := counterpart.MTU(d, w.all)
	switch d.Kind {
	case device.Ethernet:
		args = append(args, "up")
		args = append(args, w.offloads(d)...)
	case device.Bond:
		lagg, ok := w.lagg(d)
		if !ok {
			return
		}
		args = lagg
		w.rc.addWord("cloned_interfaces", name)
		w.loader.add("if_lagg_load", "YES")
		if mtu != 0 {
			w.ledger.Say(d.ID, "mtu") // lagg takes its ports'
			mtu = 0
		}
	case device.VLAN:
		parent := w.names[d.Parent]
		w.rc.addWord("vlans_"+variable(parent), strconv.Itoa(d.Tag))
		name = fmt.Sprintf("%s.%d", parent, d.Tag)
		w.names[d.Handle()] = name
		w.ledger.Say(d.ID, "id", "link")
	case device.Bridge:
		for _, port := range w.names.Of(d.Ports) {
			args = append(args, "addm", port)
		}
		args = append(args, "up")
		w.rc.addWord("cloned_interfaces", name)
		w.loader.add("if_bridge_load", "YES")
		w.ledger.Say(d.ID, "interfaces")
	default:
		w.ledger.LeaveOut(d.ID, string(d.Kind), "only physical devices, laggs, VLANs and bridges are written")
		return
	}
	if mtu != 0 {
		args = append(args, "mtu", strconv.Itoa(mtu))
		w.ledger.Say(d.ID, "mtu")
	}
	if !d.MAC.IsZero() {
		args = append(args, "ether", d.MAC.String())
		w.ledger.Say(d.ID, "macaddress")
	}
	w.addresses(d, name, args)
	for i, r := range d.Routes {
		w.route(d, name, fmt.Sprintf("routes[%d]", i), r)
	}
}

func (w *writer) offloads(d device.Device) []string {
	var args []string
	for _, key := range slices.Sorted(maps.Keys(d.Settings.Offloads)) {
		word, ok := offloadWords[key]
		if !ok {
			continue
		}
		if !d.Settings.Offloads[key] {
			word = "-" + word
		}
		args = append(args, word)
		w.ledger.Say(d.ID, "offloads."+key)
	}
	return args
}

// flowID is the option that takes the card's hash in place of lagghash.
const flowID = "use_flowid"

// lagg is a bond's part of its ifconfig line.
func (w *writer) lagg(d device.Device) ([]string, bool) {
	system, _ := bondopt.SystemOf(bondopt.FreeBSD)
	mode, ok := system.Mode(d.Mode())
	protocol := mode.Word
	if !ok {
		w.ledger.LeaveOut(d.ID, d.Options[0].Key, "lagg has no counterpart of mode "+d.Mode()+"; left out")
		return nil, false
	}
	w.ledger.Say(d.ID, d.Options[0].Key, "interfaces")
	args := []string{"laggproto", protocol}
	if o, ok := d.Option("xmit_hash_policy"); ok {
		hash, known := system.Policy(o.Value)
		switch {
		case known && hash.Word == flowID:
			args = append(args, flowID)
			w.ledger.Say(d.ID, o.Key)
		case known:
			args = append(args, "lagghash", hash.Word)
			w.ledger.Say(d.ID, o.Key)
		default:
			w.ledger.Cannot(d.ID, o.Key, "lagg hashes l2, l3 and l4 only, not "+o.Value+": its default, all three, is used")
		}
	} else if !bondopt.Foreign(w.in.Host.System) && (protocol == "lacp" || protocol == "loadbalance") {
		args = append(args, "lagghash", "l2") // the bonding driver's default
	}
	if o, ok := d.Option("lacp_rate"); ok && protocol == "lacp" {
		word := "-lacp_fast_timeout"
		if o.Value == "fast" {
			word = "lacp_fast_timeout"
		}
		args = append(args, word)
		w.ledger.Say(d.ID, o.Key)
	}
	if o, ok := d.Option("packets_per_slave"); ok && protocol == "roundrobin" && o.Value != "0" {
		args = append(args, "rr_limit", o.Value)
		w.ledger.Say(d.ID, o.Key)
	}
	for _, port := range w.names.Of(counterpart.PortsInOrder(w.in, d, w.ledger)) {
		args = append(args, "laggport", port)
	}
	return append(args, "up"), true
}

// addresses writes the device's ifconfig lines: the first address of each
// family on the line itself, the others as aliases.
func (w *writer) addresses(d device.Device, name string, args []string) {
	prefix := "ifconfig_" + variable(name)
	var v4, v6 []netip.Prefix
	for _, a := range d.Addresses {
		if a.Addr().Is4() {
			v4 = append(v4, a)
		} else {
			v6 = append(v6, a)
		}
		w.ledger.Say(d.ID, "addresses")
	}
	var inet6 []string
	if on, _ := d.Truth("dhcp4"); on {
		args = append(args, "SYNCDHCP")
	}
	if on, _ := d.Truth("accept-ra"); on {
		inet6 = append(inet6, "accept_rtadv")
	}
	w.ledger.Say(d.ID, "dhcp4", "accept-ra")
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

func (w *writer) route(d device.Device, name, key string, r fabric.Route) {
	if device.Table(r.Table) != device.MainTable {
		w.ledger.Cannot(d.ID, key, fmt.Sprintf("table %d: FreeBSD's tables are FIBs, chosen by setfib(1) and not by rules", r.Table))
		return
	}
	w.ledger.Say(d.ID, key, key+".table")
	v4, via := r.To.Addr().Is4(), d.Via(r)
	if r.Scope == "link" && !via.IsValid() {
		w.ledger.Say(d.ID, key+".scope")
	}
	list, prefix := "static_routes", "route_"
	if !v4 {
		list, prefix = "ipv6_static_routes", "ipv6_route_"
	}
	text := "-net " + r.To.String()
	switch {
	case r.Type == "blackhole":
		text += " " + map[bool]string{true: "127.0.0.1", false: "::1"}[v4] + " -blackhole"
		w.ledger.Say(d.ID, key+".type")
	case r.Type == "unreachable" || r.Type == "prohibit":
		text += " " + map[bool]string{true: "127.0.0.1", false: "::1"}[v4] + " -reject"
		w.ledger.Say(d.ID, key+".type")
	case !via.IsValid():
		text += " -interface " + name
	case r.To.Bits() == 0 && r.MTU == 0 && !r.OnLink:
		router := map[bool]string{true: "defaultrouter", false: "ipv6_defaultrouter"}[v4]
		if other, set := w.rc.value(router); set && other != via.String() {
			w.ledger.Cannot(d.ID, key, "one default route of a family, and it leads to "+other+": routes have no metrics there")
			return
		}
		w.rc.add(router, via.String())
		return
	default:
		text += " " + via.String()
	}
	if r.MTU != 0 {
		text += fmt.Sprintf(" -mtu %d", r.MTU)
		w.ledger.Say(d.ID, key+".mtu")
	}
	id := fmt.Sprintf("%s_%d", variable(name), len(w.routes[list])+1)
	w.routes[list] = append(w.routes[list], id)
	w.rc.add(prefix+id, text)
}

func (w *writer) sysctls() variables {
	all := counterpart.Sysctls(w.in, w.ledger, Sysctls)
	for _, buffer := range []string{"net.inet.tcp.recvbuf_max", "net.inet.tcp.sendbuf_max"} {
		if counterpart.Number(all[buffer]) > counterpart.Number(all["kern.ipc.maxsockbuf"]) {
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
