package render

import "github.com/linerate/linerate/fabric"

// netplanDropIns are files of systemd-networkd for what netplan cannot say.
// Netplan writes its own to /run/systemd/network/10-netplan-ID.netdev,
// .network and .link; systemd reads /etc/systemd/network/NAME.d/*.conf with
// them (systemd.netdev(5)).
func netplanDropIns(in Input, l *ledger) {
	for _, d := range in.definitions() {
		add := func(suffix string, units []unitSection) {
			file := networkdDir + "10-netplan-" + d.ID + suffix + ".d/90-linerate.conf"
			if len(units) > 0 || in.Old[file] != "" {
				l.out.add(file, networkdMode, updateUnit(in.Old[file], units, merging{sole: true, identity: unitIdentity}))
			}
		}
		if d.kind == kindBond {
			bond := bondSection(d, l, func(o option) bool {
				_, netplan := fabric.BondParameter(o.name)
				return !netplan || zeroUnsaid(o)
			})
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
		case netplanMakesLink(d):
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

// netplanMakesLink reports that netplan writes a .link file for the device
// (write_link_file of src/networkd.c): for a new name, an MTU, wake-on-LAN and
// offloads.
func netplanMakesLink(d device) bool {
	wol, _ := d.truth("wakeonlan")
	if d.setName != "" || d.MTU > 0 || wol {
		return true
	}
	offloads := d.offloads()
	for _, row := range offloadRows {
		if _, said := offloads[row.ethtool]; said && row.netplan != "" {
			return true
		}
	}
	return false
}
