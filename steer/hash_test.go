package steer

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

func mac(t testing.TB, s string) flow.MAC {
	t.Helper()
	if s == "" {
		return flow.MAC{}
	}
	m, err := flow.ParseMAC(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func frame(src, dst string, sport, dport uint16) flow.Frame {
	return flow.Frame{Tuple: flow.Tuple{
		Proto: flow.TCP, Src: netip.MustParseAddr(src), Dst: netip.MustParseAddr(dst), Sport: sport, Dport: dport,
	}}
}

// unported marks the ports of a frame, and of what is inside, that are zero as
// not given.
func unported(f flow.Frame) flow.Frame {
	f.NoSport, f.NoDport = f.Sport == 0, f.Dport == 0
	if f.Inner != nil {
		inner := unported(*f.Inner)
		f.Inner = &inner
	}
	return f
}

// between adds the two MAC addresses of the published tables.
func between(t testing.TB, f flow.Frame) flow.Frame {
	f.SrcMAC, f.DstMAC = mac(t, "02:00:00:00:01:11"), mac(t, "02:00:00:00:02:22")
	return f
}

// vector is one case of testdata/bond_vectors.json.
type vector struct {
	Policy netstate.HashPolicy `json:"policy"`
	Kernel string              `json:"kernel"`
	Input  struct {
		SMAC      string  `json:"smac"`
		DMAC      string  `json:"dmac"`
		EtherType string  `json:"ethertype"`
		SIP       string  `json:"sip"`
		DIP       string  `json:"dip"`
		Sport     uint16  `json:"sport"`
		Dport     uint16  `json:"dport"`
		VID       *uint16 `json:"vid"`
	} `json:"input"`
	Hash  uint32         `json:"hash"`
	Index map[string]int `json:"index"`
}

// vectorEras says which eras a vector's kernel words cover.
var vectorEras = map[string][]Era{
	">=5.15":                      {EraCurrent, EraHostProto},
	"<5.15 (LE host)":             {EraShifted, EraRawID, EraNoICMP, EraRawProto},
	">=5.18, 5.17.6+, 5.15.38+":   {EraCurrent},
	"4.15..5.14 (LE)":             {EraShifted, EraRawID, EraNoICMP},
	">=4.15 (LE)":                 {EraCurrent, EraHostProto, EraShifted, EraRawID, EraNoICMP},
	">=4.15 (BE host e.g. s390x)": {EraCurrent, EraHostProto, EraShifted, EraRawID, EraNoICMP},
	">=5.12":                      {EraCurrent, EraHostProto, EraShifted},
}

func (v vector) frame(t *testing.T) flow.Frame {
	f := flow.Frame{SrcMAC: mac(t, v.Input.SMAC), DstMAC: mac(t, v.Input.DMAC)}
	f.Proto, f.Sport, f.Dport = flow.TCP, v.Input.Sport, v.Input.Dport
	if v.Input.SIP != "" {
		f.Src, f.Dst = netip.MustParseAddr(v.Input.SIP), netip.MustParseAddr(v.Input.DIP)
	}
	if v.Input.EtherType == "ipv6" {
		f.Src, f.Dst = netip.MustParseAddr("::1"), netip.MustParseAddr("::2")
	}
	if v.Input.EtherType == "arp" {
		f.EtherType = etherARP
	}
	if v.Input.VID != nil {
		f.VLAN = *v.Input.VID
	}
	return f
}

func TestHashVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/bond_vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	checked := 0
	for i, v := range vectors {
		eras := vectorEras[v.Kernel]
		if len(eras) == 0 {
			t.Fatalf("vector %d: no eras for kernel %q", i, v.Kernel)
		}
		for _, era := range eras {
			h := Hasher{Policy: v.Policy, Era: era, BigEndian: strings.Contains(v.Kernel, "BE host")}
			got, known, why := h.Hash(v.frame(t))
			if !known || got != v.Hash {
				t.Errorf("vector %d %s %s %+v: hash %#x known %t (%s), want %#x", i, v.Policy, era, v.Input, got, known, why, v.Hash)
			}
			for links, want := range v.Index {
				n, err := strconv.Atoi(links)
				if err != nil {
					t.Fatal(err)
				}
				b := Declared(v.Policy, n)
				b.Era, b.BigEndian = era, h.BigEndian
				if p := b.Place(v.frame(t)); p.Index != want || !p.Known {
					t.Errorf("vector %d %s %s, %d links: index %d, want %d", i, v.Policy, era, n, p.Index, want)
				}
			}
		}
		checked++
	}
	if checked < 61 {
		t.Errorf("checked %d vectors of %d, want at least 61", checked, len(vectors))
	}
}

func TestHashTable(t *testing.T) {
	v4 := func(sport uint16) flow.Frame { return between(t, frame("192.168.10.1", "192.168.10.2", sport, 5201)) }
	fragment := v4(40000)
	fragment.Fragment = true
	tagged := flow.Frame{SrcMAC: mac(t, "00:1b:21:3c:4d:5e"), VLAN: 100}
	v6 := between(t, frame("2001:db8::1", "2001:db8::2", 40000, 5201))
	mapped := between(t, frame("::ffff:192.168.10.1", "::ffff:192.168.10.2", 40000, 5201))
	const l2, l23, l34 = netstate.Layer2, netstate.Layer23, netstate.Layer34
	for _, tt := range []struct {
		name string
		h    Hasher
		f    flow.Frame
		want uint32
		mod  [5]uint32 // modulo 2, 3, 4, 5, 8
	}{
		{"layer2 v4", Hasher{Policy: l2}, v4(0), 0x833, [5]uint32{1, 2, 3, 4, 3}},
		{"layer2 v4 old", Hasher{Policy: l2, Era: EraShifted}, v4(0), 0x3b, [5]uint32{1, 2, 3, 4, 3}},
		{"layer2 v4 old, big-endian", Hasher{Policy: l2, Era: EraShifted, BigEndian: true}, v4(0), 0x833, [5]uint32{1, 2, 3, 4, 3}},
		{"layer2 v6", Hasher{Policy: l2}, v6, 0x86ee, [5]uint32{0, 0, 2, 2, 6}},
		{"layer2 v6 old", Hasher{Policy: l2, Era: EraRawProto}, v6, 0xddb5, [5]uint32{1, 0, 1, 2, 5}},
		{"layer2 without ethertype", Hasher{Policy: l2, Era: EraNoProto}, v6, 0x33, [5]uint32{1, 0, 3, 1, 3}},
		{"layer2 3.12", Hasher{Policy: l2, Era: EraSeparate}, v6, 0x33, [5]uint32{1, 0, 3, 1, 3}},
		{"layer2+3", Hasher{Policy: l23}, v4(1), 0x03030b38, [5]uint32{0, 1, 0, 3, 0}},
		{"layer2+3 5.15", Hasher{Policy: l23, Era: EraHostProto}, v4(2), 0x0181859c, [5]uint32{0, 2, 0, 4, 4}},
		{"layer2+3 5.4", Hasher{Policy: l23, Era: EraShifted}, v4(3), 0x0181819c, [5]uint32{0, 1, 0, 0, 4}},
		{"layer2+3 4.4", Hasher{Policy: l23, Era: EraRawProto}, v4(4), 0x03030338, [5]uint32{0, 2, 0, 0, 0}},
		{"layer2+3 v6", Hasher{Policy: l23}, v6, 0x0303856b, [5]uint32{1, 0, 3, 1, 3}},
		{"encap2+3 is layer2+3", Hasher{Policy: netstate.Encap23}, v6, 0x0303856b, [5]uint32{1, 0, 3, 1, 3}},
		{"layer3+4 40000", Hasher{Policy: l34}, v4(40000), 0x2923034d, [5]uint32{1, 0, 1, 1, 5}},
		{"layer3+4 40003", Hasher{Policy: l34}, v4(40003), 0x292302cc, [5]uint32{0, 0, 0, 2, 4}},
		{"layer3+4 40004", Hasher{Policy: l34}, v4(40004), 0x2923014f, [5]uint32{1, 0, 3, 1, 7}},
		{"layer3+4 40006", Hasher{Policy: l34}, v4(40006), 0x2923004e, [5]uint32{0, 1, 2, 4, 6}},
		{"layer3+4 50000", Hasher{Policy: l34}, v4(50000), 0x29230b6a, [5]uint32{0, 1, 2, 3, 2}},
		{"layer3+4 33333", Hasher{Policy: l34}, v4(33333), 0x292339f8, [5]uint32{0, 0, 0, 1, 0}},
		{"layer3+4 before the shift", Hasher{Policy: l34, Era: EraRawProto}, v4(40000), 0x5246069a, [5]uint32{0, 0, 2, 2, 2}},
		{"layer3+4 3.13", Hasher{Policy: l34, Era: EraNoProto}, v4(40000), 0x5246069a, [5]uint32{0, 0, 2, 2, 2}},
		{"layer3+4 IPv4-mapped", Hasher{Policy: l34}, mapped, 0x2923034d, [5]uint32{1, 0, 1, 1, 5}},
		{"layer3+4 big-endian", Hasher{Policy: l34, BigEndian: true}, frame("10.0.0.1", "10.0.0.2", 40000, 5201), 0x4e6e644d, [5]uint32{1, 2, 1, 0, 5}},
		{"layer3+4 fragment", Hasher{Policy: l34}, fragment, 0x01818181, [5]uint32{1, 1, 1, 3, 1}},
		{"layer3+4 3.12", Hasher{Policy: l34, Era: EraSeparate}, v4(40000), 0x8812, [5]uint32{0, 1, 2, 4, 2}},
		{"layer2+3 3.12", Hasher{Policy: l23, Era: EraSeparate}, v4(40000), 0x30, [5]uint32{0, 0, 0, 3, 0}},
		{"vlan+srcmac", Hasher{Policy: netstate.VLANSrcMAC}, tagged, 0x3c561b, [5]uint32{1, 2, 3, 3, 3}},
	} {
		got, known, why := tt.h.Hash(tt.f)
		if !known || why != "" || got != tt.want {
			t.Errorf("%s: hash %#x known %t %q, want %#x", tt.name, got, known, why, tt.want)
		}
		if m := [5]uint32{got % 2, got % 3, got % 4, got % 5, got % 8}; m != tt.mod {
			t.Errorf("%s: modulo 2,3,4,5,8 %v, want %v", tt.name, m, tt.mod)
		}
	}
}

func TestHashUnknown(t *testing.T) {
	with := func(change func(*flow.Frame)) flow.Frame {
		f := between(t, frame("10.0.0.1", "10.0.0.2", 40000, 5201))
		change(&f)
		return f
	}
	for _, tt := range []struct {
		name string
		h    Hasher
		f    flow.Frame
		why  string
	}{
		{"encap3+4", Hasher{Policy: netstate.Encap34}, with(func(*flow.Frame) {}), "sk_txhash"},
		{"newer policy", Hasher{Policy: 9}, with(func(*flow.Frame) {}), "newer than this program"},
		{"no MACs", Hasher{Policy: netstate.Layer2}, frame("10.0.0.1", "10.0.0.2", 1, 2), "which are not given"},
		{"no next hop", Hasher{Policy: netstate.Layer23}, with(func(f *flow.Frame) { f.DstMAC = flow.MAC{} }), "next hop's MAC"},
		{"no source MAC", Hasher{Policy: netstate.VLANSrcMAC}, with(func(f *flow.Frame) { f.SrcMAC = flow.MAC{} }), "sender's MAC"},
		{"no address", Hasher{Policy: netstate.Layer34}, with(func(f *flow.Frame) { f.Dst = netip.Addr{} }), "both IP addresses"},
		{"two families", Hasher{Policy: netstate.Layer34}, with(func(f *flow.Frame) { f.Dst = netip.MustParseAddr("::1") }), "different families"},
		{"ping", Hasher{Policy: netstate.Layer34}, with(func(f *flow.Frame) { f.Proto = flow.ICMP }), "ICMP identifier"},
		{"IPsec", Hasher{Policy: netstate.Layer34}, with(func(f *flow.Frame) { f.Proto = 50 }), "security parameter index"},
		{"no source port", Hasher{Policy: netstate.Layer34}, with(func(f *flow.Frame) { f.Sport = 0 }), "layer3+4 hashes the source port, which is not given"},
		{"no destination port", Hasher{Policy: netstate.Layer34, Era: EraNoICMP}, with(func(f *flow.Frame) { f.Dport = 0 }), "the destination port, which"},
		{"no ports of SCTP", Hasher{Policy: netstate.Layer34}, with(func(f *flow.Frame) { f.Proto, f.Sport, f.Dport = protoSCTP, 0, 0 }), "source and destination ports"},
		{"no ports on 3.10", Hasher{Policy: netstate.Layer34, Era: EraSeparate}, with(func(f *flow.Frame) { f.Sport, f.Dport = 0, 0 }), "source and destination ports"},
		{"no ports of a forwarded frame", Hasher{Policy: netstate.Encap34}, with(func(f *flow.Frame) { f.Forwarded, f.Sport = true, 0 }), "encap3+4 hashes the source port"},
		{"no ports in a tunnel", Hasher{Policy: netstate.Encap34}, with(func(f *flow.Frame) {
			inner := frame("10.0.0.3", "10.0.0.4", 0, 5201)
			f.Proto, f.Forwarded, f.Inner = flow.GRE, true, &inner
		}), "source port"},
		{"no ports of what an error quotes", Hasher{Policy: netstate.Layer34}, with(func(f *flow.Frame) {
			quoted := frame("10.0.0.2", "10.0.0.1", 0, 5201)
			f.Proto, f.ICMP, f.Inner = flow.ICMP, &flow.ICMPHeader{Type: 3}, &quoted
		}), "source port"},
		{"vlan+srcmac 4.4", Hasher{Policy: netstate.VLANSrcMAC, Era: EraRawProto}, with(func(*flow.Frame) {}), "newer (5.12)"},
		{"encap2+3 3.10", Hasher{Policy: netstate.Encap23, Era: EraSeparate}, with(func(*flow.Frame) {}), "newer (3.13)"},
		{"IPv6 3.10", Hasher{Policy: netstate.Layer34, Era: EraSeparate}, frame("::1", "::2", 1, 2), "IPv6"},
	} {
		hash, known, why := tt.h.Hash(unported(tt.f))
		if known || hash != 0 || !strings.Contains(why, tt.why) {
			t.Errorf("%s: hash %#x known %t why %q, want unknown with %q", tt.name, hash, known, why, tt.why)
		}
	}
	for _, e := range []Era{EraNoICMP, EraRawProto} {
		old := Hasher{Policy: netstate.Layer34, Era: e}
		if _, known, why := old.Hash(with(func(f *flow.Frame) { f.Proto = flow.ICMP })); !known {
			t.Errorf("ping on %s hashes addresses only, got unknown: %s", e, why)
		}
	}
	bare := flow.Frame{SrcMAC: mac(t, "02:00:00:00:01:11"), DstMAC: mac(t, "02:00:00:00:02:22")}
	if v, known, why := (Hasher{}).Hash(bare); v != 0x833 || !known || !strings.Contains(why, "IPv4") {
		t.Errorf("layer2 without addresses: %#x %t %q, want 0x833, known, a remark on IPv4", v, known, why)
	}
}

// TestHashNeedsNoPorts is where a frame without ports hashes all the same.
func TestHashNeedsNoPorts(t *testing.T) {
	with := func(change func(*flow.Frame)) flow.Frame {
		f := between(t, frame("10.0.0.1", "10.0.0.2", 0, 0))
		change(&f)
		return f
	}
	for _, tt := range []struct {
		name string
		h    Hasher
		f    flow.Frame
	}{
		{"layer2", Hasher{}, with(func(*flow.Frame) {})},
		{"layer2+3", Hasher{Policy: netstate.Layer23}, with(func(*flow.Frame) {})},
		{"encap2+3", Hasher{Policy: netstate.Encap23}, with(func(*flow.Frame) {})},
		{"fragments", Hasher{Policy: netstate.Layer34}, with(func(f *flow.Frame) { f.Fragment = true })},
		{"extension headers", Hasher{Policy: netstate.Layer34}, with(func(f *flow.Frame) { f.Extended = true })},
		{"OSPF", Hasher{Policy: netstate.Layer34}, with(func(f *flow.Frame) { f.Proto = 89 })},
		{"SCTP on 3.10", Hasher{Policy: netstate.Layer34, Era: EraSeparate}, with(func(f *flow.Frame) { f.Proto = protoSCTP })},
		{"ARP", Hasher{Policy: netstate.Layer34}, with(func(f *flow.Frame) { f.EtherType = etherARP })},
	} {
		if _, known, why := tt.h.Hash(tt.f); !known {
			t.Errorf("%s: unknown: %s", tt.name, why)
		}
	}
}

// drawFrame draws a TCP frame of either family with MAC addresses.
func drawFrame(t *rapid.T) flow.Frame {
	var f flow.Frame
	size := rapid.SampledFrom([]int{4, 16}).Draw(t, "size")
	addr := rapid.SliceOfN(rapid.Byte(), size, size)
	f.Src, _ = netip.AddrFromSlice(addr.Draw(t, "src"))
	f.Dst, _ = netip.AddrFromSlice(addr.Draw(t, "dst"))
	if f.Src.Is4In6() || f.Dst.Is4In6() {
		t.Skip("an IPv4-mapped address is another family")
	}
	f.Proto = rapid.SampledFrom([]flow.Proto{flow.TCP, flow.UDP}).Draw(t, "proto")
	f.Sport, f.Dport = rapid.Uint16Min(1).Draw(t, "sport"), rapid.Uint16Min(1).Draw(t, "dport")
	m := rapid.SliceOfN(rapid.Byte(), 5, 5)
	f.SrcMAC[0], f.DstMAC[0] = 2, 2
	copy(f.SrcMAC[1:], m.Draw(t, "smac"))
	copy(f.DstMAC[1:], m.Draw(t, "dmac"))
	return f
}

// xorOfBytes is the XOR of all address bytes.
func xorOfBytes(f flow.Frame) (x byte) {
	for _, b := range append(f.Src.AsSlice(), f.Dst.AsSlice()...) {
		x ^= b
	}
	return x
}

// The short form for link counts that are powers of two: XOR all bytes.
func TestHashClosedForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFrame(t)
		mask := uint32(1)<<rapid.IntRange(0, 7).Draw(t, "k") - 1
		big := rapid.Bool().Draw(t, "big-endian")
		macs := f.SrcMAC[5] ^ f.DstMAC[5]
		l3 := xorOfBytes(f)
		l4 := l3 ^ byte(f.Sport>>8) ^ byte(f.Sport) ^ byte(f.Dport>>8) ^ byte(f.Dport)
		e, e2 := byte(0x08), byte(0x00)
		if Is6(f.Src) {
			e, e2 = 0x5b, 0xdd
		}
		check := func(policy netstate.HashPolicy, era Era, want byte) {
			got, _, _ := (Hasher{policy, era, big}).Hash(f)
			if got&mask != uint32(want)&mask {
				t.Fatalf("%s %s: %#x, want low bits %#x of mask %#x", policy, era, got, want, mask)
			}
		}
		for _, era := range []Era{EraCurrent, EraHostProto, EraShifted, EraRawID, EraNoICMP} {
			check(netstate.Layer34, era, l4>>1)
		}
		check(netstate.Layer34, EraRawProto, l4)
		check(netstate.Layer23, EraCurrent, macs^e^l3)
		check(netstate.Layer23, EraHostProto, (macs^e^l3)>>1)
		check(netstate.Layer23, EraShifted, (macs^e^l3)>>1)
		check(netstate.Layer23, EraRawProto, macs^e^l3)
		check(netstate.Layer2, EraCurrent, macs^e2)
	})
}

// Both directions of a flow share an index when the links are 2, 4 .. 128.
func TestHashSymmetry(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFrame(t)
		back := flow.Frame{Tuple: f.Reverse(), SrcMAC: f.DstMAC, DstMAC: f.SrcMAC}
		h := Hasher{
			Policy:    rapid.SampledFrom([]netstate.HashPolicy{netstate.Layer2, netstate.Layer23, netstate.Layer34}).Draw(t, "policy"),
			Era:       Era(rapid.IntRange(0, int(EraNoProto)).Draw(t, "era")),
			BigEndian: rapid.Bool().Draw(t, "big-endian"),
		}
		there, _, _ := h.Hash(f)
		again, _, _ := h.Hash(back)
		if there&0x7f != again&0x7f {
			t.Fatalf("%v: %#x there, %#x back", h, there, again)
		}
	})
}

// BenchmarkPlace is a bond whose release leaves no doubt, as most are.
func BenchmarkPlace(b *testing.B) {
	f := between(b, frame("192.168.10.1", "192.168.10.2", 40000, 5201))
	for _, mode := range []netstate.BondMode{netstate.LACP, netstate.ActiveBackup} {
		b.Run(mode.String(), func(b *testing.B) {
			on := Declared(netstate.Layer34, 4)
			on.Mode, on.Active = mode, "1"
			b.ReportAllocs()
			for b.Loop() {
				on.Place(f)
			}
		})
	}
}

// BenchmarkHashPorts is many flows that differ in their source ports alone.
func BenchmarkHashPorts(b *testing.B) {
	ports, hashes := make([]uint16, 4096), make([]uint32, 4096)
	for i := range ports {
		ports[i] = uint16(32768 + 7*i)
	}
	f := between(b, frame("fd00:1:2:3::a", "fd00:1:2:3:abcd:ef01:2345:6789", 40000, 5201))
	b.ReportAllocs()
	for b.Loop() {
		p, _, _ := (Hasher{Policy: netstate.Layer34}).BySource(f)
		p.Hashes(hashes, ports)
	}
	b.ReportMetric(float64(b.N)*float64(len(ports))/b.Elapsed().Seconds()/1e6, "Mhash/s")
}

func BenchmarkHash(b *testing.B) {
	v4 := between(b, frame("192.168.10.1", "192.168.10.2", 40000, 5201))
	v6 := between(b, frame("fd00:1:2:3::a", "fd00:1:2:3:abcd:ef01:2345:6789", 40000, 5201))
	for _, p := range []netstate.HashPolicy{netstate.Layer2, netstate.Layer23, netstate.Layer34} {
		for name, f := range map[string]flow.Frame{"v4": v4, "v6": v6} {
			b.Run(fmt.Sprintf("%s/%s", p, name), func(b *testing.B) {
				h := Hasher{Policy: p}
				b.ReportAllocs()
				for b.Loop() {
					h.Hash(f)
				}
			})
		}
	}
}
