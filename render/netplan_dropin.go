package render

import (
	"maps"
	"slices"
	"strings"
)

// dropIns writes what netplan cannot say. Netplan writes files of its own to
// /run/systemd/network/10-netplan-ID.netdev, .network and .link; systemd reads
// /etc/systemd/network/NAME.d/*.conf with them (systemd.netdev(5)). Unsaid
// reports a bond option that netplan's .netdev file lacks, makesLink a device
// that has a .link file of netplan's.
func dropIns(in Input, l *ledger, unsaid func(option) bool, makesLink func(device) bool) {
	for _, d := range definitionsOf(in) {
		add := func(suffix string, units []unitSection) {
			file := networkdDir + "10-netplan-" + d.ID + suffix + ".d/90-linerate.conf"
			if len(units) > 0 || in.Old[file] != "" {
				l.out.add(file, networkdMode, updateUnit(in.Old[file], units, merging{sole: true}))
			}
		}
		if d.kind == kindBond {
			bond := bondSection(d, l, unsaid)
			if len(bond.keys) > 0 {
				add(".netdev", []unitSection{bond})
			} else {
				add(".netdev", nil)
			}
		}
		network := multipathSections(in, d, l)
		if s, ok := rootQdisc(d, l); ok {
			network = append(network, s)
		}
		add(".network", network)
		if d.kind != kindEthernet {
			continue
		}
		settings := deviceSettings(d, l, true)
		switch {
		case len(settings.keys) == 0:
			add(".link", nil)
		case makesLink(d):
			add(".link", []unitSection{settings})
		default:
			file := networkdDir + "20-" + d.name + ".link"
			link := unitSection{name: "Link"}
			link.put("NamePolicy", "keep kernel database onboard slot path")
			link.put("AlternativeNamesPolicy", "database onboard slot path")
			link.keys = append(link.keys, settings.keys...)
			units := []unitSection{linkMatch(d, l), link}
			l.out.add(file, networkdMode, updateUnit(in.Old[file], units, networkdMerging(units)))
		}
	}
}

// readDropIns reads the files that dropIns writes.
func readDropIns(f *finder, files map[string]string) {
	r := networkdReader{finder: f, files: files}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		name, ok := strings.CutPrefix(file, networkdDir+"10-netplan-")
		dir, _, isDropIn := strings.Cut(name, ".d/")
		if !ok || !isDropIn {
			continue
		}
		for _, suffix := range []string{".netdev", ".network", ".link"} {
			if id, fits := strings.CutSuffix(dir, suffix); fits {
				for _, s := range readUnit(files[file], r.odd(file)) {
					r.section(placedSection{s, file}, id, suffix)
				}
			}
		}
	}
}
