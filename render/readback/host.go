// Package readback puts what a format's files say of a host together as a fabric
// file has it.
package readback

import (
	"encoding/binary"
	"maps"
	"math/bits"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/node"
)

// Host puts together what files say of a host, as a fabric file has it.
type Host struct {
	Network *yamldoc.Node
	// Beside is what netplan has no words for: "bonding", "links", ...
	Beside *yamldoc.Node
	Unread []render.Unread
	// Kinds are netplan's sections by device, for those that files make.
	Kinds map[string]string
	// Tables are the numbers of routing tables that have a name.
	Tables map[string]string
	places map[*yamldoc.Node]place
	// made are the devices of each section, touched the nodes that Mark has yet to look
	// at, texts the files that it has split.
	made    map[*yamldoc.Node]*index
	touched []*yamldoc.Node
	texts   map[string]*fileText
}

// New returns a host of which nothing is known yet.
func New() *Host {
	f := &Host{Network: node.Mapping(), Beside: node.Mapping(), Kinds: map[string]string{}, places: map[*yamldoc.Node]place{},
		made: map[*yamldoc.Node]*index{}, texts: map[string]*fileText{}}
	node.Put(f.Network, "version", node.Plain("2"))
	return f
}

// Miss notes a line that is not read.
func (f *Host) Miss(path string, line int, key, value, why string) {
	f.Unread = append(f.Unread, render.Unread{Path: path, Line: line, Key: key, Value: value, Why: why})
}

// Device is the definition of an interface, made where there is none.
func (f *Host) Device(id string) *yamldoc.Node {
	section := f.Kinds[id]
	if section == "" {
		section = "ethernets"
	}
	n := f.within(f.Network, section, id)
	n.Kind = yamldoc.MappingNode
	return f.touch(n)
}

// within is node.Within for two keys. A section is looked through once, however many
// devices it has.
func (f *Host) within(root *yamldoc.Node, section, id string) *yamldoc.Node {
	n := node.Within(root, section)
	known := f.made[n]
	if known == nil {
		known = &index{byKey: map[string]*yamldoc.Node{}}
		f.made[n] = known
	}
	if known.pairs > len(n.Pairs) { // something was left out
		clear(known.byKey)
		known.pairs = 0
	}
	for ; known.pairs < len(n.Pairs); known.pairs++ {
		known.byKey[n.Pairs[known.pairs].Key] = n.Pairs[known.pairs].Value
	}
	if known.byKey[id] == nil {
		n.Pairs = append(n.Pairs, yamldoc.Pair{Key: id, Value: node.Mapping()})
		known.byKey[id], known.pairs = n.Pairs[len(n.Pairs)-1].Value, len(n.Pairs)
	}
	return known.byKey[id]
}

// index are the first pairs of a mapping by their keys.
type index struct {
	pairs int
	byKey map[string]*yamldoc.Node
}

// Setting is a device's mapping beside the network: links.ID or bonding.ID.
func (f *Host) Setting(kind, id string, more ...string) *yamldoc.Node {
	n := f.touch(f.within(f.Beside, kind, id))
	if len(more) > 0 {
		return node.Within(n, more...)
	}
	return n
}

// Option puts a bond option under netplan's name, or beside where it has none.
func (f *Host) Option(bond, kernel, value string) {
	if o, known := bondopt.Find(kernel); known {
		if word, err := o.Word(value); err == nil {
			value = word // what the kernel takes as a number
		}
	}
	name, parameter, ok := fabric.ParameterOf(nil, kernel, value)
	if !ok {
		node.Put(f.Setting("bonding", bond), kernel, node.Quoted(value))
		return
	}
	f.Kinds[bond] = "bonds"
	node.Put(node.Within(f.Device(bond), "parameters"), name, parameter)
}

// Offload puts an offload under netplan's name, or beside where it has none.
func (f *Host) Offload(id, name string, on bool) {
	for _, row := range device.Offloads {
		if row.Ethtool == name && row.Netplan != "" && f.Kinds[id] == "" {
			node.Put(f.Device(id), row.Netplan, node.Plain(strconv.FormatBool(on)))
			return
		}
	}
	node.Put(f.Setting("links", id, "offloads"), name, node.Plain(device.OnOff(on)))
}

// Address adds an address to a device, with its options if there are any.
func (f *Host) Address(id string, p netip.Prefix, options *yamldoc.Node) {
	if options == nil || len(options.Pairs) == 0 {
		node.Push(f.Device(id), "addresses", node.Quoted(p.String()))
		return
	}
	item := node.Mapping()
	node.Put(item, p.String(), options)
	node.Push(f.Device(id), "addresses", item)
}

// Found is what was read, less what a fabric refuses, which is noted as unread.
// The error is render.ErrEmpty where nothing was.
func (f *Host) Found() (render.Found, error) {
	keys := node.Mapping()
	for i := range f.Network.Pairs {
		f.dropUnrealPorts(f.Network.Pairs[i].Value)
	}
	// A host of which nothing is said but what is to go has a network all the same.
	if len(f.Beside.Pairs) > 0 || slices.ContainsFunc(f.Network.Pairs, func(p yamldoc.Pair) bool { return p.Key != "version" }) {
		if f.Network.Get("version") == nil {
			f.Network.Pairs = slices.Insert(f.Network.Pairs, 0, yamldoc.Pair{Key: "version", Value: node.Plain("2")})
		}
		node.Put(keys, "network", f.Network)
	}
	for _, p := range f.Beside.Pairs {
		node.Put(keys, p.Key, p.Value)
	}
	if len(keys.Pairs) == 0 {
		return render.Found{Unread: f.Unread}, render.ErrEmpty
	}
	if err := f.takeOut(keys); err != nil {
		return render.Found{Unread: f.Unread}, err
	}
	return render.Found{Keys: keys, Unread: f.Unread, Where: func(p yamldoc.Problem) yamldoc.Problem { return f.where(keys, p) }}, nil
}

// Parents defines the devices that VLANs ride on and no file speaks of, for formats
// that need no file for a device of the kernel's; not those that were left out.
func (f *Host) Parents(left func(name string) bool) {
	for _, vlan := range node.Pairs(f.Network.Get("vlans")) {
		link := node.Said(vlan.Value.Get("link"))
		known := slices.ContainsFunc(f.Network.Pairs, func(section yamldoc.Pair) bool { return section.Value.Get(link) != nil })
		if known || !LinkName(link) || left != nil && left(link) {
			continue
		}
		f.Device(link)
	}
}

// Guessed notes the devices that others name, that nothing else is said of, and that by
// their names are no Ethernet devices, which they are taken for.
func (f *Host) Guessed() {
	for _, d := range node.Pairs(f.Network.Get("ethernets")) {
		if len(d.Value.Pairs) == 0 && (strings.HasPrefix(d.Key, "bond") || strings.HasPrefix(d.Key, "team")) {
			f.Note(namedBy(f.Network, d), "ethernets."+d.Key, "nothing here says what it is: it is taken for an Ethernet device")
		}
	}
}

// namedBy is what names a device that has no lines of its own: another's link or port.
func namedBy(n *yamldoc.Node, d yamldoc.Pair) *yamldoc.Node {
	if n.Kind == yamldoc.ScalarNode && n.Text == d.Key {
		return n
	}
	for _, p := range n.Pairs {
		if at := namedBy(p.Value, d); at != d.Value {
			return at
		}
	}
	for _, item := range n.Items {
		if at := namedBy(item, d); at != d.Value {
			return at
		}
	}
	return d.Value
}

// dropUnrealPorts makes {} of definitions that say nothing.
func (f *Host) dropUnrealPorts(section *yamldoc.Node) {
	for i := range section.Pairs {
		if v := section.Pairs[i].Value; v.Kind == yamldoc.MappingNode && len(v.Pairs) == 0 {
			v.Flow = true
		}
	}
}

// DestinationText is netplan's word for a destination.
func DestinationText(p netip.Prefix) string {
	if p.Bits() == 0 {
		return "default"
	}
	return p.String()
}

// ParseDestination reads "default", an address or a network; four is the
// family of a bare "default".
func ParseDestination(s string, four bool) (netip.Prefix, bool) {
	switch s {
	case "default", "any":
		if four {
			return netip.PrefixFrom(netip.IPv4Unspecified(), 0), true
		}
		return netip.PrefixFrom(netip.IPv6Unspecified(), 0), true
	}
	if p, err := netip.ParsePrefix(s); err == nil {
		return p.Masked(), true
	}
	a, err := netip.ParseAddr(s)
	if err != nil || a.Zone() != "" {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(a, a.BitLen()), true
}

// LinkName reports what can be an interface's name (dev_valid_name,
// net/core/dev.c).
func LinkName(s string) bool {
	return s != "" && len(s) < 16 && s != "." && s != ".." && !strings.ContainsAny(s, "/: \t\"'{}[],&*#?|<>=!%@\\`") && PrintableName(s)
}

// PrintableName reports a word of printable ASCII.
func PrintableName(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c > '~' })
}

// RouteValue is a value of [Route]'s as netplan has it.
func (f *Host) RouteValue(key, value string, four bool) (string, bool) {
	switch key {
	case "to":
		p, ok := ParseDestination(value, four)
		if ok && p.Bits() == 0 && p.Addr().Is4() == four {
			return "default", true
		}
		return p.String(), ok
	case "via", "from":
		a, err := netip.ParseAddr(value)
		return value, err == nil && a.Zone() == ""
	case "on-link":
		on, ok := ZeroOne(value)
		return strconv.FormatBool(on == "1"), ok
	case "table":
		return f.TableNumber(value)
	case "type", "scope":
		return value, LinkName(value)
	}
	value = SizeText(value, 1024)
	_, err := strconv.ParseUint(value, 10, 32)
	return value, err == nil
}

// TableNumber is a routing table's number: by the kernel's names, then by Tables.
func (f *Host) TableNumber(s string) (string, bool) {
	if n, ok := map[string]string{"default": "253", "main": "254", "local": "255"}[s]; ok {
		return n, true
	}
	if n, ok := f.Tables[s]; ok {
		return n, true
	}
	_, err := strconv.ParseUint(s, 10, 32)
	return s, err == nil
}

// ReadTables reads the names of routing tables out of iproute2's files (rt_tables,
// rt_tables.d/*.conf): a number and a name on each line.
func (f *Host) ReadTables(files map[string]string) {
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if dir := path.Base(path.Dir(file)); path.Base(file) != "rt_tables" && (dir != "rt_tables.d" || path.Ext(file) != ".conf") {
			continue
		}
		for _, line := range strings.Split(files[file], "\n") {
			line, _, _ = strings.Cut(line, "#")
			words := strings.Fields(line)
			if len(words) != 2 {
				continue
			}
			if n, err := strconv.ParseUint(words[0], 0, 32); err == nil {
				if f.Tables == nil {
					f.Tables = map[string]string{}
				}
				f.Tables[words[1]] = strconv.FormatUint(n, 10)
			}
		}
	}
}

// ScaledNumber is a number times a scale, rounded; false for what is none, and
// above 1e18.
func ScaledNumber(s string, scale float64) (uint64, bool) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0) || v*scale > 1e18 {
		return 0, false
	}
	return uint64(v*scale + 0.5), true
}

// SizeText is a number with systemd's suffix K, M or G as a plain one, the
// text itself where it is none.
func SizeText(s string, base float64) string {
	scale := 1.0
	number := s
	if s != "" {
		if i := strings.IndexByte("KMGT", s[len(s)-1]); i >= 0 {
			number = s[:len(s)-1]
			for range i + 1 {
				scale *= base
			}
		}
	}
	if n, ok := ScaledNumber(strings.TrimSpace(number), scale); ok {
		return strconv.FormatUint(n, 10)
	}
	return s
}

// ZeroOne is a boolean of systemd.syntax(7) as the kernel's number.
func ZeroOne(s string) (string, bool) {
	switch strings.ToLower(s) {
	case "1", "yes", "y", "true", "t", "on":
		return "1", true
	case "0", "no", "n", "false", "f", "off":
		return "0", true
	}
	return "", false
}

// RuleValue is a value of a routing rule's as netplan has it.
func (f *Host) RuleValue(key, value string, four bool) (string, bool) {
	switch key {
	case "from", "to":
		p, ok := ParseDestination(value, four)
		return p.String(), ok
	case "table":
		return f.TableNumber(value)
	}
	n, err := strconv.ParseUint(value, 0, 32)
	return strconv.FormatUint(n, 10), err == nil
}

// DottedLength is the prefix length that a dotted mask says; false for one that is no
// mask.
func DottedLength(s string) (int, bool) {
	a, err := netip.ParseAddr(s)
	if err != nil || !a.Is4() {
		return 0, false
	}
	b := a.As4()
	mask := binary.BigEndian.Uint32(b[:])
	n := bits.LeadingZeros32(^mask)
	return n, mask<<n == 0
}
