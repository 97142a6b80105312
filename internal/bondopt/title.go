package bondopt

import (
	"strings"

	"github.com/linerate/linerate/netstate"
)

// modeTitles are the words of /proc/net/bonding for the modes (bond_main.c
// bond_mode_name), by kernel number.
var modeTitles = [...]string{
	"load balancing (round-robin)",
	"fault-tolerance (active-backup)",
	"load balancing (xor)",
	"fault-tolerance (broadcast)",
	"IEEE 802.3ad Dynamic link aggregation",
	"transmit load balancing",
	"adaptive load balancing",
}

// ModeByTitle is the mode that /proc/net/bonding calls so, and what stands behind
// its title.
func ModeByTitle(title string) (mode netstate.BondMode, rest string, ok bool) {
	for i, t := range modeTitles {
		if rest, ok := strings.CutPrefix(title, t); ok && (rest == "" || rest[0] == ' ') {
			return netstate.BondMode(i), rest, true
		}
	}
	return 0, "", false
}
