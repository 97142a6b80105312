package ifupdown

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/node"
	"github.com/linerate/linerate/render/readback"
)

// Words of ovs_type, as Open vSwitch's own script for ifupdown and ifupdown2's module
// take them (README.Debian of openvswitch-switch 3.1).
const (
	ovsBridge   = "OVSBridge"
	ovsBond     = "OVSBond"
	ovsPort     = "OVSPort"
	ovsInternal = "OVSIntPort"
)

// ovsKey is netplan's.
const ovsKey = "openvswitch"

// ovsWords are an option's words KEY=VALUE.
func ovsWords(o option) [][2]string { return readback.OVSWords(o.list()) }

// options are the options of a stanza by one key.
func (s *stanza) all(key string) []option {
	return slices.DeleteFunc(slices.Clone(s.options), func(o option) bool { return o.key != key })
}

// ovsTag is the VLAN of an internal port; "" none.
func (s *stanza) ovsTag() string {
	for _, o := range s.all("ovs-options") {
		for _, w := range ovsWords(o) {
			if n, err := strconv.Atoi(w[1]); w[0] == "tag" && err == nil && n > 0 {
				return strconv.Itoa(n)
			}
		}
	}
	return ""
}

// ovsKind notes what a device of Open vSwitch is to a fabric.
func (r *reader) ovsKind(s *stanza, name string) {
	switch kind := s.get("ovs-type"); {
	case kind == ovsBridge:
		r.Kinds[name] = "bridges"
		for _, o := range s.all("ovs-ports") {
			r.claim(o.list())
		}
	case kind == ovsBond:
		r.Kinds[name] = "bonds"
		for _, o := range s.all("ovs-bonds") {
			r.claim(o.list())
		}
	case kind == ovsPort:
	case kind == ovsInternal && s.ovsTag() != "":
		r.Kinds[name] = "vlans"
	case kind == ovsInternal:
		r.left[name] = "a port of Open vSwitch's own without a tag is not read: a fabric has its bridge alone"
	default:
		r.left[name] = "Open vSwitch makes it (" + kind + "), not the kernel: left out"
	}
}

// ovs reads what Open vSwitch makes of a stanza.
func (r *reader) ovs(s *stanza, name string) {
	kind := s.get("ovs-type")
	if kind == "" {
		return
	}
	if bridge := s.get("ovs-bridge"); r.Kinds[bridge] == "bridges" && kind != ovsInternal && kind != ovsBridge {
		r.addPort(bridge, name)
	}
	d := r.Device(name)
	if kind == ovsBridge || kind == ovsBond {
		readback.MakeOVS(d)
	}
	for _, o := range s.options {
		switch o.key {
		case "ovs-bonds":
			r.portsOf(s, o, name)
		case "ovs-ports":
			for _, port := range o.list() {
				switch {
				case !readback.LinkName(port):
					r.Miss(s.file, o.number, o.key, port, port+" is no interface's name: the port is left out")
				case r.Kinds[port] != "vlans" && r.left[port] == "":
					r.addPort(name, port)
				}
			}
		case "ovs-options":
			for _, w := range ovsWords(o) {
				if !r.ovsOption(kind, d, w[0], w[1]) {
					r.Miss(s.file, o.number, o.key+" "+w[0], w[1], "a fabric cannot represent it")
				}
			}
		}
	}
	if kind == ovsInternal {
		node.Put(d, "id", node.Plain(s.ovsTag()))
		node.Put(d, "link", node.Plain(s.get("ovs-bridge")))
	}
}

// ovsOption reads a word of ovs_options; false for one that a fabric cannot represent.
func (r *reader) ovsOption(kind string, d *yamldoc.Node, key, value string) bool {
	return kind == ovsInternal && (key == "tag" || key == "vlan_mode" && value == "access") || kind == ovsBond && readback.OVSBondWord(d, key, value)
}

// ovsWord is a value that both programs hand to ovs-vsctl(8) as one word.
var ovsWord = regexp.MustCompile(`^[\w.:,/@%+-]+$`)

// ovsOf is what a device is to Open vSwitch, and the bridge that it is on; "" nothing.
func (w *writer) ovsOf(d device.Device) (kind, bridge string) {
	switch {
	case d.Kind == device.OVSBridge:
		return ovsBridge, ""
	case d.Kind == device.OVSBond:
		return ovsBond, d.Master
	case d.Kind == device.VLAN && slices.ContainsFunc(device.All(w.in), func(b device.Device) bool { return b.Kind == device.OVSBridge && b.Name == d.Parent }):
		return ovsInternal, d.Parent
	case d.MasterKind == device.OVSBridge:
		return ovsPort, d.Master
	}
	return "", ""
}

// bringsUp are the words that bring a new device up. Open vSwitch's script for ifupdown
// brings up a bridge's ports with it.
func (w *writer) bringsUp(d device.Device) string {
	switch kind, bridge := w.ovsOf(d); {
	case kind == "" || w.old.isIfupdown2():
		return "auto " + d.Name
	case kind == ovsBridge:
		return "allow-ovs " + d.Name
	default:
		return "allow-" + bridge + " " + d.Name
	}
}

// ovs are the lines of what Open vSwitch makes. Ports and options that the fabric does
// not speak of stay.
func (w *writer) ovs(d device.Device, s *wantedStanza) {
	kind, bridge := w.ovsOf(d)
	if kind == "" {
		if d.Kind != device.Ethernet {
			s.only("ovs-type", "ovs-bridge", "ovs-options") // it is the kernel's now
		}
		return
	}
	s.add("ovs-type", "", "ovs_type "+kind)
	if bridge != "" {
		s.add("ovs-bridge", "", "ovs_bridge "+bridge)
	}
	have := func(key string) []string {
		if old := w.stanza(d.Name, false); old != nil {
			for _, o := range old.all(key) {
				return slices.Clone(o.words[1:])
			}
		}
		return nil
	}
	var options [][2]string
	switch kind {
	case ovsBridge:
		w.l.Say(d.ID, "interfaces", string(d.Kind))
		if ports := w.ovsPorts(d, have("ovs-ports")); len(ports) > 0 {
			s.add("ports", "", "ovs_ports "+strings.Join(ports, " "))
		}
	case ovsBond:
		w.l.Say(d.ID, "interfaces", string(d.Kind), "parameters.mode", ovsKey+".lacp")
		s.add("ports", "", "ovs_bonds "+strings.Join(d.Ports, " "))
		options = w.ovsOptions(d)
	case ovsInternal:
		w.l.Say(d.ID, "id", "link")
		options = [][2]string{{"tag", strconv.Itoa(d.Tag)}}
	}
	if words := merged(have("ovs-options"), options); len(words) > 0 {
		s.add("ovs-options", "", "ovs_options "+strings.Join(words, " "))
	}
}

// ovsOptions are a bond's.
func (w *writer) ovsOptions(d device.Device) [][2]string {
	options := [][2]string{{"bond_mode", string(d.OVS.Runs().Mode)}}
	if d.OVS.LACP != "" {
		options = append(options, [2]string{"lacp", d.OVS.LACP})
	} else if d.OVS.Mode == netstate.OVSBalanceTCP {
		w.out.Warn(d.ID, ovsKey+".lacp", "balance-tcp sends nothing without LACP: say lacp: active")
	}
	for _, column := range []string{"other-config", "external-ids"} {
		for _, p := range node.Pairs(d.Key(ovsKey).Get(column)) {
			key := ovsKey + "." + column + "." + p.Key
			if !ovsWord.MatchString(p.Key) || !ovsWord.MatchString(p.Value.Text) {
				w.l.Cannot(d.ID, key, "ovs_options takes it only without blanks and quotes")
				continue
			}
			options = append(options, [2]string{strings.ReplaceAll(column, "-", "_") + ":" + p.Key, p.Value.Text})
			w.l.Say(d.ID, key)
		}
	}
	return options
}

// ovsPorts are a bridge's ports: those that are there, less those that the fabric has
// elsewhere, and then the fabric's.
func (w *writer) ovsPorts(d device.Device, have []string) []string {
	wanted, known := slices.Clone(d.Ports), map[string]bool{}
	for _, other := range device.All(w.in) {
		known[other.Name] = true
		if kind, bridge := w.ovsOf(other); kind == ovsInternal && bridge == d.Name {
			wanted = append(wanted, other.Name)
		}
	}
	ports := slices.DeleteFunc(have, func(p string) bool { return known[p] && !slices.Contains(wanted, p) })
	for _, p := range wanted {
		if !slices.Contains(ports, p) {
			ports = append(ports, p)
		}
	}
	return ports
}

// merged are words KEY=VALUE with those of options in their places.
func merged(words []string, options [][2]string) []string {
	for _, o := range options {
		at := slices.IndexFunc(words, func(w string) bool { key, _, _ := strings.Cut(w, "="); return key == o[0] })
		switch {
		case at < 0:
			words = append(words, o[0]+"="+o[1])
		case strings.Trim(strings.TrimPrefix(words[at], o[0]+"="), `"'`) != o[1]:
			words[at] = o[0] + "=" + o[1]
		}
	}
	return words
}
