package netstate

import "github.com/linerate/linerate/unit"

// Device is what a driver and the machine say of one link beyond its speed: how
// packets are queued, where they are handled and what went wrong. Nil parts
// were not read, or the driver has none.
type Device struct {
	Firmware string `json:"firmware,omitempty"`
	// Autoneg is nil where the driver does not say.
	Autoneg *bool `json:"autoneg,omitempty"`
	// FastestOwn and FastestPartner are the fastest link mode that this end
	// supports and that the partner advertises; zero unknown.
	FastestOwn     unit.BitRate `json:"fastest_own_bps,omitempty"`
	FastestPartner unit.BitRate `json:"fastest_partner_bps,omitempty"`
	Rings          *Rings       `json:"rings,omitempty"`
	Channels       *Channels    `json:"channels,omitempty"`
	// Coalescing holds interrupt moderation by the names of `ethtool -C`
	// ("rx-usecs", "adaptive-rx"), switches as 0 and 1.
	Coalescing map[string]int `json:"coalescing,omitempty"`
	Pause      *Pause         `json:"pause,omitempty"`
	// Statistics are the driver's own counters (ethtool -S) that tell of
	// errors and drops, by the driver's names, zero ones left out.
	Statistics map[string]uint64 `json:"statistics_count,omitempty"`
	// Node is the memory node the device hangs on (sysfs numa_node); nil
	// unknown, or the machine has one only.
	Node *int  `json:"numa_node,omitempty"`
	IRQs []IRQ `json:"irqs,omitempty"`
	// RPS and XPS are the queues for which software chooses the core that
	// takes packets in, and the core that sends on them (rps_cpus, xps_cpus);
	// queues without a choice are left out.
	RPS []QueueCores `json:"rps,omitempty"`
	XPS []QueueCores `json:"xps,omitempty"`
	// Fixed are the offloads that cannot be changed.
	Fixed []string `json:"fixed_offloads,omitempty"`
}

// Rings are descriptor rings (ETHTOOL_GRINGPARAM) and the most the device has.
type Rings struct {
	Rx    int `json:"rx"`
	Tx    int `json:"tx"`
	RxMax int `json:"rx_max"`
	TxMax int `json:"tx_max"`
}

// Channels are a device's queues with an interrupt each (ETHTOOL_GCHANNELS).
type Channels struct {
	Rx          int `json:"rx"`
	Tx          int `json:"tx"`
	Combined    int `json:"combined"`
	RxMax       int `json:"rx_max"`
	TxMax       int `json:"tx_max"`
	CombinedMax int `json:"combined_max"`
}

// Pause is Ethernet flow control (ETHTOOL_GPAUSEPARAM).
type Pause struct {
	Autoneg bool `json:"autoneg"`
	Rx      bool `json:"rx"`
	Tx      bool `json:"tx"`
}

// IRQ is an interrupt of a device: which cores may take it, and how many each
// took (/proc/interrupts, /proc/irq/N/effective_affinity_list).
type IRQ struct {
	Number int      `json:"number"`
	Name   string   `json:"name"`
	Cores  []int    `json:"cores,omitempty"`
	Counts []uint64 `json:"counts,omitempty"` // by core
}

// QueueCores is a device's queue and the cores chosen for it.
type QueueCores struct {
	Queue int   `json:"queue"`
	Cores []int `json:"cores"`
}
