package device

// Offloads are the device's, netplan's keys and the settings' together, by
// ethtool's short names.
func (d Device) Offloads() map[string]bool {
	all := map[string]bool{}
	for _, row := range Offloads {
		if v, said := d.Truth(row.Netplan); said {
			all[row.Ethtool] = v
		}
	}
	for name, on := range d.Settings.Offloads {
		all[name] = on
	}
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
