package render

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/bondopt"
)

// holds reports whether an address is the device's.
func (d device) holds(a netip.Addr) bool {
	return slices.ContainsFunc(d.Addresses, func(p netip.Prefix) bool { return p.Addr() == a })
}

// ethernet is the [ethernet] section, which devices of every kind may have.
func (c *connection) ethernet() {
	if c.MTU != 0 {
		c.set("ethernet", "mtu", strconv.Itoa(c.MTU))
		c.ledger.say(c.ID, "mtu")
	}
	if !c.MAC.IsZero() {
		c.set("ethernet", "cloned-mac-address", strings.ToUpper(c.MAC.String()))
		c.ledger.say(c.ID, "macaddress")
	}
	for _, p := range c.Unread {
		if p.Value == nil {
			continue
		}
		switch p.Key {
		case "macaddress": // one of NetworkManager's own words
			c.set("ethernet", "cloned-mac-address", p.Value.Text)
		case "wakeonlan":
			c.set("ethernet", "wake-on-lan", map[bool]string{true: "64", false: "0"}[isTrue(p.Value)]) // 64 is the magic packet
		default:
			continue
		}
		c.ledger.say(c.ID, p.Key)
	}
}

func isTrue(n *yamldoc.Node) bool {
	if n == nil {
		return false
	}
	switch strings.ToLower(n.Text) {
	case "true", "yes", "on", "y":
		return true
	}
	return false
}

// ethtool is the [ethtool] section. What the file does not name stays.
func (c *connection) ethtool() {
	for _, o := range keyfileOffloads {
		for _, p := range c.Unread {
			if p.Key == o[0] {
				c.set("ethtool", "feature-"+o[1], strconv.FormatBool(isTrue(p.Value)))
				c.ledger.say(c.ID, p.Key)
			}
		}
	}
	s := c.settings
	for _, name := range sortedKeys(s.Offloads) {
		if strings.Contains(keyfileFeatures, " "+name+" ") {
			c.set("ethtool", "feature-"+name, strconv.FormatBool(s.Offloads[name]))
			c.ledger.say(c.ID, "offloads."+name)
		}
	}
	for _, ring := range []struct {
		key, word string
		size      int
	}{{"rings.rx", "ring-rx", s.RingRx}, {"rings.tx", "ring-tx", s.RingTx}} {
		if ring.size != 0 {
			c.set("ethtool", ring.word, strconv.Itoa(ring.size))
			c.ledger.say(c.ID, ring.key)
		}
	}
	for _, name := range sortedKeys(s.Channels) {
		if name == "rx" || name == "tx" || name == "combined" {
			c.set("ethtool", "channels-"+name, strconv.Itoa(s.Channels[name]))
			c.ledger.cannot(c.ID, "channels."+name, "NetworkManager knows it from 1.46 on; earlier ones drop it")
		}
	}
	for _, name := range sortedKeys(s.Coalescing) {
		if word := keyfileCoalesce(name); word != "" {
			c.set("ethtool", "coalesce-"+word, strconv.Itoa(s.Coalescing[name]))
			c.ledger.say(c.ID, "coalesce."+name)
		}
	}
}

// port is what a port has of its own in its bond or bridge.
func (c *connection) port() {
	for _, o := range bondopt.Ports() {
		value, wanted := c.settings.Port[o.Name]
		if said, ok := o.Saying(bondopt.Keyfile); ok && wanted && c.masterKind == kindBond {
			c.set("bond-port", said.Name, value)
			c.ledger.cannot(c.ID, o.Key, "NetworkManager knows it from "+said.Since+" on; earlier ones drop it")
		}
	}
	if c.masterKind != kindBridge {
		return
	}
	bridge, ok := c.bridgeOf()
	if !ok {
		return
	}
	for _, p := range [...][2]string{{"path-cost", "path-cost"}, {"port-priority", "priority"}} {
		if n := bridge.Parameters.Get(p[0]).Get(c.ID); n != nil {
			c.set("bridge-port", p[1], n.Text)
			c.ledger.say(bridge.ID, "parameters."+p[0]+"."+c.ID)
		}
	}
}

func (c *connection) bridgeOf() (fabric.Bridge, bool) {
	for _, b := range c.in.Host.Network.Bridges {
		if b.ID == c.master {
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
	words := strings.Fields(c.settings.Qdisc)
	if len(words) == 0 {
		return
	}
	if c.settings.Qdisc == "default" {
		c.file.remove(func(group, key string) bool { return group == "tc" && key == "qdisc.root" })
		c.ledger.say(c.ID, "qdisc")
		return
	}
	if len(words) > 1 && !slices.Contains(qdiscWords, words[0]) {
		c.ledger.cannot(c.ID, "qdisc", "NetworkManager takes no attributes of "+words[0]+": it is written without "+strings.Join(words[1:], " "))
		words = words[:1]
	}
	c.ledger.say(c.ID, "qdisc")
	c.set("tc", "qdisc.root", strings.Join(words, " "))
}
