package readback

import (
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/render/node"
)

// ovsKey is netplan's.
const ovsKey = "openvswitch"

// OVSWords are words KEY=VALUE as ovs-vsctl(8) takes them.
func OVSWords(words []string) (all [][2]string) {
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		all = append(all, [2]string{key, strings.Trim(value, `"'`)})
	}
	return all
}

// MakeOVS makes a definition one of Open vSwitch's.
func MakeOVS(d *yamldoc.Node) {
	if d.Get(ovsKey) == nil {
		node.SetKey(d, ovsKey, node.FlowMap())
	}
}

// OVSBondWord reads a word of a bond's options; false for one that a fabric cannot
// represent.
func OVSBondWord(d *yamldoc.Node, key, value string) bool {
	column, of, _ := strings.Cut(key, ":")
	switch {
	case key == "bond_mode":
		node.Put(node.Within(d, "parameters"), "mode", node.Plain(value))
	case key == "lacp":
		node.Put(d.Get(ovsKey), "lacp", node.Plain(value))
	case of != "" && (column == "other_config" || column == "external_ids" || column == "other-config" || column == "external-ids"):
		node.PutText(node.Within(d.Get(ovsKey), strings.ReplaceAll(column, "_", "-")), of, value)
	default:
		return false
	}
	return true
}
