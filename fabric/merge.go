package fabric

import (
	"fmt"
	"net/netip"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/linerate/linerate/netstate"
)

// Difference is one thing that the file and the host say differently.
type Difference struct {
	Host     string `json:"host"`
	What     string `json:"what"` // "speed of ens2f0"
	File     string `json:"file"`
	Observed string `json:"observed"`
	Used     string `json:"used"` // which of the two counts
}

// String is the difference as a person reads it.
func (d Difference) String() string {
	return fmt.Sprintf("%s: %s is %s in the file and %s on the host; %s is used", d.Host, d.What, d.File, d.Observed, d.Used)
}

// Merge returns the observed host with what the file has the word on, and
// every difference between the two. The file wins for link speeds, rate and
// CPU; the host for MTU, bond options, addresses, sysctls, routes and the card
// a port is in as far as it shows. Declared is hw's State; hw tells what the
// file says from what State filled in.
func Merge(declared netstate.Host, hw Host, observed netstate.Host) (netstate.Host, []Difference) {
	m := merger{file: hw, declared: declared, observed: observed, out: observed.Clone()}
	m.out.Cards = append([]netstate.Card(nil), observed.Cards...)
	m.out.Name = declared.Name
	m.hardware()
	m.host()
	for _, l := range declared.Links {
		m.link(l)
	}
	m.sysctls()
	m.use()
	return InUse(hw, m.out), m.differences
}

type merger struct {
	file               Host
	declared, observed netstate.Host
	out                netstate.Host
	differences        []Difference
}

// differ notes a difference; an empty side says nothing and differs from
// nothing.
func (m *merger) differ(what, file, observed string, fileCounts bool) {
	if file == "" || observed == "" || file == observed {
		return
	}
	used := observed
	if fileCounts {
		used = file
	}
	m.differences = append(m.differences, Difference{Host: m.declared.Name, What: what, File: file, Observed: observed, Used: used})
}

// hardware gives observed links their declared speed and card.
func (m *merger) hardware() {
	for i := range m.out.Links {
		l := &m.out.Links[i]
		hw, ok := m.file.HardwareOf(*l)
		if !ok {
			continue
		}
		if hw.Speed != 0 {
			if l.Speed != 0 {
				m.differ("speed of "+l.Name, hw.Speed.String(), l.Speed.String(), true)
			}
			l.Speed, l.Framing = hw.Speed, hw.Framing
		}
		if hw.Card != "" {
			m.card(l, hw.Card)
		}
		l.GuestQueues = hw.guestQueues()
	}
}

// card puts a link on its declared card. What the host shows of the slot is
// kept; the file fills in the rest.
func (m *merger) card(l *netstate.Link, name string) {
	card, ok := m.file.Hardware.Cards[name]
	if !ok {
		return
	}
	card.Name = name
	for _, seen := range m.observed.Cards {
		if seen.Name != l.Card || l.Card == "" {
			continue
		}
		what := "PCIe of card " + name
		m.differ(what+", generation", number(card.Generation), number(seen.Generation), false)
		m.differ(what+", lanes", number(card.Lanes), number(seen.Lanes), false)
		keep(&card.Generation, seen.Generation)
		keep(&card.Lanes, seen.Lanes)
		keep(&card.MaxPayload, seen.MaxPayload)
		keep(&card.MaxGeneration, seen.MaxGeneration)
		keep(&card.MaxLanes, seen.MaxLanes)
	}
	l.Card = name
	for i := range m.out.Cards {
		if m.out.Cards[i].Name == name {
			m.out.Cards[i] = card
			return
		}
	}
	m.out.Cards = append(m.out.Cards, card)
}

func keep(into *int, seen int) {
	if seen != 0 {
		*into = seen
	}
}

// number is a count as text, "" for unknown.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// host merges what belongs to the whole host.
func (m *merger) host() {
	if m.declared.Rate != 0 {
		m.out.Rate = m.declared.Rate
	}
	if m.declared.Cloud != nil {
		m.out.Cloud = m.declared.Cloud
	}
	if r := m.declared.CPU.PacketRate; r != 0 {
		m.out.CPU.PacketRate = r
	}
	if cores := m.declared.CPU.Cores; cores != 0 {
		m.differ("CPU cores", number(cores), number(m.observed.CPU.Cores), true)
		m.out.CPU.Cores = cores
	}
	if r := m.declared.CPU.StreamRate; r != 0 {
		if seen := m.observed.CPU.StreamRate; seen != 0 {
			m.differ("CPU stream rate", r.String(), seen.String(), true)
		}
		m.out.CPU.StreamRate = r
	}
	if model := m.declared.CPU.Model; model != "" {
		m.differ("CPU model", model, m.observed.CPU.Model, true)
		m.out.CPU.Model = model
	}
	m.differ("system", m.file.System, m.observed.Kernel.OS, false)
	file, seen := m.declared.Kernel.Release, m.observed.Kernel.Release
	if seen == "" {
		m.out.Kernel.Release = file
	} else if !strings.HasPrefix(seen, file) {
		m.differ("kernel release", file, seen, false)
	}
}

// link compares one declared link with the host's; the host counts.
func (m *merger) link(l netstate.Link) {
	seen, ok := m.out.Link(m.observedName(l))
	if l.OVS != nil && ok && seen.OVS != nil { // the switch itself said what it runs
		if seen.OVS.Mode != l.OVS.Mode {
			m.differ("mode of "+l.Name, string(l.OVS.Mode), string(seen.OVS.Mode), false)
		}
		if seen.OVS.LACP != l.OVS.LACP {
			m.differ("LACP of "+l.Name, l.OVS.LACP, seen.OVS.LACP, false)
		}
		return
	}
	if l.OVS != nil && (!ok || seen.Kind == netstate.KindOVSBridge) && m.ovsBond(l) {
		return
	}
	if !ok {
		m.differ("link "+l.Name, "declared", "absent", false)
		return
	}
	if m.says(l) {
		m.differ("MTU of "+l.Name, number(l.MTU), number(seen.MTU), false)
	}
	m.addresses(l, seen)
	m.bond(l, seen)
	if l.VLAN != nil && seen.VLAN != nil {
		m.differ("VLAN number of "+l.Name, strconv.Itoa(l.VLAN.ID), strconv.Itoa(seen.VLAN.ID), false)
		m.differ("link of "+l.Name, l.VLAN.Parent, seen.VLAN.Parent, false)
	}
}

// observedName is the host's own name of a declared link.
func (m *merger) observedName(l netstate.Link) string {
	if _, ok := m.observed.Link(l.Name); ok {
		return l.Name
	}
	if name := m.file.Names[l.Name]; name != "" {
		return name
	}
	if e, ok := m.file.Network.Ethernet(l.Name); ok {
		for _, seen := range m.observed.Links {
			if e.Covers(seen) {
				return seen.Name
			}
		}
	}
	return l.Name
}

// says reports whether the file itself says the link's MTU, which State fills
// in otherwise. Without a network in the file, declared is all there is.
func (m *merger) says(l netstate.Link) bool {
	if m.file.Network.IsZero() {
		return true
	}
	if d, ok := m.file.Network.Device(l.Name); ok {
		return d.MTU != 0
	}
	for _, e := range m.file.Network.Ethernets {
		if e.Covers(l) {
			return e.MTU != 0
		}
	}
	return false
}

func (m *merger) addresses(l, seen netstate.Link) {
	if len(l.Addresses) == 0 {
		return
	}
	m.differ("addresses of "+l.Name, Prefixes(l.Addresses), Prefixes(seen.Addresses), false)
}

// own are the addresses that the kernel gives lo.
var own = [...]netip.Prefix{netip.MustParsePrefix("127.0.0.1/8"), netip.MustParsePrefix("::1/128")}

// Prefixes lists addresses in order, without those that the kernel makes by itself:
// link-local ones, and lo's.
func Prefixes(all []netip.Prefix) string {
	var texts []string
	for _, p := range all {
		if !p.Addr().IsLinkLocalUnicast() && !slices.Contains(own[:], p) {
			texts = append(texts, p.String())
		}
	}
	sort.Strings(texts)
	return orNone(texts)
}

func orNone(texts []string) string {
	if len(texts) == 0 {
		return "none"
	}
	return strings.Join(texts, ", ")
}

func (m *merger) bond(l, seen netstate.Link) {
	if l.Bond == nil {
		return
	}
	if seen.Bond == nil {
		m.differ(l.Name, "a bond", "no bond", false)
		return
	}
	file, _ := m.file.Network.Bond(l.Name)
	if unknown := len(l.Bond.Ports) == 0 && len(file.Interfaces) > 0; file.Interfaces != nil && !unknown {
		ports := make([]string, len(l.Bond.Ports))
		for i, name := range l.Bond.Ports {
			ports[i] = name
			if port, ok := m.declared.Link(name); ok {
				ports[i] = m.observedName(port)
			}
		}
		m.differ("ports of "+l.Name, orNone(ports), orNone(seen.Bond.Ports), false)
	}
	for _, name := range file.Set {
		m.differ(fmt.Sprintf("%s of %s", name, l.Name), Option(*l.Bond, name), Option(*seen.Bond, name), false)
	}
}

// use compares the links that `use` names with the host's.
func (m *merger) use() {
	u := newUsage(m.file, m.out)
	for _, name := range m.file.Use {
		u.file.Use = []string{name}
		if !slices.ContainsFunc(m.out.Links, u.chosen) {
			m.differ("link "+name, "in use", "absent", false)
		}
	}
}

func (m *merger) sysctls() {
	for _, name := range SortedNames(m.file.Sysctl) {
		m.differ("sysctl "+name, m.file.Sysctl[name], FoldBlanks(m.observed.Sysctls[name].Value), false)
	}
	for name, v := range m.declared.Sysctls {
		if _, known := m.out.Sysctls[name]; !known {
			m.out.Sysctls[name] = v
		}
	}
}
