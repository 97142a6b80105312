package steer

import (
	"errors"
	"fmt"

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
	// PacketsPerSlave is balance-rr's; 0 is random, 1 the kernel's default.
	PacketsPerSlave int
	// Queued are the ports with a queue_id: frames that a tc action gave that
	// queue go there whatever the hash (bond_slave_override).
	Queued []string
	// BroadcastNeighbor is broadcast_neighbor=on of mode 802.3ad (6.17 and
	// newer), which sends ARP and neighbour discovery on every port.
	BroadcastNeighbor bool
	// Discovery is what balance-tlb and balance-alb do with neighbour discovery.
	Discovery Discovery
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
	return Bundle{Mode: netstate.BalanceXOR, Policy: policy, PacketsPerSlave: 1, Ports: Numbered(links)}
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
	kernel := Bundle{}.OfKernel(h.Kernel.Release)
	return Bundle{
		Mode: l.Bond.Mode, Policy: l.Bond.HashPolicy,
		Ports: h.UsablePorts(l.Name), Active: l.Bond.Active,
		Era: kernel.Era, Doubt: kernel.Doubt, Discovery: kernel.Discovery, BigEndian: h.Kernel.BigEndian,
		TLBStatic:       l.Index != 0 && !l.Bond.TLBDynamic && !l.Bond.Unread("tlb_dynamic_lb"),
		PacketsPerSlave: packetsPerSlave(l.Bond),
		Queued:          queued(h, l.Bond.Ports),

		BroadcastNeighbor: l.Bond.Options["broadcast_neighbor"] == "on",
	}, nil
}

// OfKernel is the bundle on a kernel of that release. One that cannot be read as numbers
// leaves every era from 4.15 on in doubt.
func (b Bundle) OfKernel(release string) Bundle {
	b.Era, b.Doubt, b.Discovery = EraCurrent, []Era{EraHostProto, EraShifted, EraRawID, EraNoICMP}, discoveryOf(release)
	if eras := ErasOf(release); eras != nil {
		b.Era, b.Doubt = eras[0], eras[1:]
	}
	return b
}

// packetsPerSlave is the option, or 1 where it was not read: then no more is said
// than that packets rotate.
func packetsPerSlave(b *netstate.Bond) int {
	if b.Unread("packets_per_slave") {
		return 1
	}
	return b.PacketsPerSlave
}

// queued are the ports that have a queue_id.
func queued(h netstate.Host, ports []string) []string {
	var with []string
	for _, name := range ports {
		if l, ok := h.Link(name); ok && l.Port != nil && l.Port.QueueID != 0 {
			with = append(with, name)
		}
	}
	return with
}

// Hashes reports whether the mode takes the transmit hash modulo the ports.
func (b Bundle) Hashes() bool {
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
// whatever the hash. Broadcast is known and has no one port. Why may hold a
// condition on a known placement. An unknown one costs no more than its text.
func (b Bundle) Place(f flow.Frame) Placement {
	p := Placement{Index: -1}
	var r reading
	if b.Hashes() || b.Mode == netstate.BalanceTLB || len(b.Ports) == 0 {
		r = b.read(&f)
		if r.sameHash && (b.Hashes() || b.Mode == netstate.BalanceTLB) {
			hash := r.hash
			p.Hash = &hash
		}
	}
	switch n := len(b.Ports); {
	case n == 0:
		p.Why = "no usable link"
	case n == 1:
		return b.on(p, 0, "")
	case b.Mode == netstate.ActiveBackup:
		return b.onActive(p, "active-backup sends on its active link")
	case b.adaptive() && b.unbalanced(&f):
		p.Hash = nil
		return b.onActive(p, b.Mode.String()+" sends such frames on its active link")
	case b.adaptive() && b.Discovery == DiscoveryUnknown && isDiscovery(&f):
		p.Hash, p.Why = nil, b.Mode.String()+" sends neighbour discovery on its active link since kernel 5.18, and before as any other frame"
	case b.Mode == netstate.BalanceALB && !isIP(&f):
		p.Hash, p.Why = nil, "balance-alb sends ARP on the link that it gave the peer to receive on"
	case b.Mode == netstate.LACP && b.BroadcastNeighbor && (f.EtherType == etherARP || isDiscovery(&f)):
		p.Hash, p.Known, p.Why = nil, true, "broadcast_neighbor sends ARP and neighbour discovery on every link"
	case b.Hashes():
		return b.onHashed(p, &f, r)
	case b.Mode == netstate.Broadcast:
		p.Known, p.Why = true, "broadcast sends a copy on every link"
	default:
		p.Why = b.noPlace()
	}
	return p
}

func (b Bundle) on(p Placement, i int, why string) Placement {
	p.Index, p.Link, p.Known, p.Why = i, b.Ports[i], true, why
	return p
}

// onHashed is the port that the hash chose, unless a queue may overrule it.
func (b Bundle) onHashed(p Placement, f *flow.Frame, r reading) Placement {
	switch {
	case r.index < 0:
		p.Why = r.why
	case len(b.Queued) > 0 && f.Forwarded:
		p.Why = fmt.Sprintf("%s has a queue_id, which forwarded frames of that receive queue follow", b.Queued[0])
	case len(b.Queued) > 0 && r.why == "":
		return b.on(p, r.index, fmt.Sprintf("unless a tc action gives it the queue_id of %s", b.Queued[0]))
	default:
		return b.on(p, r.index, r.why)
	}
	return p
}

// reading is what the eras in question make of one frame.
type reading struct {
	hash     uint32
	sameHash bool
	// index is the port's number on which all eras agree, though their hashes
	// may differ; -1 for none.
	index int
	why   string
}

// read hashes f once for each era in question.
func (b *Bundle) read(f *flow.Frame) reading {
	n := uint32(max(1, len(b.Ports)))
	h := b.hasher(b.Era)
	hash, known, why := h.hash(f)
	if !known {
		return reading{index: -1, why: why}
	}
	r := reading{hash: hash, sameHash: true, index: int(hash % n), why: why}
	for _, h.Era = range b.Doubt {
		hash, known, why := h.hash(f)
		switch {
		case !known:
			return reading{index: -1, why: why}
		case int(hash%n) != r.index:
			return reading{index: -1, why: b.doubtful()}
		case hash != r.hash:
			r.sameHash = false
		}
	}
	return r
}

func (b Bundle) doubtful() string {
	return fmt.Sprintf("the kernel's release does not tell how it computes %s: as %s or as %s", b.Policy, b.Era, b.Doubt[0])
}
