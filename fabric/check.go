package fabric

import (
	"fmt"
	"net/netip"
	"sort"
	"strings"

	"github.com/linerate/linerate/fabric/subnets"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/netstate"
)

// check judges what single keys cannot: names that must exist, addresses that
// must differ.
func check(ps *yamldoc.Collector, root *yamldoc.Node, f Fabric) {
	hosts := root.Get("hosts")
	names := make([]string, len(f.Hosts))
	for i, h := range f.Hosts {
		names[i] = h.Name
		n := hosts.Find(h.Name)
		at := place("hosts").key(h.Name)
		if n.Get("network") == nil && n.Get("reach") == nil {
			ps.At(n, string(at)+" has neither network nor reach", "paste the host's netplan under network, or say how to reach it")
		}
		if h.Become != "" && !strings.HasPrefix(h.Reach, "ssh://") {
			ps.At(n.Find("become"), string(at.key("become"))+": the host is not reached by ssh", "leave it out, or write reach: ssh://user@host")
		}
		checkNetwork(ps, at.key("network"), n.Find("network"), h)
		checkHardware(ps, at.key("hardware"), n.Find("hardware"), h)
		checkSettings(ps, at, n, h)
		checkNames(ps, at, n, h)
	}
	ps.CheckPlain("hosts", hosts)
	checkAddresses(ps, hosts, f)
	checkPaths(ps, root.Get("paths"), f.Paths, names)
	checkSwitches(ps, root, f)
}

func checkHardware(ps *yamldoc.Collector, at place, n *yamldoc.Node, h Host) {
	cards := SortedNames(h.Hardware.Cards)
	plain := map[string]bool{}
	for _, e := range h.Network.Ethernets {
		plain[e.ID] = true
	}
	for _, name := range SortedNames(h.Hardware.Links) {
		link := h.Hardware.Links[name]
		if _, ok := h.Hardware.Cards[link.Card]; link.Card != "" && !ok {
			ps.At(n.Find("links", name, "card"), fmt.Sprintf("%s: card %q is not under cards%s", at.key("links").key(name), link.Card, yamldoc.Nearest(link.Card, cards)), yamldoc.Choices(cards))
		}
		if plain[name] {
			continue
		}
		if known, near := h.knowsLink(name); !known {
			ps.At(n.Find("links", name), fmt.Sprintf("%s: no ethernet of the network is %s%s", at.key("links").key(name), name, yamldoc.Nearest(name, near)), "name the interface as the network does, or add it there")
		}
	}
}

// knowsLink reports whether a name under hardware.links can be a device of the
// network; near are the names it might have meant. Anything can while the
// network is not declared or matches by what a name does not tell.
func (h Host) knowsLink(name string) (known bool, near []string) {
	if len(h.Network.Ethernets) == 0 || isGlob(name) {
		return true, nil
	}
	for _, e := range h.Network.Ethernets {
		m := e.Match
		if e.ID == name || e.SetName == name || m != nil && (m.Name == "" || globMatches(m.Name, name)) {
			return true, nil
		}
		if m == nil {
			near = append(near, e.ID)
		}
	}
	for _, o := range h.Network.Others {
		if o.ID == name {
			return true, nil
		}
	}
	return false, near
}

func SortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool { return netstate.NaturalLess(names[i], names[j]) })
	return names
}

// checkAddresses finds addresses that two devices have.
func checkAddresses(ps *yamldoc.Collector, hosts *yamldoc.Node, f Fabric) {
	owners := map[netip.Addr]string{}
	for _, h := range f.Hosts {
		net := unwrapped(hosts.Find(h.Name, "network"))
		h.Network.each(func(section string, d Device) {
			for i, p := range d.Addresses {
				owner := fmt.Sprintf("%s of %s", d.ID, h.Name)
				if first, taken := owners[p.Addr()]; taken && subnets.Connects(p) {
					ps.At(net.Find(section, d.ID, "addresses", i), fmt.Sprintf("address %s of %s is %s's already", p.Addr(), owner, first), "every address belongs to one device of one host")
					continue
				}
				owners[p.Addr()] = owner
			}
		})
	}
}

func checkPaths(ps *yamldoc.Collector, n *yamldoc.Node, paths []Path, hosts []string) {
	type way struct{ from, to, family string }
	first := map[way]int{}
	known := make(map[string]bool, len(hosts))
	for _, name := range hosts {
		known[name] = true
	}
	for i, p := range paths {
		between := n.Find(i, "between")
		at := place("paths").item(i)
		for j, name := range []string{p.From, p.To} {
			if name != "" && !known[name] {
				ps.At(between.Find(j), fmt.Sprintf("%s: host %q is not under hosts%s", at, name, yamldoc.Nearest(name, hosts)), yamldoc.Choices(hosts))
			}
		}
		checkLearned(ps, at, n.Find(i), p)
		if p.From == "" {
			continue
		}
		if p.From == p.To {
			ps.At(between, fmt.Sprintf("%s: both ends are %s", at, p.From), "")
			continue
		}
		ways := []way{{p.From, p.To, p.Family}}
		if !p.Directed {
			ways = append(ways, way{p.To, p.From, p.Family})
		}
		for _, w := range ways {
			if line, twice := first[w]; twice {
				ps.At(between, fmt.Sprintf("%s: the path from %s to %s is on line %d already", at, w.from, w.to, line), "directed: true makes a path one way only")
				break
			}
		}
		for _, w := range ways {
			if _, twice := first[w]; !twice {
				first[w] = between.Line
			}
		}
	}
}
