package netstate

import "testing"

// A key made of a link's name tells the name again, dots and all; other keys and
// those of every link tell none.
func TestLinkOfSysctl(t *testing.T) {
	for _, link := range []string{"eth0", "bond1.1904", "a.b.c"} {
		for _, family := range []string{"ipv4", "ipv6"} {
			if got, ok := LinkOfSysctl(LinkSysctl(family, link, "forwarding")); !ok || got != link {
				t.Errorf("%s of %s: link %q, %v", family, link, got, ok)
			}
		}
	}
	if got, ok := LinkOfSysctl("net.ipv6.neigh.eth0/7.retrans_time_ms"); !ok || got != "eth0.7" {
		t.Errorf("link of a neighbour key: %q, %v", got, ok)
	}
	for _, key := range []string{LinkSysctl("ipv4", "all", "rp_filter"), LinkSysctl("ipv6", "default", "mtu"),
		"net.ipv4.tcp_rmem", "net.ipv4.conf.eth0", "net.core.rmem_max", ""} {
		if got, ok := LinkOfSysctl(key); ok {
			t.Errorf("%q is of link %q, want of none", key, got)
		}
	}
}
