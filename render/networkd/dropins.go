package networkd

import (
	"maps"
	"slices"
	"strings"

	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/ledger"
	"github.com/linerate/linerate/render/readback"
	"github.com/linerate/linerate/render/unitfile"
)

// DropIns writes what netplan cannot say. Netplan writes files of its own to
// /run/systemd/network/10-netplan-ID.netdev, .network and .link; systemd reads
// /etc/systemd/network/NAME.d/*.conf with them (systemd.netdev(5)). Unsaid
// reports a bond option that netplan's .netdev file lacks, makesLink a device
// that has a .link file of netplan's.
func DropIns(in render.Input, l *ledger.Ledger, unsaid func(device.Option) bool, makesLink func(device.Device) bool) {
	for _, d := range device.Definitions(in) {
		add := func(suffix string, units []unitfile.Section) {
			file := Dir + "10-netplan-" + d.ID + suffix + ".d/90-linerate.conf"
			if len(units) > 0 || in.Old[file] != "" {
				l.Out.Add(file, fileMode, unitfile.Update(in.Old[file], units, unitfile.Merging{Sole: true}))
			}
		}
		if d.Kind == device.Bond {
			bond := bondSection(d, l, unsaid)
			if len(bond.Keys) > 0 {
				add(".netdev", []unitfile.Section{bond})
			} else {
				add(".netdev", nil)
			}
		}
		network := multipathSections(in, d, l)
		if s, ok := rootQdisc(d, l); ok {
			network = append(network, s)
		}
		add(".network", network)
		if d.Kind != device.Ethernet {
			continue
		}
		settings := deviceSettings(d, l, true)
		switch {
		case len(settings.Keys) == 0:
			add(".link", nil)
		case makesLink(d):
			add(".link", []unitfile.Section{settings})
		default:
			file := Dir + "20-" + d.Name + ".link"
			link := unitfile.Section{Name: "Link"}
			link.Put("NamePolicy", "keep kernel database onboard slot path")
			link.Put("AlternativeNamesPolicy", "database onboard slot path")
			link.Keys = append(link.Keys, settings.Keys...)
			units := []unitfile.Section{linkMatch(d, l), link}
			l.Out.Add(file, fileMode, unitfile.Update(in.Old[file], units, mergingOf(units)))
		}
	}
}

// ReadDropIns reads the files that dropIns writes.
func ReadDropIns(f *readback.Host, files map[string]string) {
	r := reader{Host: f, files: files}
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
}
