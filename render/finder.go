package render

import (
	"net/netip"
	"strconv"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
)

// finder puts together what files say of a host, as a fabric file has it.
type finder struct {
	network *yamldoc.Node
	// beside is what netplan has no words for: "bonding", "links", ...
	beside *yamldoc.Node
	unread []Unread
	// kinds are netplan's sections by device, for those that files make.
	kinds map[string]string
}

func newFinder() *finder {
	f := &finder{network: mapping(), beside: mapping(), kinds: map[string]string{}}
	put(f.network, "version", plain("2"))
	return f
}

// miss notes a line that is not read.
func (f *finder) miss(path string, line int, key, value, why string) {
	f.unread = append(f.unread, Unread{Path: path, Line: line, Key: key, Value: value, Why: why})
}

// device is the definition of an interface, made where there is none.
func (f *finder) device(id string) *yamldoc.Node {
	section := f.kinds[id]
	if section == "" {
		section = "ethernets"
	}
	n := within(f.network, section, id)
	n.Kind = yamldoc.MappingNode
	return n
}

// setting is a device's mapping beside the network: links.ID or bonding.ID.
func (f *finder) setting(kind, id string, more ...string) *yamldoc.Node {
	return within(f.beside, append([]string{kind, id}, more...)...)
}

// option puts a bond option under netplan's name, or beside where it has none.
func (f *finder) option(bond, kernel, value string) {
	name, parameter, ok := fabric.ParameterOf(nil, kernel, value)
	if !ok {
		put(f.setting("bonding", bond), kernel, quoted(value))
		return
	}
	f.kinds[bond] = "bonds"
	put(within(f.device(bond), "parameters"), name, parameter)
}

// offload puts an offload under netplan's name, or beside where it has none.
func (f *finder) offload(id, name string, on bool) {
	for _, row := range offloadRows {
		if row.ethtool == name && row.netplan != "" && f.kinds[id] == "" {
			put(f.device(id), row.netplan, plain(strconv.FormatBool(on)))
			return
		}
	}
	put(f.setting("links", id, "offloads"), name, plain(onOff(on)))
}

// address adds an address to a device, with its options if there are any.
func (f *finder) address(id string, p netip.Prefix, options *yamldoc.Node) {
	if options == nil || len(options.Pairs) == 0 {
		push(f.device(id), "addresses", quoted(p.String()))
		return
	}
	item := mapping()
	put(item, p.String(), options)
	push(f.device(id), "addresses", item)
}

// found is what was read; ErrEmpty for nothing.
func (f *finder) found() (Found, error) {
	keys := mapping()
	for i := range f.network.Pairs {
		f.dropUnrealPorts(f.network.Pairs[i].Value)
	}
	if len(f.network.Pairs) > 1 {
		put(keys, "network", f.network)
	}
	for _, p := range f.beside.Pairs {
		put(keys, p.Key, p.Value)
	}
	if len(keys.Pairs) == 0 {
		return Found{Unread: f.unread}, ErrEmpty
	}
	return Found{Keys: keys, Unread: f.unread}, nil
}

// dropUnrealPorts makes {} of definitions that say nothing.
func (f *finder) dropUnrealPorts(section *yamldoc.Node) {
	for i := range section.Pairs {
		if v := section.Pairs[i].Value; v.Kind == yamldoc.MappingNode && len(v.Pairs) == 0 {
			v.Flow = true
		}
	}
}

// defaultTo is netplan's word for a destination.
func destinationText(p netip.Prefix) string {
	if p.Bits() == 0 {
		return "default"
	}
	return p.String()
}

// parseDestination reads "default", an address or a network; four is the
// family of a bare "default".
func parseDestination(s string, four bool) (netip.Prefix, bool) {
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
