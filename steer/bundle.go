package steer

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// Errors of BundleOf.
var (
	ErrNoSuchLink = errors.New("no such link")
	ErrNotBond    = errors.New("not a bond")
)

// Bundle is a bond as far as placing flows needs it. The zero Mode and Policy
// are the kernel's defaults, balance-rr and layer2.
type Bundle struct {
	Mode   netstate.BondMode
	Policy netstate.HashPolicy
	// Ports are the usable ports in the order the hash counts them: enslave
	// order. A port that goes down renumbers those after it.
	Ports []string
	// Active is the current active port; "" unknown.
	Active string
	// Era is the likeliest era of the sending kernel, Doubt the others that
	// it may be of; a placement on which they disagree is unknown.
	Era       Era
	Doubt     []Era
	BigEndian bool
	// TLBStatic is tlb_dynamic_lb=0 of modes balance-tlb and balance-alb,
	// which then hash as balance-xor does. False is the kernel's default.
	TLBStatic bool
}

// Placement is where a bundle sends a frame.
type Placement struct {
	// Hash is the transmit hash; nil when the mode has none or it is unknown.
	Hash *uint32
	// Index is the usable port's number from 0, Link its name; -1 and "" when
	// unknown or when there is no one port.
	Index int
	Link  string
	// Known is false where the port cannot be told; Why then says why not.
	Known bool
	Why   string
}

// Declared is a bundle of that many links known only by the policy, such as a
// switch's declared hash or a question on the command line: mode balance-xor
// on a current little-endian kernel, ports named by their number.
func Declared(policy netstate.HashPolicy, links int) Bundle {
	b := Bundle{Mode: netstate.BalanceXOR, Policy: policy}
	for i := range links {
		b.Ports = append(b.Ports, strconv.Itoa(i))
	}
	return b
}

// BundleOf reads the bundle out of a host. The name may be that of a VLAN on
// the bond. Errors: ErrNoSuchLink, ErrNotBond, errors.ErrUnsupported for a
// host that is not Linux. An unread kernel release leaves every era from 4.15
// on in doubt. A declared bond (no ifindex) cannot say tlb_dynamic_lb and has
// the kernel's default.
func BundleOf(h netstate.Host, bond string) (Bundle, error) {
	if h.Kernel.OS != "" && h.Kernel.OS != "linux" {
		return Bundle{}, fmt.Errorf("read bond %q: hash of %s: %w", bond, h.Kernel.OS, errors.ErrUnsupported)
	}
	if _, ok := h.Link(bond); !ok {
		return Bundle{}, fmt.Errorf("read bond %q: %w", bond, ErrNoSuchLink)
	}
	_, _, l := h.Below(bond)
	if l == nil {
		return Bundle{}, fmt.Errorf("read bond %q: %w", bond, ErrNotBond)
	}
	eras := ErasOf(h.Kernel.Release)
	if eras == nil {
		eras = []Era{EraCurrent, EraHostProto, EraShifted}
	}
	return Bundle{
		Mode: l.Bond.Mode, Policy: l.Bond.HashPolicy,
		Ports: h.UsablePorts(l.Name), Active: l.Bond.Active,
		Era: eras[0], Doubt: eras[1:], BigEndian: h.Kernel.BigEndian,
		TLBStatic: l.Index != 0 && !l.Bond.TLBDynamic,
	}, nil
}

// hashes reports whether the mode takes the transmit hash modulo the ports.
func (b Bundle) hashes() bool {
	return b.Mode.Hashes() || b.TLBStatic && b.adaptive()
}

func (b Bundle) adaptive() bool {
	return b.Mode == netstate.BalanceTLB || b.Mode == netstate.BalanceALB
}

func (b Bundle) hasher(e Era) Hasher {
	return Hasher{Policy: b.Policy, Era: e, BigEndian: b.BigEndian}
}

// eras lists the likeliest era and those in doubt.
func (b Bundle) eras() []Era { return append([]Era{b.Era}, b.Doubt...) }

// Place says which port sends f. With a single usable port it is that one
// whatever the hash. Broadcast is known and has no one port.
func (b Bundle) Place(f flow.Frame) Placement {
	p := Placement{Index: -1}
	hash, hashKnown, why := b.hash(f)
	if hashKnown && (b.hashes() || b.Mode == netstate.BalanceTLB) {
		p.Hash = &hash
	}
	switch n := len(b.Ports); {
	case n == 0:
		p.Why = "no usable link"
	case n == 1:
		return b.on(p, 0, "")
	case b.hashes():
		i, known, why := b.hashIndex(f)
		if !known {
			p.Why = why
			return p
		}
		return b.on(p, i, why)
	case b.Mode == netstate.ActiveBackup:
		if i := slices.Index(b.Ports, b.Active); i >= 0 {
			return b.on(p, i, "")
		}
		p.Why = "active-backup sends on its active link, which is not given"
	case b.Mode == netstate.Broadcast:
		p.Known, p.Why = true, "broadcast sends a copy on every link"
	default:
		p.Why = b.noPlace()
	}
	if p.Why == "" {
		p.Why = why
	}
	return p
}

func (b Bundle) on(p Placement, i int, why string) Placement {
	p.Index, p.Link, p.Known, p.Why = i, b.Ports[i], true, why
	return p
}

// hash is the transmit hash on which every era in question agrees.
func (b Bundle) hash(f flow.Frame) (hash uint32, known bool, why string) {
	for i, e := range b.eras() {
		v, known, why := b.hasher(e).Hash(f)
		if !known {
			return 0, false, why
		}
		if i > 0 && v != hash {
			return 0, false, b.doubtful()
		}
		hash = v
	}
	return hash, true, ""
}

// hashIndex is the port number on which every era in question agrees; their
// hashes may differ. Why may hold a remark on a known one.
func (b Bundle) hashIndex(f flow.Frame) (index int, known bool, why string) {
	index = -1
	for _, e := range b.eras() {
		v, known, remark := b.hasher(e).Hash(f)
		if !known {
			return -1, false, remark
		}
		i := int(v % uint32(len(b.Ports)))
		if index >= 0 && i != index {
			return -1, false, b.doubtful()
		}
		index, why = i, remark
	}
	return index, true, why
}

func (b Bundle) doubtful() string {
	return fmt.Sprintf("the kernel's release does not tell how it computes %s: as %s or as %s", b.Policy, b.Era, b.Doubt[0])
}

// noPlace says why a mode gives flows no port of their own.
func (b Bundle) noPlace() string {
	switch b.Mode {
	case netstate.BalanceRR:
		return "balance-rr rotates packets over all links: a flow has no link of its own"
	case netstate.BalanceTLB:
		return "balance-tlb moves flows between links by load every 10 s"
	case netstate.BalanceALB:
		return "balance-alb assigns each destination address a link by load; ports do not matter"
	}
	return fmt.Sprintf("mode %s is newer than this program", b.Mode)
}
