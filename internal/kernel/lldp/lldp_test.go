package lldp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

func tlv(kind int, value ...byte) []byte {
	return append(binary.BigEndian.AppendUint16(nil, uint16(kind<<9|len(value))), value...)
}

func named(kind int, subtype byte, s string) []byte {
	return tlv(kind, append([]byte{subtype}, s...)...)
}

func frameOf(elements ...[]byte) []byte {
	frame := []byte{0x01, 0x80, 0xc2, 0, 0, 0x0e, 0x02, 0, 0, 0, 9, 1, 0x88, 0xcc}
	return append(frame, bytes.Join(elements, nil)...)
}

var mandatory = [][]byte{tlv(tlvChassis, 4, 2, 0, 0, 0, 9, 0), named(tlvPort, 5, "Ethernet1/7"), tlv(tlvTTL, 0, 120)}

func with(more ...[]byte) []byte {
	return frameOf(append(append([][]byte{}, mandatory...), more...)...)
}

func TestParse(t *testing.T) {
	basic := netstate.Neighbor{Link: "eth0", MAC: flow.MAC{2, 0, 0, 0, 9, 1}, Chassis: "02:00:00:00:09:00", Port: "Ethernet1/7", TTLSeconds: 120}
	change := func(f func(*netstate.Neighbor)) netstate.Neighbor {
		n := basic
		f(&n)
		return n
	}
	for name, tt := range map[string]struct {
		frame []byte
		want  netstate.Neighbor
	}{
		"mandatory": {with(tlv(tlvEnd)), basic},
		"padded":    {append(with(tlv(tlvEnd)), make([]byte, 20)...), basic},
		"names": {
			with(tlv(tlvPortDescription, []byte("to rack 7\x1b[2J")...), tlv(tlvSystemName, []byte("leaf1")...), tlv(tlvSystemDescription, []byte("NX-OS")...), tlv(tlvEnd)),
			change(func(n *netstate.Neighbor) {
				n.PortDescription, n.SystemName, n.SystemText = "to rack 7 [2J", "leaf1", "NX-OS"
			}),
		},
		"management, VLAN, MTU": {
			with(tlv(tlvManagement, 5, 1, 192, 0, 2, 9, 2, 0, 0, 0, 1, 0), tlv(tlvOrganization, 0, 0x80, 0xc2, 1, 7, 0x70), tlv(tlvOrganization, 0, 0x12, 0x0f, 4, 0x24, 0x00), tlv(tlvEnd)),
			change(func(n *netstate.Neighbor) {
				n.Management, n.VLAN, n.MaxFrame = []netip.Addr{netip.MustParseAddr("192.0.2.9")}, 1904, 9216
			}),
		},
		"aggregation 802.1": {
			with(tlv(tlvOrganization, 0, 0x80, 0xc2, 7, 3, 0, 0, 0, 12), tlv(tlvEnd)),
			change(func(n *netstate.Neighbor) {
				n.Aggregation = &netstate.PortAggregation{Capable: true, Active: true, ID: 12}
			}),
		},
		"aggregation 802.3, not in use": {
			with(tlv(tlvOrganization, 0, 0x12, 0x0f, 3, 1, 0, 0, 0, 0), tlv(tlvEnd)),
			change(func(n *netstate.Neighbor) { n.Aggregation = &netstate.PortAggregation{Capable: true} }),
		},
		"unknown and short elements are passed over": {
			with(tlv(9, 1, 2), tlv(tlvOrganization, 1, 2), tlv(tlvOrganization, 0, 0x12, 0x0f, 4, 1), tlv(tlvManagement, 200, 1), tlv(tlvManagement), tlv(tlvEnd)), basic,
		},
		"chassis by address": {
			frameOf(tlv(tlvChassis, 5, 2, 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1), tlv(tlvPort, 3, 2, 0, 0, 0, 0, 1), tlv(tlvTTL, 0, 1), tlv(tlvEnd)),
			netstate.Neighbor{Link: "eth0", MAC: basic.MAC, Chassis: "2001:db8::1", Port: "02:00:00:00:00:01", TTLSeconds: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Parse("eth0", tt.frame)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	good := with(tlv(tlvEnd))
	other := bytes.Clone(good)
	other[12] = 8
	for name, frame := range map[string][]byte{
		"nothing": nil, "another EtherType": other, "header only": good[:headerLength], "no end": with(),
		"cut short": good[:len(good)-5], "wrong order": frameOf(mandatory[1], mandatory[0], mandatory[2], tlv(tlvEnd)),
		"no port": frameOf(mandatory[0], mandatory[2], tlv(tlvEnd)), "empty chassis": frameOf(tlv(tlvChassis), mandatory[1], mandatory[2], tlv(tlvEnd)),
		"short time to live": frameOf(mandatory[0], mandatory[1], tlv(tlvTTL, 1), tlv(tlvEnd)),
	} {
		if n, err := Parse("eth0", frame); !errors.Is(err, ErrFrame) {
			t.Errorf("%s: %+v, %v; want ErrFrame", name, n, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(with(tlv(tlvEnd)))
	f.Add(with(tlv(tlvManagement, 5, 1, 192, 0, 2, 9, 2, 0, 0, 0, 1, 0), tlv(tlvOrganization, 0, 0x80, 0xc2, 7, 3, 0, 0, 0, 12), tlv(tlvEnd)))
	f.Fuzz(func(t *testing.T, frame []byte) {
		n, err := Parse("eth0", frame)
		if err != nil {
			return
		}
		for _, s := range []string{n.Chassis, n.Port, n.PortDescription, n.SystemName, n.SystemText} {
			if bytes.ContainsAny([]byte(s), "\x00\x1b\r\n") {
				t.Errorf("%q would write to a terminal", s)
			}
		}
	})
}
