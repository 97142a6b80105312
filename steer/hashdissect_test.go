package steer

import (
	"encoding/binary"
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// value is a hash that must be known.
func value(t rapid.TB, h Hasher, f flow.Frame) uint32 {
	t.Helper()
	v, known, why := h.Hash(f)
	if !known {
		t.Fatalf("%s on %s: %+v: unknown: %s", h.Policy, h.Era, f, why)
	}
	return v
}

// The laws by which headers enter the hash. That they are the kernel's is what
// internal/lab/labtest/steering checks.
func TestHeadersEnterTheHash(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFrame(t)
		h := Hasher{Era: Era(rapid.IntRange(0, int(EraNoICMP)).Draw(t, "era")), BigEndian: rapid.Bool().Draw(t, "big-endian")}
		l34, l23, e34 := h, h, h
		l34.Policy, l23.Policy, e34.Policy = netstate.Layer34, netstate.Layer23, netstate.Encap34
		f.Forwarded = true
		same := func(what string, h Hasher, a, b flow.Frame, want bool) {
			if got := value(t, h, a) == value(t, h, b); got != want {
				t.Fatalf("%s, %s on %s: equal %t, want %t: %+v and %+v", what, h.Policy, h.Era, got, want, a, b)
			}
		}
		bare := f
		bare.Proto, bare.Sport, bare.Dport = 89, 0, 0
		fragment, extended, ipsec := f, f, f
		fragment.Fragment = true
		extended.Extended = true
		ipsec.Proto, ipsec.SPI = rapid.SampledFrom([]flow.Proto{flow.ESP, flow.AH}).Draw(t, "ipsec"), uint32(f.Sport)<<16|uint32(f.Dport)|1
		ports := f
		ports.Dport |= 1
		same("a fragment has no ports", l34, fragment, bare, true)
		same("a fragment has no ports", e34, fragment, bare, true)
		same("the first next header has no ports", l34, extended, bare, true)
		same("extension headers are walked", e34, extended, f, true)
		same("the SPI stands for ports", l34, ipsec, ports, true)
		same("the SPI stands for ports", e34, ipsec, ports, true)

		outer := drawFrame(t)
		outer.Forwarded, outer.Inner = true, &f
		outer.Proto = rapid.SampledFrom([]flow.Proto{flow.IPIP, flow.IPv6, flow.GRE}).Draw(t, "tunnel")
		same("the inner packet counts", e34, outer, f, true)
		plain := outer
		plain.Sport, plain.Dport = 0, 0
		plain.Proto = 89
		same("the outer addresses count", l34, outer, plain, true)

		fault := flow.Frame{Tuple: flow.Tuple{Proto: flow.ICMP, Src: f.Dst, Dst: f.Src}, SrcMAC: f.SrcMAC, DstMAC: f.DstMAC, Inner: &f}
		kind := []uint8{3, 4, 5, 11, 12}
		if Is6(f.Src) {
			fault.Proto, kind = flow.ICMPv6, []uint8{1, 2, 3, 4}
		}
		fault.ICMP = &flow.ICMPHeader{Type: rapid.SampledFrom(kind).Draw(t, "error")}
		if h.Era <= EraRawID {
			same("an error follows the flow it reports", l34, fault, f, true)
			same("an error follows the flow it reports", l23, fault, f, true)
		} else {
			fault.Inner = nil
			same("an error has addresses alone", l34, fault, bare, true)
		}
	})
}

// Type, code and identifier of an echo, as struct flow_dissector_key_icmp has
// them in memory.
func TestIdentifier(t *testing.T) {
	for _, tt := range []struct {
		name string
		h    Hasher
		icmp flow.ICMPHeader
		want uint32
	}{
		{"host order", Hasher{}, flow.ICMPHeader{Type: 8, Code: 1, ID: 0x1234}, 0x12340108},
		{"network order", Hasher{Era: EraRawID}, flow.ICMPHeader{Type: 8, Code: 1, ID: 0x1234}, 0x34120108},
		{"big-endian", Hasher{BigEndian: true}, flow.ICMPHeader{Type: 8, Code: 1, ID: 0x1234}, 0x08011234},
		{"big-endian, network order", Hasher{BigEndian: true, Era: EraRawID}, flow.ICMPHeader{Type: 8, Code: 1, ID: 0x1234}, 0x08011234},
		{"zero is one", Hasher{}, flow.ICMPHeader{Type: 128}, 0x00010080},
		{"zero is one, then too", Hasher{Era: EraRawID}, flow.ICMPHeader{Type: 129}, 0x00010081},
		{"timestamp", Hasher{}, flow.ICMPHeader{Type: 13, ID: 7}, 0x0007000d},
		{"no identifier", Hasher{}, flow.ICMPHeader{Type: 17, ID: 7}, 0},
	} {
		if got := tt.h.identifier(&tt.icmp); got != tt.want {
			t.Errorf("%s: %#x, want %#x", tt.name, got, tt.want)
		}
	}
}

func TestFramesThatAreNotIP(t *testing.T) {
	with := func(kind uint16) flow.Frame {
		f := between(t, frame("10.0.0.1", "10.0.0.2", 40000, 5201))
		f.EtherType = kind
		return f
	}
	const macs = 0x11 ^ 0x22
	for _, tt := range []struct {
		h    Hasher
		kind uint16
		want uint32
		why  string // unknown
	}{
		{Hasher{Policy: netstate.Layer34}, 0x0806, macs ^ 0x0806, ""},
		{Hasher{Policy: netstate.Layer23}, 0x8100, macs ^ 0x8100, ""},
		{Hasher{Policy: netstate.Layer34, Era: EraNoICMP}, 0x8100, macs ^ 0x0081, ""},
		{Hasher{Policy: netstate.Layer34, Era: EraNoICMP, BigEndian: true}, 0x8100, macs ^ 0x8100, ""},
		{Hasher{Policy: netstate.Layer34, Era: EraNoProto}, 0x8100, macs, ""},
		{Hasher{Policy: netstate.Layer34, Era: EraSeparate}, 0x0806, macs, ""},
		{Hasher{Policy: netstate.Encap34}, 0x88cc, macs ^ 0x88cc, ""},
		{Hasher{Policy: netstate.Encap34}, 0x0806, 0, ""}, // a success without addresses
		{Hasher{Policy: netstate.Encap23}, 0x0806, (macs ^ 0x0806) ^ 0x08, ""},
		{Hasher{Policy: netstate.Encap23, Era: EraNoProto}, 0x0806, macs, ""},
		{Hasher{Policy: netstate.Encap23, Era: EraRawProto}, 0x0806, 0, "since 4.11"},
		{Hasher{Policy: netstate.Encap23}, 0x8100, 0, "inline VLAN tag"},
		{Hasher{Policy: netstate.Encap34}, 0x8864, 0, "EtherType 0x8864"},
		{Hasher{Policy: netstate.Layer23}, 0x86dd, 0, "does not carry"},
	} {
		got, known, why := tt.h.Hash(with(tt.kind))
		if known != (tt.why == "") || got != tt.want || !strings.Contains(why, tt.why) {
			t.Errorf("%s on %s, type %#x: %#x known %t %q, want %#x %q", tt.h.Policy, tt.h.Era, tt.kind, got, known, why, tt.want, tt.why)
		}
	}
	mapped := frame("::ffff:10.0.0.1", "::ffff:10.0.0.2", 40000, 5201)
	four := value(t, Hasher{Policy: netstate.Layer34}, mapped)
	mapped.EtherType = etherIPv6
	// The two ffff of the IPv6 addresses cancel each other out.
	if six := value(t, Hasher{Policy: netstate.Layer34}, mapped); six != four {
		t.Errorf("IPv4-mapped addresses in an IPv6 header: %#x, want %#x", six, four)
	}
}

func TestHeadersNotGiven(t *testing.T) {
	with := func(change func(*flow.Frame)) flow.Frame {
		f := between(t, frame("10.0.0.1", "10.0.0.2", 0, 0))
		f.Forwarded = true
		change(&f)
		return f
	}
	tunnel := with(func(f *flow.Frame) { f.Proto = flow.GRE })
	fault := with(func(f *flow.Frame) { f.Proto, f.ICMP = flow.ICMP, &flow.ICMPHeader{Type: 3} })
	other := frame("::1", "::2", 1, 2)
	for _, tt := range []struct {
		name   string
		policy netstate.HashPolicy
		era    Era
		f      flow.Frame
		why    string // "" is known
	}{
		{"tunnel", netstate.Encap23, 0, tunnel, "inside the tunnel"},
		{"tunnel under layer3+4", netstate.Layer34, 0, tunnel, ""},
		{"error", netstate.Layer23, 0, fault, "quotes"},
		{"error before 5.5", netstate.Layer23, EraNoICMP, fault, ""},
		{"error of another family", netstate.Layer34, 0, with(func(f *flow.Frame) { f.Proto, f.ICMP, f.Inner = flow.ICMP, fault.ICMP, &other }), "another family"},
		{"error under encap", netstate.Encap34, 0, fault, ""},
		{"ping under encap", netstate.Encap34, 0, with(func(f *flow.Frame) { f.Proto = flow.ICMP }), "ICMP identifier"},
		{"ping under layer2+3", netstate.Layer23, 0, with(func(f *flow.Frame) { f.Proto = flow.ICMP }), ""},
		{"SPI under encap", netstate.Encap34, 0, with(func(f *flow.Frame) { f.Proto = flow.AH }), "security parameter"},
		{"SPI quoted", netstate.Layer34, 0, with(func(f *flow.Frame) {
			quoted := with(func(f *flow.Frame) { f.Proto = flow.ESP })
			f.Proto, f.ICMP, f.Inner = flow.ICMP, fault.ICMP, &quoted
		}), "security parameter"},
		{"socket", netstate.Encap34, 0, with(func(f *flow.Frame) { f.Forwarded = false }), "sk_txhash"},
		{"socket on 3.13", netstate.Encap34, EraNoProto, with(func(f *flow.Frame) { f.Forwarded, f.Sport, f.Dport = false, 40000, 5201 }), ""},
		{"flow label", netstate.Encap34, EraRawProto, func() flow.Frame { f := other; f.Forwarded = true; return f }(), "before 4.15"},
		{"a tag inside and outside", netstate.Encap23, 0, with(func(f *flow.Frame) {
			inner := between(t, frame("10.0.0.3", "10.0.0.4", 1, 2))
			inner.EtherType = etherVLAN
			f.Proto, f.Inner, f.VLAN = flow.GRE, &inner, 7
		}), "misreads"},
	} {
		_, known, why := Hasher{Policy: tt.policy, Era: tt.era}.Hash(tt.f)
		if known != (tt.why == "") || !known && !strings.Contains(why, tt.why) {
			t.Errorf("%s: known %t %q, want %q", tt.name, known, why, tt.why)
		}
	}
	if _, known, why := (Hasher{Policy: netstate.Layer34, Era: EraHostProto}).Hash(frame("10.0.0.1", "10.0.0.2", 1, 2)); !known || !strings.Contains(why, "5.15.17") {
		t.Errorf("ports on early 5.15: known %t %q, want a condition", known, why)
	}
}

// frameOf draws a frame from 14 bytes (protocol, traits, ports or what stands in
// their place, addresses) and what it carries from those behind; nil for fewer.
func frameOf(text []byte) *flow.Frame {
	if len(text) < 14 {
		return nil
	}
	traits, word := text[1], binary.BigEndian.Uint32(text[2:])
	f := flow.Frame{SrcMAC: flow.MAC{2, 5: text[9]}, DstMAC: flow.MAC{2, 5: text[13]}}
	f.Proto, f.Fragment, f.Extended = flow.Proto(text[0]), traits&1 != 0, traits&2 != 0
	if traits&4 != 0 {
		f.EtherType = uint16(word)
	}
	switch {
	case traits&16 != 0: // no IP
	case traits&32 != 0:
		f.Src, f.Dst = netip.AddrFrom16([16]byte{0x20, 1, 12: text[6], 15: text[9]}), netip.AddrFrom16([16]byte{0x20, 1, 12: text[10], 15: text[13]})
	default:
		f.Src, f.Dst = netip.AddrFrom4([4]byte(text[6:])), netip.AddrFrom4([4]byte(text[10:]))
	}
	switch {
	case f.Fragment:
	case f.Proto.HasPorts():
		f.Sport, f.Dport = uint16(word>>16), uint16(word)
	case f.Proto == flow.ESP || f.Proto == flow.AH:
		f.SPI = word
	case f.Proto == flow.ICMP || f.Proto == flow.ICMPv6:
		f.ICMP = &flow.ICMPHeader{Type: text[2], Code: text[3], ID: uint16(word)}
	}
	if traits&8 != 0 {
		f.Inner = frameOf(text[14:])
	}
	return &f
}

// Whatever the wire says, a hash is known or has a reason, alike by value and
// by every policy, era and byte order.
func FuzzHashPacket(f *testing.F) {
	f.Add([]byte("\x06\x00\x9c\x40\x14\x51\x0a\x00\x00\x01\x0a\x00\x00\x02"), uint16(0))
	f.Add([]byte("\x2f\x08\x00\x00\x65\x58\x0a\x00\x00\x01\x0a\x00\x00\x02\x3a\x17\x12\x34\x00\x00\x0a\x00\x00\x01\x0a\x00\x00\x02"), uint16(3))
	f.Fuzz(func(t *testing.T, text []byte, vlan uint16) {
		frame := frameOf(text)
		if frame == nil {
			return
		}
		frame.VLAN, frame.Forwarded = vlan, vlan&1 != 0
		for _, policy := range netstate.HashPolicies() {
			for _, era := range Eras() {
				for _, big := range []bool{false, true} {
					hash, known, why := Hasher{policy, era, big}.Hash(*frame)
					if !known && (why == "" || hash != 0) {
						t.Fatalf("%s on %s: %#x unknown without a reason", policy, era, hash)
					}
				}
				b := Declared(policy, 3)
				b.Era = era
				for _, b.Mode = range netstate.BondModes() {
					if p := b.Place(*frame); !p.Known && p.Why == "" {
						t.Fatalf("%s, %s on %s: unknown without a reason", b.Mode, policy, era)
					}
				}
			}
		}
	})
}
