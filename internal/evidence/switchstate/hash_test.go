package switchstate

import "testing"

func TestHighestLayer(t *testing.T) {
	for words, want := range map[string]Layer{
		"src-mac": Layer2, "src-dst-mac": Layer2, "dst-mac": Layer2, "l2-src-dst": Layer2, "L2-based": Layer2, "source-mac destination-mac": Layer2, "SA-XOR-DA": Layer2,
		"enhanced-hash-key hash-mode layer2-header": Layer2, "layer2": Layer2, "SRC_MAC DST_MAC ETHERTYPE": Layer2,
		"src-ip": Layer3, "src-dst-ip": Layer3, "source-dest-ip": Layer3, "L3-based (default)": Layer3, "l3-src-dst": Layer3, "layer2+3": Layer3, "SIP-XOR-DIP": Layer3, "Source Destination IP": Layer3,
		"src-dst-mixed-ip-port": Layer4, "src-dst-port": Layer4, "src-dst ip-l4port": Layer4, "source-dest-port": Layer4, "l4-src-dst": Layer4, "L4-based": Layer4, "layer3+4": Layer4,
		"trident fields ip source-ip destination-ip source-port destination-port": Layer4, "enhanced-hash-key hash-mode layer2-payload": Layer4,
		"source-ip destination-ip source-port destination-port": Layer4, "SRC_IP DST_IP L4_SRC_PORT L4_DST_PORT": Layer4, "7 (enhanced hashing mode)": Layer4,
		"source-mac ingress-port": Layer2, "IN_PORT SRC_MAC DST_MAC": Layer2, "packet type-based sharing": LayerUnknown, "": LayerUnknown, "vlan-only": Layer2,
	} {
		if got := HighestLayer(words); got != want {
			t.Errorf("%q: layer %d, want %d", words, got, want)
		}
	}
}
