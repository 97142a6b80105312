// Package lldp hears what the devices at the other end of a host's cables say
// of themselves (IEEE 802.1AB). It only listens; whoever sends is not asked.
package lldp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"unicode"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// EtherType is LLDP's (IEEE 802.1AB-2016 table 7-3).
const EtherType = 0x88cc

// groups are the addresses that LLDP is sent to: nearest bridge, nearest
// non-TPMR bridge, nearest customer bridge (IEEE 802.1AB-2016 table 7-1).
func groups() [][6]byte {
	return [][6]byte{
		{0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e}, {0x01, 0x80, 0xc2, 0x00, 0x00, 0x03}, {0x01, 0x80, 0xc2, 0x00, 0x00, 0x00},
	}
}

// ErrFrame is a frame that is no LLDP, or broken.
var ErrFrame = errors.New("not an LLDP frame")

// TLV types (IEEE 802.1AB-2016 table 8-1).
const (
	tlvEnd = iota
	tlvChassis
	tlvPort
	tlvTTL
	tlvPortDescription
	tlvSystemName
	tlvSystemDescription
	_ // capabilities
	tlvManagement
	tlvOrganization = 127
)

const headerLength = 14

// Parse reads a whole Ethernet frame heard on a link. What it does not know
// it passes over. Errors are ErrFrame.
func Parse(link string, frame []byte) (netstate.Neighbor, error) {
	n := netstate.Neighbor{Link: link}
	if len(frame) < headerLength || binary.BigEndian.Uint16(frame[12:]) != EtherType {
		return n, ErrFrame
	}
	n.MAC = flow.MAC(frame[6:12])
	rest := frame[headerLength:]
	for seen := 0; ; seen++ {
		if len(rest) < 2 {
			return n, fmt.Errorf("%w: it ends without an end", ErrFrame)
		}
		head := binary.BigEndian.Uint16(rest)
		kind, length := int(head>>9), int(head&0x1ff)
		if len(rest) < 2+length {
			return n, fmt.Errorf("%w: element %d of %d bytes is cut short", ErrFrame, kind, length)
		}
		value := rest[2 : 2+length]
		rest = rest[2+length:]
		// The first three are mandatory and in this order (clause 6.2).
		if seen < 3 && kind != tlvChassis+seen {
			return n, fmt.Errorf("%w: element %d where %d must be", ErrFrame, kind, tlvChassis+seen)
		}
		if kind == tlvEnd {
			return n, nil
		}
		if err := read(&n, kind, value); err != nil {
			return n, err
		}
	}
}

func read(n *netstate.Neighbor, kind int, value []byte) error {
	switch kind {
	case tlvChassis, tlvPort:
		if len(value) < 2 {
			return fmt.Errorf("%w: identifier of %d bytes", ErrFrame, len(value))
		}
		if kind == tlvChassis {
			n.Chassis = identifier(value, chassisMAC, chassisAddress)
		} else {
			n.Port = identifier(value, portMAC, portAddress)
		}
	case tlvTTL:
		if len(value) < 2 {
			return fmt.Errorf("%w: time to live of %d bytes", ErrFrame, len(value))
		}
		n.TTLSeconds = int(binary.BigEndian.Uint16(value))
	case tlvPortDescription:
		n.PortDescription = text(value)
	case tlvSystemName:
		n.SystemName = text(value)
	case tlvSystemDescription:
		n.SystemText = text(value)
	case tlvManagement:
		// Length of what follows, family, address.
		if len(value) >= 2 && int(value[0]) >= 1 && len(value) > int(value[0]) {
			if a, ok := address(value[1 : 1+int(value[0])]); ok {
				n.Management = append(n.Management, a)
			}
		}
	case tlvOrganization:
		organization(n, value)
	}
	return nil
}

// Identifier subtypes (IEEE 802.1AB-2016 tables 8-2 and 8-3).
const (
	chassisMAC, chassisAddress = 4, 5
	portMAC, portAddress       = 3, 4
)

func identifier(value []byte, mac, network byte) string {
	kind, id := value[0], value[1:]
	if kind == mac && len(id) == 6 {
		return flow.MAC(id).String()
	}
	if kind == network {
		if a, ok := address(id); ok {
			return a.String()
		}
	}
	return text(id)
}

// Address families (IANA "Address Family Numbers").
const familyIPv4, familyIPv6 = 1, 2

func address(value []byte) (netip.Addr, bool) {
	if len(value) < 1 {
		return netip.Addr{}, false
	}
	a, ok := netip.AddrFromSlice(value[1:])
	if !ok || value[0] == familyIPv4 && !a.Is4() || value[0] == familyIPv6 && !a.Is6() || value[0] != familyIPv4 && value[0] != familyIPv6 {
		return netip.Addr{}, false
	}
	return a, true
}

// text keeps what can be printed: a neighbour must not write to a terminal.
func text(value []byte) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, string(value)))
}

// Organizations and their subtypes (IEEE 802.1Q annex D, 802.3 clause 79).
const (
	oui8021, oui8023     = 0x0080c2, 0x00120f
	portVLAN             = 1
	aggregation8021      = 7
	aggregation8023      = 3
	maxFrameSize         = 4
	organizationHeader   = 4
	capableBit, inUseBit = 1, 2
)

func organization(n *netstate.Neighbor, value []byte) {
	if len(value) < organizationHeader {
		return
	}
	oui := int(value[0])<<16 | int(value[1])<<8 | int(value[2])
	kind, value := value[3], value[organizationHeader:]
	switch {
	case oui == oui8021 && kind == portVLAN && len(value) >= 2:
		n.VLAN = int(binary.BigEndian.Uint16(value))
	case (oui == oui8021 && kind == aggregation8021 || oui == oui8023 && kind == aggregation8023) && len(value) >= 5:
		a := netstate.PortAggregation{Capable: value[0]&capableBit != 0, Active: value[0]&inUseBit != 0, ID: binary.BigEndian.Uint32(value[1:])}
		n.Aggregation = &a
	case oui == oui8023 && kind == maxFrameSize && len(value) >= 2:
		n.MaxFrame = int(binary.BigEndian.Uint16(value))
	}
}

// Port is a link to listen on.
type Port struct {
	Name  string
	Index int // ifindex
}
