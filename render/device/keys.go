package device

import (
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/node"
)

// Key is the value of one of netplan's keys that the structs do not hold; nil
// not said.
func (d Device) Key(name string) *yamldoc.Node {
	for _, p := range d.Unread {
		if p.Key == name {
			return p.Value
		}
	}
	return nil
}

// Text is what a definition says at a path of netplan's keys
// ("dhcp4-overrides.use-dns"); "" nothing, and for what is no scalar.
func (d Device) Text(path string) string {
	head, rest, nested := strings.Cut(path, ".")
	n := d.Key(head)
	switch {
	case path == "mtu" && d.MTU != 0:
		return strconv.Itoa(d.MTU)
	case path == "macaddress" && !d.MAC.IsZero():
		return d.MAC.String()
	case head == "parameters":
		n = d.Parameters
	}
	if nested {
		n = n.Get(rest)
	}
	if n == nil || n.Kind != yamldoc.ScalarNode {
		return ""
	}
	return n.Text
}

// Truth is a yes-or-no key's value; said is false where it is not there.
func (d Device) Truth(name string) (value, said bool) {
	n := d.Key(name)
	if n == nil || n.Kind != yamldoc.ScalarNode {
		return false, false
	}
	return node.True(n), true
}

// AddressOptions returns what a definition says of single addresses, by address:
// netplan's label and lifetime.
func AddressOptions(in render.Input, id string) map[netip.Prefix]*yamldoc.Node {
	return AddressOptionsIn(NetworkTree(in), id)
}

// NetworkTree is the network as the file has it; nil for none.
func NetworkTree(in render.Input) *yamldoc.Node {
	if !strings.Contains(in.Host.Network.Source, "label") && !strings.Contains(in.Host.Network.Source, "lifetime") {
		return nil
	}
	tree, err := yamldoc.Parse("network", []byte(in.Host.Network.Source))
	if err != nil {
		return nil
	}
	return tree
}

// AddressOptionsIn is AddressOptions of a NetworkTree.
func AddressOptionsIn(tree *yamldoc.Node, id string) map[netip.Prefix]*yamldoc.Node {
	all := map[netip.Prefix]*yamldoc.Node{}
	if tree == nil {
		return all
	}
	for _, section := range tree.Pairs {
		list := section.Value.Get(id).Get("addresses")
		if list == nil {
			continue
		}
		for _, item := range list.Items {
			for _, p := range item.Pairs {
				if prefix, err := netip.ParsePrefix(p.Key); err == nil {
					all[prefix] = p.Value
				}
			}
		}
	}
	return all
}

// Offloads are the device's, netplan's keys and the settings' together, by
// ethtool's short names.
func (d Device) Offloads() map[string]bool {
	all := map[string]bool{}
	for _, row := range Offloads {
		if v, said := d.Truth(row.Netplan); said {
			all[row.Ethtool] = v
		}
	}
	maps.Copy(all, d.Settings.Offloads)
	return all
}

// Offload is one offload in the words of those who can set it; "" for one
// who cannot.
type Offload struct{ Ethtool, Netplan, Networkd string }

// Offloads is the one table of offloads (off_flag_def in ethtool.c of
// ethtool 6.1; netplan's doc/netplan-yaml.md; systemd.link(5) of systemd 252).
var Offloads = []Offload{
	{"rx", "receive-checksum-offload", "ReceiveChecksumOffload"},
	{"tx", "transmit-checksum-offload", "TransmitChecksumOffload"},
	{"tso", "tcp-segmentation-offload", "TCPSegmentationOffload"},
	{"tx-tcp6-segmentation", "tcp6-segmentation-offload", "TCP6SegmentationOffload"},
	{"gso", "generic-segmentation-offload", "GenericSegmentationOffload"},
	{"gro", "generic-receive-offload", "GenericReceiveOffload"},
	{"lro", "large-receive-offload", "LargeReceiveOffload"},
	{"rx-gro-hw", "", "GenericReceiveOffloadHardware"},
	{"rxvlan", "", "ReceiveVLANCTAGHardwareAcceleration"},
	{"txvlan", "", "TransmitVLANCTAGHardwareAcceleration"},
	{"rx-vlan-filter", "", "ReceiveVLANCTAGFilter"},
	{"ntuple", "", "NTupleFilter"},
}

// OffloadOf is ethtool's name for a netplan key of an offload; "" for another
// key.
func OffloadOf(key string) string {
	for _, row := range Offloads {
		if row.Netplan == key && key != "" {
			return row.Ethtool
		}
	}
	return ""
}

// OnOff is ethtool's word for a switch.
func OnOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// Number is one of a link's settings that are numbers, by ethtool(8)'s name; Kind
// is "rings", "channels" or "coalesce".
type Number struct {
	Kind, Name string
	Value      int
}

// Key is the setting's place in the fabric file.
func (n Number) Key() string { return n.Kind + "." + n.Name }

// Numbers are those that the settings have, by kind and name.
func Numbers(s fabric.LinkSettings) []Number {
	var all []Number
	for _, kind := range []string{"rings", "channels", "coalesce"} {
		values := map[string]map[string]int{"rings": {"rx": s.RingRx, "tx": s.RingTx}, "channels": s.Channels, "coalesce": s.Coalescing}[kind]
		for _, name := range slices.Sorted(maps.Keys(values)) {
			if kind != "rings" || values[name] != 0 {
				all = append(all, Number{kind, name, values[name]})
			}
		}
	}
	return all
}
