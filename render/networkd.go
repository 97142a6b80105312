package render

import (
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/bondopt"
)

// networkdDir is where an administrator's files are; those of the same name in
// /run and /usr/lib are not read (systemd.network(5)).
const networkdDir = "/etc/systemd/network/"

// networkdDirs are all of them, the strongest first.
var networkdDirs = []string{networkdDir, "/run/systemd/network/", "/usr/local/lib/systemd/network/", "/usr/lib/systemd/network/", "/lib/systemd/network/"}

// networkdMode is what systemd-networkd can read, which runs as a user of its
// own.
const networkdMode = 0o644

// writeNetworkd writes .netdev, .network and .link files: one each for a
// device, or what is wanted put into the files that are there.
func writeNetworkd(in Input) (Output, error) {
	var out Output
	l := newLedger(in, &out)
	if in.Host.Network.IsZero() {
		return out, ErrEmpty
	}
	w := networkdFiles{in: in, out: &out}
	for _, d := range in.definitions() {
		switch d.kind {
		case kindEthernet, kindBond, kindBridge, kindVLAN, kindDummy:
		default:
			l.leaveOut(d.ID, string(d.kind), "devices of this kind are not written for systemd-networkd")
			continue
		}
		if units := netdevUnit(d, l); units != nil {
			w.put(d, ".netdev", units, func(s []unitSection) bool { return sectionOf(s, "NetDev").get("Name") == d.name })
		}
		w.put(d, ".network", networkUnit(in, d, l), func(s []unitSection) bool { return matches(sectionOf(s, "Match"), d) })
		if units := linkUnit(d, l); units != nil {
			w.put(d, ".link", units, func(s []unitSection) bool { return matches(sectionOf(s, "Match"), d) })
		}
		if slices.ContainsFunc(d.Rules, func(r fabric.Rule) bool { return r.From.IsValid() }) {
			l.say(d.ID, "source_rules")
		}
	}
	w.absent(l)
	networkdLeft(in, l)
	l.finish(networkdWhy)
	return out, nil
}

// networkdLeft says what other files or nobody says.
func networkdLeft(in Input, l *ledger) {
	for key := range in.sysctls() {
		l.say("", "sysctl."+key) // the sysctl format's
	}
}

// networkdWhy is the reason for a wish that was not written.
func networkdWhy(w wish) string {
	_, ofPort := bondopt.FindKey(w.key)
	switch {
	case ofPort:
		return "systemd-networkd sets no port's priority or queue"
	case strings.HasPrefix(w.key, "mptcp."):
		return "systemd-networkd has no MPTCP endpoints or limits: ip-mptcp(8) at boot, or NetworkManager"
	case w.key == "source_rules":
		return sourceRulesWhy
	}
	return "systemd-networkd has no key for it"
}

// sourceRulesWhy is why a link's source rules are not written.
const sourceRulesWhy = "its rules and table are computed from the host's wanted state, which is not given here"

// networkdFiles places devices' sections in files.
type networkdFiles struct {
	in  Input
	out *Output
}

// put writes a device's sections into the file that is for it alone, or a
// file of its own.
func (w networkdFiles) put(d device, suffix string, units []unitSection, is func([]unitSection) bool) {
	own := networkdDir + "20-" + strings.ReplaceAll(d.name, "*", "_") + suffix
	for _, file := range networkdOrder(w.in.Old, suffix) {
		have := readUnit(w.in.Old[file], nil)
		if !is(have) {
			continue
		}
		shared := suffix != ".netdev" && !alone(sectionOf(have, "Match"))
		if shared || !strings.HasPrefix(file, networkdDir) {
			if suffix != ".netdev" && path.Base(file) < path.Base(own) {
				own = networkdDir + "00-linerate-" + strings.ReplaceAll(d.name, "*", "_") + suffix
			}
			if w.in.Old[own] == "" && shared {
				w.out.warn(d.ID, "match", own+" is read before "+file+", which selects other devices too and counts for this one no more")
				// What the shared file says beyond the match holds on.
				w.out.add(own, networkdMode, updateUnit(w.in.Old[file], plainUnits(d, units), networkdMerging(units)))
				return
			}
			break
		}
		w.out.add(file, networkdMode, updateUnit(w.in.Old[file], plainUnits(d, units), networkdMerging(units)))
		return
	}
	if w.in.Old[own] != "" {
		units = plainUnits(d, units)
	}
	w.out.add(own, networkdMode, updateUnit(w.in.Old[own], units, networkdMerging(units)))
}

// plainUnits are the sections without what a new file has by custom and the
// fabric does not ask for: a file that is there may have decided otherwise.
func plainUnits(d device, units []unitSection) []unitSection {
	var all []unitSection
	for _, s := range units {
		kept := unitSection{name: s.name}
		for _, a := range s.keys {
			switch s.name + "." + a.key {
			case "Network.LinkLocalAddressing":
				if d.key("link-local") == nil && d.master == "" {
					continue
				}
			case "Network.ConfigureWithoutCarrier":
				if d.key("ignore-carrier") == nil {
					continue
				}
			case "DHCPv4.UseMTU", "DHCPv4.RouteMetric":
				if d.key("dhcp4-overrides") == nil {
					continue
				}
			case "DHCPv6.RouteMetric":
				if d.key("dhcp6-overrides") == nil {
					continue
				}
			case "Link.NamePolicy", "Link.AlternativeNamesPolicy":
				continue
			}
			kept.keys = append(kept.keys, a)
		}
		if len(kept.keys) > 0 {
			all = append(all, kept)
		}
	}
	return all
}

// absent names the files of devices that the host must not have.
func (w networkdFiles) absent(l *ledger) {
	for _, name := range w.in.Host.Absent {
		l.say(name, "absent")
		known := false
		for _, suffix := range []string{".netdev", ".network", ".link"} {
			for _, file := range networkdOrder(w.in.Old, suffix) {
				have := readUnit(w.in.Old[file], nil)
				match := sectionOf(have, "Match")
				if sectionOf(have, "NetDev").get("Name") == name || match.get("Name") == name && len(match.keys) == 1 {
					w.out.warn(name, "absent", "delete "+file)
					known = true
				}
			}
		}
		if !known {
			w.out.warn(name, "absent", "no file says that a link must not be there: delete its .netdev, .network and .link where there are some")
		}
	}
}

// networkdOrder are the files of a kind in the order that networkd looks at
// them: by name, whatever the directory, the strongest directory's for a name.
func networkdOrder(files map[string]string, suffix string) []string {
	byName := map[string]string{}
	for i := len(networkdDirs) - 1; i >= 0; i-- {
		for file := range files {
			if path.Dir(file)+"/" == networkdDirs[i] && strings.HasSuffix(file, suffix) {
				byName[path.Base(file)] = file
			}
		}
	}
	var all []string
	for _, name := range sortedKeys(byName) {
		all = append(all, byName[name])
	}
	return all
}

func sectionOf(sections []unitSection, name string) unitSection {
	for _, s := range sections {
		if s.name == name {
			return s
		}
	}
	return unitSection{}
}

// matches reports that a [Match] selects the device, as far as its own words
// tell; conditions on the machine never do.
func matches(m unitSection, d device) bool {
	if len(m.keys) == 0 {
		return false
	}
	for _, a := range m.keys {
		words := strings.Fields(a.value)
		ok := false
		switch a.key {
		case "Name", "OriginalName":
			ok = slices.ContainsFunc(words, func(g string) bool { return globMatches(g, d.name) })
		case "PermanentMACAddress", "MACAddress":
			mac := d.permanent
			ok = slices.ContainsFunc(words, func(s string) bool { return !mac.IsZero() && strings.EqualFold(s, mac.String()) })
		case "Driver":
			ok = d.match != nil && sameTexts(words, d.match.Drivers)
		}
		if !ok {
			return false
		}
	}
	return true
}

// alone reports that a [Match] selects one device and no more.
func alone(m unitSection) bool {
	for _, a := range m.keys {
		words := strings.Fields(a.value)
		if a.key != "Driver" && len(words) == 1 && !strings.ContainsAny(words[0], "*?[!") {
			return true
		}
	}
	return false
}

// globMatches is fnmatch(3) as far as interface names need it.
func globMatches(glob, name string) bool {
	ok, err := path.Match(strings.ReplaceAll(glob, "[!", "[^"), name)
	return err == nil && ok
}

// networkdMerging is how wanted sections go into a file: addresses, routes and
// rules that are wanted are all there are to be.
func networkdMerging(wanted []unitSection) merging {
	has := func(name string) bool { return sectionOf(wanted, name).name != "" }
	addresses := has("Address") || sectionOf(wanted, "Network").get("Address") != ""
	return merging{
		owned: func(section, key string) bool {
			switch section + "." + key {
			case "Network.Address":
				return addresses
			case "Network.Gateway":
				return has("Route")
			case "Network.Bond", "Network.Bridge", "Network.PrimarySlave":
				return true
			}
			return section == "Match" || section == "Route" || section == "RoutingPolicyRule"
		},
		added:    func(section, key string) bool { return section+"."+key == "Network.VLAN" },
		identity: unitIdentity,
		whole:    map[string]bool{"Route": has("Route"), "RoutingPolicyRule": has("RoutingPolicyRule"), "Address": addresses},
	}
}

// unitIdentity tells one section from another of its name.
func unitIdentity(s unitSection) (string, bool) {
	switch s.name {
	case "Route":
		to := bareHost(s.get("Destination"))
		if to == "" || to == "0.0.0.0/0" || to == "::/0" {
			to = "default"
			if strings.Contains(s.get("Gateway")+s.get("Destination"), ":") {
				to = "default6"
			}
		}
		return strings.Join([]string{to, s.get("Table"), s.get("Metric")}, " "), true
	case "RoutingPolicyRule":
		return strings.Join([]string{bareHost(s.get("From")), bareHost(s.get("To")), s.get("Priority"), s.get("Table"), s.get("FirewallMark")}, " "), true
	case "Address":
		return s.get("Address"), true
	}
	return "", false
}

// bareHost is one address without the prefix length that says so.
func bareHost(s string) string {
	if p, err := netip.ParsePrefix(s); err == nil && p.IsSingleIP() {
		return p.Addr().String()
	}
	return s
}
