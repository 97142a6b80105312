package switchstate

import (
	"slices"
	"strings"
)

// HighestLayer is the highest layer that the words of a hash name, as makers write them.
func HighestLayer(words string) Layer {
	w := strings.ToLower(words)
	if rest, junos := strings.CutPrefix(w, "enhanced-hash-key"); junos {
		if w = rest; strings.Contains(w, "layer2-payload") { // addresses and ports of what the frame carries
			return Layer4
		}
	}
	has := func(any ...string) bool {
		return slices.ContainsFunc(any, func(s string) bool { return strings.Contains(w, s) })
	}
	switch {
	case has("src-port", "dst-port", "source-port", "destination-port", "dest-port", "source port", "destination port", "l4", "layer4", "layer-4", "layer3+4", "3-and-4", "ip-port", "tcp", "udp", "5-tuple", "4-tuple", "enhanced", "src_port", "dst_port"):
		return Layer4
	case has("ip", "layer3", "layer-3", "l3", "2-and-3", "layer2+3", "inet"):
		return Layer3
	case has("mac", "layer2", "layer-2", "l2", "vlan", "ethertype", "sa-xor-da"), w == "sa", w == "da": // Huawei's addresses of a frame
		return Layer2
	}
	return LayerUnknown
}
