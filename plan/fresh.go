package plan

import (
	"fmt"
	"strconv"
	"time"

	"github.com/linerate/linerate/netstate"
)

// The kinds of link that a plan makes and deletes (IFLA_INFO_KIND), and the
// one that carries no frames.
const (
	kindBond     = "bond"
	kindVLAN     = "vlan"
	kindDummy    = "dummy"
	kindLoopback = "loopback"
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
	for _, r := range bondOptions {
		if known, there := r.On(k); known && !there {
			continue
		}
		switch {
		case r.Value == PortValue || r.Value == IPv4List || r.Value == IPv6List || r.Hidden:
			continue // not told of a bond that has none, or of this mode
		case r.Words == nil:
			n, _ := strconv.ParseInt(r.Default, 10, 64)
			setField(b, r, r.Default, n)
		default:
			n, _ := r.Number(r.Default)
			setField(b, r, r.Default, n)
		}
	}
	return b
}

// On reports whether a kernel has the option; known is false when its release
// does not say.
func (r BondRule) On(k netstate.Kernel) (known, there bool) {
	if r.Since == "" {
		return true, true
	}
	var major, minor int
	if _, err := fmt.Sscanf(r.Since, "%d.%d", &major, &minor); err != nil {
		return false, false
	}
	newer, known := k.AtLeast(major, minor)
	return known, newer
}

// optionsOf is every option of the table that b has, in the steps' words: what
// the kernel does not tell because there is none, or because of the mode, is
// its default.
func optionsOf(b *netstate.Bond) map[string]string {
	out, _ := spell(b)
	for _, r := range bondOptions {
		if _, told := out[r.Name]; !told && (r.Hidden || r.Value != "") {
			out[r.Name] = r.Default
		}
	}
	if out[optionActive] = b.Active; b.Active == "" {
		out[optionActive] = NoValue
	}
	return out
}

// spell is the options that b says, in the steps' words, and which of them
// are in no words of the table.
func spell(b *netstate.Bond) (map[string]string, []error) {
	var problems []error
	ms := func(option string, d time.Duration) string {
		if d%time.Millisecond != 0 {
			problems = append(problems, fmt.Errorf("bond option %s: %v is no whole number of milliseconds", option, d))
		}
		return strconv.FormatInt(d.Milliseconds(), 10)
	}
	raw := map[string]string{
		"mode":              b.Mode.String(),
		"xmit_hash_policy":  b.HashPolicy.String(),
		"lacp_rate":         b.LACPRate.String(),
		"miimon":            ms("miimon", b.Miimon),
		"updelay":           ms("updelay", b.UpDelay),
		"downdelay":         ms("downdelay", b.DownDelay),
		"min_links":         strconv.Itoa(b.MinLinks),
		"packets_per_slave": strconv.Itoa(b.PacketsPerSlave),
		"tlb_dynamic_lb":    "0",
	}
	if b.TLBDynamic {
		raw["tlb_dynamic_lb"] = "1"
	}
	for name, v := range b.Options {
		if _, known := BondOptionRule(name); known && raw[name] == "" {
			raw[name] = v
		}
	}
	for name, v := range raw {
		r, _ := BondOptionRule(name)
		w, err := r.Word(v)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		raw[name] = w
	}
	return raw, problems
}
