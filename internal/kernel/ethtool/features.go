package ethtool

import "encoding/binary"

// features is the one table of offloads that matter to throughput: the short
// name that ethtool -K takes, and the kernel's features behind it
// (net/ethtool/common.c netdev_features_strings; the grouping as in
// ethtool(8)). One of them on is on.
var features = [...]struct {
	name   string
	kernel []string
}{
	{"rx", []string{"rx-checksum"}},
	{"tx", []string{"tx-checksum-ip-generic", "tx-checksum-ipv4", "tx-checksum-ipv6"}},
	{"sg", []string{"tx-scatter-gather"}},
	{"tso", []string{"tx-tcp-segmentation", "tx-tcp6-segmentation"}},
	{"gso", []string{"tx-generic-segmentation"}},
	{"gro", []string{"rx-gro"}},
	{"lro", []string{"rx-lro"}},
	{"rxhash", []string{"rx-hashing"}},
	{"ntuple", []string{"rx-ntuple-filter"}},
	{"rxvlan", []string{"rx-vlan-hw-parse"}},
	{"txvlan", []string{"tx-vlan-hw-insert"}},
	{"rx-gro-hw", []string{"rx-gro-hw"}},
	{"rx-gro-list", []string{"rx-gro-list"}},
	{"rx-udp-gro-forwarding", []string{"rx-udp-gro-forwarding"}},
	{"tx-udp-segmentation", []string{"tx-udp-segmentation"}},
	{"tx-nocache-copy", []string{"tx-nocache-copy"}},
}

// FeatureNames lists the short names.
func FeatureNames() []string {
	names := make([]string, 0, len(features))
	for _, f := range features {
		names = append(names, f.name)
	}
	return names
}

// KernelFeatures are the kernel's names behind a short one; nil for a name
// outside the table.
func KernelFeatures(name string) []string {
	for _, f := range features {
		if f.name == name {
			return append([]string(nil), f.kernel...)
		}
	}
	return nil
}

// Layout of the structures of include/uapi/linux/ethtool.h.
const (
	stringSize       = 32 // ETH_GSTRING_LEN
	stringsHead      = 12 // struct ethtool_gstrings: cmd, string_set, len
	setInfoHead      = 16 // struct ethtool_sset_info: cmd, reserved, sset_mask
	featuresHead     = 8  // struct ethtool_gfeatures: cmd, size
	featureBlock     = 16 // struct ethtool_get_features_block: available, requested, active, never_changed
	featureActive    = 8
	featuresPerBlock = 32
	// mostFeatures bounds what a kernel may claim to have; 6.18 has 64.
	mostFeatures = 1024
)

// decodeFeatures joins the answers to ETHTOOL_GSTRINGS and ETHTOOL_GFEATURES.
// A short name none of whose kernel features exists is left out.
func decodeFeatures(names, blocks []byte) map[string]bool {
	active := make(map[string]bool)
	for i := 0; stringsHead+(i+1)*stringSize <= len(names); i++ {
		block := featuresHead + i/featuresPerBlock*featureBlock
		if block+featureBlock > len(blocks) {
			break
		}
		bits := binary.NativeEndian.Uint32(blocks[block+featureActive:])
		if name := text(names[stringsHead+i*stringSize:][:stringSize]); name != "" {
			active[name] = bits>>(i%featuresPerBlock)&1 == 1
		}
	}
	on := make(map[string]bool)
	for _, f := range features {
		for _, k := range f.kernel {
			if state, known := active[k]; known {
				on[f.name] = on[f.name] || state
			}
		}
	}
	return on
}
