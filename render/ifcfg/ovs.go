package ifcfg

import (
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/render/node"
	"github.com/linerate/linerate/render/readback"
)

// ovsSections are netplan's sections for what DEVICETYPE=ovs makes of Open vSwitch, by
// TYPE (README.RHEL of openvswitch 3.1); a port is a device of its own kind.
var ovsSections = map[string]string{"ovsbridge": "bridges", "ovsbond": "bonds", "ovsport": "ethernets", "ovsintport": "vlans"}

// isOVS reports a file of Open vSwitch's own scripts.
func (r *reader) isOVS() bool { return strings.EqualFold(r.get("DEVICETYPE"), "ovs") }

// ovsTag is the VLAN of an internal port; 0 none.
func (r *reader) ovsTag() int {
	for _, w := range readback.OVSWords(strings.Fields(r.values["OVS_OPTIONS"].Value)) {
		if n, err := strconv.Atoi(w[1]); w[0] == "tag" && err == nil && n > 0 && n < 4095 {
			return n
		}
	}
	return 0
}

// ovsKind notes what a device of Open vSwitch is to a fabric; false for what it has not.
func (r *reader) ovsKind() bool {
	kind := strings.ToLower(r.get("TYPE"))
	section := ovsSections[kind]
	switch {
	case section == "" || section == "vlans" && r.ovsTag() == 0:
		r.wrong("TYPE", "Open vSwitch makes it, not the kernel: left out")
		return false
	case section != "ethernets":
		r.Kinds[r.id] = section
	}
	return true
}

// ovs reads what Open vSwitch makes of a file.
func (r *reader) ovs() {
	d, kind, bridge := r.Device(r.id), r.Kinds[r.id], r.get("OVS_BRIDGE")
	if kind == "bridges" || kind == "bonds" {
		readback.MakeOVS(d)
	}
	if kind == "vlans" {
		node.Put(d, "id", node.PlainInt(r.ovsTag()))
		node.Put(d, "link", node.Plain(bridge))
	}
	for _, port := range strings.Fields(r.get("BOND_IFACES")) {
		if !readback.LinkName(port) {
			r.wrong("BOND_IFACES", port+" is no interface's name: the port is left out")
			continue
		}
		r.Device(port)
		node.Push(d, "interfaces", node.Plain(port))
	}
	if readback.LinkName(bridge) && kind != "bridges" && kind != "vlans" {
		r.Kinds[bridge] = "bridges"
		readback.MakeOVS(r.Device(bridge))
		node.Push(r.Device(bridge), "interfaces", node.Plain(r.id))
	}
	for _, w := range readback.OVSWords(strings.Fields(r.get("OVS_OPTIONS"))) {
		if kind == "vlans" && slices.Contains([]string{"tag", "vlan_mode"}, w[0]) || kind == "bonds" && readback.OVSBondWord(d, w[0], w[1]) {
			continue
		}
		r.wrong("OVS_OPTIONS", "a fabric cannot represent "+w[0])
	}
}
