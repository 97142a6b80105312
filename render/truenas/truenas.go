// Package truenas writes a host's network as calls of TrueNAS's middleware, and
// as what to choose in its menu.
package truenas

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/plaintext"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/counterpart"
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/freebsd"
	"github.com/linerate/linerate/render/ledger"
	"github.com/linerate/linerate/render/node"
	"github.com/linerate/linerate/render/shell"
)

// writer writes the middleware's calls for one kind of TrueNAS: SCALE,
// which is Linux, or CORE, which is FreeBSD. Source: api/v27_0_0/interface.py
// and plugins/network.py of truenas/middleware.
type writer struct {
	in      render.Input
	ledger  *ledger.Ledger
	scale   bool
	names   counterpart.Names
	all     []device.Device
	calls   []string // lines of the script
	general map[string]any
	menu    []string
}

// Write returns the host's network as scripts of middleware calls and menu texts for SCALE and CORE. The error is
// render.ErrEmpty for a host that has nothing to write, with the reasons.
func Write(in render.Input) (render.Output, error) {
	var out render.Output
	for _, scale := range []bool{true, false} {
		if scale && bondopt.Foreign(in.Host.System) {
			continue // SCALE is Linux
		}
		one := render.Output{}
		w := &writer{in: in, ledger: ledger.New(in, &one), scale: scale, general: map[string]any{}}
		w.run()
		release := map[bool]string{true: "scale", false: "core"}[scale]
		if len(w.calls) > 0 {
			out.Add("/root/linerate-truenas-"+release+".sh", 0o700, w.script())
			out.Add("/root/linerate-truenas-"+release+"-menu.txt", 0o644, strings.Join(w.menu, "\n")+"\n")
			w.ledger.Finish("the middleware cannot represent it",
				ledger.Reason{Keys: "sysctl.", Why: "FreeBSD has no counterpart of this tunable"},
				ledger.Reason{Keys: "parameters.mii-monitor", Why: "the middleware sets 100 ms itself"},
				ledger.Reason{Keys: "parameters. bonding.", Why: "the middleware has no such option of an aggregation, and sets its own"},
				ledger.Reason{Keys: "routing-policy source_rules", Why: "TrueNAS has no routing by source"},
				ledger.Reason{Keys: "absent", Why: "delete it with interface.delete"},
			)
		}
		for _, warning := range one.Warnings {
			warning.Why = strings.ToUpper(release) + ": " + warning.Why
			out.Warnings = append(out.Warnings, warning)
		}
	}
	if len(out.Files) == 0 {
		return render.Output{}, fmt.Errorf("%w that can be written for TrueNAS: %s", render.ErrEmpty, counterpart.Reasons(out))
	}
	return out, nil
}

// ownNames are what TrueNAS takes as the name of each kind.
var ownNames = map[bool]map[device.Kind]*regexp.Regexp{
	true:  {device.Bond: regexp.MustCompile(`^bond[0-9]+$`), device.VLAN: regexp.MustCompile(`^vlan[0-9]+$`), device.Bridge: regexp.MustCompile(`^br[0-9]+$`)},
	false: {device.Bond: regexp.MustCompile(`^lagg[0-9]+$`), device.VLAN: regexp.MustCompile(`^vlan[0-9]+$`), device.Bridge: regexp.MustCompile(`^bridge[0-9]+$`)},
}

// name is what the middleware accepts for a device that it makes.
func (w *writer) name(d device.Device, n int) string {
	pattern := ownNames[w.scale][d.Kind]
	switch {
	case pattern == nil:
		return ""
	case pattern.MatchString(d.Name):
		return d.Name
	case d.Kind == device.VLAN:
		return fmt.Sprintf("vlan%d", d.Tag)
	}
	prefix := strings.TrimSuffix(strings.TrimPrefix(pattern.String(), "^"), "[0-9]+$")
	for taken := true; taken; n++ {
		name := prefix + strconv.Itoa(n)
		if taken = slices.ContainsFunc(w.in.Host.Network.Devices(), func(o fabric.Device) bool { return o.ID == name }); !taken {
			return name
		}
	}
	return ""
}

func (w *writer) run() {
	in := w.in
	if w.scale {
		// SCALE's devices have the names that Linux gives them.
		in.Host.Names = map[string]string{}
		for _, d := range device.All(in) {
			if d.Kind == device.Ethernet && d.Name != "" {
				in.Host.Names[d.Name] = d.Name
			}
		}
	}
	w.menu = []string{"Web interface: Network > Interfaces, then Test Changes and Save Changes."}
	if w.scale {
		w.menu = append(w.menu, "Console menu: 1) Configure network interfaces; routes and name servers are", "2) Configure network settings and 3) Configure static routes.", "")
	} else {
		w.menu = append(w.menu, "Console menu: 1) Configure Network Interfaces, 2) Configure Link Aggregation,", "3) Configure VLAN Interface, 4) Configure Default Route, 5) Configure Static", "Routes, 6) Configure DNS.", "")
	}
	w.all, w.names = counterpart.Named(in, w.ledger, counterpart.DeviceName, w.name)
	for _, d := range w.all {
		w.device(d)
	}
	if len(w.calls) == 0 {
		return
	}
	for _, d := range w.all {
		for i, r := range d.Routes {
			w.route(d, fmt.Sprintf("routes[%d]", i), r)
		}
		w.nameservers(d)
	}
	if len(w.general) > 0 {
		w.call("network.configuration.update", w.general)
	}
	w.tunables()
}

func (w *writer) call(method string, args ...any) {
	line := "midclt call " + method
	for _, a := range args {
		if s, plain := a.(string); plain {
			line += " " + plaintext.ShellWord(s)
			continue
		}
		text, err := json.Marshal(a)
		if err != nil {
			continue // maps of strings and numbers always encode
		}
		line += " " + plaintext.ShellWord(string(text))
	}
	w.calls = append(w.calls, line)
}

func (w *writer) device(d device.Device) {
	name := w.names.Own(d)
	args := map[string]any{}
	fields := []string{}
	show := func(key string, value any) { fields = append(fields, fmt.Sprintf("%s: %v", key, value)) }
	w.ledger.Say(d.ID, string(d.Kind), "match", "set-name")
	create := true
	switch d.Kind {
	case device.Ethernet:
		create = false
	case device.Bond:
		if !w.aggregation(d, args, show) {
			return
		}
	case device.VLAN:
		args["type"], args["vlan_parent_interface"], args["vlan_tag"] = "VLAN", w.names[d.Parent], d.Tag
		show("Parent Interface", w.names[d.Parent])
		show("VLAN Tag", d.Tag)
		w.ledger.Say(d.ID, "id", "link")
	case device.Bridge:
		args["type"], args["bridge_members"] = "BRIDGE", w.names.Of(d.Ports)
		show("Bridge Members", strings.Join(w.names.Of(d.Ports), " "))
		w.ledger.Say(d.ID, "interfaces")
	default:
		w.ledger.LeaveOut(d.ID, string(d.Kind), "only physical devices, aggregations, VLANs and bridges are written")
		return
	}
	w.common(d, args, show)
	if d.Master != "" && d.Kind == device.Ethernet {
		if d.MTU != 0 && d.MTU != w.masterMTU(d) {
			w.ledger.Cannot(d.ID, "mtu", "a port has its aggregation's")
		}
		return // a port is configured by its aggregation
	}
	if !create {
		if len(args) > 0 {
			w.call("interface.update", name, args)
		}
	} else {
		args["name"] = name
		w.call("interface.create", args)
	}
	if len(fields) > 0 {
		w.menu = append(w.menu, name+map[bool]string{true: " (add)", false: " (edit)"}[create])
		for _, f := range fields {
			w.menu = append(w.menu, "  "+f)
		}
	}
}

// masterMTU is what a port's aggregation or bridge has.
func (w *writer) masterMTU(d device.Device) int {
	for _, other := range w.all {
		if other.ID == d.Master {
			return other.MTU
		}
	}
	return 0
}

// lagProtocols are the middleware's words for modes; CORE alone has round
// robin.
var lagProtocols = map[string]string{"802.3ad": "LACP", "active-backup": "FAILOVER", "balance-xor": "LOADBALANCE", "balance-rr": "ROUNDROBIN"}

func (w *writer) aggregation(d device.Device, args map[string]any, show func(string, any)) bool {
	mode := d.Mode()
	if core, foreign := bondopt.SystemOf(w.in.Host.System); foreign {
		word, _ := core.Mode(mode)
		mode = word.Linux
	}
	protocol, ok := lagProtocols[mode]
	if !ok || w.scale && protocol == "ROUNDROBIN" {
		w.ledger.LeaveOut(d.ID, d.Options[0].Key, "it has no aggregation like mode "+d.Mode()+"; left out")
		return false
	}
	w.ledger.Say(d.ID, d.Options[0].Key, "interfaces")
	ports := w.names.Of(counterpart.PortsInOrder(w.in, d, w.ledger))
	args["type"], args["lag_protocol"], args["lag_ports"] = "LINK_AGGREGATION", protocol, ports
	show("Link Aggregation Protocol", protocol)
	show("Link Aggregation Interfaces", strings.Join(ports, " "))
	if !w.scale {
		return true
	}
	if protocol == "LACP" || protocol == "LOADBALANCE" {
		hash := "layer2" // the bonding driver's default; the middleware's is layer2+3
		o, said := d.Option("xmit_hash_policy")
		if said {
			hash = o.Value
		}
		if slices.Contains([]string{"layer2", "layer2+3", "layer3+4"}, hash) {
			args["xmit_hash_policy"] = strings.ToUpper(hash)
			show("Transmit Hash Policy", strings.ToUpper(hash))
			w.ledger.Say(d.ID, o.Key)
		}
	}
	if o, said := d.Option("lacp_rate"); said && protocol == "LACP" {
		args["lacpdu_rate"] = strings.ToUpper(o.Value)
		show("LACPDU Rate", strings.ToUpper(o.Value))
		w.ledger.Say(d.ID, o.Key)
	}
	return true
}

// common is what devices of every kind have: MTU, addresses, DHCP.
func (w *writer) common(d device.Device, args map[string]any, show func(string, any)) {
	if mtu := counterpart.MTU(d, w.all); mtu != 0 {
		if mtu < 68 || mtu > 9216 {
			w.ledger.Cannot(d.ID, "mtu", "the middleware takes 68 to 9216 bytes")
		} else {
			args["mtu"] = mtu
			show("MTU", mtu)
			w.ledger.Say(d.ID, "mtu")
		}
	}
	var aliases []map[string]any
	for _, a := range d.Addresses {
		typ := "INET6"
		if a.Addr().Is4() {
			typ = "INET"
		}
		aliases = append(aliases, map[string]any{"type": typ, "address": a.Addr().String(), "netmask": a.Bits()})
		show("IP Address", a)
		w.ledger.Say(d.ID, "addresses")
	}
	if aliases != nil {
		args["aliases"] = aliases
	}
	for _, row := range [...][3]string{{"dhcp4", "ipv4_dhcp", "DHCP"}, {"accept-ra", "ipv6_auto", "Autoconfigure IPv6"}} {
		if on, said := d.Truth(row[0]); said {
			args[row[1]] = on
			show(row[2], on)
			w.ledger.Say(d.ID, row[0])
		}
	}
}

func (w *writer) route(d device.Device, key string, r fabric.Route) {
	via := d.Via(r)
	switch {
	case device.Table(r.Table) != device.MainTable:
		w.ledger.Cannot(d.ID, key, fmt.Sprintf("table %d: TrueNAS has the main table only", r.Table))
		return
	case !via.IsValid() || r.Type != "" && r.Type != "unicast":
		w.ledger.Cannot(d.ID, key, "static routes there have a gateway, and are unicast")
		return
	}
	w.ledger.Say(d.ID, key, key+".table")
	if r.To.Bits() == 0 {
		name := map[bool]string{true: "ipv4gateway", false: "ipv6gateway"}[via.Is4()]
		if w.general[name] != nil {
			w.ledger.Cannot(d.ID, key, "there is one default gateway of a family, and another is set already")
			return
		}
		w.general[name] = via.String()
		w.menu = append(w.menu, "Default route: "+via.String())
		return
	}
	w.call("staticroute.create", map[string]any{"destination": r.To.String(), "gateway": via.String(), "description": "linerate"})
	w.menu = append(w.menu, fmt.Sprintf("Static route: %s by %s", r.To, via))
}

func (w *writer) nameservers(d device.Device) {
	servers := d.Key("nameservers")
	for _, text := range node.Texts(servers.Get("addresses")) {
		a, err := netip.ParseAddr(text)
		if err != nil {
			continue
		}
		for n := 1; n <= 4; n++ {
			key := fmt.Sprintf("nameserver%d", n)
			if n == 4 {
				w.ledger.Cannot(d.ID, "nameservers.addresses", "there are three name servers, "+a.String()+" is one more")
			} else if w.general[key] == nil {
				w.general[key] = a.String()
				w.ledger.Say(d.ID, "nameservers.addresses")
				break
			}
		}
	}
	if search := node.Texts(servers.Get("search")); len(search) > 0 {
		w.general["domains"] = search
		w.ledger.Say(d.ID, "nameservers.search")
	}
}

// tunables are sysctls, which the middleware keeps with what they were before.
func (w *writer) tunables() {
	all := map[string]string{}
	if w.scale {
		for key, value := range w.in.AllSysctls() {
			all[key] = value
			w.ledger.Say("", "sysctl."+key)
		}
	} else {
		all = counterpart.Sysctls(w.in, w.ledger, freebsd.Sysctls)
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		comment := "linerate"
		if why := w.in.SysctlReasons[key]; why != "" {
			comment += ": " + why
		}
		w.call("tunable.create", map[string]any{"type": "SYSCTL", "var": key, "value": all[key], "enabled": true, "comment": comment})
	}
}

// checkinSeconds is how long the middleware waits for a word from the new
// address before it takes the changes back: a slow LACP partner needs 90.
const checkinSeconds = 120

func (w *writer) script() string {
	var interfaces, rest []string
	for _, c := range w.calls {
		if strings.HasPrefix(c, "midclt call interface.") {
			interfaces = append(interfaces, c)
		} else {
			rest = append(rest, c)
		}
	}
	release := map[bool]string{true: "SCALE", false: "CORE"}[w.scale]
	lines := []string{
		"#!/bin/sh", "# The network of " + shell.OneLine(w.in.Host.Name) + " for TrueNAS " + release + ". Run it as root on the system's own console or shell.",
		"set -eu", "",
	}
	lines = append(lines, interfaces...)
	lines = append(lines, "", "# The changes are permanent only when somebody confirms them from the new", "# address in time: midclt call interface.checkin (or Save Changes on the web",
		"# page). Without it they are rolled back.",
		fmt.Sprintf(`midclt call interface.commit '{"rollback": true, "checkin_timeout": %d}'`, checkinSeconds))
	if len(rest) > 0 {
		lines = append(lines, "", "# Outside what is rolled back by itself.")
		lines = append(lines, rest...)
	}
	return strings.Join(lines, "\n") + "\n"
}
