package diagnose

import "fmt"

// Undamaged is how to find what damages packets that arrive with a wrong checksum. A card
// drops what the wire damaged before the kernel counts a checksum.
func Undamaged(from, to string) string {
	return fmt.Sprintf("find what damages them: a card drops what the wire damaged itself (*crc_err* of `ethtool -S` on %s), so look at what rewrites packets on the way (a tunnel, a firewall, a switch's memory) and at checksums that a card, real or virtual, fills in: try `ethtool -K DEV tx off` on %s", to, from)
}
