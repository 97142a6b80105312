package rtnl

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// Builder makes links, addresses and queues in one network namespace. It is
// for labs and tests: changes to a host go through a plan. Every method needs
// CAP_NET_ADMIN.
type Builder struct {
	h    *netlink.Handle
	ns   *os.File // names the namespace as the place for a peer link
	name string
}

// OpenBuilder opens a builder in the namespace, which must have a name.
func OpenBuilder(ns netns.Namespace) (*Builder, error) {
	b := &Builder{name: ns.Name}
	err := ns.Do(func() (err error) {
		if b.ns, err = os.Open("/proc/thread-self/ns/net"); err != nil {
			return fmt.Errorf("open namespace: %w", err)
		}
		// The socket stays in the namespace it was opened in, whatever thread
		// uses it later.
		if b.h, err = netlink.NewHandle(syscall.NETLINK_ROUTE); err != nil {
			return fmt.Errorf("open netlink: %w", err)
		}
		return nil
	})
	if err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// Close releases the builder's sockets.
func (b *Builder) Close() {
	if b.h != nil {
		b.h.Close()
	}
	if b.ns != nil {
		b.ns.Close()
	}
}

func (b *Builder) find(name string) (netlink.Link, error) {
	l, err := b.h.LinkByName(name)
	if err != nil {
		return nil, fmt.Errorf("find link %s in %s: %w", name, b.name, err)
	}
	return l, nil
}

// wrap adds what was done, to what and where to an error; nil stays nil.
func (b *Builder) wrap(verb, name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s in %s: %w", verb, name, b.name, err)
}

// Veth makes a cable from a link here to a link in the peer's namespace.
func (b *Builder) Veth(name string, peer *Builder, peerName string) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = name
	return b.wrap("make cable", name, b.h.LinkAdd(&netlink.Veth{
		LinkAttrs: attrs, PeerName: peerName, PeerNamespace: netlink.NsFd(int(peer.ns.Fd())),
	}))
}

// BondSpec is a bond to make; nil fields stay at the driver's defaults.
type BondSpec struct {
	Mode       netstate.BondMode
	HashPolicy *netstate.HashPolicy
	LACPRate   *netstate.LACPRate
	Miimon     time.Duration // zero: the driver's default for the mode
	// TLBDynamic is tlb_dynamic_lb, PacketsPerSlave packets_per_slave.
	TLBDynamic      *bool
	PacketsPerSlave *int
	// MinLinks is min_links; zero the driver's default, which is zero.
	MinLinks int
	// WidestAggregator is ad_select=bandwidth: the aggregator of most
	// bandwidth sends, not the first that came up.
	WidestAggregator bool
}

// Bond makes a bond with the ports given, in that order, and sets it up.
func (b *Builder) Bond(name string, spec BondSpec, ports []string) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = name
	bond := netlink.NewLinkBond(attrs)
	bond.Mode = netlink.BondMode(spec.Mode)
	if spec.HashPolicy != nil {
		bond.XmitHashPolicy = netlink.BondXmitHashPolicy(*spec.HashPolicy)
	}
	if spec.LACPRate != nil {
		bond.LacpRate = netlink.BondLacpRate(*spec.LACPRate)
	}
	if spec.Miimon > 0 {
		bond.Miimon = int(spec.Miimon / time.Millisecond)
	}
	if spec.TLBDynamic != nil {
		bond.TlbDynamicLb = 0
		if *spec.TLBDynamic {
			bond.TlbDynamicLb = 1
		}
	}
	if spec.PacketsPerSlave != nil {
		bond.PacketsPerSlave = *spec.PacketsPerSlave
	}
	if spec.MinLinks > 0 {
		bond.MinLinks = spec.MinLinks
	}
	if spec.WidestAggregator {
		bond.AdSelect = netlink.BOND_AD_SELECT_BANDWIDTH
	}
	if err := b.h.LinkAdd(bond); err != nil {
		return b.wrap("make bond", name, err)
	}
	for _, port := range ports {
		if err := b.Enslave(port, name); err != nil {
			return err
		}
	}
	return b.Up(name)
}

// Enslave puts a port into a bond or bridge and sets it up. A bond takes a
// port only while it is down.
func (b *Builder) Enslave(port, master string) error {
	p, err := b.find(port)
	if err != nil {
		return err
	}
	m, err := b.find(master)
	if err != nil {
		return err
	}
	if err := b.h.LinkSetDown(p); err != nil {
		return b.wrap("set down", port, err)
	}
	if err := b.h.LinkSetMaster(p, m); err != nil {
		return b.wrap("enslave", port, err)
	}
	return b.wrap("set up", port, b.h.LinkSetUp(p))
}

// Bridge makes a bridge with the ports given and sets it up.
func (b *Builder) Bridge(name string, ports []string) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = name
	if err := b.h.LinkAdd(&netlink.Bridge{LinkAttrs: attrs}); err != nil {
		return b.wrap("make bridge", name, err)
	}
	for _, port := range ports {
		if err := b.Enslave(port, name); err != nil {
			return err
		}
	}
	return b.Up(name)
}

// VLAN makes an 802.1Q link on a parent and sets it up.
func (b *Builder) VLAN(name, parent string, id int) error {
	return b.PriorityVLAN(name, parent, id, 0)
}

// PriorityVLAN is VLAN with the priority bits that frames of priority 0 leave
// with; zero for none.
func (b *Builder) PriorityVLAN(name, parent string, id int, priority uint8) error {
	p, err := b.find(parent)
	if err != nil {
		return err
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.ParentIndex = name, p.Attrs().Index
	vlan := &netlink.Vlan{LinkAttrs: attrs, VlanId: id}
	if priority != 0 {
		vlan.EgressQosMap = map[uint32]uint32{0: uint32(priority)}
	}
	if err := b.h.LinkAdd(vlan); err != nil {
		return b.wrap("make vlan", name, err)
	}
	return b.Up(name)
}

// Up sets a link up.
func (b *Builder) Up(name string) error {
	l, err := b.find(name)
	if err != nil {
		return err
	}
	return b.wrap("set up", name, b.h.LinkSetUp(l))
}

// Down sets a link down.
func (b *Builder) Down(name string) error {
	l, err := b.find(name)
	if err != nil {
		return err
	}
	return b.wrap("set down", name, b.h.LinkSetDown(l))
}

// Delete removes a link.
func (b *Builder) Delete(name string) error {
	l, err := b.find(name)
	if err != nil {
		return err
	}
	return b.wrap("delete", name, b.h.LinkDel(l))
}

// MTU sets a link's MTU; a bond passes it on to its ports.
func (b *Builder) MTU(name string, mtu int) error {
	l, err := b.find(name)
	if err != nil {
		return err
	}
	return b.wrap("set MTU of", name, b.h.LinkSetMTU(l, mtu))
}

// Address gives a link an address.
func (b *Builder) Address(name string, addr netip.Prefix) error {
	l, err := b.find(name)
	if err != nil {
		return err
	}
	a := &netlink.Addr{IPNet: &net.IPNet{IP: addr.Addr().AsSlice(), Mask: net.CIDRMask(addr.Bits(), addr.Addr().BitLen())}}
	if addr.Addr().Is6() {
		// Nobody else is here: waiting for duplicate address detection would
		// only make the address unusable for its first second.
		a.Flags = ifaFNoDAD
	}
	return b.wrap("add address to", name, b.h.AddrAdd(l, a))
}

// ifaFNoDAD is IFA_F_NODAD (include/uapi/linux/if_addr.h).
const ifaFNoDAD = 0x02

// Neighbor gives a link a permanent neighbour entry.
func (b *Builder) Neighbor(name string, addr netip.Addr, mac net.HardwareAddr) error {
	l, err := b.find(name)
	if err != nil {
		return err
	}
	family := netlink.FAMILY_V4
	if addr.Is6() {
		family = netlink.FAMILY_V6
	}
	return b.wrap("add neighbour to", name, b.h.NeighSet(&netlink.Neigh{
		LinkIndex: l.Attrs().Index, Family: family, State: netlink.NUD_PERMANENT, IP: addr.AsSlice(), HardwareAddr: mac,
	}))
}

// Shape puts a token bucket (tbf) on a link: rate as tbf counts it, from the
// Ethernet header on; burst its bucket; wait how long a byte may queue.
func (b *Builder) Shape(name string, rate unit.BitRate, burst unit.Bytes, wait time.Duration) error {
	l, err := b.find(name)
	if err != nil {
		return err
	}
	bytesPerSecond := uint64(rate / 8)
	return b.wrap("shape", name, b.h.QdiscReplace(&netlink.Tbf{
		QdiscAttrs: netlink.QdiscAttrs{LinkIndex: l.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT},
		Rate:       bytesPerSecond,
		Limit:      uint32(float64(bytesPerSecond)*wait.Seconds()) + uint32(burst),
		Buffer:     netlink.Xmittime(bytesPerSecond, uint32(burst)),
	}))
}

// Delay puts a delay (netem) on a link, below its token bucket where it has
// one. Limit is in packets and must hold rate x delay, or netem drops.
func (b *Builder) Delay(name string, delay time.Duration, limit int, underShaper bool) error {
	return b.Jitter(name, delay, 0, limit, underShaper)
}

// Jitter is Delay that differs from packet to packet, evenly by up to so much
// either way: packets overtake each other.
func (b *Builder) Jitter(name string, delay, jitter time.Duration, limit int, underShaper bool) error {
	return b.netem(name, underShaper, netlink.NetemQdiscAttrs{
		Latency: uint32(delay / time.Microsecond), Jitter: uint32(jitter / time.Microsecond), Limit: uint32(limit),
	})
}
