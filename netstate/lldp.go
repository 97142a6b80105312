package netstate

import (
	"net/netip"

	"github.com/linerate/linerate/flow"
)

// Neighbor is what the device at the other end of a cable says of itself by
// LLDP (IEEE 802.1AB). Empty fields were not said.
type Neighbor struct {
	Link string `json:"link"` // where it was heard
	// MAC is the frame's source address: the far port's own.
	MAC flow.MAC `json:"mac,omitzero"`
	// Chassis and Port are the far device's and port's identifiers as text:
	// a name, or a MAC or network address.
	Chassis         string       `json:"chassis"`
	Port            string       `json:"port"`
	PortDescription string       `json:"port_description,omitempty"`
	SystemName      string       `json:"system_name,omitempty"`
	SystemText      string       `json:"system_description,omitempty"`
	Management      []netip.Addr `json:"management,omitempty"`
	// TTLSeconds is how long the statement holds.
	TTLSeconds int `json:"ttl_s"`
	// Aggregation is what the far port says of link aggregation; nil nothing.
	Aggregation *PortAggregation `json:"aggregation,omitempty"`
	// MaxFrame is the largest frame the far port takes, FCS included (IEEE
	// 802.3 maximum frame size); zero unknown.
	MaxFrame int `json:"max_frame_bytes,omitempty"`
	// VLAN is the far port's own VLAN (IEEE 802.1 port VLAN ID); zero unknown.
	VLAN int `json:"vlan,omitempty"`
}

// PortAggregation is LLDP's link aggregation TLV (IEEE 802.1AX annex, before
// that 802.3).
type PortAggregation struct {
	Capable bool `json:"capable"`
	// Active: the far port is in an aggregation now.
	Active bool `json:"active"`
	// ID is the aggregation's own port number; zero where it is in none.
	ID uint32 `json:"id,omitempty"`
}
