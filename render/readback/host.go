// Package readback puts what a format's files say of a host together as a fabric
// file has it.
package readback

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/node"
)

// Host puts together what files say of a host, as a fabric file has it.
type Host struct {
	Network *fabric.Node
	// Beside is what netplan has no words for: "bonding", "links", ...
	Beside *fabric.Node
	Unread []render.Unread
	// Kinds are netplan's sections by device, for those that files make.
	Kinds map[string]string
}

// New returns a host of which nothing is known yet.
func New() *Host {
	f := &Host{Network: node.Mapping(), Beside: node.Mapping(), Kinds: map[string]string{}}
	node.Put(f.Network, "version", node.Plain("2"))
	return f
}

// Miss notes a line that is not read.
func (f *Host) Miss(path string, line int, key, value, why string) {
	f.Unread = append(f.Unread, render.Unread{Path: path, Line: line, Key: key, Value: value, Why: why})
}

// Device is the definition of an interface, made where there is none.
func (f *Host) Device(id string) *fabric.Node {
	section := f.Kinds[id]
	if section == "" {
		section = "ethernets"
	}
	n := node.Within(f.Network, section, id)
	n.Kind = fabric.MappingNode
	return n
}

// Setting is a device's mapping beside the network: links.ID or bonding.ID.
func (f *Host) Setting(kind, id string, more ...string) *fabric.Node {
	return node.Within(f.Beside, append([]string{kind, id}, more...)...)
}

// Option puts a bond option under netplan's name, or beside where it has none.
func (f *Host) Option(bond, kernel, value string) {
	name, ok := fabric.BondParameter(kernel)
	if !ok || kernel == "xmit_hash_policy" && value == "vlan+srcmac" || kernel == "arp_validate" && strings.HasPrefix(value, "filter") {
		node.Put(f.Setting("bonding", bond), kernel, node.Quoted(value))
		return
	}
	f.Kinds[bond] = "bonds"
	parameters := node.Within(f.Device(bond), "parameters")
	switch kernel {
	case "arp_ip_target":
		node.Put(parameters, name, node.FlowList(strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })))
	case "all_slaves_active":
		node.Put(parameters, name, node.Plain(strconv.FormatBool(value == "1")))
	default:
		node.Put(parameters, name, node.Plain(value))
	}
}

// Offload puts an offload under netplan's name, or beside where it has none.
func (f *Host) Offload(id, name string, on bool) {
	for _, row := range device.Offloads {
		if row.Ethtool == name && row.Netplan != "" && f.Kinds[id] == "" {
			node.Put(f.Device(id), row.Netplan, node.Plain(strconv.FormatBool(on)))
			return
		}
	}
	node.Put(f.Setting("links", id, "offloads"), name, node.Plain(device.OnOff(on)))
}

// Address adds an address to a device, with its options if there are any.
func (f *Host) Address(id string, p netip.Prefix, options *fabric.Node) {
	if options == nil || len(options.Pairs) == 0 {
		node.Push(f.Device(id), "addresses", node.Quoted(p.String()))
		return
	}
	item := node.Mapping()
	node.Put(item, p.String(), options)
	node.Push(f.Device(id), "addresses", item)
}

// Found is what was read; ErrEmpty for nothing.
func (f *Host) Found() (render.Found, error) {
	keys := node.Mapping()
	for i := range f.Network.Pairs {
		f.dropUnrealPorts(f.Network.Pairs[i].Value)
	}
	if len(f.Network.Pairs) > 1 {
		node.Put(keys, "network", f.Network)
	}
	for _, p := range f.Beside.Pairs {
		node.Put(keys, p.Key, p.Value)
	}
	if len(keys.Pairs) == 0 {
		return render.Found{Unread: f.Unread}, render.ErrEmpty
	}
	return render.Found{Keys: keys, Unread: f.Unread}, nil
}

// dropUnrealPorts makes {} of definitions that say nothing.
func (f *Host) dropUnrealPorts(section *fabric.Node) {
	for i := range section.Pairs {
		if v := section.Pairs[i].Value; v.Kind == fabric.MappingNode && len(v.Pairs) == 0 {
			v.Flow = true
		}
	}
}
