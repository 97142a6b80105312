package render

import (
	"path"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/flow"
)

// networkdReader reads .netdev, .network and .link files with their drop-ins.
type networkdReader struct {
	*finder
	files map[string]string
	// taken are the devices that a .network file already counts for: the
	// first one that matches does.
	taken map[string]string
	// macs leads from permanent addresses to names, as .link files give them.
	macs map[string]string
}

// placedSection is a section with its file.
type placedSection struct {
	unitSection
	file string
}

func readNetworkd(files map[string]string) (Found, error) {
	r := networkdReader{finder: newFinder(), files: files, taken: map[string]string{}, macs: map[string]string{}}
	for _, file := range networkdOrder(files, ".netdev") {
		r.netdev(file, r.sections(file))
	}
	for _, file := range networkdOrder(files, ".link") {
		s := r.sections(file)
		match, link := placedOf(s, "Match"), placedOf(s, "Link")
		if name := link.get("Name"); name != "" {
			for _, mac := range strings.Fields(match.get("PermanentMACAddress") + " " + match.get("MACAddress")) {
				r.macs[strings.ToLower(mac)] = name
			}
		}
	}
	for _, file := range networkdOrder(files, ".network") {
		r.network(file, r.sections(file))
	}
	for _, file := range networkdOrder(files, ".link") {
		r.link(file, r.sections(file))
	}
	return r.found()
}

// odd notes lines that systemd would not understand either.
func (r networkdReader) odd(file string) func(int, string) {
	return func(line int, text string) {
		r.miss(file, line, "line", text, "is neither a section, an assignment nor a comment")
	}
}

// sections are a file's and its drop-ins' (systemd.unit(5): NAME.d/*.conf of
// all directories, by name).
func (r networkdReader) sections(file string) []placedSection {
	var all []placedSection
	for _, s := range readUnit(r.files[file], r.odd(file)) {
		all = append(all, placedSection{s, file})
	}
	byName := map[string]string{}
	for i := len(networkdDirs) - 1; i >= 0; i-- {
		for other := range r.files {
			if path.Dir(other)+"/" == networkdDirs[i]+path.Base(file)+".d/" && strings.HasSuffix(other, ".conf") {
				byName[path.Base(other)] = other
			}
		}
	}
	for _, name := range sortedKeys(byName) {
		for _, s := range readUnit(r.files[byName[name]], r.odd(byName[name])) {
			all = append(all, placedSection{s, byName[name]})
		}
	}
	return all
}

func placedOf(sections []placedSection, name string) unitSection {
	joined := unitSection{name: name}
	for _, s := range sections {
		if s.name == name {
			joined.keys = append(joined.keys, s.keys...)
		}
	}
	return joined
}

func (r networkdReader) left(s placedSection, a assignment) {
	r.miss(s.file, a.line, "["+s.name+"] "+a.key, a.value, "a fabric has no word for it")
}

// netdevKinds are netplan's sections by Kind=.
var netdevKinds = map[string]string{"bond": "bonds", "vlan": "vlans", "bridge": "bridges", "dummy": "dummy-devices"}

func (r networkdReader) netdev(file string, sections []placedSection) {
	head := placedOf(sections, "NetDev")
	name, section := head.get("Name"), netdevKinds[head.get("Kind")]
	if !linkName(name) || section == "" {
		line := 1
		for _, a := range head.keys {
			if a.key == "Kind" {
				line = a.line
			}
		}
		r.miss(file, line, "[NetDev] Kind", head.get("Kind"), "devices of this kind are not read")
		return
	}
	r.kinds[name] = section
	r.device(name)
	for _, s := range sections {
		r.section(s, name, ".netdev")
	}
}

// linkName reports what can be an interface's name (dev_valid_name,
// net/core/dev.c).
func linkName(s string) bool {
	return s != "" && len(s) < 16 && s != "." && s != ".." && !strings.ContainsAny(s, "/: \t\"'{}[],&*#?|<>=!%@\\`") && printableName(s)
}

func printableName(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c > '~' })
}

// network reads a .network file for every device that its match names.
func (r networkdReader) network(file string, sections []placedSection) {
	match := placedOf(sections, "Match")
	ids := r.matched(file, match)
	for i, id := range ids {
		if first, twice := r.taken[id]; twice {
			r.miss(file, 1, "[Match]", id, first+" is read before it and counts")
			continue
		}
		r.taken[id] = file
		at := len(r.unread)
		for _, s := range sections {
			r.section(s, id, ".network")
		}
		if i > 0 {
			r.unread = r.unread[:at] // said for the first device
		}
	}
}

// matched are the IDs of the devices that a [Match] selects, made with a match
// of netplan's where a name alone does not do.
func (r networkdReader) matched(file string, m unitSection) []string {
	var names, macs, drivers []string
	for _, a := range m.keys {
		switch a.key {
		case "Name", "OriginalName":
			names = append(names, strings.Fields(a.value)...)
		case "PermanentMACAddress", "MACAddress":
			macs = append(macs, strings.Fields(strings.ToLower(a.value))...)
		case "Driver":
			drivers = append(drivers, strings.Fields(a.value)...)
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
			r.miss(file, 1, "[Match] PermanentMACAddress", mac, "is no address")
			continue
		}
		id := name
		if !linkName(id) {
			id = "mac-" + strings.ReplaceAll(mac, ":", "")
		}
		d := r.device(id)
		put(within(d, "match"), "macaddress", quoted(mac))
		if name != "" && linkName(name) {
			put(d, "set-name", plain(name))
		}
		ids = append(ids, id)
	}
	if macs != nil {
		return ids
	}
	for _, name := range names {
		if linkName(name) && drivers == nil {
			r.device(name)
			ids = append(ids, name)
			continue
		}
		id := strings.Map(func(c rune) rune {
			if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '-' {
				return c
			}
			return '_'
		}, name)
		if strings.HasPrefix(name, "!") || !printableName(name) || len(id) > 64 {
			r.miss(file, 1, "[Match] Name", name, "a match of this form is not read")
			continue
		}
		put(within(r.device(id), "match"), "name", quoted(name))
		if drivers != nil {
			put(within(r.device(id), "match"), "driver", quotedList(drivers))
		}
		ids = append(ids, id)
	}
	if names == nil && drivers != nil {
		id := "driver-" + strconv.Itoa(len(r.taken))
		put(within(r.device(id), "match"), "driver", quotedList(drivers))
		ids = append(ids, id)
	}
	return ids
}

func quotedList(values []string) *yamldoc.Node {
	n := sequence()
	for _, v := range values {
		n.Items = append(n.Items, quoted(v))
	}
	return n
}

// link reads a .link file.
func (r networkdReader) link(file string, sections []placedSection) {
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
func (r networkdReader) says(sections []placedSection) bool {
	for _, a := range placedOf(sections, "Link").keys {
		if !strings.HasSuffix(a.key, "Policy") {
			return true
		}
	}
	return false
}

// section reads one section of a device's file.
func (r networkdReader) section(s placedSection, id, suffix string) {
	if s.name == "Match" {
		return
	}
	if read, ok := sectionReaders[suffix+s.name]; ok {
		read(r, s, id)
		return
	}
	if words, unread, ok := tcWords(s.unitSection); ok && suffix == ".network" {
		put(r.setting("links", id), "qdisc", plain(words))
		for _, a := range unread {
			r.left(s, a)
		}
		return
	}
	for _, a := range s.keys {
		r.left(s, a)
	}
}
