// Package networkd writes a host's network as systemd-networkd's .netdev,
// .network and .link files, and reads them.
package networkd

import (
	"path"
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/ledger"
	"github.com/linerate/linerate/render/unitfile"
)

// Dir is where an administrator's files are; those of the same name in
// /run and /usr/lib are not read (systemd.network(5)).
const Dir = "/etc/systemd/network/"

// dirs are all of them, the strongest first.
var dirs = []string{Dir, "/run/systemd/network/", "/usr/local/lib/systemd/network/", "/usr/lib/systemd/network/", "/lib/systemd/network/"}

// Dirs are the directories that systemd-networkd looks in, the strongest first.
func Dirs() []string { return slices.Clone(dirs) }

// fileMode is what systemd-networkd can read, which runs as a user of its
// own.
const fileMode = 0o644

// Write writes .netdev, .network and .link files: one each for a
// device, or what is wanted put into the files that are there.
func Write(in render.Input) (render.Output, error) {
	var out render.Output
	l := ledger.New(in, &out)
	if in.Host.Network.IsZero() {
		return out, render.ErrEmpty
	}
	w := files{in: in, out: &out}
	for _, d := range device.Definitions(in) {
		switch d.Kind {
		case device.Ethernet, device.Bond, device.Bridge, device.VLAN, device.Dummy:
		default:
			l.LeaveOut(d.ID, string(d.Kind), "devices of this kind are not written for systemd-networkd")
			continue
		}
		if units := netdevUnit(d, l); units != nil {
			w.put(d, ".netdev", units, func(s []unitfile.Section) bool { return sectionOf(s, "NetDev").Get("Name") == d.Name })
		}
		w.put(d, ".network", networkUnit(in, d, l), func(s []unitfile.Section) bool { return conditionsOf(s).selects(d) })
		if units := linkUnit(d, l); units != nil {
			w.put(d, ".link", units, func(s []unitfile.Section) bool { return conditionsOf(s).selects(d) })
		}
		if slices.ContainsFunc(d.Rules, func(r fabric.Rule) bool { return r.From.IsValid() }) {
			l.Say(d.ID, "source_rules")
		}
	}
	w.absent(l)
	for key := range in.AllSysctls() {
		l.Say("", "sysctl."+key) // the sysctl format's
	}
	var ofPorts []string
	for _, o := range bondopt.Ports() {
		ofPorts = append(ofPorts, o.Key)
	}
	l.Finish("systemd-networkd has no key for it",
		ledger.Reason{Keys: "mptcp.", Why: "systemd-networkd has no MPTCP endpoints or limits: ip-mptcp(8) at boot, or NetworkManager"},
		ledger.Reason{Keys: "source_rules", Why: ledger.SourceRulesWhy},
		ledger.Reason{Keys: strings.Join(ofPorts, " "), Why: "systemd-networkd sets no port's priority or queue"},
	)
	return out, nil
}

// files places devices' sections in files.
type files struct {
	in  render.Input
	out *render.Output
}

// put writes a device's sections into the file that is for it alone, or a
// file of its own.
func (w files) put(d device.Device, suffix string, units []unitfile.Section, is func([]unitfile.Section) bool) {
	own := Dir + "20-" + strings.ReplaceAll(d.Name, "*", "_") + suffix
	for _, file := range inOrder(w.in.Old, suffix) {
		have := unitfile.Read(w.in.Old[file], nil)
		if !is(have) {
			continue
		}
		shared := suffix != ".netdev" && !conditionsOf(have).alone()
		if shared || !strings.HasPrefix(file, Dir) {
			if suffix != ".netdev" && path.Base(file) < path.Base(own) {
				own = Dir + "00-linerate-" + strings.ReplaceAll(d.Name, "*", "_") + suffix
			}
			if w.in.Old[own] == "" && shared {
				w.out.Warn(d.ID, "match", own+" is read before "+file+", which selects other devices too and counts for this one no more")
				// What the shared file says beyond the match holds on.
				merging := mergingOf(units)
				merging.Whole["Match"] = true
				w.out.Add(own, fileMode, unitfile.Update(w.in.Old[file], plainUnits(d, units), merging))
				return
			}
			break
		}
		w.out.Add(file, fileMode, unitfile.Update(w.in.Old[file], plainUnits(d, units), mergingOf(units)))
		return
	}
	if w.in.Old[own] != "" {
		units = plainUnits(d, units)
	}
	w.out.Add(own, fileMode, unitfile.Update(w.in.Old[own], units, mergingOf(units)))
}

// plainUnits are the sections without what a new file has by custom and the
// fabric does not ask for: a file that is there may have decided otherwise.
func plainUnits(d device.Device, units []unitfile.Section) []unitfile.Section {
	var all []unitfile.Section
	for _, s := range units {
		kept := unitfile.Section{Name: s.Name}
		for _, a := range s.Keys {
			switch s.Name + "." + a.Key {
			case "Network.LinkLocalAddressing":
				if d.Key("link-local") == nil && d.Master == "" {
					continue
				}
			case "Network.ConfigureWithoutCarrier":
				if d.Key("ignore-carrier") == nil {
					continue
				}
			case "DHCPv4.UseMTU", "DHCPv4.RouteMetric":
				if d.Key("dhcp4-overrides") == nil {
					continue
				}
			case "DHCPv6.RouteMetric":
				if d.Key("dhcp6-overrides") == nil {
					continue
				}
			case "Link.NamePolicy", "Link.AlternativeNamesPolicy":
				continue
			}
			kept.Keys = append(kept.Keys, a)
		}
		if len(kept.Keys) > 0 {
			all = append(all, kept)
		}
	}
	return all
}

// absent names the files of devices that the host must not have.
func (w files) absent(l *ledger.Ledger) {
	for _, name := range w.in.Host.Absent {
		l.Say(name, "absent")
		known := false
		for _, suffix := range []string{".netdev", ".network", ".link"} {
			for _, file := range inOrder(w.in.Old, suffix) {
				have := unitfile.Read(w.in.Old[file], nil)
				match := conditionsOf(have)
				if sectionOf(have, "NetDev").Get("Name") == name || len(match) == 1 && slices.Equal(match["Name"], []string{name}) {
					w.out.Warn(name, "absent", "delete "+file)
					known = true
				}
			}
		}
		if !known {
			w.out.Warn(name, "absent", "no file says that a link must not be there: delete its .netdev, .network and .link where there are some")
		}
	}
}

// inOrder are the files of a kind in the order that networkd looks at
// them: by name, whatever the directory, the strongest directory's for a name.
func inOrder(files map[string]string, suffix string) []string {
	weakestFirst := slices.Clone(dirs)
	slices.Reverse(weakestFirst)
	return render.ByName(files, suffix, weakestFirst...)
}

func sectionOf(sections []unitfile.Section, name string) unitfile.Section {
	for _, s := range sections {
		if s.Name == name {
			return s
		}
	}
	return unitfile.Section{}
}

// conditions are what the [Match] sections of a file ask for together, the words of each
// key: lines of one key are one list, which an empty one begins anew (systemd.network(5)).
type conditions map[string][]string

func conditionsOf(sections []unitfile.Section) conditions {
	c := conditions{}
	for _, s := range sections {
		if s.Name != "Match" {
			continue
		}
		for _, a := range s.Keys {
			if a.Value == "" {
				delete(c, a.Key)
				continue
			}
			c[a.Key] = append(c[a.Key], strings.Fields(a.Value)...)
		}
	}
	return c
}

// selects reports that the device is selected, as far as its own words tell; conditions on
// the machine never do.
func (c conditions) selects(d device.Device) bool {
	for key, words := range c {
		words, inverse := words, false
		if rest, not := strings.CutPrefix(words[0], "!"); not {
			words, inverse = append([]string{rest}, words[1:]...), true
		}
		ok := false
		switch key {
		case "Name", "OriginalName":
			ok = slices.ContainsFunc(words, func(g string) bool { return globMatches(g, d.Name) })
		case "PermanentMACAddress", "MACAddress":
			mac := d.Permanent
			ok = slices.ContainsFunc(words, func(s string) bool { return !mac.IsZero() && strings.EqualFold(s, mac.String()) })
		case "Driver":
			ok = d.Match != nil && slices.Equal(words, d.Match.Drivers)
		case "Type":
			ok = slices.Contains(words, "ether")
		case "Kind":
			ok = d.Kind != device.Ethernet && slices.Contains(words, "*")
		default:
			return false
		}
		if ok == inverse {
			return false
		}
	}
	return len(c) > 0
}

// alone reports that one device is selected and no more.
func (c conditions) alone() bool {
	for key, words := range c {
		if key != "Driver" && key != "Type" && key != "Kind" && len(words) == 1 && !strings.ContainsAny(words[0], "*?[!") {
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

// mergingOf is how wanted sections go into a file: addresses, routes and
// rules that are wanted are all there are to be.
func mergingOf(wanted []unitfile.Section) unitfile.Merging {
	has := func(name string) bool { return sectionOf(wanted, name).Name != "" }
	addresses := has("Address") || sectionOf(wanted, "Network").Get("Address") != ""
	return unitfile.Merging{
		Owned: func(section, key string) bool {
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
		Added: func(section, key string) bool { return section+"."+key == "Network.VLAN" },
		Whole: map[string]bool{"Route": has("Route"), "RoutingPolicyRule": has("RoutingPolicyRule"), "Address": addresses},
	}
}
