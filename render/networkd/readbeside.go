package networkd

import (
	"maps"
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/render/node"
	"github.com/linerate/linerate/render/readback"
	"github.com/linerate/linerate/render/unitfile"
)

// ReadDropIns reads what stands beside netplan's files: the drop-ins that DropIns
// writes, and the .link files of the devices that netplan's files define.
func ReadDropIns(f *readback.Host, files map[string]string) {
	r := newReader(f, files)
	for _, file := range slices.Sorted(maps.Keys(files)) {
		name, ok := strings.CutPrefix(file, Dir+"10-netplan-")
		dir, _, isDropIn := strings.Cut(name, ".d/")
		if !ok || !isDropIn {
			continue
		}
		for _, suffix := range []string{".netdev", ".network", ".link"} {
			if id, fits := strings.CutSuffix(dir, suffix); fits {
				for _, s := range unitfile.Read(files[file], r.odd(file)) {
					r.section(placedSection{s, file}, id, suffix)
				}
			}
		}
	}
	r.linksBeside()
}

// linksBeside reads .link files for the devices that are defined. Of several that
// match one, udev takes the first (systemd.link(5)); netplan's own in /run say what
// its definition says.
func (r reader) linksBeside() {
	taken, defined := map[string]bool{}, map[string][]yamldoc.Pair{}
	for _, d := range node.Pairs(r.Network.Get("ethernets")) {
		m := d.Value.Get("match")
		for _, by := range []string{d.Key, node.Said(m.Get("name")), strings.ToLower(node.Said(m.Get("macaddress")))} {
			defined[by] = append(defined[by], d)
		}
	}
	for _, file := range inOrder(r.files, ".link") {
		if strings.HasPrefix(file, "/run/systemd/network/10-netplan-") {
			continue
		}
		sections := r.sections(file)
		match, link := placedOf(sections, "Match"), placedOf(sections, "Link")
		var near []yamldoc.Pair
		for _, by := range strings.Fields(link.Get("Name") + " " + match.Get("OriginalName") + " " + strings.ToLower(match.Get("PermanentMACAddress")+" "+match.Get("MACAddress"))) {
			near = append(near, defined[by]...)
		}
		for _, d := range near {
			if taken[d.Key] || !linkOf(d, match, link.Get("Name")) {
				continue
			}
			taken[d.Key] = true
			for _, s := range sections {
				if s.Name == "Link" { // the name that the definition goes by is no news
					s.Keys = slices.DeleteFunc(slices.Clone(s.Keys), func(a unitfile.Assignment) bool { return a.Key == "Name" && a.Value == d.Key })
				}
				r.section(s, d.Key, ".link")
			}
		}
	}
}

// linkOf reports that a .link file which matches so and gives that name is a
// definition's: by one name or permanent address, and by nothing else.
func linkOf(d yamldoc.Pair, match unitfile.Section, named string) bool {
	original, mac := d.Key, ""
	if m := d.Value.Get("match"); m != nil {
		original = node.Said(m.Get("name"))
		mac = strings.ToLower(node.Said(m.Get("macaddress")))
	}
	fits := false
	for _, a := range match.Keys {
		words := strings.Fields(strings.ToLower(a.Value))
		switch a.Key {
		case "OriginalName":
			if original == "" || !slices.Contains(strings.Fields(a.Value), original) {
				return false
			}
		case "PermanentMACAddress", "MACAddress":
			if named != d.Key && (mac == "" || !slices.Contains(words, mac)) {
				return false
			}
		default:
			return false
		}
		fits = true
	}
	return fits
}
