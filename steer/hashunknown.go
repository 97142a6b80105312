package steer

import (
	"fmt"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// unknowable says why the hash of f cannot be known whatever the MAC
// addresses are; "" when it can.
func (h Hasher) unknowable(f *flow.Frame) string {
	switch h.Policy {
	case netstate.Layer2:
		if isIP(f) && f.Src.IsValid() && f.Dst.IsValid() {
			return familiesDiffer(f)
		}
		return ""
	case netstate.VLANSrcMAC:
		if h.Era > EraShifted {
			return fmt.Sprintf("policy %s is newer (5.12) than this kernel (%s)", h.Policy, h.Era)
		}
		return ""
	case netstate.Layer23, netstate.Layer34:
		return h.unknowablePlain(f)
	case netstate.Encap23, netstate.Encap34:
		return h.unknowableEncap(f)
	}
	return fmt.Sprintf("policy %s is newer than this program", h.Policy)
}

// unknowablePlain is whyUnknowable for the policies that read one IP header.
func (h Hasher) unknowablePlain(f *flow.Frame) string {
	if !isIP(f) {
		return ""
	}
	if why := h.withoutAddresses(f); why != "" {
		return why
	}
	if h.Era >= EraSeparate {
		if isIPv6(f) {
			return "kernels up to 3.12 hash IPv6 in ways that changed between releases"
		}
		if f.Fragment || f.Proto != flow.TCP && f.Proto != flow.UDP {
			return ""
		}
		return h.withoutTransport(f)
	}
	if f.Extended || f.Fragment {
		return ""
	}
	if isICMP(f) && h.Era <= EraRawID {
		return h.unknowableICMP(f)
	}
	return h.withoutTransport(f)
}

// unknowableICMP is unknowablePlain for messages whose header is read.
func (h Hasher) unknowableICMP(f *flow.Frame) string {
	switch {
	case f.ICMP == nil && h.Policy == netstate.Layer34:
		return "layer3+4 hashes type, code and ICMP identifier, which are not given and differ with each sender"
	case f.ICMP == nil || !f.ICMP.IsError(f.Proto):
		return ""
	case f.Inner == nil:
		return fmt.Sprintf("%s hashes the packet that an ICMP error quotes, which is not given", h.Policy)
	case isIPv6(f.Inner) != isIPv6(f):
		return "the packet that the ICMP error quotes is of another family"
	}
	if why := h.withoutAddresses(f.Inner); why != "" || f.Inner.Extended || f.Inner.Fragment {
		return why
	}
	return h.withoutTransport(f.Inner)
}

// unknowableEncap is whyUnknowable for the policies that look into tunnels.
func (h Hasher) unknowableEncap(f *flow.Frame) string {
	if h.Era >= EraSeparate {
		return fmt.Sprintf("policy %s is newer (3.13) than this kernel (%s)", h.Policy, h.Era)
	}
	if h.Policy == netstate.Encap34 && isIP(f) && !f.Forwarded && h.Era < EraNoProto {
		return "encap3+4 hashes a random number of each socket (sk_txhash), drawn again after a retransmission timeout: ports do not decide"
	}
	for at := f; ; at = at.Inner {
		if !isIP(at) && !(at != f && isTag(at) && at.Src.IsValid()) {
			return h.unknowableType(at)
		}
		if !isIP(at) && f.VLAN != 0 && h.Era <= EraHostProto {
			// The dissector takes the frame's own tag for the one it meets.
			return fmt.Sprintf("%s misreads a tag inside a tunnel where the frame itself has one", h.Policy)
		}
		if why := h.withoutAddresses(at); why != "" {
			return why
		}
		if h.Era >= EraRawProto && isIPv6(at) && (h.Policy == netstate.Encap34 || at.Extended || isTunnel(at)) {
			return fmt.Sprintf("%s reads IPv6 headers in ways that changed before 4.15", h.Policy)
		}
		if at.Fragment {
			return ""
		}
		if !isTunnel(at) {
			return h.unknowableTransport(at)
		}
		if at.Inner == nil {
			return fmt.Sprintf("%s hashes the packet inside the tunnel, which is not given", h.Policy)
		}
	}
}

// unknowableTransport is unknowableEncap for the innermost packet.
func (h Hasher) unknowableTransport(f *flow.Frame) string {
	if h.Policy == netstate.Encap34 && isICMP(f) && f.ICMP == nil && h.Era <= EraRawID {
		return "encap3+4 hashes type, code and ICMP identifier, which are not given and differ with each sender"
	}
	return h.withoutTransport(f)
}

// unknowableType is unknowableEncap for a frame that is not IP: the flow
// dissector follows more EtherTypes than IP, more with each release.
func (h Hasher) unknowableType(f *flow.Frame) string {
	t := f.EtherType
	switch {
	case isTag(f):
		return fmt.Sprintf("%s reads past an inline VLAN tag or not, by the way the frame came", h.Policy)
	case isARP(f) && h.Era == EraRawProto:
		return fmt.Sprintf("%s reads ARP since 4.11, and the kernel's release does not tell", h.Policy)
	}
	for _, followed := range followedTypes {
		if t == followed {
			return fmt.Sprintf("%s reads frames of EtherType 0x%04x in ways that changed between releases", h.Policy, t)
		}
	}
	return ""
}

// followedTypes are EtherTypes that some release's flow dissector follows, beside
// IP, VLAN tags and ARP: batman-adv, transparent bridging, MPLS, PPPoE, TIPC,
// PRP and HSR, CFM, FCoE, PTP (__skb_flow_dissect).
var followedTypes = [...]uint16{0x4305, 0x6558, 0x8847, 0x8848, 0x8864, 0x88ca, 0x88f7, 0x88fb, 0x8902, 0x8906, 0x892f}

func (h Hasher) withoutAddresses(f *flow.Frame) string {
	if !f.Src.IsValid() || !f.Dst.IsValid() {
		return fmt.Sprintf("%s hashes both IP addresses, and one is not given", h.Policy)
	}
	return familiesDiffer(f)
}

func familiesDiffer(f *flow.Frame) string {
	switch {
	case f.EtherType == etherIPv6 && f.Src.Is6() && f.Dst.Is6():
		return ""
	case Is6(f.Src) != Is6(f.Dst):
		return fmt.Sprintf("%s and %s are of different families", f.Src, f.Dst)
	case f.EtherType == etherIPv4 && Is6(f.Src), f.EtherType == etherIPv6:
		return fmt.Sprintf("EtherType 0x%04x does not carry the addresses given", f.EtherType)
	}
	return ""
}

// withoutTransport says that ports are hashed and f lacks one, or the SPI that
// is in their place; "" for policies that read neither.
func (h Hasher) withoutTransport(f *flow.Frame) string {
	if h.Policy != netstate.Layer34 && h.Policy != netstate.Encap34 {
		return ""
	}
	if (f.Proto == flow.ESP || f.Proto == flow.AH) && f.SPI == 0 {
		return h.Policy.String() + " hashes the IPsec security parameter index, which is not given"
	}
	return withoutPorts(f, true, true, h.Policy.String()+" hashes")
}

// withoutPorts says which port f lacks of those that the reader takes in,
// "layer3+4 hashes"; "" for none and for protocols without ports. Port zero is
// one like any other: hashes do not mind it.
func withoutPorts(f *flow.Frame, sport, dport bool, reader string) string {
	sport, dport = sport && f.NoSport, dport && f.NoDport
	switch {
	case !f.Proto.HasPorts():
		return ""
	case sport && dport:
		return reader + " the source and destination ports, which are not given"
	case sport:
		return reader + " the source port, which is not given"
	case dport:
		return reader + " the destination port, which is not given"
	}
	return ""
}

// withoutMAC says which MAC address the policy needs and f lacks; "" for none.
func (h Hasher) withoutMAC(f *flow.Frame) string {
	switch h.Policy {
	case netstate.Layer34, netstate.Encap34:
		if isIP(f) {
			return ""
		}
	case netstate.VLANSrcMAC:
		if f.SrcMAC.IsZero() {
			return fmt.Sprintf("%s hashes the sender's MAC address, which is not given", h.Policy)
		}
		return ""
	}
	switch {
	case f.SrcMAC.IsZero() && f.DstMAC.IsZero():
		return fmt.Sprintf("%s hashes the MAC addresses of the sender and the next hop, which are not given", h.Policy)
	case f.SrcMAC.IsZero():
		return fmt.Sprintf("%s hashes the sender's MAC address, which is not given", h.Policy)
	case f.DstMAC.IsZero():
		return fmt.Sprintf("%s hashes the next hop's MAC address, which is not given", h.Policy)
	}
	return ""
}

// remark is under what condition a known hash holds; "" for none.
func (h Hasher) remark(f *flow.Frame) string {
	switch h.Policy {
	case netstate.Layer2:
		if isIP(f) && f.EtherType == 0 && !f.Src.IsValid() && !f.Dst.IsValid() && h.Era < EraNoProto {
			return "no addresses given: hashed as IPv4"
		}
		return ""
	case netstate.Layer34, netstate.Encap23, netstate.Encap34:
		if h.Era == EraHostProto && isIP(f) {
			return fmt.Sprintf("not on kernels 5.15.0 to 5.15.17 and 5.16.0 to 5.16.3, which read %s from a wrong place", h.Policy)
		}
		if h.Policy == netstate.Encap34 && isIP(f) && h.Era < EraNoProto {
			return "holds for forwarded frames without a receive hash (ethtool -k: receive-hashing, and RPS, off)"
		}
	}
	return ""
}
