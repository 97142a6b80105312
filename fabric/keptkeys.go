package fabric

import (
	"net/netip"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
)

// keptKinds are what the keys that are kept as they were written may hold, where
// netplan itself refuses all else (netplan 1.1, src/parse.c): a reader that took
// "maybe" for no would turn it into its opposite.
var keptKinds = keptKindRows()

func keptKindRows() map[string]func(*yamldoc.Node) (what, hint string) {
	kinds := map[string]func(*yamldoc.Node) (what, hint string){
		"activation-mode": wordOf("manual", "off"),
		"renderer":        wordOf("networkd", "NetworkManager", "sriov"),
		"nameservers":     serverAddresses,
		"link-local":      eachOf("ipv4", "ipv6"),
		"dhcp-identifier": wordOf("mac", "duid"),

		"ipv6-address-generation": wordOf("eui64", "stable-privacy"),
	}
	for _, name := range []string{"dhcp4", "dhcp6", "accept-ra", "optional", "wakeonlan", "emit-lldp", "ignore-carrier", "critical"} {
		kinds[name] = truthNode
	}
	for _, k := range offloadKeys {
		kinds[k[0]] = truthNode
	}
	return kinds
}

func truthNode(n *yamldoc.Node) (what, hint string) {
	if _, err := parseBool(n.Text); err != nil {
		return err.Error(), "write true or false"
	}
	return "", ""
}

func wordOf(words ...string) func(*yamldoc.Node) (what, hint string) {
	return func(n *yamldoc.Node) (what, hint string) {
		for _, w := range words {
			if n.Text == w {
				return "", ""
			}
		}
		return yamldoc.Quote(n.Text) + " is not known" + yamldoc.Nearest(n.Text, words), "one of: " + strings.Join(words, ", ")
	}
}

func eachOf(words ...string) func(*yamldoc.Node) (what, hint string) {
	is := wordOf(words...)
	return func(n *yamldoc.Node) (what, hint string) {
		for _, item := range n.Items {
			if what, hint := is(item); what != "" {
				return what, hint
			}
		}
		return "", ""
	}
}

func serverAddresses(n *yamldoc.Node) (what, hint string) {
	list := n.Get("addresses")
	if list == nil {
		return "", ""
	}
	for _, item := range list.Items {
		if _, err := netip.ParseAddr(item.Text); err != nil {
			return yamldoc.Quote(item.Text) + " is no address of a name server", ""
		}
	}
	return "", ""
}
