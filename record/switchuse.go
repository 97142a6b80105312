package record

import "github.com/linerate/linerate/unit"

// SwitchUse is what a switch of the fabric counted at its ports over a trial. It counts
// all that crosses it: trials of the same time are in one another's.
type SwitchUse struct {
	Switch string `json:"switch"`
	Source string `json:"source"` // "snmp", "gnmi" or "ssh"
	// Over is the time that bytes are counted in; Window is true where it lies in the
	// trial's window, false where the bytes are all since its first and what came before
	// the window is among them.
	Over   float64   `json:"over_s"`
	Window bool      `json:"in_window"`
	Ports  []PortUse `json:"ports"`
	// Notes say what was not read, and why.
	Notes []string `json:"notes,omitempty"`
}

// PortUse is one port of a switch over a trial. What was not read is absent.
type PortUse struct {
	Port    string `json:"port"`
	Channel string `json:"channel,omitempty"` // that it is a member of
	// Host and Link, or Switch and PeerPort, are the other end of its cable.
	Host     string       `json:"host,omitempty"`
	Link     string       `json:"link,omitempty"`
	Switch   string       `json:"switch,omitempty"`
	PeerPort string       `json:"peer_port,omitempty"`
	Speed    unit.BitRate `json:"speed_bps,omitempty"` // as the file says, else the switch
	// Bytes and rates are of whole frames, as the switch counts them. Tx leaves the switch.
	TxBytes *uint64      `json:"tx_bytes,omitempty"`
	RxBytes *uint64      `json:"rx_bytes,omitempty"`
	Tx      unit.BitRate `json:"tx_wire_bps,omitempty"`
	Rx      unit.BitRate `json:"rx_wire_bps,omitempty"`
	// Drops and errors are of all of the trial, warm-up included.
	TxDrops  *uint64 `json:"tx_drops_count,omitempty"`
	RxDrops  *uint64 `json:"rx_drops_count,omitempty"`
	TxErrors *uint64 `json:"tx_errors_count,omitempty"`
	RxErrors *uint64 `json:"rx_errors_count,omitempty"`
	// Attached is whether the switch has the port in a channel (dot3adAggPortAttachedAggID,
	// IEEE 802.1AX); nil not read.
	Attached *bool `json:"attached,omitempty"`
}

// PortOf is the port of a switch as it counted itself; false where it was not read.
func (t Trial) PortOf(name, port string) (PortUse, bool) {
	for _, s := range t.Switches {
		for _, p := range s.Ports {
			if s.Switch == name && p.Port == port {
				return p, true
			}
		}
	}
	return PortUse{}, false
}
