package keyfile

import (
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/node"
)

// ethtool is the [ethtool] section. What the file does not name stays.
func (c *connection) ethtool() {
	for _, row := range device.Offloads {
		if on, said := c.Truth(row.Netplan); said {
			c.set("ethtool", "feature-"+row.Ethtool, strconv.FormatBool(on))
			c.ledger.Say(c.ID, row.Netplan)
		}
	}
	s := c.Settings
	for _, name := range slices.Sorted(maps.Keys(s.Offloads)) {
		if strings.Contains(features, " "+name+" ") {
			c.set("ethtool", "feature-"+name, strconv.FormatBool(s.Offloads[name]))
			c.ledger.Say(c.ID, "offloads."+name)
		}
	}
	for _, n := range device.Numbers(s) {
		word := ethtoolWord(n.Kind, n.Name)
		if word == "" {
			continue
		}
		c.set("ethtool", word, strconv.Itoa(n.Value))
		if n.Kind == "channels" {
			c.ledger.Cannot(c.ID, n.Key(), "NetworkManager knows it from 1.46 on; earlier ones drop it")
		} else {
			c.ledger.Say(c.ID, n.Key())
		}
	}
}

// ethtoolWord is NetworkManager's word for a number of ethtool's; "" for one
// that it lacks.
func ethtoolWord(kind, name string) string {
	switch {
	case kind == "rings":
		return "ring-" + name
	case kind == "channels" && (name == "rx" || name == "tx" || name == "combined"):
		return "channels-" + name
	case kind == "coalesce" && Coalesce(name) != "":
		return "coalesce-" + Coalesce(name)
	}
	return ""
}

// port is what a port has of its own in its bond or bridge.
func (c *connection) port() {
	for _, o := range bondopt.Ports() {
		value, wanted := c.Settings.Port[o.Name]
		if said, ok := o.Saying(bondopt.Keyfile); ok && wanted && c.MasterKind == device.Bond {
			c.set("bond-port", said.Name, value)
			c.ledger.Cannot(c.ID, o.Key, "NetworkManager knows it from "+said.Since+" on; earlier ones drop it")
		}
	}
	if c.MasterKind != device.Bridge {
		return
	}
	bridge, ok := c.bridgeOf()
	if !ok {
		return
	}
	for _, p := range [...][2]string{{"path-cost", "path-cost"}, {"port-priority", "priority"}} {
		if n := bridge.Parameters.Get(p[0]).Get(c.ID); n != nil {
			c.set("bridge-port", p[1], n.Text)
			c.ledger.Say(bridge.ID, "parameters."+p[0]+"."+c.ID)
		}
	}
}

func (c *connection) bridgeOf() (fabric.Bridge, bool) {
	for _, b := range c.in.Host.Network.Bridges {
		if b.ID == c.Master {
			return b, true
		}
	}
	return fabric.Bridge{}, false
}

// qdiscWords are the queueing disciplines whose attributes NetworkManager
// takes (nm_utils_tc_qdisc_from_str).
var qdiscWords = []string{"fq_codel", "sfq", "tbf"}

// qdisc is the [tc] section.
func (c *connection) qdisc() {
	words := strings.Fields(c.Settings.Qdisc)
	if len(words) == 0 {
		return
	}
	if c.Settings.Qdisc == "default" {
		c.file.remove(func(group, key string) bool { return group == "tc" && key == "qdisc.root" })
		c.ledger.Say(c.ID, "qdisc")
		return
	}
	if len(words) > 1 && !slices.Contains(qdiscWords, words[0]) {
		c.ledger.Cannot(c.ID, "qdisc", "NetworkManager takes no attributes of "+words[0]+": it is written without "+strings.Join(words[1:], " "))
		words = words[:1]
	}
	c.ledger.Say(c.ID, "qdisc")
	c.set("tc", "qdisc.root", strings.Join(words, " "))
}

// nameservers writes each server to its family, and the search list to those
// that have servers or addresses.
func (c *connection) nameservers() {
	said := c.Key("nameservers")
	servers := map[string]string{}
	for _, item := range node.Texts(said.Get("addresses")) {
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
	search := strings.Join(node.Texts(said.Get("search")), ";")
	for _, group := range []string{"ipv4", "ipv6"} {
		if search != "" && !c.nameless(group) {
			c.set(group, "dns-search", search+";")
			c.ledger.Say(c.ID, "nameservers.search")
		}
	}
}
