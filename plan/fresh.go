package plan

import (
	"fmt"
	"time"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
)

// The kinds of link that a plan makes and deletes (IFLA_INFO_KIND), and the
// one that carries no frames; a team is teamd's.
const (
	kindBond     = "bond"
	kindVLAN     = "vlan"
	kindDummy    = "dummy"
	kindLoopback = "loopback"
	kindTeam     = "team"
)

// MTUs of links as they are made: ether_setup; max_mtu of bond_setup and
// vlan_setup.
const (
	freshMTU = 1500
	maxMTU   = 65535
)

// Fresh is a link as the kernel makes it, bare and down (bond_check_params and
// bond_setup, vlan_dev_init, dummy_setup; v6.1): what the steps of a link made
// in a plan start from. Its hardware address is zero where chance or a first
// port decides. On h, a VLAN's parent is looked up, and of a bond the options
// are left out that h's kernel does not have.
func Fresh(name string, m Made, h netstate.Host) (netstate.Link, error) {
	l := netstate.Link{Name: name, Kind: m.Kind, MTU: freshMTU, MAC: m.MAC}
	switch m.Kind {
	case kindDummy:
	case kindBond:
		l.MaxMTU, l.Bond = maxMTU, freshBond(h.Kernel)
	case kindVLAN:
		l.MaxMTU = maxMTU
		l.VLAN = &netstate.VLAN{ID: m.ID, Parent: m.Parent, Protocol: m.Protocol}
		if parent, ok := h.Link(m.Parent); ok {
			l.MTU = parent.MTU
			if m.MAC.IsZero() {
				l.MAC = parent.MAC
			}
		}
	default:
		return l, fmt.Errorf("a link of kind %q cannot be made", m.Kind)
	}
	return l, nil
}

// freshBond is the defaults of the option table.
func freshBond(k netstate.Kernel) *netstate.Bond {
	b := &netstate.Bond{Ports: []string{}, Options: make(map[string]string)}
	for _, o := range bondopt.Options() {
		if !missing(o, k) && !o.Quiet() {
			_ = o.Put(b, o.Default) // the table's own word
		}
	}
	return b
}

// optionsOf is every option of the table that b has, in the steps' words: what
// the kernel does not tell because there is none, or because of the mode, is
// its default.
func optionsOf(b *netstate.Bond) map[string]string {
	out, _ := spell(b)
	for _, o := range bondopt.Options() {
		if _, told := out[o.Name]; !told && o.Quiet() {
			out[o.Name] = o.Default
		}
	}
	if out[bondopt.Active] = b.Active; b.Active == "" {
		out[bondopt.Active] = NoValue
	}
	return out
}

// spell is the options that b says, in the steps' words, and which of them
// are in no words of the table.
func spell(b *netstate.Bond) (map[string]string, []error) {
	out := make(map[string]string)
	var problems []error
	for _, o := range []struct {
		name string
		is   time.Duration
	}{{"downdelay", b.DownDelay}, {"miimon", b.Miimon}, {"updelay", b.UpDelay}} {
		if o.is%time.Millisecond != 0 {
			problems = append(problems, fmt.Errorf("bond option %s: %v is no whole number of milliseconds", o.name, o.is))
		}
	}
	for _, o := range bondopt.Options() {
		value, told := b.Options[o.Name]
		if o.Own() {
			value = o.Of(*b)
		} else if !told {
			continue
		}
		word, err := o.Word(value)
		if err != nil {
			problems, word = append(problems, err), value
		}
		out[o.Name] = word
	}
	return out, problems
}
