package netstate

// catalystPrefix begins the words of CatalystHashes.
const catalystPrefix = "catalyst-"

// CatalystHashes are the words for a switch's hash that is none of a bond's policies
// and yet computable: Cisco's of the Catalyst 2950 to 3750, which take the low three
// bits of addresses (`port-channel load-balance`).
func CatalystHashes() []string {
	words := []string{"src-mac", "dst-mac", "src-dst-mac", "src-ip", "dst-ip", "src-dst-ip"}
	for i, w := range words {
		words[i] = catalystPrefix + w
	}
	return words
}
