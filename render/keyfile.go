package render

import (
	"crypto/sha1"
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/bondopt"
)

// KeyfileDir is where NetworkManager's connections of an administrator are.
const KeyfileDir = "/etc/NetworkManager/system-connections"

// uuidSpace is the namespace of the UUIDs that connections get (RFC 9562,
// version 5): version 5 of "github.com/linerate/linerate" in the URL namespace.
var uuidSpace = nameUUID([16]byte{0x6b, 0xa7, 0xb8, 0x11, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8}, "github.com/linerate/linerate")

func nameUUID(space [16]byte, name string) (u [16]byte) {
	sum := sha1.Sum(append(space[:], name...))
	copy(u[:], sum[:])
	u[6] = u[6]&0x0f | 0x50
	u[8] = u[8]&0x3f | 0x80
	return u
}

// connectionUUID is the same for a connection of a host whenever it is made.
func connectionUUID(host, name string) string {
	u := nameUUID(uuidSpace, host+"/"+name)
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

// keyfileWriter writes one host's connections.
type keyfileWriter struct {
	in     Input
	out    *Output
	ledger *ledger
	taken  map[string]bool // paths of Old that have an owner
}

func writeKeyfiles(in Input) (Output, error) {
	var out Output
	w := &keyfileWriter{in: in, out: &out, ledger: newLedger(in, &out), taken: map[string]bool{}}
	for _, d := range in.devices() {
		w.connection(d)
	}
	if len(out.Files) == 0 {
		return Output{}, ErrEmpty
	}
	w.host()
	w.ledger.finish(func(x wish) string { return keyfileWhy(x) })
	return out, nil
}

// keyfileWhy is why a connection has no word for a wish.
func keyfileWhy(x wish) string {
	switch {
	case strings.HasPrefix(x.key, "sysctl."):
		return "a connection holds no sysctls; sysctl.d does"
	case strings.HasPrefix(x.key, "mptcp."):
		return "NetworkManager marks addresses as endpoints and leaves MPTCP's limits alone: ip mptcp limits set"
	case x.key == "source_rules":
		return "the wanted state has no table for this link, so there is no rule to write"
	case x.key == "absent":
		return "no file says that a link must not be there: delete its connection"
	case strings.HasPrefix(x.key, "bonding."):
		return "NetworkManager has no such bond option"
	}
	return "NetworkManager has no word for it"
}

// connectionTypes are the connection types of what is written.
var connectionTypes = map[kind]string{kindEthernet: "ethernet", kindBond: "bond", kindVLAN: "vlan", kindBridge: "bridge", kindDummy: "dummy"}

func (w *keyfileWriter) connection(d device) {
	typ, ok := connectionTypes[d.kind]
	if !ok {
		w.ledger.leaveOut(d.ID, string(d.kind), "only ethernets, bonds, VLANs, bridges and dummies are written as connections")
		return
	}
	w.ledger.say(d.ID, string(d.kind))
	place, f := w.existing(d, typ)
	c := &connection{keyfileWriter: w, device: d, file: &f, fresh: len(f.lines) == 0}
	c.head(typ)
	switch d.kind {
	case kindBond:
		c.bond()
	case kindVLAN:
		c.vlan()
	case kindBridge:
		c.bridge()
	}
	c.ethernet()
	c.ethtool()
	c.port()
	c.qdisc()
	c.addresses()
	w.out.add(place, 0o600, f.String())
}

// existing is the connection that is there for the device, and where to write
// it: an administrator's file in its place, one that a generator or the
// distribution put under another directory as a file of the same name.
func (w *keyfileWriter) existing(d device, typ string) (string, keyfile) {
	name := d.name
	if name == "" {
		name = d.ID
	}
	for _, p := range sortedKeys(w.in.Old) {
		if !strings.HasSuffix(p, ".nmconnection") || w.taken[p] {
			continue
		}
		f, _ := parseKeyfile(w.in.Old[p])
		was := f.value("connection", "type")
		if was == "802-3-ethernet" {
			was = "ethernet"
		}
		own := f.value("connection", "interface-name")
		if was != typ || own != name && (own != "" || f.value("connection", "uuid") != connectionUUID(w.in.Host.Name, name)) {
			continue
		}
		w.taken[p] = true
		return path.Join(KeyfileDir, path.Base(p)), f
	}
	place := path.Join(KeyfileDir, fileName(name)+".nmconnection")
	if _, other := w.in.Old[place]; other {
		place = path.Join(KeyfileDir, "linerate-"+fileName(name)+".nmconnection")
	}
	return place, keyfile{}
}

// fileName is an interface's name as part of a file's name.
func fileName(s string) string { return strings.ReplaceAll(s, "/", "_") }

// connection is one file being written.
type connection struct {
	*keyfileWriter
	device
	file  *keyfile
	fresh bool
	// written are the lines of numbered lists, by section and key.
	written map[string]bool
}

func (c *connection) set(group, key, value string) { c.file.set(group, key, value) }

// head is the [connection] section. The UUID and the name of a connection that
// is there stay: other profiles may name them.
func (c *connection) head(typ string) {
	name := c.name
	if name == "" {
		name = c.ID
	}
	if c.file.value("connection", "id") == "" {
		c.set("connection", "id", name)
	}
	if c.file.value("connection", "uuid") == "" {
		c.set("connection", "uuid", connectionUUID(c.in.Host.Name, name))
	}
	if c.file.value("connection", "type") == "" {
		c.set("connection", "type", typ)
	}
	c.identity()
	c.controller()
	c.activation()
	c.mptcp()
}

// identity says which interface the connection is for.
func (c *connection) identity() {
	if c.name != "" {
		c.set("connection", "interface-name", c.name)
	}
	if c.match == nil {
		return
	}
	if c.setName != "" {
		c.ledger.cannot(c.ID, "set-name", "NetworkManager does not rename interfaces: name it with a .link file or a udev rule")
	}
	c.ledger.say(c.ID, "match")
	switch m := c.match; {
	case !m.MAC.IsZero():
		c.set("ethernet", "mac-address", strings.ToUpper(m.MAC.String()))
	case c.name == "" && m.Name != "":
		c.set("match", "interface-name", m.Name+";")
		c.set("connection", "multi-connect", "3")
	case c.name == "":
		c.set("connection", "multi-connect", "3")
	}
	if len(c.match.Drivers) > 0 {
		c.set("match", "driver", strings.Join(c.match.Drivers, ";")+";")
	}
}

// controller names the bond or bridge of a port, in the words that every
// release reads: master and slave-type. NetworkManager itself writes
// controller and port-type from 1.46 on; a file that has those keeps them.
func (c *connection) controller() {
	words := [...]string{"master", "slave-type"}
	if _, newer := c.file.find("connection", "controller"); newer {
		words = [...]string{"controller", "port-type"}
	}
	if c.master == "" {
		c.file.remove(func(group, key string) bool {
			return group == "connection" && slices.Contains([]string{"master", "slave-type", "controller", "port-type"}, key)
		})
		return
	}
	if _, twice := c.file.find("connection", "master"); twice && words[0] == "controller" {
		c.file.remove(func(group, key string) bool { return group == "connection" && (key == "master" || key == "slave-type") })
	}
	// A controller may stand there as the UUID of its connection.
	if was := c.file.value("connection", words[0]); was == "" || !c.namesMaster(was) {
		c.set("connection", words[0], c.master)
	}
	c.set("connection", words[1], string(c.masterKind))
	c.ledger.say(c.master, "interfaces")
}

// namesMaster reports a UUID that is the controller's connection's.
func (c *connection) namesMaster(value string) bool {
	for _, text := range c.in.Old {
		f, _ := parseKeyfile(text)
		if f.value("connection", "uuid") == value && f.value("connection", "interface-name") == c.master {
			return true
		}
	}
	return false
}

// activation is netplan's activation-mode.
func (c *connection) activation() {
	for _, p := range c.Unread {
		if p.Key == "activation-mode" && p.Value != nil && p.Value.Text == "manual" {
			c.set("connection", "autoconnect", "false")
			c.ledger.say(c.ID, p.Key)
		}
	}
}

// mptcp marks the device's addresses as MPTCP endpoints. The flags are the
// device's, for all its addresses.
func (c *connection) mptcp() {
	m := c.in.Host.MPTCP
	if m == nil {
		return
	}
	flags, meant := 0, make(map[netip.Addr]bool)
	for i, e := range m.Endpoints {
		meant[e.Addr] = true
		key := fmt.Sprintf("mptcp.endpoints[%d]", i)
		if e.Link != c.ID && e.Link != c.name && (e.Link != "" || !c.holds(e.Addr)) {
			continue
		}
		of := mptcpEnabled
		for _, word := range strings.Fields(e.Flags.String()) {
			n, known := mptcpFlagNumbers[word]
			if !known {
				c.ledger.cannot("", key, "NetworkManager has no endpoint flag "+word)
			}
			of |= n
		}
		switch {
		case flags != 0 && flags != of:
			c.ledger.cannot("", key, c.ID+" has one set of flags for all its addresses, and another endpoint's stands there")
			continue
		case e.Port != 0:
			c.ledger.cannot("", key, "NetworkManager announces no port")
		}
		flags = of
		c.ledger.say("", key)
	}
	if flags == 0 {
		return
	}
	c.set("connection", "mptcp-flags", strconv.Itoa(flags))
	var besides []string
	for _, a := range c.Addresses {
		if !meant[a.Addr()] {
			besides = append(besides, a.Addr().String())
		}
	}
	if len(besides) > 0 {
		c.ledger.out.warn("", "mptcp.endpoints", "NetworkManager makes every address of "+c.ID+" an endpoint, also "+strings.Join(besides, ", "))
	}
}

// bond is the [bond] section. NetworkManager's own miimon is 100 ms where the
// kernel's is 0, so it is always said; and it refuses a file whole for an
// option that the mode does not have.
func (c *connection) bond() {
	mode := c.mode()
	c.ledger.say(c.ID, "interfaces")
	if _, ok := c.option("miimon"); !ok && c.file.value("bond", "miimon") == "" {
		c.set("bond", "miimon", "0")
	}
	c.file.remove(func(group, key string) bool {
		said, known := keyfileOptionOf(key)
		return group == "bond" && known && !said.In(mode)
	})
	for _, o := range c.options {
		row, _ := bondopt.Find(o.name)
		said, known := keyfileOptionOf(o.name)
		switch {
		case !known:
			continue // the ledger says so
		case !said.In(mode):
			c.ledger.cannot(c.ID, o.key, "mode "+mode+" has no such option, and NetworkManager refuses a connection that sets it")
			continue
		case said.Since != "":
			c.ledger.cannot(c.ID, o.key, "NetworkManager knows it from "+said.Since+" on; earlier ones drop it")
		}
		c.ledger.say(c.ID, o.key)
		value := o.value
		if row.Kind == bondopt.Port {
			if names := c.in.interfaces([]string{value}); len(names) > 0 {
				value = names[0]
			}
		}
		c.set("bond", o.name, value)
		if row.Twin != "" {
			// The two are one option of the kernel, and must be equal here.
			c.set("bond", row.Twin, value)
		}
	}
}

func (c *connection) vlan() {
	c.ledger.say(c.ID, "id", "link")
	if was := c.file.value("vlan", "parent"); was == "" || !strings.Contains(was, "-") || len(was) != 36 {
		c.set("vlan", "parent", c.parent)
	}
	c.set("vlan", "id", strconv.Itoa(c.tag))
}

func (c *connection) bridge() {
	c.ledger.say(c.ID, "interfaces")
	if c.fresh && c.parameters == nil {
		return
	}
	for _, p := range keyfileBridge {
		if n := c.parameters.Get(p[0]); n != nil {
			c.set("bridge", p[1], n.Text)
			c.ledger.say(c.ID, "parameters."+p[0])
		}
	}
}
