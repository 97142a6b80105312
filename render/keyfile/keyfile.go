// Package keyfile writes a host's network as NetworkManager's keyfiles
// (nm-settings-keyfile(5)), and reads them.
package keyfile

import (
	"crypto/sha1"
	"fmt"
	"maps"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/ledger"
)

// Dir is where NetworkManager's connections of an administrator are.
const Dir = "/etc/NetworkManager/system-connections"

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

// writer writes one host's connections.
type writer struct {
	in     render.Input
	out    *render.Output
	ledger *ledger.Ledger
	taken  map[string]bool // paths of Old that have an owner
}

// Write returns the host's network as connections. The error is
// render.ErrEmpty for a host that has nothing to write.
func Write(in render.Input) (render.Output, error) {
	var out render.Output
	w := &writer{in: in, out: &out, ledger: ledger.New(in, &out), taken: map[string]bool{}}
	for _, d := range device.All(in) {
		w.connection(d)
	}
	if len(out.Files) == 0 {
		return render.Output{}, render.ErrEmpty
	}
	w.host()
	w.ledger.Finish("NetworkManager cannot represent it",
		ledger.Reason{Keys: "sysctl.", Why: "a connection holds no sysctls; sysctl.d does"},
		ledger.Reason{Keys: "mptcp.", Why: "NetworkManager marks addresses as endpoints and leaves MPTCP's limits alone: ip mptcp limits set"},
		ledger.Reason{Keys: "source_rules", Why: "the wanted state has no table for this link, so there is no rule to write"},
		ledger.Reason{Keys: "absent", Why: "no file says that a link must not be there: delete its connection"},
		ledger.Reason{Keys: "bonding.", Why: "NetworkManager has no such bond option"},
	)
	return out, nil
}

// connectionTypes are the connection types of what is written.
var connectionTypes = map[device.Kind]string{device.Ethernet: "ethernet", device.Bond: "bond", device.VLAN: "vlan", device.Bridge: "bridge", device.Dummy: "dummy"}

func (w *writer) connection(d device.Device) {
	typ, ok := connectionTypes[d.Kind]
	if !ok {
		w.ledger.LeaveOut(d.ID, string(d.Kind), "only ethernets, bonds, VLANs, bridges and dummies are written as connections")
		return
	}
	w.ledger.Say(d.ID, string(d.Kind))
	place, f := w.existing(d, typ)
	c := &connection{writer: w, Device: d, file: &f, fresh: len(f.lines) == 0}
	c.head(typ)
	switch d.Kind {
	case device.Bond:
		c.bond()
	case device.VLAN:
		c.vlan()
	case device.Bridge:
		c.bridge()
	}
	c.keys("ethernet")
	c.ethtool()
	c.port()
	c.qdisc()
	c.addresses()
	w.out.Add(place, 0o600, f.String())
}

// existing is the connection that is there for the device, and where to write
// it: an administrator's file in its place, one that a generator or the
// distribution put under another directory as a file of the same name.
func (w *writer) existing(d device.Device, typ string) (string, file) {
	name := d.Name
	if name == "" {
		name = d.ID
	}
	for _, p := range slices.Sorted(maps.Keys(w.in.Old)) {
		if !strings.HasSuffix(p, ".nmconnection") || w.taken[p] {
			continue
		}
		f, _ := parse(w.in.Old[p])
		was := f.value("connection", "type")
		if was == "802-3-ethernet" {
			was = "ethernet"
		}
		own := f.value("connection", "interface-name")
		if was != typ || own != name && (own != "" || f.value("connection", "uuid") != connectionUUID(w.in.Host.Name, name)) {
			continue
		}
		w.taken[p] = true
		return path.Join(Dir, path.Base(p)), f
	}
	place := path.Join(Dir, fileName(name)+".nmconnection")
	if _, other := w.in.Old[place]; other {
		place = path.Join(Dir, "linerate-"+fileName(name)+".nmconnection")
	}
	return place, file{}
}

// fileName is an interface's name as part of a file's name.
func fileName(s string) string { return strings.ReplaceAll(s, "/", "_") }

// connection is one file being written.
type connection struct {
	*writer
	device.Device
	file  *file
	fresh bool
	// written are the lines of numbered lists, by section and key.
	written map[string]bool
}

func (c *connection) set(group, key, value string) { c.file.set(group, key, value) }

// head is the [connection] section. The UUID and the name of a connection that
// is there stay: other profiles may name them.
func (c *connection) head(typ string) {
	name := c.Name
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
	if c.Name != "" {
		c.set("connection", "interface-name", c.Name)
	}
	if c.Match == nil {
		return
	}
	if c.SetName != "" {
		c.ledger.Cannot(c.ID, "set-name", "NetworkManager does not rename interfaces: name it with a .link file or a udev rule")
	}
	c.ledger.Say(c.ID, "match")
	switch m := c.Match; {
	case !m.MAC.IsZero():
		c.set("ethernet", "mac-address", strings.ToUpper(m.MAC.String()))
	case c.Name == "" && m.Name != "":
		c.set("match", "interface-name", m.Name+";")
		c.set("connection", "multi-connect", "3")
	case c.Name == "":
		c.set("connection", "multi-connect", "3")
	}
	if len(c.Match.Drivers) > 0 {
		c.set("match", "driver", strings.Join(c.Match.Drivers, ";")+";")
	}
}

// controller names the bond or bridge of a port, in the words that every
// release reads: master and slave-type. NetworkManager itself writes
// controller and port-type from 1.46 on; a file that has those keeps them.
func (c *connection) controller() {
	if c.MasterKind.OVS() {
		return // Open vSwitch's ports are connections of their own, which are not written
	}
	words := [...]string{"master", "slave-type"}
	if _, newer := c.file.find("connection", "controller"); newer {
		words = [...]string{"controller", "port-type"}
	}
	if c.Master == "" {
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
		c.set("connection", words[0], c.Master)
	}
	c.set("connection", words[1], string(c.MasterKind))
	c.ledger.Say(c.Master, "interfaces")
}

// namesMaster reports a UUID that is the controller's connection's.
func (c *connection) namesMaster(value string) bool {
	for _, text := range c.in.Old {
		f, _ := parse(text)
		if f.value("connection", "uuid") == value && f.value("connection", "interface-name") == c.Master {
			return true
		}
	}
	return false
}

// activation is netplan's activation-mode.
func (c *connection) activation() {
	if c.Text("activation-mode") == "manual" {
		c.set("connection", "autoconnect", "false")
		c.ledger.Say(c.ID, "activation-mode")
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
		if e.Link != c.ID && e.Link != c.Name && (e.Link != "" || !c.Holds(e.Addr)) {
			continue
		}
		of := mptcpEnabled
		for _, word := range strings.Fields(e.Flags.String()) {
			n, known := mptcpFlagNumbers[word]
			if !known {
				c.ledger.Cannot("", key, "NetworkManager has no endpoint flag "+word)
			}
			of |= n
		}
		switch {
		case flags != 0 && flags != of:
			c.ledger.Cannot("", key, c.ID+" has one set of flags for all its addresses, and another endpoint's are set already")
			continue
		case e.Port != 0:
			c.ledger.Cannot("", key, "NetworkManager announces no port")
		}
		flags = of
		c.ledger.Say("", key)
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
		c.ledger.Out.Warn("", "mptcp.endpoints", "NetworkManager makes every address of "+c.ID+" an endpoint, also "+strings.Join(besides, ", "))
	}
}

// bond is the [bond] section. NetworkManager's own miimon is 100 ms where the
// kernel's is 0, so it is always said; and it refuses a file whole for an
// option that the mode does not have.
func (c *connection) bond() {
	mode := c.Mode()
	c.ledger.Say(c.ID, "interfaces")
	if _, ok := c.Option("miimon"); !ok && c.file.value("bond", "miimon") == "" {
		c.set("bond", "miimon", "0")
	}
	c.file.remove(func(group, key string) bool {
		_, said, known := bondopt.Said(bondopt.Keyfile, key)
		return group == "bond" && known && !said.In(mode)
	})
	for _, o := range c.Options {
		row, said, known := bondopt.Said(bondopt.Keyfile, o.Name)
		switch {
		case !known:
			continue // the ledger says so
		case !said.In(mode):
			c.ledger.Cannot(c.ID, o.Key, "mode "+mode+" has no such option, and NetworkManager refuses a connection that sets it")
			continue
		case said.Since != "":
			c.ledger.Cannot(c.ID, o.Key, "NetworkManager knows it from "+said.Since+" on; earlier ones drop it")
		}
		c.ledger.Say(c.ID, o.Key)
		value := o.Value
		if row.Kind == bondopt.Port {
			if names := device.Interfaces(c.in, []string{value}); len(names) > 0 {
				value = names[0]
			}
		}
		c.set("bond", said.Name, value)
		if row.Name == o.Name && row.Twin != "" {
			// The two are one option of the kernel, and must be equal here.
			c.set("bond", row.Twin, value)
		}
	}
}

func (c *connection) vlan() {
	c.ledger.Say(c.ID, "id", "link")
	if was := c.file.value("vlan", "parent"); was == "" || !strings.Contains(was, "-") || len(was) != 36 {
		c.set("vlan", "parent", c.Parent)
	}
	c.set("vlan", "id", strconv.Itoa(c.Tag))
}

func (c *connection) bridge() {
	c.ledger.Say(c.ID, "interfaces")
	c.keys("bridge")
}
