package host

// The kinds of host findings: words that scripts may compare, one for each
// sort of thing that can be wrong.
const (
	BondPortDown      = "bond-port-down"
	BondNoPartner     = "bond-no-partner"
	BondTwoPartners   = "bond-two-partners"
	BondPortOutside   = "bond-port-outside"
	BondUnwatched     = "bond-unwatched"
	BondPortMTU       = "bond-port-mtu"
	BondChurn         = "bond-churn"
	BondPassive       = "bond-lacp-passive"
	BondFlapping      = "bond-flapping"
	BondOneLink       = "bond-one-link"
	BondLayer2Gateway = "bond-layer2-gateway"
	BondUnequal       = "bond-unequal-speed"
	BondDelay         = "bond-delay"
	BondMinLinks      = "bond-min-links"
	BondPortAddress   = "bond-port-address"
	BondPortVLAN      = "bond-port-vlan"
	BondForeignMAC    = "bond-foreign-mac"
	TwoOwners         = "two-owners"

	HalfDuplex   = "half-duplex"
	AutonegOff   = "autoneg-off"
	SlowLink     = "slow-link"
	LinkErrors   = "link-errors"
	LinkFlapping = "link-flapping"
	OffloadOff   = "offload-off"
	LROForwards  = "lro-forwarding"
	RingDrops    = "ring-drops"
	PauseFrames  = "pause-frames"
	CloudCap     = "cloud-allowance"
	VLANMTU      = "vlan-mtu"
	CardSlot     = "card-slot"
	CardBelow    = "card-below-possible"

	SharedSubnet = "shared-subnet"
	ReturnPath   = "return-path"
	HostRoute    = "host-route"
	StrictFilter = "rp-filter"
	LooseARP     = "arp-mismatch"
	FutureOnly   = "conf-default-only"

	SoftirqOneCore = "softirq-one-core"
	IRQFarNode     = "irq-far-node"
	Governor       = "governor"
	BacklogDrops   = "backlog-drops"
	TimeSqueeze    = "time-squeeze"

	ShaperLeft    = "shaper-left"
	QdiscPacing   = "qdisc-pacing"
	QdiscDefault  = "qdisc-default"
	NoQueue       = "noqueue"
	ECMPHash      = "ecmp-hash"
	ECMPDead      = "ecmp-dead-leg"
	MPTCPAbsent   = "mptcp-endpoint-absent"
	MPTCPLimits   = "mptcp-limits"
	SysctlUnit    = "sysctl-unit"
	SysctlGone    = "sysctl-gone"
	SysctlDanger  = "sysctl-danger"
	SysctlSlow    = "sysctl-slow"
	SysctlClashes = "sysctl-clash"

	PathMTU      = "path-mtu"
	PairMTU      = "pair-mtu"
	PairHash     = "pair-hash"
	BufferForBDP = "buffer-bdp"
)

var kinds = [...]string{
	BondPortDown, BondNoPartner, BondTwoPartners, BondPortOutside, BondUnwatched, BondPortMTU, BondChurn, BondPassive, BondFlapping, BondOneLink,
	BondLayer2Gateway, BondUnequal, BondDelay, BondMinLinks, BondPortAddress, BondPortVLAN, BondForeignMAC, TwoOwners,
	HalfDuplex, AutonegOff, SlowLink, LinkErrors, LinkFlapping, OffloadOff, LROForwards, RingDrops, PauseFrames, CloudCap, VLANMTU,
	CardSlot, CardBelow, SharedSubnet, ReturnPath, HostRoute, StrictFilter, LooseARP, FutureOnly, SoftirqOneCore, IRQFarNode, Governor, BacklogDrops, TimeSqueeze,
	ShaperLeft, QdiscPacing, QdiscDefault, NoQueue, ECMPHash, ECMPDead, MPTCPAbsent, MPTCPLimits,
	SysctlUnit, SysctlGone, SysctlDanger, SysctlSlow, SysctlClashes,
	PathMTU, PairMTU, PairHash, BufferForBDP,
}
