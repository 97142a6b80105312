package netstate

import "strings"

// LinkSysctl is the key of one link's setting of a family ("ipv4" or "ipv6"), as
// sysctl(8) takes it: a dot in a link's name is a slash there, so that
// LinkSysctl("ipv4", "eth0.100", "rp_filter") is net.ipv4.conf.eth0/100.rp_filter.
// The links "all" and "default" are the kernel's own.
func LinkSysctl(family, link, name string) string {
	return "net." + family + ".conf." + strings.ReplaceAll(link, ".", "/") + "." + name
}

// LinkOfSysctl is the link that a key belongs to, net.ipv4.conf.LINK.NAME and its
// kin; false for any other key, and for those of "all" and "default".
func LinkOfSysctl(key string) (string, bool) {
	for _, table := range [...]string{"conf", "neigh"} {
		for _, family := range [...]string{"ipv4", "ipv6"} {
			rest, ok := strings.CutPrefix(key, "net."+family+"."+table+".")
			if !ok {
				continue
			}
			link, _, ok := strings.Cut(rest, ".")
			if !ok || link == "all" || link == "default" {
				return "", false
			}
			return strings.ReplaceAll(link, "/", "."), true
		}
	}
	return "", false
}
