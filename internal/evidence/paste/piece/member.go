package piece

import (
	"slices"
	"strings"
)

// Members are the links that name this one as their master, in lower case or upper:
// what runs, then what a file declares, in order of their names. All are looked
// through once, when reading has ended: a paste may have thousands.
func (h *Host) Members(master string) []string {
	h.relate()
	return h.members[strings.ToLower(master)]
}

// Bundles are the bonds that list the link among their Ports, in order of their names.
func (h *Host) Bundles(link string) []string {
	h.relate()
	return h.bundles[link]
}

func (h *Host) relate() {
	if h.members != nil {
		return
	}
	h.members, h.bundles = make(map[string][]string), make(map[string][]string)
	seen := make(map[string]bool)
	for _, link := range slices.Concat(h.Subjects("link"), h.Subjects("config")) {
		master, ok := h.Get("link "+link, "master")
		if !ok {
			master, _ = h.Get("config "+link, "master")
		}
		if name := strings.ToLower(master.Text); name != "" && !seen[link] {
			seen[link] = true
			h.members[name] = append(h.members[name], link)
		}
	}
	for bond, ports := range h.Ports {
		for _, port := range ports {
			h.bundles[port] = append(h.bundles[port], bond)
		}
	}
	for _, bonds := range h.bundles {
		slices.Sort(bonds)
	}
}
