package networkd

import (
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/ledger"
	"github.com/linerate/linerate/render/readback"
	"github.com/linerate/linerate/render/unitfile"
)

// textOf is a value of the kernel's in networkd's words; false for one
// that it cannot say. A time always has its unit: networkd takes a bare number
// as seconds.
func textOf(o bondopt.Option, value string) (string, bool) {
	said, _ := o.Saying(bondopt.Networkd)
	switch {
	case o.Unit == bondopt.Milliseconds:
		n, err := strconv.Atoi(value)
		return strconv.Itoa(n) + "ms", err == nil && n >= 0
	case o.Switch():
		return truthWord(value)
	case o.Listed():
		return strings.ReplaceAll(value, ",", " "), true
	}
	return value, said.Has(value)
}

// valueOf turns it back.
func valueOf(o bondopt.Option, text string) (string, bool) {
	switch {
	case o.Unit == bondopt.Milliseconds:
		return fromSpan(text)
	case o.Unit == bondopt.Seconds:
		return wholeSeconds(text)
	case o.Switch():
		number, ok := readback.ZeroOne(text)
		if word, err := o.Word(number); err == nil {
			number = word
		}
		return number, ok
	case o.Listed():
		return strings.Join(strings.Fields(text), ","), true
	}
	return text, true
}

func truthWord(s string) (string, bool) {
	switch s {
	case "1", "on":
		return "true", true
	case "0", "off":
		return "false", true
	}
	return "", false
}

// bondSection are the [Bond] keys of the options that pick chooses. What
// networkd cannot say is left to the ledger.
func bondSection(d device.Device, l *ledger.Ledger, pick func(device.Option) bool) unitfile.Section {
	s := unitfile.Section{Name: "Bond"}
	for _, row := range bondopt.Options() {
		said, known := row.Saying(bondopt.Networkd)
		o, wanted := d.Option(row.Name)
		if !known || !wanted || !pick(o) || o.Value == "" {
			continue
		}
		text, ok := textOf(row, o.Value)
		switch {
		case !ok:
			l.Cannot(d.ID, o.Key, "systemd-networkd has no "+said.Name+"="+o.Value)
			continue
		case said.Since != "":
			l.Out.Warn(d.ID, o.Key, said.Name+"= is systemd "+said.Since+"'s and newer; older ones leave it out with a warning in their log")
		}
		s.Put(said.Name, text)
		l.Say(d.ID, o.Key)
	}
	return s
}

// netdevUnit are the sections of the file that makes a device; nil for one
// that is there already.
func netdevUnit(d device.Device, l *ledger.Ledger) []unitfile.Section {
	head := unitfile.Section{Name: "NetDev"}
	head.Put("Name", d.Name)
	if !d.MAC.IsZero() {
		head.Put("MACAddress", d.MAC.String())
	}
	if d.MTU > 0 {
		head.Put("MTUBytes", strconv.Itoa(d.MTU))
	}
	switch d.Kind {
	case device.Bond:
		head.Put("Kind", "bond")
		return []unitfile.Section{head, bondSection(d, l, func(device.Option) bool { return true })}
	case device.Bridge:
		head.Put("Kind", "bridge")
		s := unitfile.Section{Name: "Bridge"}
		if putKeys(d, &s, l); len(s.Keys) > 0 {
			return []unitfile.Section{head, s}
		}
		return []unitfile.Section{head}
	case device.VLAN:
		head.Put("Kind", "vlan")
		l.Say(d.ID, "id")
		return []unitfile.Section{head, {Name: "VLAN", Keys: []unitfile.Assignment{{Key: "Id", Value: strconv.Itoa(d.Tag)}}}}
	case device.Dummy:
		head.Put("Kind", "dummy")
		l.Say(d.ID, string(device.Dummy))
		return []unitfile.Section{head}
	}
	return nil
}

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
