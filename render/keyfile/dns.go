package keyfile

import (
	"net/netip"
	"strings"

	"github.com/linerate/linerate/render/node"
)

// nameservers writes each server to its family, and the search list to those
// that have servers or addresses.
func (c *connection) nameservers() {
	for _, p := range c.Unread {
		if p.Key != "nameservers" || p.Value == nil {
			continue
		}
		servers := map[string]string{}
		for _, item := range node.Texts(p.Value.Get("addresses")) {
			a, err := netip.ParseAddr(item)
			if err != nil {
				continue
			}
			group := "ipv6"
			if a.Is4() {
				group = "ipv4"
			}
			servers[group] += a.String() + ";"
		}
		c.ledger.Say(c.ID, "nameservers.addresses")
		for _, group := range []string{"ipv4", "ipv6"} {
			switch {
			case servers[group] == "":
			case c.nameless(group):
				c.ledger.Cannot(c.ID, "nameservers.addresses", "servers of "+group+", which is off here: "+strings.TrimSuffix(servers[group], ";"))
			default:
				c.set(group, "dns", servers[group])
			}
		}
		search := strings.Join(node.Texts(p.Value.Get("search")), ";")
		for _, group := range []string{"ipv4", "ipv6"} {
			if search != "" && !c.nameless(group) {
				c.set(group, "dns-search", search+";")
				c.ledger.Say(c.ID, "nameservers.search")
			}
		}
	}
}
