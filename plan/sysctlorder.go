package plan

import (
	"slices"
	"strings"
)

// defaultsLast puts the settings of links to come behind those of links. A
// new conf.default of IPv4 goes to every link whose own was never set
// (devinet_copy_dflt_conf, net/ipv4/devinet.c; tried on 6.18): a step after it
// would find what it is to set. Undone in reverse order, links keep theirs.
func defaultsLast(keys []string) []string {
	last := func(key string) int {
		if strings.Contains(key, ".conf.default.") || strings.Contains(key, ".neigh.default.") {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(keys, func(a, b string) int { return last(a) - last(b) })
	return keys
}
