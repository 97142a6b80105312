package plan

import (
	"slices"
	"strings"
)

// inOrder puts what takes router advertisements before forwarding, which asks
// for it, then the keys that set every link's, then the rest, and the settings
// of links to come behind those of links. A new conf.default of IPv4 goes to
// every link whose own was never set (devinet_copy_dflt_conf,
// net/ipv4/devinet.c; tried on 6.18): a step after it would find what it is to
// set. Undone in reverse order, links keep theirs.
func inOrder(keys []string) []string {
	rank := func(key string) int {
		switch {
		case strings.HasSuffix(key, ".accept_ra"):
			return 0
		case key == forward4, key == forwardAll4, key == forwardAll6, key == disableAll6:
			return 1
		case strings.Contains(key, ".conf.default."), strings.Contains(key, ".neigh.default."):
			return 3
		}
		return 2
	}
	slices.SortStableFunc(keys, func(a, b string) int { return rank(a) - rank(b) })
	return keys
}
