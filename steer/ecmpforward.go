package steer

import "github.com/linerate/linerate/flow"

// innermost is the frame inside all tunnels, ok false when one is not given.
func innermost(f flow.Frame) (inner flow.Frame, ok bool) {
	for tunnels(f.Proto) && !f.Fragment {
		if f.Inner == nil {
			return f, false
		}
		f = *f.Inner
	}
	return f, true
}

const (
	needsInner = "the route's hash takes the packet inside, which is not given"
	needsLabel = "the route's hash takes the IPv6 flow label, which is not given and which senders draw at random"
)

// hashForwarded is hash for a packet that came in by a link: the kernel reads
// its headers (fib_multipath_hash with an skb).
func (m Multipath) hashForwarded(f flow.Frame, e MultipathEra) (hash uint32, known bool, why string) {
	if m.Seed == 0 {
		return 0, false, askKernel
	}
	var k flowKeys
	switch m.Policy {
	case MultipathL3:
		k, why = forwardedLayer3(f)
	case MultipathL4:
		why = "for forwarded packets the kernel takes the receiving card's own hash where there is one"
	case MultipathInner:
		k, why = forwardedInner(f)
	case MultipathFields:
		return m.forwardedFields(f, e)
	default:
		why = "policy " + m.Policy.String() + " is newer than this program"
	}
	if why != "" {
		return 0, false, why
	}
	return m.digest(k, e), true, ""
}

// forwardedLayer3 is ip_multipath_l3_keys and ip6_multipath_l3_keys: of an ICMP
// error it takes the packet that the error answers.
func forwardedLayer3(f flow.Frame) (k flowKeys, why string) {
	if (f.Proto == flow.ICMP || f.Proto == flow.ICMPv6) && !f.Fragment {
		if f.ICMP == nil {
			return k, "the route's hash goes by the kind of ICMP message, which is not given"
		}
		if quotes(f) {
			if f.Inner == nil {
				return k, needsInner
			}
			f = *f.Inner
		}
	}
	if Is6(f.Src) {
		if f.Extended {
			return k, "the route's hash takes the IPv6 extension header's number, which is not given"
		}
		if f.FlowLabel == 0 {
			return k, needsLabel
		}
	}
	return keysOf(f).layer3(), ""
}

func forwardedInner(f flow.Frame) (k flowKeys, why string) {
	f, ok := innermost(f)
	if !ok {
		return k, needsInner
	}
	k = keysOf(f).layer3()
	k.hostLabel = true
	if k.ipv6 && f.FlowLabel == 0 {
		return k, needsLabel
	}
	return k, ""
}

// forwardedFields is fib_multipath_custom_hash_skb: the outer packet's fields
// and those of the packet inside, each hashed, and both mixed.
func (m Multipath) forwardedFields(f flow.Frame, e MultipathEra) (hash uint32, known bool, why string) {
	fields := m.fields()
	var outer, inner uint32
	if mask := fields & outerFields; mask != 0 {
		k, why := ownHeaders(f, mask)
		if why != "" {
			return 0, false, why
		}
		outer = m.digest(k, e)
	}
	mask := fields / FieldInnerSrc // the inner fields have the outer ones' order
	if mask != 0 && tunnels(f.Proto) && !f.Fragment {
		in, ok := innermost(f)
		if !ok {
			return 0, false, needsInner
		}
		k, why := ownHeaders(in, mask)
		if why != "" {
			return 0, false, why
		}
		inner = m.digest(k, e)
	}
	return jhash2(outer, inner), true, ""
}

// ownHeaders are the chosen keys of a packet's own headers: ports of the
// protocols that have any, and not of fragments.
func ownHeaders(f flow.Frame, fields HashFields) (k flowKeys, why string) {
	k = keysOf(f)
	k.hostLabel = true
	if k.ipv6 && fields&FieldFlowLabel != 0 && f.FlowLabel == 0 {
		return k, needsLabel
	}
	switch {
	case f.Fragment:
		k.sport, k.dport = 0, 0
	case f.Proto.HasPorts():
		if why := withoutPorts(&f, fields&FieldSport != 0, fields&FieldDport != 0, "the route's hash takes"); why != "" {
			return k, why
		}
	case f.Proto == protoESP, f.Proto == protoAH:
		if fields&(FieldSport|FieldDport) != 0 && f.SPI == 0 {
			return k, "the route's hash takes the IPsec security parameter index, which is not given"
		}
		k.sport, k.dport = uint16(f.SPI>>16), uint16(f.SPI)
	default:
		k.sport, k.dport = 0, 0
	}
	return k.only(fields), ""
}
