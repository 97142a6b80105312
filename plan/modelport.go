package plan

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// originalMTU is where the model keeps what a port's MTU was before its bond
// took it, which the kernel gives back and does not show.
const originalMTU = "original-mtu"

// setMaster moves a port as bond_enslave and bond_release do.
func setMaster(h *netstate.Host, port netstate.Link, s Step) error {
	if s.New == NoMaster {
		return release(h, port, s)
	}
	bond, ok := h.Link(s.New)
	switch {
	case !ok || bond.Bond == nil:
		return &StateError{s, "no bond " + s.New}
	case port.Name == bond.Name || port.Bond != nil || port.Kind == kindLoopback:
		return &StateError{s, "a bond takes no such link (EPERM)"}
	case port.Master != "":
		return &StateError{s, "it belongs to " + port.Master + " (EBUSY)"}
	case port.Up:
		return &StateError{s, "it is up, and would be down when taken out again"}
	}
	if port.MTU != freshMTU {
		extra := map[string]string{originalMTU: strconv.Itoa(port.MTU)}
		maps.Copy(extra, port.Extra)
		port.Extra = extra
	}
	port.Up, port.Master, port.MTU = true, bond.Name, bond.MTU
	if port.Port == nil {
		port.Port = &netstate.BondPort{MIIUp: true, Active: true}
	}
	moved := *port.Port
	moved.Bond, moved.ActorPriority = bond.Name, freshActorPriority(h.Kernel, bond.Bond.Mode)
	port.Port = &moved
	first := len(bond.Bond.Ports) == 0
	bond.Bond.Ports = append(slices.Clone(bond.Bond.Ports), port.Name)
	h.SetLink(port)
	h.SetLink(bond)
	switch {
	case first && bond.MAC.IsZero():
		giveMAC(h, bond, port.MAC)
	case !OwnMACs(*bond.Bond):
		port.MAC = bond.MAC
		h.SetLink(port)
	}
	return nil
}

func release(h *netstate.Host, port netstate.Link, s Step) error {
	bond, ok := h.Link(s.Old)
	if !ok || bond.Bond == nil {
		return &StateError{s, "no bond " + s.Old}
	}
	if p := port.Port; p != nil && (p.Priority != 0 || p.QueueID != 0 || ownActorPriority(p)) {
		return &StateError{s, "its prio, queue_id and actor_port_prio would be lost"}
	}
	if bond.Bond.Options[optionPrimary] == port.Name {
		return &StateError{s, "it is the primary"}
	}
	carried := canCarry(*h, bond.Name)
	bond.Bond.Ports = slices.DeleteFunc(slices.Clone(bond.Bond.Ports), func(p string) bool { return p == port.Name })
	h.SetLink(bond)
	if why := flushed(*h, port.Name); why != "" {
		return &StateError{s, why}
	} else if why := flushed(*h, bond.Name); carried && !canCarry(*h, bond.Name) && why != "" {
		return &StateError{s, why}
	}
	if bond.Bond.Active == port.Name {
		bond.Bond.Active = ""
	}
	if len(bond.Bond.Ports) == 0 {
		// A random one, which the next first port's replaces.
		h.SetLink(bond)
		giveMAC(h, bond, flow.MAC{})
		bond, _ = h.Link(bond.Name)
	}
	h.SetLink(bond)
	port.Master, port.Up, port.MTU = "", false, freshMTU
	if mtu, err := strconv.Atoi(port.Extra[originalMTU]); err == nil {
		port.MTU = mtu
		port.Extra = maps.Clone(port.Extra)
		if delete(port.Extra, originalMTU); len(port.Extra) == 0 {
			port.Extra = nil
		}
	}
	if !port.PermanentMAC.IsZero() && !LeavesMACs(*bond.Bond) {
		port.MAC = port.PermanentMAC
	}
	if port.Port != nil {
		moved := *port.Port
		moved.Bond, moved.ActorPriority = "", nil
		port.Port = &moved
	}
	h.SetLink(port)
	return nil
}

// setOrder puts a bond's ports in another order; none comes or goes.
func setOrder(h *netstate.Host, l netstate.Link, s Step) error {
	want := splitPorts(s.New)
	if l.Bond == nil || !slices.Equal(slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(l.Bond.Ports))) {
		return &StateError{s, "these are not its ports"}
	}
	b := *l.Bond
	b.Ports = want
	l.Bond = &b
	h.SetLink(l)
	return nil
}

// movedPorts are the ports that must be taken out and back, in this order, to
// bring a bond's ports from one order into the other: what is taken in comes
// last.
func movedPorts(from, to []string) []string {
	at := 0
	for i, name := range to {
		n := slices.Index(from[at:], name)
		if n < 0 {
			return to[i:]
		}
		at += n + 1
	}
	return nil
}

func currentPortOption(l netstate.Link, s Step) (string, error) {
	if l.Port == nil || l.Master == "" {
		return "", &StateError{s, "no port of a bond"}
	}
	switch s.Key {
	case "prio":
		return strconv.Itoa(l.Port.Priority), nil
	case "queue_id":
		return strconv.Itoa(l.Port.QueueID), nil
	case optionActorPriority:
		if l.Port.ActorPriority != nil {
			return strconv.Itoa(*l.Port.ActorPriority), nil
		}
	}
	return "", &StateError{s, "no such option"}
}

func setPortOption(h *netstate.Host, l netstate.Link, s Step) error {
	n, err := strconv.Atoi(s.New)
	if err != nil {
		return &StateError{s, "no number"}
	}
	bond, ok := h.Link(l.Master)
	if !ok || bond.Bond == nil {
		return &StateError{s, "no bond"}
	}
	p := *l.Port
	switch s.Key {
	case optionActorPriority:
		if bond.Bond.Mode != netstate.LACP || p.ActorPriority == nil {
			return &StateError{s, "not in mode " + bond.Bond.Mode.String() + ", or of this kernel"}
		}
		p.ActorPriority = &n
	case "prio":
		if r, _ := BondOptionRule(optionPrimary); !r.Allows(bond.Bond.Mode) {
			return &StateError{s, "not in mode " + bond.Bond.Mode.String() + " (EACCES)"}
		}
		p.Priority = n
	default:
		for _, o := range h.Links {
			if n != 0 && o.Name != l.Name && o.Master == l.Master && o.Port != nil && o.Port.QueueID == n {
				return &StateError{s, o.Name + " has that queue (EPERM)"}
			}
		}
		p.QueueID = n
	}
	l.Port = &p
	h.SetLink(l)
	return nil
}

// optionActorPriority is BOND_OPT_ACTOR_PORT_PRIO, of a port in 802.3ad.
const optionActorPriority = "actor_port_prio"

// freshActorPriority is what a port begins with; nil where its kernel and mode
// tell none.
func freshActorPriority(k netstate.Kernel, m netstate.BondMode) *int {
	n := netstate.DefaultActorPriority
	if newer, known := k.AtLeast(6, 18); m != netstate.LACP || !known || !newer {
		return nil
	}
	return &n
}

// ownActorPriority reports a port that has another than it began with.
func ownActorPriority(p *netstate.BondPort) bool {
	return p.ActorPriority != nil && *p.ActorPriority != netstate.DefaultActorPriority
}

func setOption(h *netstate.Host, l netstate.Link, s Step) error {
	r, ok := BondOptionRule(s.Key)
	if !ok {
		return &StateError{s, "no such option"}
	}
	b := *l.Bond
	word, err := r.Word(s.New)
	switch {
	case err != nil:
		return &StateError{s, err.Error()}
	case !r.Allows(b.Mode):
		return &StateError{s, "not in mode " + b.Mode.String() + " (EACCES)"}
	case r.NoSlaves && len(b.Ports) > 0:
		return &StateError{s, "it has slaves (ENOTEMPTY)"}
	case r.NeedsDown && l.Up:
		return &StateError{s, "it is up (EBUSY)"}
	case r.Value == PortValue && word != NoValue && !slices.Contains(b.Ports, word):
		return &StateError{s, word + " is no port of it"}
	}
	if r.Name == "miimon" && word != "0" || r.Name == "mode" {
		if v := optionsOf(&b)["arp_validate"]; v != "" && v != "none" {
			return &StateError{s, "arp_validate would go with it"}
		}
	}
	var value int64
	if r.Value == "" {
		value, _ = r.Number(word)
	}
	b.Options = maps.Clone(b.Options)
	if b.Options == nil {
		b.Options = make(map[string]string)
	}
	setField(&b, r, word, value)
	l.Bond = &b
	h.SetLink(l)
	return nil
}

// setField writes one option and what the driver changes along with it.
func setField(b *netstate.Bond, r BondRule, word string, value int64) {
	ms := time.Duration(value) * time.Millisecond
	switch r.Name {
	case "mode":
		b.Mode = netstate.BondMode(value)
		if b.Miimon == 0 && needsMonitor(b.Mode) {
			b.Miimon = 100 * time.Millisecond // BOND_DEFAULT_MIIMON
		}
		if needsMonitor(b.Mode) && b.Options["arp_interval"] != "" {
			b.Options["arp_interval"] = "0"
		}
		if b.Mode == netstate.BalanceALB {
			b.TLBDynamic = true
		}
	case "xmit_hash_policy":
		b.HashPolicy = netstate.HashPolicy(value)
	case "lacp_rate":
		b.LACPRate = netstate.LACPRate(value)
	case "miimon":
		if b.Miimon > 0 {
			b.UpDelay = b.UpDelay / b.Miimon * ms
			b.DownDelay = b.DownDelay / b.Miimon * ms
		}
		b.Miimon = ms
		if value > 0 && b.Options["arp_interval"] != "" {
			b.Options["arp_interval"] = "0"
		}
	case "updelay":
		b.UpDelay = ms
	case "downdelay":
		b.DownDelay = ms
	case "min_links":
		b.MinLinks = int(value)
	case "packets_per_slave":
		b.PacketsPerSlave = int(value)
	case "tlb_dynamic_lb":
		b.TLBDynamic = value == 1
	case optionActive:
		if b.Active = word; word == NoValue {
			b.Active = ""
		}
	default:
		b.Options[r.Name] = word
		if word == NoValue && (r.Value == PortValue || r.Value == IPv4List || r.Value == IPv6List) {
			delete(b.Options, r.Name) // the kernel then says nothing of it
		}
		if r.Name == "arp_interval" && value > 0 {
			b.Miimon = 0
		}
	}
}

// needsMonitor reports modes that turn link monitoring on by themselves
// (bond_option_mode_set, !bond_mode_uses_arp).
func needsMonitor(m netstate.BondMode) bool {
	return m == netstate.LACP || m == netstate.BalanceTLB || m == netstate.BalanceALB
}
