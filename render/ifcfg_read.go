package render

import (
	"net/netip"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/bondopt"
)

// ifcfgReader reads one device's file.
type ifcfgReader struct {
	*finder
	file string
	id   string
	// values are the assignments; of a key the last one counts.
	values map[string]shellLine
	used   map[string]bool
}

func readIfcfg(files map[string]string) (Found, error) {
	f := newFinder()
	names := map[string]string{} // interface by file suffix
	for _, file := range sortedKeys(files) {
		suffix, ok := strings.CutPrefix(path.Base(file), "ifcfg-")
		if !ok || path.Dir(file)+"/" != ifcfgDir || ifcfgBackup(suffix) || suffix == "lo" || strings.Contains(suffix, ":") {
			continue
		}
		r := newIfcfgReader(f, file, files[file])
		r.id = r.name(suffix)
		if !linkName(r.id) {
			f.miss(file, 1, "DEVICE", r.id, "is no interface's name")
			continue
		}
		names[suffix] = r.id
		r.read()
	}
	for _, file := range sortedKeys(files) {
		kind, suffix, ok := strings.Cut(path.Base(file), "-")
		if !ok || path.Dir(file)+"/" != ifcfgDir || ifcfgBackup(suffix) {
			continue
		}
		id := names[suffix]
		base, number, alias := strings.Cut(suffix, ":")
		switch {
		case kind == "ifcfg" && alias && names[base] != "":
			r := newIfcfgReader(f, file, files[file])
			r.id = names[base]
			r.alias(number)
		case kind != "route" && kind != "route6" && kind != "rule" && kind != "rule6":
		case id == "":
			f.miss(file, 1, kind, suffix, "there is no ifcfg-"+suffix)
		default:
			(&ifcfgReader{finder: f, file: file, id: id}).lines(kind, files[file])
		}
	}
	return f.found()
}

// ifcfgBackup reports a file that initscripts leave out (network-functions,
// __sed_discard_ignored_files).
func ifcfgBackup(suffix string) bool {
	for _, end := range []string{"~", ".bak", ".orig", ".old", ".rpmnew", ".rpmorig", ".rpmsave", ".tmp"} {
		if strings.HasSuffix(suffix, end) {
			return true
		}
	}
	return suffix == ""
}

func newIfcfgReader(f *finder, file, text string) *ifcfgReader {
	r := &ifcfgReader{finder: f, file: file, values: map[string]shellLine{}, used: map[string]bool{}}
	for _, l := range readShell(text) {
		if l.odd {
			f.miss(file, l.line, "line", "", "is no assignment that can be read without a shell")
			continue
		}
		if l.key != "" {
			r.values[l.key] = l
		}
	}
	return r
}

func (r *ifcfgReader) get(key string) string {
	r.used[key] = true
	return r.values[key].value
}

func (r *ifcfgReader) truth(key string) bool {
	return strings.EqualFold(r.get(key), "yes") || strings.EqualFold(r.get(key), "true") || r.get(key) == "1"
}

// name is the interface's: what DEVICE says, or the file's name.
func (r *ifcfgReader) name(suffix string) string {
	if d := r.get("DEVICE"); d != "" {
		return d
	}
	return suffix
}

// wrong notes a value that is not understood.
func (r *ifcfgReader) wrong(key, why string) {
	r.miss(r.file, max(r.values[key].line, 1), key, r.values[key].value, why)
}

func (r *ifcfgReader) read() {
	kind := strings.ToLower(r.get("TYPE"))
	switch {
	case r.truth("BONDING_MASTER") || r.values["BONDING_OPTS"].key != "" || kind == "bond":
		r.kinds[r.id] = "bonds"
	case r.truth("VLAN") || kind == "vlan":
		r.kinds[r.id] = "vlans"
		r.vlan()
	case kind == "bridge":
		r.kinds[r.id] = "bridges"
	case kind != "" && kind != "ethernet":
		r.wrong("TYPE", "devices of this type are not read")
	}
	d := r.device(r.id)
	if mac := strings.ToLower(r.get("HWADDR")); mac != "" {
		if m, err := flow.ParseMAC(mac); err == nil && !m.IsZero() {
			put(within(d, "match"), "macaddress", quoted(m.String()))
			put(d, "set-name", plain(r.id))
		} else {
			r.wrong("HWADDR", "is no address")
		}
	}
	if mac := strings.ToLower(r.get("MACADDR")); mac != "" {
		put(d, "macaddress", quoted(mac))
	}
	if n, err := strconv.Atoi(r.get("MTU")); err == nil && n > 0 {
		put(d, "mtu", plainInt(n))
	} else if r.get("MTU") != "" {
		r.wrong("MTU", "is no number")
	}
	if on := r.get("ONBOOT"); on != "" && !r.truth("ONBOOT") {
		put(d, "activation-mode", plain("manual"))
	}
	r.master()
	r.bonding()
	r.ethtool()
	r.addresses(d)
	r.rest(d)
}

func (r *ifcfgReader) master() {
	for _, row := range [][2]string{{"MASTER", "bonds"}, {"BRIDGE", "bridges"}} {
		name := r.get(row[0])
		if !linkName(name) {
			continue
		}
		r.kinds[name] = row[1]
		push(r.device(name), "interfaces", plain(r.id))
	}
	for _, o := range bondopt.Ports() {
		if said, ok := o.Saying(bondopt.Ifcfg); ok && r.get(said.Name) != "" {
			put(r.setting("links", r.id), o.Key, plain(r.get(said.Name)))
		}
	}
	r.get("SLAVE")
}

var vlanName = regexp.MustCompile(`^(.+)\.([0-9]{1,4})$|^vlan([0-9]{1,4})$`)

// vlan is a VLAN's parent and number: what is said, else what its name says.
func (r *ifcfgReader) vlan() {
	parent, tag := r.get("PHYSDEV"), r.get("VLAN_ID")
	if m := vlanName.FindStringSubmatch(r.id); m != nil {
		if parent == "" {
			parent = m[1]
		}
		if tag == "" {
			tag = m[2] + m[3]
		}
	}
	n, err := strconv.Atoi(tag)
	if err != nil || !linkName(parent) {
		r.wrong("VLAN", "neither the name nor PHYSDEV and VLAN_ID say the parent and the number")
		return
	}
	put(r.device(r.id), "id", plainInt(n))
	put(r.device(r.id), "link", plain(parent))
}

func (r *ifcfgReader) bonding() {
	for _, word := range strings.Fields(r.get("BONDING_OPTS")) {
		name, value, ok := strings.Cut(word, "=")
		if !ok || !shellName(name) || value == "" {
			r.wrong("BONDING_OPTS", word+" is no option=value")
			continue
		}
		value = strings.TrimPrefix(value, "+")
		if have := r.device(r.id).Get("parameters").Get("arp-ip-targets"); name == "arp_ip_target" && have != nil {
			value = strings.Join(texts(have), ",") + "," + value // one entry for each target
		}
		r.option(r.id, name, kernelWord(name, value))
	}
}

// ethtool reads the calls of ETHTOOL_OPTS.
func (r *ifcfgReader) ethtool() {
	for _, call := range strings.Split(r.get("ETHTOOL_OPTS"), ";") {
		words := strings.Fields(call)
		if len(words) == 0 {
			continue
		}
		letter := words[0]
		words = words[1:]
		if len(words) > 0 && (words[0] == r.id || words[0] == "${DEVICE}" || words[0] == "$DEVICE") {
			words = words[1:]
		}
		if !r.ethtoolCall(letter, words) {
			r.wrong("ETHTOOL_OPTS", strings.TrimSpace(call)+" is not read")
		}
	}
}

func (r *ifcfgReader) ethtoolCall(letter string, words []string) bool {
	if len(words)%2 != 0 {
		return false
	}
	for i := 0; i < len(words); i += 2 {
		name, value := words[i], words[i+1]
		n, err := strconv.Atoi(value)
		switch {
		case letter == "-K" && (value == "on" || value == "off"):
			r.offload(r.id, name, value == "on")
		case letter == "-G" && (name == "rx" || name == "tx") && err == nil:
			put(r.setting("links", r.id, "rings"), name, plainInt(n))
		case letter == "-L" && err == nil:
			put(r.setting("links", r.id, "channels"), name, plainInt(n))
		case letter == "-C" && (err == nil || value == "on" || value == "off"):
			put(r.setting("links", r.id, "coalesce"), name, plain(value))
		case letter == "-s" && name == "wol" && (value == "g" || value == "d"):
			put(r.device(r.id), "wakeonlan", plain(strconv.FormatBool(value == "g")))
		default:
			return false
		}
	}
	return true
}

// rest notes what was not asked for; keys that only name things are no loss.
func (r *ifcfgReader) rest(*yamldoc.Node) {
	for _, key := range sortedKeys(r.values) {
		switch key {
		case "NAME", "UUID", "TYPE", "NM_CONTROLLED", "NETWORK", "BROADCAST", "ONPARENT", "USERCTL":
			continue
		}
		if !r.used[key] {
			r.wrong(key, "a fabric has no word for it")
		}
	}
}

// dottedLength is a dotted mask's length.
func dottedLength(s string) (int, bool) {
	a, err := netip.ParseAddr(s)
	if err != nil || !a.Is4() {
		return 0, false
	}
	b := a.As4()
	bits := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	n := 0
	for bits&(1<<31) != 0 {
		n++
		bits <<= 1
	}
	return n, bits == 0
}
