package ifcfg

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/node"
	"github.com/linerate/linerate/render/readback"
	"github.com/linerate/linerate/render/shell"
)

// reader reads one device's file.
type reader struct {
	*readback.Host
	file string
	id   string
	// values are the assignments; of a key the last one counts.
	values map[string]shell.Line
	used   map[string]bool
	// doubted are the keys that flag has told.
	doubted map[string]bool
}

// Read returns what the files, text by path, say of a host. The error is
// render.ErrEmpty where they say nothing of a network.
func Read(files map[string]string) (render.Found, error) {
	f := readback.New()
	f.ReadTables(files)
	masters(f, files)
	teams := newTeams(f)
	own, warnings := devices(f, files)
	names := map[string]string{} // interface by file suffix
	for _, r := range own {
		names[suffixOf(r.file)] = r.id
		teams.read(r)
		r.read()
		f.Mark(r.file, files[r.file], 1, strings.Count(files[r.file], "\n")+1)
	}
	teams.move(files)
	for _, file := range slices.Sorted(maps.Keys(files)) {
		kind, suffix, ok := strings.Cut(path.Base(file), "-")
		if !ok || !ours(file) || isBackup(suffix) {
			continue
		}
		id := names[suffix]
		base, number, alias := strings.Cut(suffix, ":")
		switch {
		case kind == "ifcfg" && ranges.MatchString(suffix):
			r := newReader(f, file, files[file])
			if base := ranges.FindStringSubmatch(suffix)[1]; names[base] == "" {
				f.Miss(file, 1, "ifcfg", suffix, "there is no ifcfg-"+base)
			} else {
				r.id = names[base]
				r.addressRange()
			}
		case kind == "ifcfg" && alias && names[base] == "":
			f.Miss(file, 1, "ifcfg", suffix, "there is no ifcfg-"+base)
		case kind == "ifcfg" && alias:
			r := newReader(f, file, files[file])
			r.id = names[base]
			r.alias(number)
		case kind == "ifroute" && id != "":
			suseRoutes(f, own, file, id, files[file])
		case kind == "ifrule" && id != "":
			(&reader{Host: f, file: file, id: id}).suseRules(files[file])
		case kind != "route" && kind != "route6" && kind != "rule" && kind != "rule6":
		case id == "":
			f.Miss(file, 1, kind, suffix, "there is no ifcfg-"+suffix)
		default:
			(&reader{Host: f, file: file, id: id}).lines(kind, files[file])
		}
		f.Mark(file, files[file], 1, strings.Count(files[file], "\n")+1)
	}
	hostwide(f, own, files)
	f.Parents(nil)
	f.Guessed()
	found, err := f.Found()
	found.Warnings = append(warnings, teams.warnings...)
	return found, err
}

// masters notes the bonds and bridges that ports name: a bond's own file need not
// say what it is, where its options stand in modprobe.d.
func masters(f *readback.Host, files map[string]string) {
	for file, text := range files {
		if !strings.HasPrefix(path.Base(file), "ifcfg-") || !ours(file) || isBackup(path.Base(file)) {
			continue
		}
		for _, l := range shell.Read(text) {
			if kind := masterKinds[l.Key]; kind != "" && readback.LinkName(l.Value) && l.Value != "yes" && l.Value != "no" {
				f.Kinds[l.Value] = kind
			}
		}
	}
}

// masterKinds are what a port's keys name.
var masterKinds = map[string]string{"MASTER": "bonds", "BRIDGE": "bridges"}

// isBackup reports a file that initscripts leave out (network-functions,
// __sed_discard_ignored_files).
func isBackup(suffix string) bool {
	for _, end := range []string{"~", ".bak", ".orig", ".old", ".rpmnew", ".rpmorig", ".rpmsave", ".tmp"} {
		if strings.HasSuffix(suffix, end) {
			return true
		}
	}
	return suffix == ""
}

func newReader(f *readback.Host, file, text string) *reader {
	r := &reader{Host: f, file: file, values: map[string]shell.Line{}, used: map[string]bool{}, doubted: map[string]bool{}}
	for _, l := range shell.Read(text) {
		if l.Odd {
			f.Miss(file, l.Line, "line", "", "is no assignment that can be read without a shell")
			continue
		}
		if l.Key != "" {
			r.values[l.Key] = l
		}
	}
	return r
}

func (r *reader) get(key string) string {
	r.used[key] = true
	return r.values[key].Value
}

func (r *reader) truth(key string) bool {
	return strings.EqualFold(r.get(key), "yes") || strings.EqualFold(r.get(key), "true") || r.get(key) == "1"
}

// flag is what a yes or no says, in initscripts' words (is_true, is_false of
// network-functions); a value that is neither is told.
func (r *reader) flag(key string) bool {
	switch strings.ToLower(r.get(key)) {
	case "yes", "y", "true", "t", "on", "1":
		return true
	case "no", "n", "false", "f", "off", "0", "":
	default:
		if !r.doubted[key] {
			r.wrong(key, "is neither yes nor no: it is taken as no")
		}
		r.doubted[key] = true
	}
	return false
}

// wrong notes a value that is not understood.
func (r *reader) wrong(key, why string) {
	r.Miss(r.file, max(r.values[key].Line, 1), key, r.values[key].Value, why)
}

func (r *reader) read() {
	kind := strings.ToLower(r.get("TYPE"))
	says := func(starts ...string) bool {
		for key := range r.values {
			if slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(key, start) }) {
				return true
			}
		}
		return false
	}
	ovs := r.isOVS()
	if ovs && !r.ovsKind() {
		return
	}
	switch {
	case ovs:
	case r.truth("BONDING_MASTER") || says("BONDING_OPTS", "BONDING_MODULE_OPTS", "BONDING_SLAVE") || kind == "bond":
		r.Kinds[r.id] = "bonds"
	case says("BRIDGE_") || r.truth("BRIDGE"): // SUSE's: at a port BRIDGE names its bridge
		r.Kinds[r.id] = "bridges"
	case strings.EqualFold(r.get("INTERFACETYPE"), "dummy"):
		r.Kinds[r.id] = "dummy-devices"
	case r.truth("VLAN") || kind == "vlan" || r.values["ETHERDEVICE"].Key != "":
		r.Kinds[r.id] = "vlans"
		r.vlan()
	case kind == "bridge":
		r.Kinds[r.id] = "bridges"
	case kind != "" && kind != "ethernet" && kind != "team" && kind != "teamport":
		r.wrong("TYPE", "devices of this type are not read")
	}
	d := r.Device(r.id)
	if ovs {
		r.ovs()
	}
	if mac := strings.ToLower(r.get("HWADDR")); mac != "" {
		if m, err := flow.ParseMAC(mac); err == nil && !m.IsZero() {
			node.Put(node.Within(d, "match"), "macaddress", node.Quoted(m.String()))
			if r.get("DEVICE") != "" {
				node.Put(d, "set-name", node.Plain(r.id))
			}
		} else {
			r.wrong("HWADDR", "is no address")
		}
	}
	for _, key := range []string{"MACADDR", "LLADDR", "LLADDRESS"} {
		if mac := strings.ToLower(r.get(key)); mac != "" {
			node.Put(d, "macaddress", node.Quoted(mac))
		}
	}
	if n, err := strconv.Atoi(r.get("MTU")); err == nil && n > 0 {
		node.Put(d, "mtu", node.PlainInt(n))
	} else if r.get("MTU") != "" {
		r.wrong("MTU", "is no number")
	}
	switch on := strings.ToLower(r.get("ONBOOT")); {
	case on == "" || r.truth("ONBOOT"):
	case on == "no" || on == "false" || on == "0":
		node.Put(d, "activation-mode", node.Plain("manual"))
	default:
		r.wrong("ONBOOT", "is neither yes nor no")
	}
	if mode := strings.ToLower(r.get("STARTMODE")); mode == "manual" || mode == "off" {
		node.Put(d, "activation-mode", node.Plain("manual"))
	}
	r.master()
	r.listedPorts()
	r.bonding("BONDING_OPTS")
	r.bonding("BONDING_MODULE_OPTS")
	r.ethtool()
	if readback.LinkName(r.get("MASTER")) {
		r.portAddresses()
	} else {
		r.addresses(d)
	}
	r.rest(d)
}

// portAddresses passes over what says how a bond's port would come to addresses, and
// notes those that it is given: a port has none.
func (r *reader) portAddresses() {
	for _, key := range slices.Sorted(maps.Keys(r.values)) {
		switch {
		case strings.HasPrefix(key, "IPADDR") || strings.HasPrefix(key, "IPV6ADDR") || strings.HasPrefix(key, "GATEWAY") || key == "IPV6_DEFAULTGW":
			if r.get(key) != "" {
				r.wrong(key, "a port has no addresses: its bond's file has them")
			}
		case key == "BOOTPROTO" || strings.HasPrefix(key, "IPV6") || strings.HasPrefix(key, "NETMASK") || strings.HasPrefix(key, "PREFIX") || strings.HasPrefix(key, "DNS") || strings.HasPrefix(key, "DHCP") ||
			slices.Contains([]string{"DEFROUTE", "PEERDNS", "PEERROUTES", "DOMAIN"}, key):
			r.get(key)
		}
	}
}

func (r *reader) master() {
	for _, key := range slices.Sorted(maps.Keys(masterKinds)) {
		name := r.get(key)
		if name == "" || name == "yes" || name == "no" { // SUSE's BRIDGE says whether it is one
			continue
		}
		if !readback.LinkName(name) {
			r.wrong(key, "is no interface's name: whose port this is is not read")
			continue
		}
		r.Kinds[name] = masterKinds[key]
		if list := r.Device(name).Get("interfaces"); list == nil || !node.Contains(list.Items, node.Plain(r.id)) {
			node.Push(r.Device(name), "interfaces", node.Plain(r.id))
		}
	}
	for _, o := range bondopt.Ports() {
		if said, ok := o.Saying(bondopt.Ifcfg); ok && r.get(said.Name) != "" {
			node.Put(r.Setting("links", r.id), o.Key, node.Plain(r.get(said.Name)))
		}
	}
	r.get("SLAVE")
}

var vlanName = regexp.MustCompile(`^(.+)\.([0-9]{1,4})$|^vlan([0-9]{1,4})$`)

// vlan is a VLAN's parent and number: what is said, else what its name says.
func (r *reader) vlan() {
	parent, tag := r.get("PHYSDEV")+r.get("ETHERDEVICE"), r.get("VLAN_ID")
	if m := vlanName.FindStringSubmatch(r.id); m != nil {
		if parent == "" {
			parent = m[1]
		}
		if tag == "" {
			tag = m[2] + m[3]
		}
	}
	n, err := strconv.Atoi(tag)
	if err != nil || !readback.LinkName(parent) {
		key := "VLAN"
		for _, said := range []string{"PHYSDEV", "ETHERDEVICE"} {
			if r.get(said) != "" && !readback.LinkName(parent) {
				key = said
			}
		}
		if r.get("VLAN_ID") != "" && err != nil {
			key = "VLAN_ID"
		}
		r.wrong(key, "neither the name nor PHYSDEV and VLAN_ID say the parent and the number")
		return
	}
	node.Put(r.Device(r.id), "id", node.PlainInt(n))
	node.Put(r.Device(r.id), "link", node.Plain(parent))
}

// listedPorts reads ports where a bond or a bridge names them: SUSE's way.
func (r *reader) listedPorts() {
	type listed struct{ key, port string }
	var ports []listed
	for _, key := range slices.Sorted(maps.Keys(r.values)) {
		if strings.HasPrefix(key, "BONDING_SLAVE") && r.Kinds[r.id] == "bonds" && r.get(key) != "" {
			ports = append(ports, listed{key, r.get(key)})
		}
	}
	for _, port := range strings.Fields(r.get("BRIDGE_PORTS")) {
		ports = append(ports, listed{"BRIDGE_PORTS", port})
	}
	for _, one := range ports {
		port := one.port
		if !readback.LinkName(port) {
			r.wrong(one.key, port+" is no interface's name: the port is left out")
			continue
		}
		r.Device(port)
		if list := r.Device(r.id).Get("interfaces"); list == nil || !node.Contains(list.Items, node.Plain(port)) {
			node.Push(r.Device(r.id), "interfaces", node.Plain(port))
		}
	}
}

func (r *reader) bonding(key string) {
	for _, word := range strings.Fields(r.get(key)) {
		name, value, ok := strings.Cut(word, "=")
		if !ok || !shell.IsName(name) || value == "" {
			r.wrong(key, word+" is no option=value")
			continue
		}
		value = strings.TrimPrefix(value, "+")
		if have := r.Device(r.id).Get("parameters").Get("arp-ip-targets"); name == "arp_ip_target" && have != nil {
			value = strings.Join(node.Texts(have), ",") + "," + value // one entry for each target
		}
		r.Option(r.id, name, value)
	}
}

// ethtool reads the calls of ETHTOOL_OPTS, and of SUSE's ETHTOOL_OPTIONS with whatever
// ending.
func (r *reader) ethtool() {
	for _, key := range slices.Sorted(maps.Keys(r.values)) {
		if key != "ETHTOOL_OPTS" && !strings.HasPrefix(key, "ETHTOOL_OPTIONS") {
			continue
		}
		for _, call := range strings.Split(r.get(key), ";") {
			words := strings.Fields(call)
			if len(words) == 0 {
				continue
			}
			letter := words[0]
			words = words[1:]
			if len(words) > 0 && slices.Contains([]string{r.id, "${DEVICE}", "$DEVICE", "iface"}, words[0]) {
				words = words[1:]
			}
			if !r.Ethtool(r.id, letter, words) {
				r.wrong(key, strings.TrimSpace(call)+" is not read")
			}
		}
	}
}

// usualValues are what a device has where its file says nothing (nm-settings-ifcfg-rh(5));
// installers write them into every file.
var usualValues = map[string]string{
	"IPV4_FAILURE_FATAL": "no", "IPV6_FAILURE_FATAL": "no", "DEFROUTE": "yes", "IPV6_DEFROUTE": "yes", "PEERROUTES": "yes", "IPV6_PEERROUTES": "yes",
	"PEERDNS": "yes", "IPV6_PEERDNS": "yes", "IPV6_PRIVACY": "no", "DHCLIENT_SET_DEFAULT_ROUTE": "yes", "VLAN_PROTOCOL": "ieee802-1Q",
}

// rest notes what was not asked for; keys that only name things are no loss.
func (r *reader) rest(*yamldoc.Node) {
	for _, key := range slices.Sorted(maps.Keys(r.values)) {
		switch key {
		case "NAME", "UUID", "TYPE", "NM_CONTROLLED", "NETWORK", "BROADCAST", "INTERFACETYPE", "ONPARENT", "USERCTL", "USERCONTROL", "FIREWALL", "AUTOCONNECT_PRIORITY", "PROXY_METHOD", "BROWSER_ONLY", "HOTPLUG",
			"AUTOCONNECT_SLAVES", "LINKDELAY", "VLAN_NAME_TYPE":
			continue
		}
		usual := usualValues[key]
		if !r.used[key] && r.values[key].Value != "" && (usual == "" || !strings.EqualFold(r.values[key].Value, usual)) {
			r.wrong(key, "a fabric cannot represent it")
		}
	}
}
