package ifupdown

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/node"
	"github.com/linerate/linerate/render/readback"
)

// reader reads the stanzas of a host.
type reader struct {
	*readback.Host
	config
	// left are devices that other programs make, with the reason.
	left  map[string]string
	ports map[string]bool // of some bond or bridge
	mtus  map[string]int  // that stanzas of IPv4, or of no family, say by device
	// noMode are the bonds whose mode is missed already.
	noMode map[string]bool
	// alone reports files that ifupdown2 alone takes as they are meant.
	alone bool
	// why is what the last command of a shell's that was not read lacks.
	why      string
	warnings []render.Warning
}

// Read returns what the files, text by path, say of a host: /etc/network/interfaces
// and what it sources, without it every file given. Where the programs that read these
// files differ is a warning. The error is render.ErrEmpty where they say nothing of a
// network.
func Read(files map[string]string) (render.Found, error) {
	r := &reader{Host: readback.New(), config: readConfig(files), left: map[string]string{}, ports: map[string]bool{}, noMode: map[string]bool{}, mtus: map[string]int{}}
	r.ReadTables(files)
	for _, l := range r.others {
		r.Miss(l.file, l.number, l.words[0], strings.Join(l.words[1:], " "), l.why)
	}
	for _, file := range r.unread {
		r.Miss(file, 1, "file", "", "no source line of "+mainFile+" names it: it is not read")
	}
	if _, staged := files[stagedOne]; staged {
		r.warn("", "interfaces.new", stagedOne, 1, "a change is staged on Proxmox VE's page: at the next boot this file takes the place of "+mainFile)
	}
	r.alone = r.isIfupdown2()
	r.kinds()
	for i := range r.stanzas {
		r.read(&r.stanzas[i], files)
	}
	r.Parents(func(name string) bool { return r.left[name] != "" })
	r.idle()
	for i := range r.stanzas {
		r.modeless(&r.stanzas[i])
	}
	if all := r.Network.Get("ethernets"); all.Get("lo") != nil && len(all.Get("lo").Pairs) == 0 {
		node.SetKey(all, "lo", nil) // whose stanza sets what is the host's
	}
	r.Guessed()
	found, err := r.Found()
	found.Warnings = r.warnings
	return found, err
}

func (r *reader) warn(device, key, file string, number int, why string) {
	r.warnings = append(r.warnings, render.Warning{Format: render.FormatIfupdown, Where: device, Key: key, Why: fmt.Sprintf("%s:%d: %s", file, number, why)})
}

// device is the interface that a stanza is about: its name without an alias's number.
func (s *stanza) device() (name, label string) {
	name, _, aliased := strings.Cut(s.name, ":")
	if aliased {
		label = s.name
	}
	return name, label
}

// get is the first value of an option; "" none.
func (s *stanza) get(keys ...string) string {
	for _, o := range s.options {
		if slices.Contains(keys, o.key) {
			return o.first()
		}
	}
	return ""
}

// first is an option's value without what stands behind it.
func (o option) first() string {
	if len(o.words) < 2 {
		return ""
	}
	return o.words[1]
}

// list are the words of an option's value, up to a comment.
func (o option) list() []string {
	var all []string
	for _, w := range o.words[1:] {
		if strings.HasPrefix(w, "#") {
			break
		}
		all = append(all, strings.Trim(w, ",;"))
	}
	return all
}

// commented reports a comment behind a value that neither program takes for one; a
// shell does.
func (o option) commented() bool {
	return !isHook(o.key) && len(o.words) > 2 && slices.ContainsFunc(o.words[2:], func(w string) bool { return strings.HasPrefix(w, "#") })
}

// kinds finds out what each device is before any is read: a port's stanza may come
// before its bond's.
func (r *reader) kinds() {
	for i := range r.stanzas {
		s := &r.stanzas[i]
		name, _ := s.device()
		for _, o := range s.options {
			switch {
			case o.key == "mtu" && s.family != "inet6":
				r.mtus[name], _ = strconv.Atoi(o.first())
			case o.key == "ovs-type":
				r.ovsKind(s, name)
			case o.key == "bond-slaves" || o.key == "bond-ports" || o.key == "slaves":
				r.Kinds[name] = "bonds"
				r.claim(o.ports())
			case o.key == "bond-master" && o.first() != "none" && readback.LinkName(o.first()):
				r.Kinds[o.first()] = "bonds"
				r.ports[name] = true
			case o.key == "bridge-ports":
				r.Kinds[name] = "bridges"
				r.claim(o.ports())
			case o.key == "vlan-raw-device" || o.key == "vlan-id":
				r.Kinds[name] = "vlans"
			case o.key == "link-type" && o.first() == "dummy" || isHook(o.key) && (strings.Contains(o.value, "ip link add") && strings.Contains(o.value, "type dummy") || strings.Contains(o.value, "modprobe dummy")):
				r.Kinds[name] = "dummy-devices"
			case o.key == "link-type" || o.key == "vxlan-id" || o.key == "tunnel-mode" || o.key == "vrf-table":
				r.left[name] = "devices made by " + o.key + " are not read: left out"
			case s.master() == "":
				// A port's stanza may have its bond's options too (ifenslave reads them there).
				if _, known := bondOption(o.key); known && r.Kinds[name] == "" {
					r.Kinds[name] = "bonds"
				}
			}
		}
		for _, o := range s.options {
			if !isHook(o.key) || !strings.Contains(o.value, "ifenslave") {
				continue
			}
			for _, words := range commandsOf(o.value, name) {
				if bond, ports := enslaves(words); bond != "" {
					r.Kinds[bond] = "bonds"
					r.claim(ports)
				}
			}
		}
		if kind := madeKind(s, name); kind != "" && r.Kinds[name] == "" {
			r.left[name] = "devices of the kind " + kind + " are not read: left out"
		}
		if slices.Contains([]string{"ppp", "wvdial", "tunnel", "v4tunnel", "6to4", "gre"}, s.method) {
			r.left[name] = "devices of the method " + s.method + " are not read: left out"
		}
		if _, tag, ok := vlanOfName(name); ok && tag != "" && r.Kinds[name] == "" {
			r.Kinds[name] = "vlans"
		}
	}
}

// master is the bond that a port's stanza names; "" none.
func (s *stanza) master() string {
	if name := s.get("bond-master"); name != "none" {
		return name
	}
	return ""
}

func (r *reader) claim(ports []string) {
	for _, p := range ports {
		r.ports[p] = true
	}
}

// vlanOfName are the parent and the number that a name tells: PARENT.N, and of vlanN
// the number alone.
func vlanOfName(name string) (parent, tag string, ok bool) {
	if at := strings.LastIndexByte(name, '.'); at > 0 {
		if n, err := strconv.Atoi(name[at+1:]); err == nil && n >= 0 && n <= 4094 {
			return name[:at], strconv.Itoa(n), true
		}
	}
	if digits, is := strings.CutPrefix(name, "vlan"); is {
		if n, err := strconv.Atoi(digits); err == nil && n <= 4094 {
			return "", strconv.Itoa(n), true
		}
	}
	return "", "", false
}

// read reads a stanza, with what it inherits.
func (r *reader) read(s *stanza, files map[string]string) {
	name, label := s.device()
	switch {
	case (name == "lo" || s.method == "loopback") && len(s.options) == 0:
		return
	case !readback.LinkName(name):
		r.Miss(s.file, s.head.number, "iface", s.name, "is no interface's name")
		return
	case r.left[name] != "":
		r.Miss(s.file, s.head.number, "iface", s.name, r.left[name])
		return
	case slices.Contains([]string{"ipx", "can"}, s.family):
		r.Miss(s.file, s.head.number, "iface", s.name, "the family "+s.family+" is not read")
		return
	}
	s.options = append(r.inherited(s, map[string]bool{}), s.options...)
	d := r.Device(name)
	r.method(s, d)
	if r.Kinds[name] == "vlans" && s.get("ovs-type") == "" {
		r.vlan(s, name)
	}
	r.addresses(s, name, label)
	r.bond(s, name)
	r.ovs(s, name)
	for _, o := range s.options {
		if _, ofBond := bondOption(o.key); o.commented() && !ofBond {
			r.warn(name, o.key, s.file, o.number, "a comment behind a value is part of it for both programs: put it on a line of its own")
		}
		if r.why = ""; !r.option(s, o, name, d) {
			r.Miss(s.file, o.number, o.key, o.value, cmp.Or(r.why, "a fabric cannot represent it"))
		}
	}
	last := s.head.last
	for _, o := range s.options {
		last = max(last, o.last)
	}
	r.Mark(s.file, files[s.file], s.head.number, last)
}

// inherited are the options of the stanzas that a stanza takes over.
func (r *reader) inherited(s *stanza, seen map[string]bool) []option {
	if s.inherits == "" || seen[s.inherits] {
		return nil
	}
	seen[s.inherits] = true
	var all []option
	for i := range r.stanzas {
		if other := &r.stanzas[i]; other.name == s.inherits {
			all = append(all, r.inherited(other, seen)...)
			all = append(all, other.options...)
		}
	}
	r.warn(s.name, "inherits", s.file, s.head.number, "ifupdown takes over what "+s.inherits+" says, ifupdown2 does not know the word")
	return all
}

func (r *reader) method(s *stanza, d *yamldoc.Node) {
	switch {
	case s.method == "dhcp" && s.family == "inet6":
		node.Put(d, "dhcp6", node.Plain("true"))
	case s.method == "dhcp":
		node.Put(d, "dhcp4", node.Plain("true"))
	case s.method == "auto" && s.family == "inet6":
		node.Put(d, "accept-ra", node.Plain("true"))
	case slices.Contains([]string{"static", "manual", "loopback", ""}, s.method):
	default:
		r.Miss(s.file, s.head.number, "iface", s.name, "the method "+s.method+" is not read")
	}
}

// vlan is a VLAN's parent and number: what is said, else what its name says.
func (r *reader) vlan(s *stanza, name string) {
	parent, tag, _ := vlanOfName(name)
	if said := s.get("vlan-raw-device"); said != "" {
		parent = said
	}
	if said := s.get("vlan-id"); said != "" {
		tag = said
	}
	d := r.Device(name)
	if d.Get("link") != nil && parent == "" {
		return // another stanza of the name said it
	}
	if n, err := strconv.Atoi(tag); err == nil && readback.LinkName(parent) {
		node.Put(d, "id", node.PlainInt(n))
		node.Put(d, "link", node.Plain(parent))
	}
}

// addresses reads the addresses, each with its own length, the netmask's or its
// family's, and the gateway.
func (r *reader) addresses(s *stanza, name, label string) {
	mask := s.get("netmask")
	several := 0
	for _, o := range s.options {
		if (s.method == "dhcp" || s.method == "ppp") && (o.key == "address" || o.key == "gateway") {
			r.Miss(s.file, o.number, o.key, o.value, "neither program sets it in a stanza of the method "+s.method+": write another stanza, inet static, for it")
			continue
		}
		switch o.key {
		case "address":
			p, ok := prefixOf(o.first(), mask)
			if !ok {
				r.Miss(s.file, o.number, o.key, o.value, "is no address")
				continue
			}
			var options *yamldoc.Node
			if label != "" && p.Addr().Is4() {
				options = node.FlowMap()
				node.Put(options, "label", node.Quoted(label))
			}
			r.Address(name, p, options)
			if several++; several == 2 && !r.alone {
				r.warn(name, o.key, s.file, o.number, "ifupdown takes a stanza's first address alone and says nothing of the others; ifupdown2 takes all")
			}
		case "gateway":
			g, err := netip.ParseAddr(o.first())
			if err != nil || g.Zone() != "" {
				r.Miss(s.file, o.number, o.key, o.value, "is no address")
				continue
			}
			route := node.FlowMap("to", "default")
			node.Put(route, "via", node.Text(g.String()))
			if n, err := strconv.ParseUint(s.get("metric"), 10, 32); err == nil && n > 0 {
				node.Put(route, "metric", node.Plain(strconv.FormatUint(n, 10)))
			} else if err != nil && s.get("metric") != "" {
				at := s.options[slices.IndexFunc(s.options, func(o option) bool { return o.key == "metric" })]
				r.Miss(s.file, at.number, at.key, at.value, "is no number: the gateway's route is read without one")
			}
			node.Push(r.Device(name), "routes", route)
		}
	}
}

// prefixOf is an address with its length: its own, the netmask's, else one address of
// IPv4 and 64 bits of IPv6 (inet.defn and inet6.defn of ifupdown).
func prefixOf(address, mask string) (netip.Prefix, bool) {
	if p, err := netip.ParsePrefix(address); err == nil {
		return p, true
	}
	a, err := netip.ParseAddr(address)
	if err != nil || a.Zone() != "" {
		return netip.Prefix{}, false
	}
	bits := 32
	if !a.Is4() {
		bits = 64
	}
	if n, err := strconv.Atoi(mask); err == nil {
		bits = n
	} else if n, ok := readback.DottedLength(mask); ok {
		bits = n
	}
	p := netip.PrefixFrom(a, bits)
	return p, p.IsValid()
}

// bond reads a bond's ports and options.
func (r *reader) bond(s *stanza, name string) {
	for _, o := range s.options {
		switch o.key {
		case "bond-slaves", "bond-ports", "slaves":
			r.portsOf(s, o, name)
		case "bond-master":
			if master := s.master(); r.Kinds[master] == "bonds" {
				r.addPort(master, name)
			}
		case "bridge-ports":
			r.portsOf(s, o, name)
		}
		row, known := bondOption(o.key)
		bond := name
		if r.Kinds[name] != "bonds" {
			bond = s.master()
		}
		if !known || r.Kinds[bond] != "bonds" || bond != name && r.says(bond, o.key) {
			continue
		}
		raw := strings.TrimSpace(o.value)
		word := o.first()
		if row.Listed() || row.Kind == bondopt.Port {
			word = strings.Join(o.list(), ",")
		}
		if row.Kind == bondopt.Port {
			word, _, _ = strings.Cut(word, ",") // ifenslave takes the first that is there
		}
		if lower, err := row.Word(strings.ToLower(word)); err == nil && row.Words != nil {
			word = lower
		}
		r.Option(bond, row.Name, word)
		if why := doubt(row, raw, word, r.alone); why != "" {
			r.warn(name, o.key, s.file, o.number, why)
		}
	}
}

// modeless warns of a bond of which nothing says the mode.
func (r *reader) modeless(s *stanza) {
	name, _ := s.device()
	if r.Kinds[name] == "bonds" && readback.LinkName(name) && r.left[name] == "" && s.get("ovs-type") == "" && r.Device(name).Get("interfaces") != nil && r.Device(name).Get("parameters").Get("mode") == nil && !r.noMode[name] {
		r.noMode[name] = true
		r.warn(name, "bond-mode", s.file, s.head.number, "no line says the mode: the bond is balance-rr unless modprobe.d says another, and 802.3ad on Cumulus Linux")
	}
}

// says reports a device of which some stanza has the option.
func (r *reader) says(name, key string) bool {
	return slices.ContainsFunc(r.stanzas, func(s stanza) bool { return s.name == name && s.get(key) != "" })
}

// portsOf reads a list of ports; "none" is an empty one.
func (r *reader) portsOf(s *stanza, o option, name string) {
	for _, port := range o.ports() {
		switch {
		case port == "none":
		case port == "glob" || port == "regex" || port == "all" || !readback.LinkName(port):
			r.Miss(s.file, o.number, o.key, o.value, "ports by a pattern are not read")
			return
		case r.left[port] != "": // it is told already
		default:
			r.addPort(name, port)
		}
	}
}

// addPort adds a port to a bond or bridge. One without a stanza that is named as a VLAN
// is one, which both programs make (ifupdown.sh of bridge-utils, addons/vlan.py).
func (r *reader) addPort(master, port string) {
	if parent, tag, ok := vlanOfName(port); ok && parent != "" && r.Kinds[port] == "" {
		r.Kinds[port] = "vlans"
		d := r.Device(port)
		node.Put(d, "id", node.Plain(tag))
		node.Put(d, "link", node.Plain(parent))
	}
	r.Device(port)
	if list := r.Device(master).Get("interfaces"); list == nil || !node.Contains(list.Items, node.Plain(port)) {
		node.Push(r.Device(master), "interfaces", node.Plain(port))
	}
}

// idle marks devices that no line brings up, unless they are part of one that is.
func (r *reader) idle() {
	for i := range r.stanzas {
		name, _ := r.stanzas[i].device()
		if r.brought[name] || r.brought[r.stanzas[i].name] || r.ports[name] || r.left[name] != "" || !readback.LinkName(name) || name == "lo" || r.parentOfSome(name) {
			continue
		}
		node.Put(r.Device(name), "activation-mode", node.Plain("manual"))
	}
}

// parentOfSome reports a device that a VLAN rides on.
func (r *reader) parentOfSome(name string) bool {
	return slices.ContainsFunc(node.Pairs(r.Network.Get("vlans")), func(p yamldoc.Pair) bool {
		link := p.Value.Get("link")
		return link != nil && link.Text == name
	})
}

// idleOptions say nothing that a fabric holds, or what others say already.
var idleOptions = []string{"network", "broadcast", "bond-slaves", "bond-ports", "slaves", "bond-master", "bridge-ports", "address", "netmask", "gateway", "metric",
	"vlan-raw-device", "vlan-id", "link-type", "alias", "description", "bond-give-a-chance", "bridge-ports-condone-regex", "ovs-ports-condone-regex",
	"ovs-type", "ovs-bridge", "ovs-bonds", "ovs-ports", "ovs-options"}

// option reads one of the other options; false for one that is not understood.
func (r *reader) option(s *stanza, o option, name string, d *yamldoc.Node) bool {
	_, ofBond := bondOption(o.key)
	switch {
	case o.key == "bond-master" && s.master() != "" && !readback.LinkName(s.master()):
		r.why = "is no interface's name: whose port this is is not read"
		return false
	case ofBond && (r.Kinds[name] == "bonds" || r.Kinds[s.master()] == "bonds"), slices.Contains(idleOptions, o.key):
		return true
	case o.key == "dhcp" && s.family == "inet6":
		return o.first() == "0" // leases beside advertisements are not read
	case o.key == "ethernet-wol":
		return r.Ethtool(name, "-s", []string{"wol", o.first()})
	case o.key == "mtu" || o.key == "ovs-mtu":
		n, err := strconv.Atoi(o.first())
		key := "mtu"
		if s.family == "inet6" && n <= cmp.Or(r.mtus[name], fabric.DefaultMTU) {
			key = "ipv6-mtu"
			r.warn(name, o.key, s.file, o.number, "ifupdown makes what a stanza of inet6 says the MTU of IPv6, where the link's is no smaller; ifupdown2 takes the first stanza's MTU, for the link")
		}
		if err == nil && n > 0 {
			node.Put(d, key, node.PlainInt(n))
		}
		return err == nil
	case o.key == "hwaddress":
		list := o.list()
		if len(list) == 0 {
			return false
		}
		mac, err := flow.ParseMAC(list[len(list)-1])
		if err == nil {
			node.Put(d, "macaddress", node.Quoted(mac.String()))
		}
		return err == nil
	case o.key == "dns-nameservers" || o.key == "dns-nameserver":
		for _, word := range o.list() {
			a, err := netip.ParseAddr(word)
			if err != nil {
				r.Miss(s.file, o.number, o.key, word, word+" is no address")
				continue
			}
			node.Push(node.Within(d, "nameservers"), "addresses", node.Quoted(a.String()))
		}
		return true
	case o.key == "dns-search" || o.key == "dns-domain":
		for _, word := range o.list() {
			if search := node.Within(d, "nameservers").Get("search"); search == nil || !node.Contains(search.Items, node.Quoted(word)) {
				node.Push(node.Within(d, "nameservers"), "search", node.Quoted(word))
			}
		}
		return true
	case o.key == "accept-ra":
		node.Put(d, "accept-ra", node.Plain(strconv.FormatBool(o.first() != "0")))
		return true
	case isHook(o.key):
		return r.hook(s, o, name)
	case strings.HasPrefix(o.key, "offload-"):
		return r.Ethtool(name, "-K", []string{strings.TrimPrefix(o.key, "offload-"), o.first()})
	case strings.HasSuffix(o.key, "-offload"):
		return r.Ethtool(name, "-K", []string{strings.TrimSuffix(o.key, "-offload"), o.first()})
	case o.key == "hardware-dma-ring-rx" || o.key == "hardware-dma-ring-tx":
		return r.Ethtool(name, "-G", []string{strings.TrimPrefix(o.key, "hardware-dma-ring-"), o.first()})
	case strings.HasPrefix(o.key, "hardware-irq-coalesce-"):
		return r.Ethtool(name, "-C", []string{strings.TrimPrefix(o.key, "hardware-irq-coalesce-"), o.first()})
	case strings.HasPrefix(o.key, "bridge-"):
		return r.bridge(o, d)
	}
	return false
}

// bridgeParameters are netplan's words for a bridge's options.
var bridgeParameters = map[string]string{"bridge-fd": "forward-delay", "bridge-hello": "hello-time", "bridge-maxage": "max-age", "bridge-ageing": "ageing-time", "bridge-bridgeprio": "priority"}

func (r *reader) bridge(o option, d *yamldoc.Node) bool {
	if o.key == "bridge-stp" {
		on := strings.ToLower(o.first())
		yes := on == "on" || on == "yes" || on == "1"
		if !yes && on != "off" && on != "no" && on != "0" {
			return false
		}
		node.Put(node.Within(d, "parameters"), "stp", node.Plain(strconv.FormatBool(yes)))
		return true
	}
	if list, ok := map[string]string{"bridge-pathcost": "path-cost", "bridge-portprio": "port-priority"}[o.key]; ok {
		words := o.list()
		if len(words) != 2 || !readback.LinkName(words[0]) {
			return false
		}
		node.Put(node.Within(d, "parameters", list), words[0], node.Plain(words[1]))
		return true
	}
	parameter, known := bridgeParameters[o.key]
	if n, err := strconv.ParseUint(o.first(), 10, 31); known && err == nil {
		node.Put(node.Within(d, "parameters"), parameter, node.Plain(strconv.FormatUint(n, 10)))
		return true
	}
	return o.key == "bridge-waitport" || o.key == "bridge-maxwait"
}
