package render

import (
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/bondopt"
)

// nmstatePath is where nmstate's service looks for states to apply at boot
// (nmstate.service(8)); `nmstatectl apply FILE` takes it as well.
const nmstatePath = "/etc/nmstate/linerate.yml"

// nmstateFeatures are the kernel's names of offloads that ethtool shortens;
// nmstate takes the kernel's, and some of ethtool's.
var nmstateFeatures = map[string]string{
	"rx": "rx-checksum", "gro": "rx-gro", "gso": "tx-generic-segmentation", "lro": "rx-lro", "rxvlan": "rx-vlan-hw-parse",
	"txvlan": "tx-vlan-hw-insert", "ntuple": "rx-ntuple-filter", "rxhash": "rx-hashing", "tso": "tx-tcp-segmentation",
	"sg": "tx-scatter-gather", "tx": "tx-checksum-ip-generic",
}

// nmstateWriter writes one state.
type nmstateWriter struct {
	in                        Input
	ledger                    *ledger
	interfaces, routes, rules *yamldoc.Node
	servers, search           *yamldoc.Node
}

func writeNmstate(in Input) (Output, error) {
	var out Output
	w := &nmstateWriter{
		in: in, ledger: newLedger(in, &out), interfaces: sequence(), routes: sequence(), rules: sequence(),
		servers: sequence(), search: sequence(),
	}
	for _, d := range in.devices() {
		w.device(d)
	}
	for _, name := range in.Host.Absent {
		item := mapping()
		put(item, "name", plain(name))
		put(item, "state", plain("absent"))
		w.interfaces.Items = append(w.interfaces.Items, item)
		w.ledger.say(name, "absent")
	}
	if len(w.interfaces.Items) == 0 {
		return Output{}, ErrEmpty
	}
	state := mapping()
	state.Comment = "nmstatectl apply " + nmstatePath
	put(state, "interfaces", w.interfaces)
	put(within(state, "routes"), "config", w.routes)
	put(within(state, "route-rules"), "config", w.rules)
	resolver := within(state, "dns-resolver", "config")
	put(resolver, "server", w.servers)
	put(resolver, "search", w.search)
	state.Pairs = withoutEmpty(state.Pairs)
	out.add(nmstatePath, 0o600, yamldoc.Write(state))
	w.ledger.finish(nmstateWhy)
	return out, nil
}

// withoutEmpty leaves out mappings that hold nothing.
func withoutEmpty(pairs []yamldoc.Pair) []yamldoc.Pair {
	var kept []yamldoc.Pair
	for _, p := range pairs {
		if p.Value.Kind == yamldoc.MappingNode {
			p.Value.Pairs = withoutEmpty(p.Value.Pairs)
		}
		if p.Value.Kind == yamldoc.ScalarNode || len(p.Value.Pairs)+len(p.Value.Items) > 0 {
			kept = append(kept, p)
		}
	}
	return kept
}

func nmstateWhy(x wish) string {
	switch {
	case strings.HasPrefix(x.key, "sysctl."):
		return "nmstate sets no sysctls; sysctl.d does"
	case strings.HasPrefix(x.key, "mptcp."):
		return "nmstate marks addresses as endpoints and leaves MPTCP's limits alone: ip mptcp limits set"
	case x.key == "source_rules":
		return "the wanted state has no table for this link, so there is no rule to write"
	}
	return "nmstate has no word for it"
}

// nmstateTypes are the interface types of what is written.
var nmstateTypes = map[kind]string{kindEthernet: "ethernet", kindBond: "bond", kindVLAN: "vlan", kindBridge: "linux-bridge", kindDummy: "dummy"}

func (w *nmstateWriter) device(d device) {
	typ, ok := nmstateTypes[d.kind]
	if !ok {
		w.ledger.leaveOut(d.ID, string(d.kind), "only ethernets, bonds, VLANs, bridges and dummies are written")
		return
	}
	if d.name == "" && (d.match == nil || d.match.MAC.IsZero()) {
		w.ledger.leaveOut(d.ID, "match", "nmstate wants interfaces by name, and no known device matches")
		return
	}
	w.ledger.say(d.ID, string(d.kind))
	w.ledger.byName(d)
	item := mapping()
	name := d.name
	if name == "" {
		name = d.ID
		put(item, "identifier", plain("mac-address"))
		put(item, "mac-address", quoted(strings.ToUpper(d.match.MAC.String())))
	}
	item.Pairs = append([]yamldoc.Pair{{Key: "name", Value: plain(name)}, {Key: "type", Value: plain(typ)}, {Key: "state", Value: plain("up")}}, item.Pairs...)
	if d.MTU != 0 {
		put(item, "mtu", plainInt(d.MTU))
		w.ledger.say(d.ID, "mtu")
	}
	if !d.MAC.IsZero() && item.Get("mac-address") == nil {
		put(item, "mac-address", quoted(strings.ToUpper(d.MAC.String())))
		w.ledger.say(d.ID, "macaddress")
	}
	switch d.kind {
	case kindBond:
		w.bond(d, item)
	case kindVLAN:
		put(within(item, "vlan"), "base-iface", plain(d.parent))
		put(within(item, "vlan"), "id", plainInt(d.tag))
		w.ledger.say(d.ID, "id", "link")
	case kindBridge:
		w.bridge(d, item)
	}
	w.ethtool(d, item)
	w.family(d, item, "ipv4", "dhcp4", true)
	w.family(d, item, "ipv6", "dhcp6", false)
	w.mptcp(d, item)
	w.routing(d, name)
	w.nameservers(d)
	w.interfaces.Items = append(w.interfaces.Items, item)
}

func (w *nmstateWriter) bond(d device, item *yamldoc.Node) {
	w.ledger.say(d.ID, "interfaces")
	bond := within(item, "link-aggregation")
	put(bond, "mode", plain(d.mode()))
	w.ledger.say(d.ID, d.options[0].key)
	if _, said := d.option("miimon"); !said {
		put(within(bond, "options"), "miimon", plain("0")) // NetworkManager's own is 100
	}
	for _, o := range d.options[1:] {
		row, twin := bondopt.ByTwin(o.name)
		if !twin {
			row, _ = bondopt.Find(o.name)
		}
		said, known := row.Saying(bondopt.Nmstate)
		if !known {
			continue
		}
		if nm, ok := row.Saying(bondopt.Keyfile); ok && !nm.In(d.mode()) {
			w.ledger.cannot(d.ID, o.key, "mode "+d.mode()+" has no such option, and NetworkManager behind nmstate refuses it")
			continue
		}
		value := plain(o.value)
		switch {
		case said.Words != nil:
			if n, err := row.Number(o.value); err == nil {
				value = plain(said.Words[n])
			}
		case row.Switch():
			value = plain(strconv.FormatBool(o.value == "1" || o.value == "on"))
		case row.Listed(), row.Kind == bondopt.MAC:
			value = quoted(o.value)
		case row.Kind == bondopt.Port:
			if names := w.in.interfaces([]string{o.value}); len(names) > 0 {
				value = plain(names[0])
			}
		}
		put(within(bond, "options"), o.name, value)
		w.ledger.say(d.ID, o.key)
	}
	list := sequence()
	settingsOfPorts := false
	for _, port := range d.ports {
		settings := w.in.Host.Links[port]
		entry := mapping()
		put(entry, "name", plain(port))
		for _, o := range bondopt.Ports() {
			value, wanted := settings.Port[o.Name]
			if said, ok := o.Saying(bondopt.Nmstate); ok && wanted {
				settingsOfPorts = true
				put(entry, said.Name, plain(value))
				w.ledger.say(port, o.Key)
			}
		}
		list.Items = append(list.Items, entry)
	}
	if settingsOfPorts {
		put(bond, "ports-config", list)
		return
	}
	for i, port := range d.ports {
		list.Items[i] = plain(port)
	}
	if b, ok := w.in.Host.Network.Bond(d.ID); ok && b.Interfaces != nil && len(list.Items) == 0 {
		list.Flow = true // an empty list takes all ports out, none leaves them
		bond.Pairs = append(bond.Pairs, yamldoc.Pair{Key: "port", Value: list})
	}
	put(bond, "port", list)
}

func (w *nmstateWriter) bridge(d device, item *yamldoc.Node) {
	w.ledger.say(d.ID, "interfaces")
	bridge := within(item, "bridge")
	for _, p := range [...][2]string{{"stp", "enabled"}, {"priority", "priority"}, {"forward-delay", "forward-delay"}, {"hello-time", "hello-time"}, {"max-age", "max-age"}} {
		if n := d.parameters.Get(p[0]); n != nil {
			value := plain(n.Text)
			if p[0] == "stp" {
				value = plain(strconv.FormatBool(isTrue(n)))
			}
			put(within(bridge, "options", "stp"), p[1], value)
			w.ledger.say(d.ID, "parameters."+p[0])
		}
	}
	if n := d.parameters.Get("ageing-time"); n != nil {
		put(within(bridge, "options"), "mac-ageing-time", plain(n.Text))
		w.ledger.say(d.ID, "parameters.ageing-time")
	}
	ports := sequence()
	for _, port := range d.ports {
		entry := mapping()
		put(entry, "name", plain(port))
		for _, p := range [...][2]string{{"path-cost", "stp-path-cost"}, {"port-priority", "stp-priority"}} {
			if n := d.parameters.Get(p[0]).Get(port); n != nil {
				put(entry, p[1], plain(n.Text))
				w.ledger.say(d.ID, "parameters."+p[0]+"."+port)
			}
		}
		ports.Items = append(ports.Items, entry)
	}
	put(bridge, "port", ports)
}

func (w *nmstateWriter) ethtool(d device, item *yamldoc.Node) {
	ethtool := mapping()
	feature := func(key, name string, on bool) {
		if kernel, short := nmstateFeatures[name]; short {
			name = kernel
		}
		put(within(ethtool, "feature"), name, plain(strconv.FormatBool(on)))
		w.ledger.say(d.ID, key)
	}
	for _, o := range keyfileOffloads {
		for _, p := range d.Unread {
			if p.Key == o[0] {
				feature(p.Key, o[1], isTrue(p.Value))
			}
		}
	}
	s := d.settings
	for _, name := range sortedKeys(s.Offloads) {
		feature("offloads."+name, name, s.Offloads[name])
	}
	if s.RingRx != 0 {
		put(within(ethtool, "ring"), "rx", plainInt(s.RingRx))
	}
	if s.RingTx != 0 {
		put(within(ethtool, "ring"), "tx", plainInt(s.RingTx))
	}
	w.ledger.say(d.ID, "rings.rx", "rings.tx")
	for _, name := range sortedKeys(s.Coalescing) {
		word := keyfileCoalesce(name)
		if word == "" {
			continue
		}
		value := plainInt(s.Coalescing[name])
		if strings.HasPrefix(word, "adaptive-") {
			value = plain(strconv.FormatBool(s.Coalescing[name] != 0))
		}
		put(within(ethtool, "coalesce"), word, value)
		w.ledger.say(d.ID, "coalesce."+name)
	}
	put(item, "ethtool", ethtool)
}

// family is the ipv4 or ipv6 part of an interface.
func (w *nmstateWriter) family(d device, item *yamldoc.Node, group, dhcp string, v4 bool) {
	n := mapping()
	automatic, autoconf, localOnly := false, false, !v4 && d.master == ""
	for _, p := range d.Unread {
		switch {
		case p.Key == dhcp:
			automatic = isTrue(p.Value)
			w.ledger.say(d.ID, p.Key)
		case p.Key == "accept-ra" && !v4:
			autoconf = isTrue(p.Value)
			w.ledger.say(d.ID, p.Key)
		case p.Key == "link-local" && !v4 && p.Value != nil:
			localOnly = false
			for _, word := range p.Value.Items {
				localOnly = localOnly || word.Text == "ipv6"
			}
			w.ledger.say(d.ID, p.Key)
		case p.Key == dhcp+"-overrides" && p.Value != nil:
			w.overrides(d, n, p)
		}
	}
	addresses := sequence()
	for _, a := range d.Addresses {
		if a.Addr().Is4() == v4 {
			entry := mapping()
			put(entry, "ip", quoted(a.Addr().String()))
			put(entry, "prefix-length", plainInt(a.Bits()))
			addresses.Items = append(addresses.Items, entry)
			w.ledger.say(d.ID, "addresses")
		}
	}
	on := automatic || autoconf || localOnly || len(addresses.Items) > 0
	head := []yamldoc.Pair{{Key: "enabled", Value: plain(strconv.FormatBool(on))}}
	if on {
		head = append(head, yamldoc.Pair{Key: "dhcp", Value: plain(strconv.FormatBool(automatic))})
		if !v4 {
			head = append(head, yamldoc.Pair{Key: "autoconf", Value: plain(strconv.FormatBool(autoconf || automatic))})
		}
		put(n, "address", addresses)
	}
	n.Pairs = append(head, n.Pairs...)
	put(item, group, n)
}

func (w *nmstateWriter) overrides(d device, n *yamldoc.Node, p yamldoc.Pair) {
	for _, o := range [...][2]string{{"use-dns", "auto-dns"}, {"use-routes", "auto-routes"}, {"route-metric", "auto-route-metric"}} {
		value := p.Value.Get(o[0])
		if value == nil {
			continue
		}
		text := value.Text
		if o[0] != "route-metric" {
			text = strconv.FormatBool(isTrue(value))
		}
		put(n, o[1], plain(text))
		w.ledger.say(d.ID, p.Key+"."+o[0])
	}
}
