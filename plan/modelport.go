package plan

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/bondopt"
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
	moved.Bond = bond.Name
	for _, o := range bondopt.Ports() {
		fresh := o.Default
		if known, there := o.On(h.Kernel); !known || !there || !o.Allows(bond.Bond.Mode) {
			fresh = "" // its kernel and mode tell none
		}
		_ = o.PutPort(&moved, fresh)
	}
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
	for _, o := range bondopt.Ports() {
		if port.Port != nil && changed(o, port.Port) {
			return &StateError{s, "its " + o.Name + " would be lost"}
		}
	}
	if bond.Bond.Options[bondopt.Primary] == port.Name {
		return &StateError{s, "it is the primary"}
	}
	if i := slices.IndexFunc(port.Addresses, lostWhenDown); i >= 0 {
		return &StateError{s, port.Addresses[i].String() + " would go with it"}
	}
	bond.Bond.Ports = slices.DeleteFunc(slices.Clone(bond.Bond.Ports), func(p string) bool { return p == port.Name })
	h.SetLink(bond)
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
		moved.Bond = ""
		for _, o := range bondopt.Ports() {
			_ = o.PutPort(&moved, "")
		}
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
	for _, name := range movedPorts(l.Bond.Ports, want) {
		port, _ := h.Link(name)
		if i := slices.IndexFunc(port.Addresses, lostWhenDown); i >= 0 {
			return &StateError{s, port.Addresses[i].String() + " of " + name + " would go with it"}
		}
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
	if o, known := bondopt.FindPort(s.Key); known {
		if value := o.OfPort(*l.Port); value != "" {
			return value, nil
		}
	}
	return "", &StateError{s, "no such option"}
}

func setPortOption(h *netstate.Host, l netstate.Link, s Step) error {
	o, known := bondopt.FindPort(s.Key)
	value, err := o.Word(s.New)
	bond, ok := h.Link(l.Master)
	p := *l.Port
	switch {
	case !known || err != nil:
		return &StateError{s, "no such option or value"}
	case !ok || bond.Bond == nil:
		return &StateError{s, "no bond"}
	case !o.Allows(bond.Bond.Mode) || o.OfPort(p) == "":
		return &StateError{s, "not in mode " + bond.Bond.Mode.String() + " (EACCES), or of this kernel"}
	}
	_ = o.PutPort(&p, value)
	for _, other := range h.Links {
		if o.Name == bondopt.QueueID && p.QueueID != 0 && other.Name != l.Name && other.Master == l.Master && other.Port != nil && other.Port.QueueID == p.QueueID {
			return &StateError{s, other.Name + " has that queue (EPERM)"}
		}
	}
	l.Port = &p
	h.SetLink(l)
	return nil
}

// changed reports a port that has another value than it began with.
func changed(o bondopt.Option, p *netstate.BondPort) bool {
	value := o.OfPort(*p)
	return value != "" && value != o.Default
}

func setOption(h *netstate.Host, l netstate.Link, s Step) error {
	r, ok := bondopt.Find(s.Key)
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
	case r.NoPorts && len(b.Ports) > 0:
		return &StateError{s, "it has slaves (ENOTEMPTY)"}
	case r.NeedsDown && l.Up:
		return &StateError{s, "it is up (EBUSY)"}
	case r.Kind == bondopt.Port && word != NoValue && !slices.Contains(b.Ports, word):
		return &StateError{s, word + " is no port of it"}
	}
	if r.Name == "miimon" && word != "0" || r.Name == "mode" {
		if v := optionsOf(&b)["arp_validate"]; v != "" && v != "none" {
			return &StateError{s, "arp_validate would go with it"}
		}
	}
	b.Options = maps.Clone(b.Options)
	if b.Options == nil {
		b.Options = make(map[string]string)
	}
	setField(&b, r, word)
	l.Bond = &b
	h.SetLink(l)
	return nil
}

// setField writes one option, in a word of the table, and what the driver
// changes along with it.
func setField(b *netstate.Bond, o bondopt.Option, word string) {
	if o.Name == bondopt.Active {
		if b.Active = word; word == NoValue {
			b.Active = ""
		}
		return
	}
	was := b.Miimon
	_ = o.Put(b, word)
	if word == NoValue && o.Quiet() {
		delete(b.Options, o.Name) // the kernel then says nothing of it
	}
	switch o.Name {
	case "mode":
		if b.Miimon == 0 && needsMonitor(b.Mode) {
			b.Miimon = 100 * time.Millisecond // BOND_DEFAULT_MIIMON
		}
		if b.Mode == netstate.BalanceALB {
			b.TLBDynamic = true
		}
	case "miimon":
		if was > 0 {
			b.UpDelay, b.DownDelay = b.UpDelay/was*b.Miimon, b.DownDelay/was*b.Miimon
		}
	case "arp_interval":
		if word != "0" {
			b.Miimon = 0
		}
	}
	if ends := o.Name == "mode" && needsMonitor(b.Mode) || o.Name == "miimon" && word != "0"; ends && b.Options["arp_interval"] != "" {
		b.Options["arp_interval"] = "0"
	}
}

// needsMonitor reports modes that turn link monitoring on by themselves
// (bond_option_mode_set, !bond_mode_uses_arp).
func needsMonitor(m netstate.BondMode) bool {
	return m == netstate.LACP || m == netstate.BalanceTLB || m == netstate.BalanceALB
}
