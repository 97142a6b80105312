package teamd

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
)

// polled is the miimon of a bond that watches its links: teamd hears of a link's state
// from the kernel at once, a bond asks for it.
const polled = 100

// arpInterval is the option of a bond's ARP monitoring.
const arpInterval = "arp_interval"

// watcher is one link watch and the file that has it.
type watcher struct {
	*yamldoc.Node
	file, key string
}

// watch is how the bond watches its ports: all alike, by the links or by ARP.
func (m *mover) watch(ports []Port) {
	all := m.watchers(m.team.Config.Get("link_watch"), m.team.File, "link_watch")
	all = m.ofPorts(ports, all)
	var links, probes []watcher
	for _, w := range all {
		name := m.below(w.Node, "name")
		switch {
		case name == nil:
			m.drop(w, "a link watch without a name: teamd does not start with it")
		case name.Text == "ethtool":
			links = append(links, w)
		case name.Text == "arp_ping" || name.Text == "nsna_ping":
			probes = append(probes, w)
		default:
			m.drop(w, "a bond watches by link, ARP or neighbour discovery: its links are watched")
		}
	}
	every := false
	if v := m.get("link_watch_policy"); v != nil {
		every = v.Text == "all"
	}
	if len(links) > 0 && !every {
		for _, w := range probes {
			m.drop(w, "beside ethtool and with link_watch_policy any it decides nothing: left out")
		}
		probes = nil
	}
	if len(probes) > 0 && m.probe(probes, every) {
		for _, w := range links {
			m.read[w.Node] = true
			for _, key := range []string{"delay_up", "delay_down"} {
				if v := m.below(w.Node, key); v != nil && v.Text != "0" {
					m.miss(w.file, v, w.key+"."+key, "a bond that watches by ARP has no such delay")
				}
			}
		}
		return
	}
	m.links(links)
}

// watchers are the link watches of an object or a list of them.
func (m *mover) watchers(n *yamldoc.Node, file, key string) []watcher {
	switch {
	case n == nil:
		return nil
	case n.Kind == yamldoc.MappingNode:
		m.read[n] = true
		return []watcher{{n, file, key}}
	}
	m.read[n] = true
	var all []watcher
	for i, item := range n.Items {
		if i == mostWatches {
			m.miss(file, item, key, "more than "+strconv.Itoa(mostWatches)+" link watches: the rest is left out")
			break
		}
		if item.Kind == yamldoc.MappingNode {
			all = append(all, watcher{item, file, fmt.Sprintf("%s[%d]", key, i)})
		}
	}
	return all
}

// ofPorts are the watches that stand for all ports: the team's own, or those of the
// first port that has some. A port that is watched otherwise is noted.
func (m *mover) ofPorts(ports []Port, own []watcher) []watcher {
	chosen, from := (*yamldoc.Node)(nil), ""
	if len(own) > 0 {
		chosen = m.team.Config.Get("link_watch")
	}
	for _, p := range ports {
		n := p.Config.Get("link_watch")
		switch {
		case n == nil && from == "" || n != nil && chosen != nil && n.Equal(chosen):
			if n != nil {
				m.ignore(n)
			}
		case n != nil && chosen == nil:
			chosen, from = n, p.Name
			own = m.watchers(n, p.File, "ports."+p.Name+".link_watch")
		default:
			at := n
			if n == nil {
				at = p.Config
			} else {
				m.ignore(n)
			}
			m.Unread = append(m.Unread, unreadAt(p.File, at, "ports."+p.Name+".link_watch", "a bond watches all its ports alike"))
		}
	}
	return own
}

// ignore takes all of a part as read.
func (m *mover) ignore(n *yamldoc.Node) {
	m.read[n] = true
	for _, p := range n.Pairs {
		m.ignore(p.Value)
	}
	for _, item := range n.Items {
		m.ignore(item)
	}
}

// drop notes that a watch is not taken over.
func (m *mover) drop(w watcher, why string) {
	m.ignore(w.Node)
	u := unreadAt(w.file, w.Node, w.key, why)
	if name := w.Get("name"); name != nil {
		u.Value = name.Text
	}
	m.Unread = append(m.Unread, u)
}

// links lets the bond watch its links.
func (m *mover) links(watches []watcher) {
	m.Option(m.team.Name, "miimon", strconv.Itoa(polled))
	for i, w := range watches {
		if i > 0 {
			m.drop(w, "a second watch of the link says nothing new")
			continue
		}
		m.read[w.Node] = true
		for _, o := range bondopt.Options() {
			said, ok := o.Saying(bondopt.Teamd)
			if !ok || !strings.HasPrefix(said.Name, "delay_") {
				continue
			}
			v := m.below(w.Node, said.Name)
			if v == nil || v.Text == "0" {
				continue
			}
			n, err := strconv.Atoi(v.Text)
			if err != nil || n < 0 || n > 3_600_000 {
				m.miss(w.file, v, w.key+"."+said.Name, "is no number of milliseconds")
				continue
			}
			if whole := (n + polled - 1) / polled * polled; whole != n {
				m.miss(w.file, v, w.key+"."+said.Name, fmt.Sprintf("a bond counts it in steps of its miimon: %d ms", whole))
				n = whole
			}
			m.Option(m.team.Name, o.Name, strconv.Itoa(n))
		}
	}
}

// probe lets the bond ask for addresses; false where it cannot, which is noted.
func (m *mover) probe(watches []watcher, every bool) bool {
	o, _ := bondopt.Find(arpInterval)
	if mode := netstate.BondMode(0); mode.UnmarshalText([]byte(m.mode)) != nil || !o.Allows(mode) {
		for _, w := range watches {
			m.drop(w, "a bond in mode "+m.mode+" takes no ARP monitoring: its links are watched")
		}
		return false
	}
	four, six, first := []string(nil), []string(nil), watches[:0:0]
	for _, w := range watches {
		v := m.below(w.Node, "target_host")
		if v == nil {
			m.drop(w, "has no target_host: teamd does not start with it")
			continue
		}
		a, err := netip.ParseAddr(v.Text)
		switch {
		case err != nil || a.Zone() != "":
			m.drop(w, "a bond asks for addresses, not for names: put the address of "+v.Text+" in")
			continue
		case a.Is4():
			four = append(four, a.String())
		default:
			six = append(six, a.String())
		}
		first = append(first, w)
	}
	if len(first) == 0 {
		return false
	}
	m.Option(m.team.Name, arpInterval, m.same(first, "interval", "1000"))
	m.missed(first)
	m.target("arp_ip_target", four)
	m.target("ns_ip6_target", six)
	if every && len(four)+len(six) > 1 {
		m.Option(m.team.Name, "arp_all_targets", "all")
	}
	m.validate(first)
	for _, w := range first {
		m.read[w.Node] = true
		for key, why := range map[string]string{
			"source_host": "a bond asks from its own address in the target's network",
			"vlanid":      "a bond asks over the VLAN that leads to the target",
			"init_wait":   "a bond asks as soon as it is up",
			"send_always": "a bond asks on the ports that its mode uses",
		} {
			if v := m.below(w.Node, key); v != nil && v.Text != "0" && v.Text != "false" && v.Text != "0.0.0.0" {
				m.miss(w.file, v, w.key+"."+key, why)
			}
		}
	}
	return true
}

func (m *mover) target(option string, addresses []string) {
	slices.Sort(addresses)
	if addresses = slices.Compact(addresses); len(addresses) > 0 {
		m.Option(m.team.Name, option, strings.Join(addresses, ","))
	}
}

// same is a number that all watches have, the first's where they differ.
func (m *mover) same(watches []watcher, key, otherwise string) string {
	value := ""
	for _, w := range watches {
		own := otherwise
		if v := m.below(w.Node, key); v != nil {
			own = v.Text
			if n, err := strconv.Atoi(own); err != nil || n <= 0 {
				m.miss(w.file, v, w.key+"."+key, "is no number of milliseconds that a bond takes: "+otherwise)
				own = otherwise
			}
			if value != "" && own != value {
				m.miss(w.file, v, w.key+"."+key, "a bond has one for all targets: "+value)
			}
		}
		if value == "" {
			value = own
		}
	}
	return value
}

// missed is how many replies may be missed. A bond has had it since Linux 5.17, before
// that always two, so that teamd's own three is not asked for where nobody did.
func (m *mover) missed(watches []watcher) {
	o, _ := bondopt.Named(bondopt.Teamd, "missed_max")
	for i, w := range watches {
		v := m.below(w.Node, "missed_max")
		switch {
		case i > 0 && v != nil:
			if first := m.below(watches[0].Node, "missed_max"); first == nil || first.Text != v.Text {
				m.miss(w.file, v, w.key+".missed_max", "a bond has one for all targets")
			}
		case i > 0:
		case v == nil:
			m.Unread = append(m.Unread, unreadAt(w.file, w.Node, w.key+".missed_max", "teamd lets 3 replies be missed, the bond "+o.Default+" ("+o.Name+", Linux "+o.Since+")"))
		default:
			word, err := o.Word(v.Text)
			switch {
			case err != nil:
				m.miss(w.file, v, w.key+".missed_max", fmt.Sprintf("a bond takes %d to %d", o.Min, o.Max))
			case word != o.Default:
				m.Option(m.team.Name, o.Name, word)
			}
		}
	}
}

// validate is which ports' replies are checked.
func (m *mover) validate(watches []watcher) {
	active, inactive := true, true
	for _, w := range watches {
		a, b := m.below(w.Node, "validate_active"), m.below(w.Node, "validate_inactive")
		active = active && a != nil && a.Text == "true"
		inactive = inactive && b != nil && b.Text == "true"
	}
	word := map[[2]bool]string{{true, true}: "all", {true, false}: "active", {false, true}: "backup"}[[2]bool{active, inactive}]
	if word != "" {
		m.Option(m.team.Name, "arp_validate", word)
	}
}
