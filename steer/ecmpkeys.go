package steer

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"

	"github.com/linerate/linerate/flow"
)

// flowKeys is what a multipath hash takes in: struct flow_keys of
// include/net/flow_dissector.h. Zero fields are not hashed.
type flowKeys struct {
	src, dst netip.Addr
	// ipv6 says which of the two images it is; src and dst may be absent.
	ipv6         bool
	proto        flow.Proto
	label        uint32
	sport, dport uint16
	// hostLabel: the label lies in the host's byte order, as the dissector of
	// forwarded packets leaves it; else in the network's.
	hostLabel bool
}

// Offsets in the part of struct flow_keys that is hashed, from member basic on
// (flow_keys_hash_start): n_proto is zero, so are VLAN tags, key and ICMP.
const (
	keyProto = 2
	keyLabel = 4
	keyPorts = 28
	keyAddrs = 36

	keySize4 = 48 // with four bytes of padding
	keySize6 = 72
)

// image is the hashed bytes, with the ends of the flow in the order that makes
// both directions alike (__flow_hash_consistentify): addresses and ports each
// by themselves, or in older kernels (joint) changing places together.
func (k flowKeys) image(joint, bigEndian bool) []byte {
	size, addr := keySize4, 4
	if k.ipv6 {
		size, addr = keySize6, 16
	}
	var order binary.ByteOrder = binary.LittleEndian
	if bigEndian {
		order = binary.BigEndian
	}
	b := make([]byte, size)
	b[keyProto] = byte(k.proto)
	if k.hostLabel {
		order.PutUint32(b[keyLabel:], k.label)
	} else {
		binary.BigEndian.PutUint32(b[keyLabel:], k.label)
	}
	src, dst := b[keyAddrs:keyAddrs+addr], b[keyAddrs+addr:keyAddrs+2*addr]
	sport, dport := b[keyPorts:keyPorts+2], b[keyPorts+2:keyPorts+4]
	fill(src, k.src)
	fill(dst, k.dst)
	binary.BigEndian.PutUint16(sport, k.sport)
	binary.BigEndian.PutUint16(dport, k.dport)
	portsTurned := order.Uint16(dport) < order.Uint16(sport)
	var turned bool
	switch {
	case k.ipv6:
		turned = bytes.Compare(dst, src) < 0
	case joint:
		turned = int32(order.Uint32(dst)-order.Uint32(src)) < 0
	default:
		turned = order.Uint32(dst) < order.Uint32(src)
	}
	if joint {
		turned = turned || portsTurned && bytes.Equal(src, dst)
		portsTurned = turned
	}
	if turned {
		exchange(src, dst)
	}
	if portsTurned {
		exchange(sport, dport)
	}
	return b
}

// fill writes an address; nothing for an absent one.
func fill(b []byte, a netip.Addr) { copy(b, a.Unmap().AsSlice()) }

func exchange(a, b []byte) {
	for i := range a {
		a[i], b[i] = b[i], a[i]
	}
}

// only is k with the fields of the mask alone.
func (k flowKeys) only(fields HashFields) flowKeys {
	kept := flowKeys{ipv6: k.ipv6, hostLabel: k.hostLabel}
	if fields&FieldSrc != 0 {
		kept.src = k.src
	}
	if fields&FieldDst != 0 {
		kept.dst = k.dst
	}
	if fields&FieldProto != 0 {
		kept.proto = k.proto
	}
	if fields&FieldFlowLabel != 0 {
		kept.label = k.label
	}
	if fields&FieldSport != 0 {
		kept.sport = k.sport
	}
	if fields&FieldDport != 0 {
		kept.dport = k.dport
	}
	return kept
}

// keysOf are all keys of a frame.
func keysOf(f flow.Frame) flowKeys {
	k := flowKeys{src: f.Src, dst: f.Dst, ipv6: Is6(f.Src), proto: f.Proto, sport: f.Sport, dport: f.Dport}
	if k.ipv6 {
		k.label = f.FlowLabel
	}
	return k
}

// layer3 are the keys of MultipathL3: of IPv6 the protocol and the label too.
func (k flowKeys) layer3() flowKeys {
	if k.ipv6 {
		return k.only(FieldSrc | FieldDst | FieldProto | FieldFlowLabel)
	}
	return k.only(FieldSrc | FieldDst)
}

// socketKeys are the keys of a flow that a socket of the host sends
// (struct flowi4, struct flowi6); nil for none, with why when they cannot be
// known. The label is that of the socket: labels that the kernel makes up
// (net.ipv6.auto_flowlabels) come after routing.
func (m Multipath) socketKeys(f flow.Frame) (keys *flowKeys, why string) {
	if !Is6(f.Src) && tunnels(f.Proto) {
		return nil, "a tunnel device adds a random hash of the packet inside to that of its route"
	}
	k := keysOf(f)
	switch m.Policy {
	case MultipathL3, MultipathInner:
		k = k.layer3()
	case MultipathL4:
		if why := k.socketPorts(f, FieldSport|FieldDport); why != "" {
			return nil, why
		}
		k = k.only(FieldSrc | FieldDst | FieldProto | FieldSport | FieldDport)
	case MultipathFields:
		fields := m.fields()
		if fields&outerFields == 0 {
			return nil, ""
		}
		if fields&(FieldSport|FieldDport) != 0 {
			if why := k.socketPorts(f, fields); why != "" {
				return nil, why
			}
		}
		k = k.only(fields)
	default:
		return nil, "policy " + m.Policy.String() + " is newer than this program"
	}
	return &k, ""
}

// socketPorts puts into k what union flowi_uli holds for the protocol; why
// names what of the fields f lacks.
func (k *flowKeys) socketPorts(f flow.Frame, fields HashFields) (why string) {
	switch f.Proto {
	case flow.TCP, flow.UDP, protoDCCP, protoSCTP, protoUDPLite:
		return withoutPorts(&f, fields&FieldSport != 0, fields&FieldDport != 0, "the route's hash takes")
	case flow.ICMP, flow.ICMPv6:
		if f.ICMP == nil {
			return "the route's hash takes the ICMP type and code, which are not given"
		}
		if quotes(f) {
			return "an ICMP error goes by the packet that it answers"
		}
		k.sport, k.dport = 0, uint16(f.ICMP.Type)<<8|uint16(f.ICMP.Code)
		return ""
	}
	return fmt.Sprintf("what the route's hash takes of protocol %s depends on the program that sends it", f.Proto)
}

// quotes reports an ICMP error, which holds the packet that it answers
// (icmp_is_err, icmpv6_is_err).
func quotes(f flow.Frame) bool {
	if f.ICMP == nil {
		return false
	}
	switch {
	case f.Proto == flow.ICMPv6 && Is6(f.Src):
		return f.ICMP.Type >= 1 && f.ICMP.Type <= 4
	case f.Proto == flow.ICMP && !Is6(f.Src):
		switch f.ICMP.Type {
		case 3, 4, 5, 11, 12:
			return true
		}
	}
	return false
}

// tunnels reports a protocol that the flow dissector looks into: IPv4 and IPv6
// in IP, and GRE.
func tunnels(p flow.Proto) bool { return p == 4 || p == 41 || p == 47 }
