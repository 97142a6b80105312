package networkd

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/node"
	"github.com/linerate/linerate/render/readback"
	"github.com/linerate/linerate/render/unitfile"
)

// reader reads .netdev, .network and .link files with their drop-ins.
type reader struct {
	*readback.Host
	files map[string]string
	// taken are the devices that a .network file already counts for: the
	// first one that matches does.
	taken map[string]string
	// wide are the files that count for all devices of a pattern, by the pattern; those
	// that count for any Ethernet device by "".
	wide map[string]string
	// macs leads from permanent addresses to names, as .link files give them.
	macs map[string]string
	// dropIns are the .conf files by their directories.
	dropIns map[string][]string
}

func newReader(f *readback.Host, files map[string]string) reader {
	r := reader{Host: f, files: files, taken: map[string]string{}, wide: map[string]string{}, macs: map[string]string{}, dropIns: map[string][]string{}}
	for file := range files {
		if strings.HasSuffix(file, ".conf") {
			dir := path.Dir(file) + "/"
			r.dropIns[dir] = append(r.dropIns[dir], file)
		}
	}
	return r
}

// placedSection is a section with its file.
type placedSection struct {
	unitfile.Section
	file string
}

// Read returns what the files, text by path, say of a host. The error is
// render.ErrEmpty where they say nothing of a network.
func Read(files map[string]string) (render.Found, error) {
	r := newReader(readback.New(), files)
	r.ReadTables(files)
	for _, file := range inOrder(files, ".netdev") {
		r.netdev(file, r.sections(file))
	}
	for _, file := range inOrder(files, ".link") {
		s := r.sections(file)
		match, link := placedOf(s, "Match"), placedOf(s, "Link")
		if name := link.Get("Name"); name != "" {
			for _, mac := range strings.Fields(match.Get("PermanentMACAddress") + " " + match.Get("MACAddress")) {
				r.macs[strings.ToLower(mac)] = name
			}
		}
	}
	for _, file := range inOrder(files, ".network") {
		r.network(file, r.sections(file))
	}
	for _, file := range inOrder(files, ".link") {
		r.link(file, r.sections(file))
	}
	for _, vlan := range slices.Clone(node.Pairs(r.Network.Get("vlans"))) {
		if vlan.Value.Get("id") == nil {
			r.LeaveOut("vlans", vlan.Key, "no .netdev file says its Id: networkd waits for one")
		}
	}
	r.Guessed()
	return r.Found()
}

// odd notes lines that systemd would not understand either.
func (r reader) odd(file string) func(int, string) {
	return func(line int, text string) {
		r.Miss(file, line, "line", text, "is neither a section, an assignment nor a comment")
	}
}

// sections are a file's and its drop-ins' (systemd.unit(5): NAME.d/*.conf of
// all directories, by name).
func (r reader) sections(file string) []placedSection {
	var all []placedSection
	for _, s := range unitfile.Read(r.files[file], r.odd(file)) {
		all = append(all, placedSection{s, file})
	}
	byName := map[string]string{}
	for i := len(dirs) - 1; i >= 0; i-- {
		for _, other := range r.dropIns[dirs[i]+path.Base(file)+".d/"] {
			byName[path.Base(other)] = other
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		for _, s := range unitfile.Read(r.files[byName[name]], r.odd(byName[name])) {
			all = append(all, placedSection{s, byName[name]})
		}
	}
	return all
}

func placedOf(sections []placedSection, name string) unitfile.Section {
	joined := unitfile.Section{Name: name}
	for _, s := range sections {
		if s.Name == name {
			joined.Keys = append(joined.Keys, s.Keys...)
		}
	}
	return joined
}

func (r reader) left(s placedSection, a unitfile.Assignment) {
	r.Miss(s.file, a.Line, "["+s.Name+"] "+a.Key, a.Value, "a fabric cannot represent it")
}

// leftWhole notes a key without which its section would say something else.
func (r reader) leftWhole(s placedSection, a unitfile.Assignment) {
	r.Miss(s.file, a.Line, "["+s.Name+"] "+a.Key, a.Value, "a fabric cannot represent it: the whole section is left out")
}

// netdevKinds are netplan's sections by Kind=.
var netdevKinds = map[string]string{"bond": "bonds", "vlan": "vlans", "bridge": "bridges", "dummy": "dummy-devices"}

func (r reader) netdev(file string, sections []placedSection) {
	head := placedOf(sections, "NetDev")
	name, section := head.Get("Name"), netdevKinds[head.Get("Kind")]
	key, why := "Kind", "devices of this kind are not read"
	if section != "" {
		key, why = "Name", "is no interface's name"
	}
	if !readback.LinkName(name) || section == "" {
		line := 1
		for _, a := range head.Keys {
			if a.Key == key {
				line = a.Line
			}
		}
		r.Miss(file, line, "[NetDev] "+key, head.Get(key), why)
		return
	}
	r.Kinds[name] = section
	r.Device(name)
	for _, s := range sections {
		r.section(s, name, ".netdev")
	}
}

// network reads a .network file for every device that its match names.
func (r reader) network(file string, sections []placedSection) {
	match := placedOf(sections, "Match")
	if !slices.ContainsFunc(match.Keys, func(a unitfile.Assignment) bool { return a.Value != "" }) {
		r.Miss(file, 1, "[Match]", "", "has no condition: networkd takes the file for every link, lo too, and warns; left out")
		return
	}
	ids := r.matched(file, match)
	r.Mark(file, r.files[file], match.Keys[0].Line, match.Keys[len(match.Keys)-1].Line)
	for i, id := range ids {
		first, twice := r.taken[id]
		if !twice {
			first, twice = r.wider(id)
		}
		if twice {
			r.Miss(file, 1, "[Match]", id, path.Base(first)+" is read before it and counts")
			continue
		}
		r.taken[id] = file
		at := len(r.Unread)
		for _, s := range sections {
			r.section(s, id, ".network")
		}
		r.leaseMetric(sections, id)
		if i > 0 {
			r.Unread = r.Unread[:at] // said for the first device
		}
	}
}

// wider is the file read before that counts for a device by a pattern.
func (r reader) wider(id string) (file string, ok bool) {
	if match := r.Device(id).Get("match"); match != nil {
		return "", false // the name is not known
	}
	for _, glob := range slices.Sorted(maps.Keys(r.wide)) {
		if glob == "" && r.Kinds[id] == "" || glob != "" && globMatches(glob, id) {
			return r.wide[glob], true
		}
	}
	return "", false
}

// covers notes that a file counts for a pattern, unless another does already.
func (r reader) covers(glob, file string) {
	if _, known := r.wide[glob]; !known && strings.HasSuffix(file, ".network") {
		r.wide[glob] = file
	}
}

// leaseMetric keeps networkd's own metric of leased routes, which is not netplan's
// (DHCP_ROUTE_METRIC of src/network/networkd-dhcp-common.h, systemd 252): a host with
// two of them would change its way out.
func (r reader) leaseMetric(sections []placedSection, id string) {
	if d := r.Device(id); node.True(d.Get("dhcp4")) && placedOf(sections, "DHCP").Get("RouteMetric")+placedOf(sections, "DHCPv4").Get("RouteMetric") == "" {
		node.Put(node.Within(d, "dhcp4-overrides"), "route-metric", node.Plain("1024"))
	}
}

// matched are the IDs of the devices that a [Match] selects, made with a match
// of netplan's where a name alone does not do.
func (r reader) matched(file string, m unitfile.Section) []string {
	var names, macs, drivers []string
	ethernet := false
	lines := map[string]int{} // of the words
	for _, a := range m.Keys {
		for _, word := range strings.Fields(strings.ToLower(a.Value)) {
			lines[word] = a.Line
		}
		if a.Value == "" { // empties the list (systemd.network(5))
			switch a.Key {
			case "Name", "OriginalName":
				names = nil
			case "PermanentMACAddress", "MACAddress":
				macs = nil
			case "Driver":
				drivers = nil
			}
			continue
		}
		switch a.Key {
		case "Name", "OriginalName":
			names = append(names, strings.Fields(a.Value)...)
		case "PermanentMACAddress", "MACAddress":
			macs = append(macs, strings.Fields(strings.ToLower(a.Value))...)
		case "Driver":
			drivers = append(drivers, strings.Fields(a.Value)...)
		case "Type", "Kind":
			// What a definition below ethernets covers anyway: no device of a kind
			// that netdev files make.
			if ethernet = a.Key == "Type" && a.Value == "ether" || ethernet; a.Key == "Type" && a.Value != "ether" || a.Key == "Kind" && a.Value != "!*" {
				r.left(placedSection{m, file}, a)
				return nil
			}
		default:
			r.left(placedSection{m, file}, a)
			return nil
		}
	}
	var ids []string
	for _, mac := range macs {
		name := r.macs[mac]
		if len(names) == 1 && len(macs) == 1 {
			name = names[0]
		}
		if parsed, err := flow.ParseMAC(mac); err != nil || parsed.IsZero() {
			r.Miss(file, lines[mac], "[Match] PermanentMACAddress", mac, "is no address")
			continue
		}
		if name != "" && !readback.LinkName(name) && len(names) == 1 {
			r.Miss(file, lines[strings.ToLower(name)], "[Match] Name", name, "is no one interface's name: the address alone is read")
		}
		id := name
		if !readback.LinkName(id) {
			id = "mac-" + strings.ReplaceAll(mac, ":", "")
		}
		d := r.Device(id)
		node.Put(node.Within(d, "match"), "macaddress", node.Quoted(mac))
		if name != "" && readback.LinkName(name) {
			node.Put(d, "set-name", node.Plain(name))
		}
		ids = append(ids, id)
	}
	if macs != nil {
		return ids
	}
	for _, name := range names {
		if readback.LinkName(name) && drivers == nil {
			r.Device(name)
			ids = append(ids, name)
			continue
		}
		id := strings.Map(func(c rune) rune {
			if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '-' {
				return c
			}
			return '_'
		}, name)
		if strings.HasPrefix(name, "!") || !readback.PrintableName(name) || len(id) > 64 {
			r.Miss(file, lines[strings.ToLower(name)], "[Match] Name", name, "a match of this form is not read")
			continue
		}
		node.Put(node.Within(r.Device(id), "match"), "name", node.Quoted(name))
		if drivers != nil {
			node.Put(node.Within(r.Device(id), "match"), "driver", node.QuotedList(drivers))
		} else {
			r.covers(name, file)
		}
		ids = append(ids, id)
	}
	if names == nil && drivers != nil {
		id := "driver-" + strconv.Itoa(len(r.taken))
		node.Put(node.Within(r.Device(id), "match"), "driver", node.QuotedList(drivers))
		ids = append(ids, id)
	}
	if ethernet && names == nil && drivers == nil {
		id := strings.TrimSuffix(path.Base(file), path.Ext(file))
		node.SetKey(r.Device(id), "match", node.FlowMap())
		r.covers("", file)
		ids = append(ids, id)
	}
	return ids
}

// link reads a .link file.
func (r reader) link(file string, sections []placedSection) {
	match := placedOf(sections, "Match")
	for _, id := range r.matched(file, match) {
		if _, known := r.taken[id]; !known && !r.says(sections) {
			continue
		}
		for _, s := range sections {
			r.section(s, id, ".link")
		}
	}
}

// says reports a .link file that asks for more than udev's own customs.
func (r reader) says(sections []placedSection) bool {
	return slices.ContainsFunc(placedOf(sections, "Link").Keys, func(a unitfile.Assignment) bool { return !strings.HasSuffix(a.Key, "Policy") })
}

// section reads one section of a device's file.
func (r reader) section(s placedSection, id, suffix string) {
	if s.Name == "Match" {
		return
	}
	if len(s.Keys) > 0 {
		defer r.Mark(s.file, r.files[s.file], s.Keys[0].Line, s.Keys[len(s.Keys)-1].Line)
	}
	if read, ok := sectionReaders[suffix+s.Name]; ok {
		read(r, s, id)
		return
	}
	if words, unread, ok := tcWords(s.Section); ok && suffix == ".network" {
		node.Put(r.Setting("links", id), "qdisc", node.Plain(words))
		for _, a := range unread {
			r.left(s, a)
		}
		return
	}
	for _, a := range s.Keys {
		r.left(s, a)
	}
}
