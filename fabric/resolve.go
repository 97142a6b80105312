package fabric

import (
	"fmt"
	"net/netip"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/linerate/linerate/fabric/subnets"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/netstate"
)

// globMatches is fnmatch(3) as far as interface names need it.
func globMatches(glob, name string) bool {
	ok, err := path.Match(strings.ReplaceAll(glob, "[!", "[^"), name)
	return err == nil && ok
}

func isGlob(s string) bool { return strings.ContainsAny(s, "*?[") }

// names are the interfaces that the definition stands for as far as the file
// alone tells: itself, its new name, the one name or MAC it matches, or the
// names in hardware.links that its glob covers. False when the file does not
// tell.
func (e Ethernet) names(hw Hardware) ([]string, bool) {
	switch m := e.Match; {
	case e.SetName != "":
		return []string{e.SetName}, true
	case m == nil:
		return []string{e.ID}, true
	case m.Name != "" && !isGlob(m.Name):
		return []string{m.Name}, true
	case m.Name != "":
		var covered []string
		for name := range hw.Links {
			if globMatches(m.Name, name) {
				covered = append(covered, name)
			}
		}
		sort.Slice(covered, func(i, j int) bool { return netstate.NaturalLess(covered[i], covered[j]) })
		return covered, len(covered) > 0
	case !m.MAC.IsZero():
		// One device has the address; the file does not say its name.
		return []string{e.ID}, true
	}
	if _, ok := hw.Links[e.ID]; ok {
		return []string{e.ID}, true
	}
	return nil, false
}

// byAddress reports a definition of the one device that has a MAC address, whatever
// its name.
func (e Ethernet) byAddress() bool {
	return e.Match != nil && e.SetName == "" && e.Match.Name == "" && !e.Match.MAC.IsZero()
}

// String says what is matched: "name ens2f*".
func (m Match) String() string {
	var parts []string
	if m.Name != "" {
		parts = append(parts, "name "+m.Name)
	}
	if !m.MAC.IsZero() {
		parts = append(parts, "macaddress "+m.MAC.String())
	}
	if len(m.Drivers) > 0 {
		parts = append(parts, "driver "+strings.Join(m.Drivers, "|"))
	}
	if parts == nil {
		return "of everything"
	}
	return strings.Join(parts, ", ")
}

// Covers reports whether a device of a host is one that the definition stands
// for. Virtual devices are never matched, only named.
func (e Ethernet) Covers(l netstate.Link) bool {
	if e.Match == nil {
		return e.ID == l.Name
	}
	if e.SetName != "" && e.SetName == l.Name {
		return true
	}
	m := *e.Match
	if m.Name != "" && !globMatches(m.Name, l.Name) {
		return false
	}
	if !m.MAC.IsZero() && m.MAC != l.HardwareMAC() {
		return false
	}
	if len(m.Drivers) > 0 && !anyGlob(m.Drivers, l.Driver) {
		return false
	}
	return m.Name != "" || l.Kind == "" || l.Kind == "veth" && !m.MAC.IsZero()
}

func anyGlob(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(g string) bool { return globMatches(g, name) })
}

// HardwareOf returns what the file declares of a host's device: under its own
// name, its name on AIX or FreeBSD, the netplan definition that covers it, or
// a glob.
func (h Host) HardwareOf(l netstate.Link) (HardwareLink, bool) {
	if hw, ok := h.Hardware.Links[l.Name]; ok {
		return hw, true
	}
	if len(h.Hardware.Links) == 0 {
		return HardwareLink{}, false
	}
	keys := make([]string, 0, len(h.Hardware.Links))
	for k := range h.Hardware.Links {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool { return netstate.NaturalLess(keys[i], keys[j]) })
	for _, k := range keys {
		if h.Names[k] == l.Name && l.Name != "" {
			return h.Hardware.Links[k], true
		}
	}
	for _, e := range h.Network.Ethernets {
		if !e.Covers(l) {
			continue
		}
		for _, k := range keys {
			renamed := e.SetName == l.Name && e.Match != nil && e.Match.Name != "" && globMatches(e.Match.Name, k)
			if k == e.ID || renamed {
				return h.Hardware.Links[k], true
			}
		}
	}
	for _, k := range keys {
		if isGlob(k) && globMatches(k, l.Name) {
			return h.Hardware.Links[k], true
		}
	}
	return HardwareLink{}, false
}

// Interfaces are the interface names that the netplan definition id stands
// for; false when the file alone does not tell, or has no such definition.
func (h Host) Interfaces(id string) ([]string, bool) {
	if e, ok := h.Network.Ethernet(id); ok {
		return e.names(h.Hardware)
	}
	if _, ok := h.Network.Device(id); ok {
		return []string{id}, true
	}
	return nil, false
}

// allInterfaces are Interfaces of every definition.
func (h Host) allInterfaces() map[string][]string {
	all := make(map[string][]string)
	h.Network.each(func(_ string, d Device) { all[d.ID] = []string{d.ID} })
	for _, e := range slices.Backward(h.Network.Ethernets) {
		all[e.ID], _ = e.names(h.Hardware)
	}
	return all
}

// below are the definitions that a definition rides on.
func (n Network) below(id string) []string {
	for _, v := range n.VLANs {
		if v.ID == id {
			return []string{v.Link}
		}
	}
	for _, b := range n.Bonds {
		if b.ID == id {
			return b.Interfaces
		}
	}
	if b, ok := n.OVSBond(id); ok {
		return b.Interfaces
	}
	for _, b := range n.Bridges {
		if b.ID == id {
			return b.Interfaces
		}
	}
	return nil
}

// unresolved are the ethernet definitions under id whose devices the file does
// not tell.
func (h Host) unresolved(id string) []Ethernet {
	var out []Ethernet
	seen := map[string]bool{}
	var visit func(id string)
	visit = func(id string) {
		if seen[id] {
			return
		}
		seen[id] = true
		if e, ok := h.Network.Ethernet(id); ok {
			if _, known := e.names(h.Hardware); !known {
				out = append(out, e)
			}
			return
		}
		for _, lower := range h.Network.below(id) {
			visit(lower)
		}
	}
	visit(id)
	return out
}

func (h Host) unresolvedText(e Ethernet) string {
	return fmt.Sprintf("match %s covers no known link: name them in hosts.%s.hardware.links", e.Match, h.Name)
}

// ResolveAlone says, as Problems, why the file alone cannot answer for its
// paths: a match under an address that a path uses covers no device named in
// hardware.links, or a path's host has no network. Nil when it can. A fabric
// that will be measured needs no such answer: its devices are observed.
func (f Fabric) ResolveAlone() error {
	ps := &yamldoc.Collector{File: f.File}
	root := &yamldoc.Node{}
	if t := yamldoc.Read(&yamldoc.Collector{}, []byte(f.Text)); t != nil {
		root = t.Root
	}
	hosts := make(map[string]*Host, len(f.Hosts))
	for i := range f.Hosts {
		hosts[f.Hosts[i].Name] = &f.Hosts[i]
	}
	places := root.Get("hosts").Children()
	for _, p := range f.Paths {
		var ends [2]Host
		for i, name := range []string{p.From, p.To} {
			if h, ok := hosts[name]; ok {
				ends[i] = *h
			}
		}
		common := subnets.Common(ends[0].Network.addresses(), ends[1].Network.addresses(), p.Family)
		for _, h := range ends {
			at := places[h.Name]
			if at == nil {
				at = root.Find("hosts")
			}
			f.resolveEnd(ps, at, h, common)
		}
	}
	return ps.All.Err()
}

func (f Fabric) resolveEnd(ps *yamldoc.Collector, at *yamldoc.Node, h Host, common []netip.Prefix) {
	if h.Network.IsZero() {
		ps.At(at, fmt.Sprintf("hosts.%s has no network: its links are unknown until it is observed", h.Name), "paste the host's netplan under network, or give reach and measure")
		return
	}
	net := unwrapped(at.Find("network"))
	for _, d := range h.Network.Devices() {
		if !inCommon(d.Addresses, common) {
			continue
		}
		for _, e := range h.unresolved(d.ID) {
			ps.At(net.Find("ethernets", e.ID, "match"), h.unresolvedText(e), fmt.Sprintf("write hardware: {links: {NAME: {speed: 25G}, ...}} with the names that match %s has", e.Match))
		}
	}
}

// inCommon reports an address in one of the subnets; without a common subnet
// the path is routed and any address may be its end.
func inCommon(addresses, common []netip.Prefix) bool {
	for _, a := range addresses {
		if len(common) == 0 {
			return true
		}
		for _, c := range common {
			if c.Contains(a.Addr()) {
				return true
			}
		}
	}
	return false
}
