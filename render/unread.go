package render

import (
	"net/netip"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
)

// key is the value of one of netplan's keys that the structs do not hold; nil
// not said.
func (d device) key(name string) *yamldoc.Node {
	for _, p := range d.Unread {
		if p.Key == name {
			return p.Value
		}
	}
	return nil
}

// truth is a yes-or-no key's value; said is false where it is not there.
func (d device) truth(name string) (value, said bool) {
	n := d.key(name)
	if n == nil || n.Kind != yamldoc.ScalarNode {
		return false, false
	}
	return yes(n.Text), true
}

// yes reads YAML's words for true.
func yes(s string) bool {
	switch strings.ToLower(s) {
	case "true", "yes", "on", "y", "1":
		return true
	}
	return false
}

// texts are the items of a list, or of what stands where a list may.
func texts(n *yamldoc.Node) []string {
	if n == nil || n.Kind == yamldoc.NullNode {
		return nil
	}
	if n.Kind == yamldoc.ScalarNode {
		return []string{n.Text}
	}
	var all []string
	for _, item := range n.Items {
		all = append(all, item.Text)
	}
	return all
}

// addressOptions are what a definition says of single addresses, by address:
// netplan's label and lifetime.
func (in Input) addressOptions(id string) map[netip.Prefix]*yamldoc.Node {
	return addressOptions(in.networkTree(), id)
}

// networkTree is the network as the file has it; nil for none.
func (in Input) networkTree() *yamldoc.Node {
	if !strings.Contains(in.Host.Network.Source, "label") && !strings.Contains(in.Host.Network.Source, "lifetime") {
		return nil
	}
	tree, err := yamldoc.Parse("network", []byte(in.Host.Network.Source))
	if err != nil {
		return nil
	}
	return tree
}

func addressOptions(tree *yamldoc.Node, id string) map[netip.Prefix]*yamldoc.Node {
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

// offloads are the device's, netplan's keys and the settings' together, by
// ethtool's short names.
func (d device) offloads() map[string]bool {
	all := map[string]bool{}
	for _, row := range offloadRows {
		if v, said := d.truth(row.netplan); said {
			all[row.ethtool] = v
		}
	}
	for name, on := range d.settings.Offloads {
		all[name] = on
	}
	return all
}

// offloadRow is one offload in the words of those who can set it; "" for one
// who cannot.
type offloadRow struct{ ethtool, netplan, networkd string }

// offloadRows is the one table of offloads (off_flag_def in ethtool.c of
// ethtool 6.1; netplan's doc/netplan-yaml.md; systemd.link(5) of systemd 252).
var offloadRows = []offloadRow{
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

// definitions are the host's devices, one for each definition, even one that
// matches several interfaces.
func (in Input) definitions() []device {
	var all []device
	seen := map[string]bool{}
	for _, d := range in.devices() {
		if seen[d.ID] {
			continue
		}
		seen[d.ID] = true
		if d.match != nil && d.setName == "" || d.name == "" {
			d.name = d.ID
		}
		all = append(all, d)
	}
	return all
}

// isPrimary reports a port that its bond's primary option names, by its ID or
// its interface's name.
func (in Input) isPrimary(d device) bool {
	b, ok := in.Host.Network.Bond(d.master)
	if !ok {
		return false
	}
	for _, o := range in.bondOptions(b) {
		if o.name == "primary" && o.value != "" {
			return o.value == d.ID || o.value == d.name
		}
	}
	return false
}
