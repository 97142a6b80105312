package keyfile

import (
	"maps"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/node"
	"github.com/linerate/linerate/render/readback"
	"github.com/linerate/linerate/render/teamd"
)

// reader reads one host's connections.
type reader struct {
	*readback.Host
	// names leads from a connection's UUID to its interface.
	names map[string]string
	// ports are those of each bond and bridge, in the order of the files.
	ports map[string][]string
	// masters are the lines that name a device as another's port.
	masters []masterLine
	// costs are the bridge parameters that ports hold.
	costs []portParameter
	hops  []weightedHop
	teams []teamd.Team
	// teamPorts are the ports of each team, with what teamd is told of them.
	teamPorts map[string][]teamd.Port
}

// masterLine is a line that makes an interface a port of a master.
type masterLine struct {
	name, path string
	keyLine
}

// portParameter is a bridge's parameter of one port.
type portParameter struct{ bridge, parameter, port, value string }

// keySections are netplan's sections by connection type.
var keySections = map[string]string{
	"ethernet": "ethernets", "802-3-ethernet": "ethernets", "bond": "bonds", "team": "bonds", "vlan": "vlans", "bridge": "bridges", "dummy": "dummy-devices",
}

// Read returns what the files, text by path, say of a host. The error is
// render.ErrEmpty where they say nothing of a network.
func Read(files map[string]string) (render.Found, error) {
	r := &reader{names: map[string]string{}, ports: map[string][]string{}, teamPorts: map[string][]teamd.Port{}, Host: readback.New()}
	parsed := map[string]file{}
	for _, p := range slices.Sorted(maps.Keys(files)) {
		f, bad := parse(files[p])
		for _, line := range bad {
			r.Miss(p, line, "line", "", "is neither a section, a key nor a comment")
		}
		parsed[p] = f
		if uuid := f.value("connection", "uuid"); uuid != "" {
			r.names[uuid] = interfaceOf(p, f)
		}
	}
	for _, section := range []string{"ethernets", "dummy-devices", "bonds", "bridges", "vlans"} {
		for _, p := range slices.Sorted(maps.Keys(parsed)) {
			if keySections[parsed[p].value("connection", "type")] == section {
				(&connectionReader{reader: r, path: p, text: files[p], file: parsed[p], used: map[int]bool{}, gateways: map[string]netip.Addr{}}).read(section)
				r.Mark(p, files[p], 1, len(parsed[p].lines))
			}
		}
	}
	for _, p := range slices.Sorted(maps.Keys(parsed)) {
		if l, ok := parsed[p].find("connection", "type"); keySections[l.value] == "" {
			why := "connections of this type are not read"
			if !ok {
				l.number, why = 1, "the file has no connection type: NetworkManager does not read it"
			}
			r.Miss(p, l.number, "[connection] type", l.value, why)
		}
	}
	r.moveTeams(files)
	r.placePorts()
	r.placeHops()
	left := map[string]bool{}
	for p, f := range parsed {
		if keySections[f.value("connection", "type")] == "" {
			left[interfaceOf(p, f)] = true
		}
	}
	r.Parents(func(name string) bool { return left[name] })
	r.Guessed()
	found, err := r.Found()
	for _, t := range r.teams {
		found.Warnings = append(found.Warnings, teamd.Moved(render.FormatKeyfile, t.Name))
	}
	return found, err
}

// interfaceOf is the interface that a connection is for, or a name for the
// definition.
func interfaceOf(place string, f file) string {
	for _, name := range []string{f.value("connection", "interface-name"), f.value("connection", "id"), strings.TrimSuffix(path.Base(place), ".nmconnection")} {
		if plainName(name) {
			return name
		}
	}
	return "connection"
}

// plainName is a name that a fabric takes for a device.
func plainName(s string) bool {
	return s != "" && s[0] != '-' && s != "." && s != ".." &&
		!strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == '/' || r >= 0x7f })
}

// idleKeys are those of [connection] that say nothing of the network: names, and
// when and by whom the connection is brought up.
var idleKeys = []string{"id", "uuid", "type", "interface-name", "timestamp", "autoconnect-priority", "autoconnect-retries",
	"autoconnect-slaves", "autoconnect-ports", "permissions", "stable-id", "wait-device-timeout", "multi-connect", "metered", "llmnr", "mdns"}

// connectionReader reads one file.
type connectionReader struct {
	*reader
	path  string
	text  string
	file  file
	used  map[int]bool // lines read, by number
	name  string
	entry *yamldoc.Node // the definition
	// gateways are those of each family that are read.
	gateways map[string]netip.Addr
}

// take returns a key's value and notes that it was read.
func (r *connectionReader) take(group, key string) string {
	l, ok := r.file.find(group, key)
	if ok {
		r.used[l.number] = true
	}
	return l.value
}

// refuse notes a line that says something which cannot be kept.
func (r *connectionReader) refuse(l keyLine, why string) {
	r.used[l.number] = true
	r.Miss(r.path, l.number, "["+l.group+"] "+l.key, l.value, why)
}

func (r *connectionReader) read(section string) {
	r.name = interfaceOf(r.path, r.file)
	devices := node.Within(r.Network, section)
	if devices.Get(r.name) != nil {
		l, _ := r.file.find("connection", "type")
		r.refuse(l, "another connection for "+r.name+" was read already")
		return
	}
	if section != "ethernets" {
		r.Kinds[r.name] = section
	}
	r.entry = r.Device(r.name)
	if l, ok := r.file.find("connection", "interface-name"); ok {
		r.PlaceAt(r.entry, r.path, l.number)
	}
	for _, key := range idleKeys {
		r.take("connection", key)
	}
	for _, l := range r.file.lines {
		if l.group == "user" || l.group == ".nmmeta" || l.group == "proxy" {
			r.used[l.number] = true // notes of other programs
		}
	}
	for _, group := range []string{"ipv4", "ipv6"} {
		r.take(group, "may-fail")
		r.take(group, "required-timeout")
	}
	r.master()
	r.link(section)
	switch {
	case r.file.value("connection", "type") == teamType:
		r.team()
	case section == "bonds":
		r.bond()
	case section == "vlans":
		r.vlan()
	case section == "bridges":
		r.bridge()
	}
	r.ethtool()
	if slices.Contains(r.ports[r.masterName()], r.name) {
		r.portAddresses()
	} else {
		r.addresses()
	}
	r.mptcp()
	if r.take("connection", "autoconnect") == "false" {
		node.Put(r.entry, "activation-mode", node.Plain("manual"))
	}
	for _, l := range r.file.lines {
		if l.key != "" && !r.used[l.number] && l.value != "" {
			r.refuse(l, "a fabric cannot represent it")
		}
	}
}

// portAddresses passes over what says how a port, which has no addresses, would come to
// some.
func (r *connectionReader) portAddresses() {
	for _, group := range []string{"ipv4", "ipv6"} {
		for _, key := range []string{"method", "addr-gen-mode", "ip6-privacy"} {
			if r.file.value(group, key) != "manual" {
				r.take(group, key)
			}
		}
	}
}

// masterName is the interface that the connection's is a port of.
func (r *connectionReader) masterName() string {
	for _, key := range []string{"controller", "master"} {
		if value := r.file.value("connection", key); value != "" {
			if name, ok := r.names[value]; ok {
				return name
			}
			return value
		}
	}
	return ""
}

func (r *connectionReader) master() {
	name := r.masterName()
	for _, key := range []string{"controller", "master", "port-type", "slave-type"} {
		r.take("connection", key)
		if l, ok := r.file.find("connection", key); ok && (key == "controller" || key == "master") {
			r.masters = append(r.masters, masterLine{name, r.path, l})
		}
	}
	if name != "" {
		r.ports[name] = append(r.ports[name], r.name)
		r.teamPort(name)
		for _, p := range [...][2]string{{"path-cost", "path-cost"}, {"port-priority", "priority"}} {
			if l, ok := r.file.find("bridge-port", p[1]); ok {
				if _, err := strconv.ParseUint(l.value, 10, 31); err == nil {
					r.used[l.number] = true
					r.costs = append(r.costs, portParameter{name, p[0], r.name, l.value})
				}
			}
		}
	}
}

// link is what devices of every kind have in [ethernet] and [match].
func (r *connectionReader) link(section string) {
	r.keys("ethernet")
	if section != "ethernets" {
		return
	}
	match := node.Mapping()
	match.Flow = true
	if l, ok := r.file.find("ethernet", "mac-address"); ok {
		r.used[l.number] = true
		if _, err := flow.ParseMAC(l.value); err != nil {
			r.refuse(l, "is no MAC address")
		} else {
			node.Put(match, "macaddress", node.Quoted(strings.ToLower(l.value)))
		}
	}
	if l, ok := r.file.find("match", "interface-name"); ok {
		globs := strings.FieldsFunc(l.value, func(c rune) bool { return c == ';' || c == ' ' })
		if len(globs) == 1 && plainName(globs[0]) && !strings.ContainsAny(globs[0][:1], "|&!\\") {
			node.Put(match, "name", node.Quoted(globs[0]))
			r.used[l.number] = true
			r.take("connection", "multi-connect")
		} else {
			r.refuse(l, "several patterns in one: a match has one name")
		}
	}
	node.Put(r.entry, "match", match)
	if r.file.value("connection", "interface-name") == "" && len(match.Pairs) == 0 {
		node.SetKey(r.entry, "match", match) // any device, as NetworkManager takes it
	}
}

func (r *connectionReader) vlan() {
	id, _ := r.file.find("vlan", "id")
	parent, _ := r.file.find("vlan", "parent")
	r.take("vlan", "interface-name")
	if flags, ok := r.file.find("vlan", "flags"); ok && (flags.value == "0" || flags.value == "1") {
		r.used[flags.number] = true // 1, reordering headers, is what both have by default
		if flags.value == "0" {
			r.refuse(flags, "a fabric has no VLAN flags: headers are reordered, the default")
		}
	}
	tag, err := strconv.Atoi(id.value)
	link := parent.value
	if name, ok := r.names[link]; ok {
		link = name
	}
	if err != nil || tag < 0 || tag > 4094 || !plainName(link) {
		r.refuse(id, "a VLAN needs an id from 0 to 4094 and a parent: left out")
		r.drop("vlans")
		return
	}
	r.used[id.number], r.used[parent.number] = true, true
	node.Put(r.entry, "id", node.PlainInt(tag))
	node.Put(r.entry, "link", node.Plain(link))
}

// drop takes the definition out again.
func (r *connectionReader) drop(section string) {
	devices := node.Within(r.Network, section)
	devices.Pairs = slices.DeleteFunc(devices.Pairs, func(p yamldoc.Pair) bool { return p.Key == r.name })
	if len(devices.Pairs) == 0 {
		r.Network.Pairs = slices.DeleteFunc(r.Network.Pairs, func(p yamldoc.Pair) bool { return p.Key == section })
	}
}

func (r *connectionReader) bridge() {
	r.take("bridge", "interface-name")
	r.keys("bridge")
}

// placePorts writes the ports of bonds and bridges that were read.
func (r *reader) placePorts() {
	for _, m := range r.masters {
		if r.Network.Get("bonds").Get(m.name) == nil && r.Network.Get("bridges").Get(m.name) == nil {
			r.Miss(m.path, m.number, "[connection] "+m.key, m.value, "no bond or bridge of this name is read")
		}
	}
	for _, section := range []string{"bonds", "bridges"} {
		for _, p := range node.Pairs(r.Network.Get(section)) {
			node.Put(p.Value, "interfaces", node.FlowList(r.ports[p.Key]))
			for _, c := range r.costs {
				if section == "bridges" && c.bridge == p.Key {
					node.Put(node.Within(p.Value, "parameters", c.parameter), c.port, node.Plain(c.value))
				}
			}
		}
	}
}
