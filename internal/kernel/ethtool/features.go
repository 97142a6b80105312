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
	featuresPerBlock = 32

	featureAvailable    = 0
	featureActive       = 8
	featureNeverChanged = 12
	// mostFeatures bounds what a kernel may claim to have; 6.18 has 64.
	mostFeatures = 1024
)

// featureState is one of the kernel's features as a device has it.
type featureState struct{ on, fixed bool }

// featureStates joins the answers to ETHTOOL_GSTRINGS and ETHTOOL_GFEATURES by
// the kernel's names. Fixed are those that nobody may change, be it that this
// device cannot or that the kernel decides (ethtool(8) prints both so).
func featureStates(names, blocks []byte) map[string]featureState {
	states := make(map[string]featureState)
	for i := 0; stringsHead+(i+1)*stringSize <= len(names); i++ {
		block := featuresHead + i/featuresPerBlock*featureBlock
		if block+featureBlock > len(blocks) {
			break
		}
		set := func(offset int) bool {
			return binary.NativeEndian.Uint32(blocks[block+offset:])>>(i%featuresPerBlock)&1 == 1
		}
		if name := text(names[stringsHead+i*stringSize:][:stringSize]); name != "" {
			states[name] = featureState{on: set(featureActive), fixed: !set(featureAvailable) || set(featureNeverChanged)}
		}
	}
	return states
}

// decodeFeatures says which of the table's features are on. A short name none
// of whose kernel features exists is left out.
func decodeFeatures(states map[string]featureState) map[string]bool {
	on := make(map[string]bool)
	for _, f := range features {
		for _, k := range f.kernel {
			if state, known := states[k]; known {
				on[f.name] = on[f.name] || state.on
			}
		}
	}
	return on
}

// decodeFixed lists the table's features all of whose kernel features are
// fixed, in the table's order.
func decodeFixed(states map[string]featureState) []string {
	var fixed []string
	for _, f := range features {
		known, loose := false, false
		for _, k := range f.kernel {
			state, there := states[k]
			known = known || there
			loose = loose || there && !state.fixed
		}
		if known && !loose {
			fixed = append(fixed, f.name)
		}
	}
	return fixed
}
