package profile

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// roles are what the host is, each with how that is known: by its owner's
// word, or by what it does already.
func roles(in Input) map[string]string {
	all := map[string]string{}
	words := map[string]string{"router": "a router", "kubernetes": "a Kubernetes node"}
	for _, r := range in.Roles {
		word := words[r]
		if word == "" {
			word = r
		}
		all[r] = "the file says that the host is " + word
	}
	note := func(role, format string, args ...any) {
		if all[role] == "" {
			all[role] = fmt.Sprintf(format, args...)
		}
	}
	for _, key := range []string{"net.ipv4.ip_forward", "net.ipv4.conf.all.forwarding", "net.ipv6.conf.all.forwarding"} {
		if v := in.Host.SysctlInts(key); len(v) == 1 && v[0] != 0 {
			note("router", "the host forwards already (%s is %d)", key, v[0])
		}
	}
	owners := slices.Clone(in.Host.Owners)
	for _, l := range in.Host.Links {
		owners = append(owners, l.Owner)
	}
	for _, o := range owners {
		if strings.Contains(strings.ToLower(o), "kubernetes") {
			note("kubernetes", "%s runs here", o)
		}
	}
	if links := homes(in); len(links) > 1 {
		note("multihomed", "%s have addresses", strings.Join(links, ", "))
	}
	return all
}

// homes are the links with addresses that others can reach, or that get them
// from a server.
func homes(in Input) []string {
	var names []string
	for _, l := range in.Host.Links {
		if l.Kind != "loopback" && (slices.Contains(in.Leased, l.Name) || slices.ContainsFunc(l.Addresses, reachable)) {
			names = append(names, l.Name)
		}
	}
	return names
}

func reachable(p netip.Prefix) bool {
	return !p.Addr().IsLinkLocalUnicast() && !p.Addr().IsLoopback()
}
