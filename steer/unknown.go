package steer

import (
	"fmt"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// unknowable says why the hash of f cannot be known whatever the MAC
// addresses are; "" when it can.
func (h Hasher) unknowable(f flow.Frame) string {
	switch h.Policy {
	case netstate.Layer2:
		if f.Src.IsValid() && f.Dst.IsValid() {
			return mixedFamilies(f)
		}
		return ""
	case netstate.VLANSrcMAC:
		if h.Era > EraShifted {
			return fmt.Sprintf("policy %s is newer (5.12) than this kernel (%s)", h.Policy, h.Era)
		}
		return ""
	case netstate.Encap34:
		return "encap3+4 hashes a random number of each socket (sk_txhash), drawn again after a retransmission timeout: ports do not decide"
	case netstate.Layer23, netstate.Encap23, netstate.Layer34:
		return h.unknowableIP(f)
	}
	return fmt.Sprintf("policy %s is newer than this program", h.Policy)
}

// unknowableIP is unknowable for the policies that read IP headers.
func (h Hasher) unknowableIP(f flow.Frame) string {
	if h.Policy == netstate.Encap23 && h.Era >= EraSeparate {
		return fmt.Sprintf("policy %s is newer (3.13) than this kernel (%s)", h.Policy, h.Era)
	}
	if !f.Src.IsValid() || !f.Dst.IsValid() {
		return fmt.Sprintf("%s hashes both IP addresses, and one is not given", h.Policy)
	}
	if why := mixedFamilies(f); why != "" {
		return why
	}
	if h.Era >= EraSeparate && is6(f.Src) {
		return "kernels up to 3.12 hash IPv6 in ways that changed between releases"
	}
	if h.Policy != netstate.Layer34 || f.Fragment || h.Era >= EraSeparate {
		return ""
	}
	switch f.Proto {
	case flow.ICMP, flow.ICMPv6:
		if h.Era <= EraShifted {
			return "layer3+4 hashes the ICMP identifier, which differs with each sender"
		}
	case protoESP, protoAH:
		return "layer3+4 hashes the IPsec security parameter index, which is not given"
	}
	return ""
}

func mixedFamilies(f flow.Frame) string {
	if is6(f.Src) == is6(f.Dst) {
		return ""
	}
	return fmt.Sprintf("%s and %s are of different families", f.Src, f.Dst)
}

// withoutMAC says which MAC address the policy needs and f lacks; "" for none.
func (h Hasher) withoutMAC(f flow.Frame) string {
	switch h.Policy {
	case netstate.Layer2, netstate.Layer23, netstate.Encap23:
		switch {
		case f.SrcMAC.IsZero() && f.DstMAC.IsZero():
			return fmt.Sprintf("%s hashes the MAC addresses of the sender and the next hop, which are not given", h.Policy)
		case f.SrcMAC.IsZero():
			return fmt.Sprintf("%s hashes the sender's MAC address, which is not given", h.Policy)
		case f.DstMAC.IsZero():
			return fmt.Sprintf("%s hashes the next hop's MAC address, which is not given", h.Policy)
		}
	case netstate.VLANSrcMAC:
		if f.SrcMAC.IsZero() {
			return fmt.Sprintf("%s hashes the sender's MAC address, which is not given", h.Policy)
		}
	}
	return ""
}
