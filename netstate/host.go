// Package netstate is one host's network as plain data. The same structs
// describe what a host is (observed), what a fabric file declares and what a
// plan wants (desired). Attributes that nobody here reads are kept.
//
// It must never learn how to read or change a host. Don't identify a link by its
// ifindex: names and permanent addresses outlive it.
package netstate

import (
	"net/netip"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/unit"
)

// Host is one host. A zero field is unknown unless its comment says otherwise.
type Host struct {
	Name   string  `json:"name"`
	Kernel Kernel  `json:"kernel"`
	CPU    CPU     `json:"cpu"`
	Links  []Link  `json:"links"`
	Cards  []Card  `json:"cards,omitempty"`
	Routes []Route `json:"routes,omitempty"`
	Rules  []Rule  `json:"rules,omitempty"`
	// MPTCP is nil where the kernel has none, or it could not be read.
	MPTCP *MPTCP `json:"mptcp,omitempty"`
	// Sysctls are the tunables by dotted key, with the value the kernel
	// prints, blanks folded to one space.
	Sysctls map[string]Sysctl `json:"sysctls,omitempty"`
	// Rate caps the host in each direction, payload and headers from
	// the Ethernet header on (a shaper's count); zero is no cap.
	Rate unit.BitRate `json:"rate_bps,omitempty"`
	// Cloud is nil where the host is no cloud instance, or nobody said so.
	Cloud *Cloud `json:"cloud,omitempty"`
	// CoreNodes is each core's memory node, by core; nil unknown, or the
	// machine has one node only.
	CoreNodes []int `json:"core_numa_nodes,omitempty"`
	// Softnet is what each core took from the network since boot.
	Softnet []Softnet `json:"softnet,omitempty"`
	// Protocols are counters of the namespace's protocols since it was made,
	// by the names of /proc/net/netstat and snmp with their group
	// ("TcpExt.IPReversePathFilter"); those that are zero are left out.
	Protocols map[string]uint64 `json:"protocol_counters_count,omitempty"`
	// ManagedAt is the host's own address of the ssh connection over which it is
	// managed, as sshd writes it (SSH_CONNECTION); "" not known.
	ManagedAt string `json:"managed_at,omitempty"`
	// Machine is nil where the firmware says nothing.
	Machine *Machine `json:"machine,omitempty"`
	// Owners are the programs that manage the network here.
	Owners []string `json:"owners,omitempty"`
	// Memory is the machine's; zero unknown.
	Memory unit.Bytes `json:"memory_bytes,omitempty"`
	// Absent are links that a wanted host must not have; an observed host
	// has none.
	Absent []string `json:"absent,omitempty"`
	// Missing says what could not be read and why.
	Missing []string `json:"missing,omitempty"`
}

// Kernel is what uname says.
type Kernel struct {
	OS        string `json:"os"`      // "linux", "freebsd", "aix"
	Release   string `json:"release"` // "6.1.0-32-amd64"; "" unknown
	Arch      string `json:"arch,omitempty"`
	BigEndian bool   `json:"big_endian,omitempty"`
}

// AtLeast reports whether the release is major.minor or newer; known is false
// when the release cannot be read as numbers.
func (k Kernel) AtLeast(major, minor int) (newer, known bool) {
	parts := strings.FieldsFunc(k.Release, func(r rune) bool { return r < '0' || r > '9' })
	if len(parts) < 2 || k.Release[0] < '0' || k.Release[0] > '9' {
		return false, false
	}
	a, err1 := strconv.Atoi(parts[0])
	b, err2 := strconv.Atoi(parts[1])
	if err1 != nil || err2 != nil {
		return false, false
	}
	return a > major || a == major && b >= minor, true
}

// CPU is the host's processor as far as moving bytes needs it.
type CPU struct {
	Cores int    `json:"cores_count"`
	Model string `json:"model,omitempty"`
	// StreamRate is what one core can send or receive on one stream, payload;
	// zero is not calibrated.
	StreamRate unit.BitRate `json:"stream_rate_bps,omitempty"`
	// PacketRate is how many packets a second one core takes in singly, where
	// nothing joins them (GRO); zero is not calibrated.
	PacketRate float64 `json:"packet_rate_pps,omitempty"`
	// Governor is cpufreq's of the first core ("performance", "powersave",
	// ...); "" is unknown, or the hardware's own.
	Governor string `json:"governor,omitempty"`
}

// Softnet is one core's row of /proc/net/softnet_stat. The counts are those of
// all network namespaces and wrap at 32 bits.
type Softnet struct {
	Core      int    `json:"core"`
	Processed uint64 `json:"processed_count"`
	// Dropped packets found the backlog full (net.core.netdev_max_backlog).
	Dropped uint64 `json:"dropped_count,omitempty"`
	// Squeezed polls ended with work left (net.core.netdev_budget).
	Squeezed uint64 `json:"time_squeeze_count,omitempty"`
}

// Cloud is where a host runs, for the caps that follow from it.
type Cloud struct {
	Provider  string `json:"provider"` // "ibm-vpc", "aws", "gcp", "azure"
	VCPUs     int    `json:"vcpus_count,omitempty"`
	Instance  string `json:"instance,omitempty"`
	Placement string `json:"placement,omitempty"` // "cluster"; "" none
	Region    string `json:"region,omitempty"`
	Zone      string `json:"zone,omitempty"`
	// NetworkShare is the part of an instance's bandwidth that is set aside
	// for its network, the rest being its volumes'; zero is the provider's
	// default.
	NetworkShare float64 `json:"network_share_ratio,omitempty"`
	ENAExpress   bool    `json:"ena_express,omitempty"`
	Tier1        bool    `json:"tier1,omitempty"`
	// Bandwidth, InterfaceRate and FlowRate are the user's own word on what
	// the host, each interface and each flow get in each direction; zero
	// leaves it to the provider's rules.
	Bandwidth     unit.BitRate `json:"bandwidth_bps,omitempty"`
	InterfaceRate unit.BitRate `json:"interface_rate_bps,omitempty"`
	FlowRate      unit.BitRate `json:"flow_rate_bps,omitempty"`
}

// Framing says which bytes of a frame a link's speed counts.
type Framing string

const (
	// FramingL1 is Ethernet's own line rate: preamble, FCS and gap count.
	FramingL1 Framing = ""
	// FramingL2 is a shaper's count: from the Ethernet header, without FCS.
	FramingL2 Framing = "l2"
)

// Link is one network interface. Its identity is the permanent MAC or the PCI
// address, never the ifindex.
type Link struct {
	Name  string `json:"name"`
	Index int    `json:"ifindex,omitempty"`
	// Kind is the kernel's link kind ("bond", "vlan", "veth", "bridge", ...);
	// "" is a physical device, "loopback" is lo, which has no kind of its own, and
	// KindOVSBond a bond of Open vSwitch, which is no link of the kernel's.
	Kind         string   `json:"kind,omitempty"`
	MAC          flow.MAC `json:"mac"`
	PermanentMAC flow.MAC `json:"permanent_mac,omitzero"`
	PCI          string   `json:"pci,omitempty"`
	Driver       string   `json:"driver,omitempty"`
	Card         string   `json:"card,omitempty"`
	MTU          int      `json:"mtu_bytes"`
	// MaxMTU is the driver's limit (IFLA_MAX_MTU); zero unknown.
	MaxMTU  int  `json:"max_mtu_bytes,omitempty"`
	Up      bool `json:"up"`      // administratively up (IFF_UP)
	Carrier bool `json:"carrier"` // lower layer up (IFF_LOWER_UP)
	// StateUnread: nobody read Up and Carrier, and the link is taken to be in use.
	StateUnread bool `json:"state_not_read,omitempty"`
	// Speed is line rate in each direction as Framing counts it.
	Speed   unit.BitRate `json:"speed_bps,omitempty"`
	Framing Framing      `json:"framing,omitempty"`
	Duplex  string       `json:"duplex,omitempty"`
	// Master is the bond or bridge this link is a port of.
	Master    string         `json:"master,omitempty"`
	Addresses []netip.Prefix `json:"addresses,omitempty"`
	// Leases are those of Addresses whose lifetime ends by itself: DHCP's and
	// router advertisements' (no IFA_F_PERMANENT). Their owner renews them; a
	// plan neither adds nor removes one.
	Leases []netip.Prefix `json:"leased_addresses,omitempty"`
	// NoBroadcast are those of Addresses that have no broadcast address, though
	// their IPv4 network has one (`ip address add` gives none by itself).
	NoBroadcast []netip.Prefix `json:"addresses_without_broadcast,omitempty"`
	// AddressSettings are what Addresses have beside their prefix and broadcast
	// address, in ip-address(8)'s words ("peer 10.1.0.2/32 scope link").
	AddressSettings map[netip.Prefix]string `json:"address_settings,omitempty"`
	// NexthopObjects are the numbers of the nexthop objects (ip-nexthop(8)) that
	// lead over the link. The kernel drops them, and the routes that name them,
	// when the link goes down or loses its carrier (nexthop_flush_dev,
	// net/ipv4/nexthop.c).
	NexthopObjects []int `json:"nexthop_objects,omitempty"`
	// Unused says why no traffic is sent over the link; "" it is in use.
	// UnusedAddresses are those of a link in use that the file does not name.
	Unused          Unused       `json:"unused,omitempty"`
	UnusedAddresses []netip.Addr `json:"unused_addresses,omitempty"`
	// Owner is the program that manages this link ("NetworkManager",
	// "systemd-networkd", ...); "" nobody, or unknown.
	Owner    string          `json:"owner,omitempty"`
	Bond     *Bond           `json:"bond,omitempty"`     // the bonding driver's
	OVS      *OVSBond        `json:"ovs_bond,omitempty"` // Open vSwitch's
	Port     *BondPort       `json:"bond_port,omitempty"`
	VLAN     *VLAN           `json:"vlan,omitempty"`
	Tunnel   *Tunnel         `json:"tunnel,omitempty"`
	Bridge   *Bridge         `json:"bridge,omitempty"`
	Qdiscs   []Qdisc         `json:"qdiscs,omitempty"`
	Counters Counters        `json:"counters"`
	Offloads map[string]bool `json:"offloads,omitempty"`
	Device   *Device         `json:"device,omitempty"` // what ethtool and sysfs know; nil not read
	// GuestQueues are what a file declares of a guest's virtio card; nil nothing.
	GuestQueues *GuestQueues      `json:"guest_queues,omitempty"`
	Extra       map[string]string `json:"extra,omitempty"` // attributes nobody here reads, kept
}

// Qdisc is a queueing discipline on a link.
type Qdisc struct {
	Kind   string `json:"kind"`
	Handle string `json:"handle"` // "1:"
	Parent string `json:"parent"` // "root" or "1:1"
	// Rate is what a shaper (tbf, netem rate, htb) lets through; zero none.
	Rate  unit.BitRate `json:"rate_bps,omitempty"`
	Burst unit.Bytes   `json:"burst_bytes,omitempty"`
	Limit unit.Bytes   `json:"limit_bytes,omitempty"`
	// LimitPackets is the queue's length where the kernel counts it in
	// packets (netem, pfifo, fq, fq_codel); zero unknown.
	LimitPackets int `json:"limit_packets_count,omitempty"`
	// FlowRate caps each single flow (fq maxrate); zero is no cap.
	FlowRate unit.BitRate `json:"flow_rate_bps,omitempty"`
	// Loss is netem's random loss, 0 to 1.
	Loss       float64       `json:"loss_ratio,omitempty"`
	Delay      time.Duration `json:"delay_ns,omitempty"` // netem
	Drops      uint64        `json:"drops_count,omitempty"`
	Overlimits uint64        `json:"overlimits_count,omitempty"`
	Requeues   uint64        `json:"requeues_count,omitempty"`
	Backlog    unit.Bytes    `json:"backlog_bytes,omitempty"`
}

// Counters are struct rtnl_link_stats64 as far as linerate reads it. On
// virtual links a packet may be a 64 KB GSO unit with one header.
type Counters struct {
	RxBytes   uint64 `json:"rx_bytes"`
	TxBytes   uint64 `json:"tx_bytes"`
	RxPackets uint64 `json:"rx_packets"` // of the device, or GSO units
	TxPackets uint64 `json:"tx_packets"` // of the device, or GSO units
	RxDropped uint64 `json:"rx_dropped,omitempty"`
	TxDropped uint64 `json:"tx_dropped,omitempty"`
	RxErrors  uint64 `json:"rx_errors,omitempty"`
	TxErrors  uint64 `json:"tx_errors,omitempty"`
	// RxCRC are frames whose check sum was wrong, RxFrame misaligned ones,
	// RxMissed those for which the device had no room, Collisions half
	// duplex's (rx_crc_errors, rx_frame_errors, rx_missed_errors).
	RxCRC      uint64 `json:"rx_crc_errors,omitempty"`
	RxFrame    uint64 `json:"rx_frame_errors,omitempty"`
	RxMissed   uint64 `json:"rx_missed_errors,omitempty"`
	Collisions uint64 `json:"collisions_count,omitempty"`
}

// Card is one PCI device with one or more ports that share its slot.
type Card struct {
	Name       string `json:"name"`
	Generation int    `json:"pcie_generation,omitempty"`
	Lanes      int    `json:"pcie_lanes,omitempty"`
	MaxPayload int    `json:"pcie_max_payload_bytes,omitempty"`
	// MaxGeneration and MaxLanes are what the card could do in a better slot.
	MaxGeneration int     `json:"pcie_max_generation,omitempty"`
	MaxLanes      int     `json:"pcie_max_lanes,omitempty"`
	Price         float64 `json:"price,omitempty"`
	// Keep: the card is there and stays, so using it costs nothing.
	Keep bool `json:"keep,omitempty"`
	// Scale is what a lab divides the slot's rate by; zero is a real card.
	Scale float64 `json:"scale,omitempty"`
}

// Scope says whom a sysctl belongs to.
type Scope string

// Sysctl scopes. A global one must not be written from inside a namespace.
const (
	ScopeNamespace Scope = "namespace"
	ScopeGlobal    Scope = "global"
)

// Sysctl is one kernel tunable.
type Sysctl struct {
	Value string `json:"value"`
	Scope Scope  `json:"scope"`
}

// Link returns the named link.
func (h Host) Link(name string) (Link, bool) {
	for i := range h.Links {
		if h.Links[i].Name == name {
			return h.Links[i], true
		}
	}
	return Link{}, false
}

// LinkWith returns the link that holds the address.
func (h Host) LinkWith(addr netip.Addr) (Link, bool) {
	zone := addr.Zone()
	addr = addr.WithZone("")
	for _, l := range h.Links {
		for _, p := range l.Addresses {
			if p.Addr() == addr && (zone == "" || zone == l.Name) {
				return l, true
			}
		}
	}
	return Link{}, false
}

// LeadsNowhere reports a link that holds addresses and carries nothing off the host by
// itself: lo, a dummy, a bridge without a port. Whatever subnet is written on it, its
// addresses are the host's own.
func (h Host) LeadsNowhere(l Link) bool {
	switch {
	case l.Loopback(), l.Kind == "dummy", l.Kind == "loopback":
		return true
	case l.Kind == "bridge" && !l.Carrier:
		return !slices.ContainsFunc(h.Links, func(p Link) bool { return p.Master == l.Name && p.Name != l.Name })
	}
	return false
}

// maxStack bounds how deep devices may lie on each other, against loops.
const maxStack = 16

// guestNames begin the names of ports that lead to guests and containers, as their
// programs give them: Docker, CNI and LXC, libvirt, QEMU, Calico, Cilium, Proxmox.
var guestNames = []string{"veth", "vnet", "tap", "cali", "lxc", "fwpr", "fwln"}

func guestEnd(name string) bool {
	return slices.ContainsFunc(guestNames, func(begin string) bool { return strings.HasPrefix(name, begin) })
}

// OutwardPort is the port by which a bridge's own frames leave the host: the one that is
// a card's, a bond's or a VLAN's, or its only one, which the bridge of a container's or a
// lab's host has, unless a guest is at the end of that. False for what is no bridge, and
// where it has several such ports or none.
func (h Host) OutwardPort(bridge Link) (string, bool) {
	if !bridge.Switches() {
		return "", false
	}
	var out, all []string
	for _, p := range h.Links {
		if p.Master != bridge.Name || p.Name == bridge.Name {
			continue
		}
		all = append(all, p.Name)
		if p.Kind == "" || p.Kind == "bond" || p.Kind == "vlan" || p.Kind == KindOVSBond {
			out = append(out, p.Name)
		}
	}
	switch {
	case len(out) == 1:
		return out[0], true
	case len(out) == 0 && len(all) == 1 && !guestEnd(all[0]):
		return all[0], true
	}
	return "", false
}

// Below returns the links that carry the named link's frames: itself when it
// rides on nothing, a bond's usable ports, a VLAN's or a macvlan's parent's, those of a bridge's one
// way out; with the number of VLAN tags added on the way and the kernel's bond passed,
// if any. A bond of Open vSwitch is passed as its usable members, and is not named.
func (h Host) Below(name string) (ports []Link, tags int, bond *Link) {
	l, ok := h.Link(name)
	if !ok {
		return nil, 0, nil
	}
	for range maxStack {
		next, passes := h.OutwardPort(l)
		switch on := l.RidesOn(); {
		case l.VLAN != nil:
			next, passes = on, true
			tags++
		case on != "":
			_, passes = h.Link(on) // of another namespace it is not known
			next = on
		}
		if !passes {
			break
		}
		if l, ok = h.Link(next); !ok {
			return nil, tags, nil
		}
	}
	if l.Bond == nil && l.OVS == nil {
		return []Link{l}, tags, nil
	}
	for _, port := range h.UsablePorts(l.Name) {
		p, _ := h.Link(port)
		ports = append(ports, p)
	}
	if l.Bond == nil {
		return ports, tags, nil
	}
	return ports, tags, &l
}

// TagOf is the VLAN in which frames leave that the host sends from an address of its
// own, by the lowest of the VLANs below it; 0 untagged, or no link has the address.
func (h Host) TagOf(own netip.Addr) int {
	l, ok := h.LinkWith(own)
	tag := 0
	for range maxStack {
		next, passes := h.OutwardPort(l)
		if on := l.RidesOn(); on != "" {
			next, passes = on, true
		}
		if l.VLAN != nil {
			tag = l.VLAN.ID
		}
		if !ok || !passes {
			break
		}
		l, ok = h.Link(next)
	}
	return tag
}

// SetLink replaces the link of the same name, or adds it.
func (h *Host) SetLink(l Link) {
	for i := range h.Links {
		if h.Links[i].Name == l.Name {
			h.Links[i] = l
			return
		}
	}
	h.Links = append(h.Links, l)
}

// SysctlInts returns the numbers of a sysctl such as "4096 131072 6291456";
// nil when it is unknown or holds something else.
func (h Host) SysctlInts(key string) []int64 {
	s, ok := h.Sysctls[key]
	if !ok {
		return nil
	}
	var out []int64
	for _, f := range strings.Fields(s.Value) {
		v, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return nil
		}
		out = append(out, v)
	}
	return out
}

// SysctlKeys lists the known sysctls in order.
func (h Host) SysctlKeys() []string {
	keys := make([]string, 0, len(h.Sysctls))
	for k := range h.Sysctls {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
