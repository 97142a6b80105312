package switchhash

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

func pair(src, dst string) flow.Frame {
	return flow.Frame{Tuple: flow.Tuple{Proto: flow.TCP, Src: netip.MustParseAddr(src), Dst: netip.MustParseAddr(dst), Sport: 40000, Dport: 5201}}
}

func catalyst(t *testing.T, text string, n int) Catalyst {
	t.Helper()
	c, err := ParseCatalyst(text, steer.Numbered(n))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Cisco 12023: the table of how many of the eight values each port takes.
func TestSharesOfCiscosTable(t *testing.T) {
	for n, want := range map[int]string{8: "[1 1 1 1 1 1 1 1]", 7: "[2 1 1 1 1 1 1]", 6: "[2 2 1 1 1 1]", 5: "[2 2 2 1 1]", 4: "[2 2 2 2]", 3: "[3 3 2]", 2: "[4 4]", 1: "[8]", 0: "[]", 9: "[]"} {
		if got := fmt.Sprint(Shares(n)); got != want {
			t.Errorf("%d ports: %s, want %s", n, got, want)
		}
	}
}

// With three the best is 37.5, 37.5 and 25 %.
func TestThreeLinksCannotBeEven(t *testing.T) {
	var parts []float64
	for _, s := range Shares(3) {
		parts = append(parts, 100*float64(s)/8)
	}
	if fmt.Sprint(parts) != "[37.5 37.5 25]" {
		t.Error(parts)
	}
	if why := catalyst(t, "src-dst-ip", 3).Reach().Why; !strings.Contains(why, "3:3:2") {
		t.Error(why)
	}
}

// The worked example: src-dst-ip over two links, by the last bit of both addresses.
func TestTwoLinksByTheLastBit(t *testing.T) {
	c := catalyst(t, "src-dst-ip", 2)
	for _, x := range []struct {
		src, dst     string
		value, index int
	}{
		{"192.0.2.10", "192.0.2.20", 6, 0}, {"192.0.2.11", "192.0.2.20", 7, 1}, {"198.51.100.7", "203.0.113.7", 0, 0},
	} {
		if p := c.Place(pair(x.src, x.dst)); !p.Known || p.Index != x.index || int(*p.Hash) != x.value {
			t.Errorf("%s to %s: %+v, want value %d, index %d", x.src, x.dst, p, x.value, x.index)
		}
	}
	for a := range 256 {
		for b := range 256 {
			want := (a + b) % 2
			if p := c.Place(pair(fmt.Sprintf("10.0.0.%d", a), fmt.Sprintf("10.0.1.%d", b))); p.Index != want {
				t.Fatalf(".%d to .%d: %d, want %d: index 0 when both last octets are even or both odd", a, b, p.Index, want)
			}
		}
	}
}

// One-sided methods take the low bits, two-sided ones the exclusive or: two links the
// last bit, four two, eight three.
func TestMethodsTakeTheLowBits(t *testing.T) {
	f := pair("10.0.0.13", "10.0.0.6") // 101 and 110
	f.SrcMAC, f.DstMAC = flow.MAC{2, 0, 0, 0, 0, 0x0b}, flow.MAC{2, 0, 0, 0, 0, 0x04}
	for _, x := range []struct {
		method string
		value  int
	}{{"src-ip", 5}, {"dst-ip", 6}, {"src-dst-ip", 3}, {"src-mac", 3}, {"dst-mac", 4}, {"src-dst-mac", 7}} {
		for _, n := range []int{1, 2, 4, 8} {
			if p := catalyst(t, "catalyst-"+x.method, n).Place(f); !p.Known || p.Index != x.value%n {
				t.Errorf("%s over %d: %+v, want %d", x.method, n, p, x.value%n)
			}
		}
	}
	six := pair("fd00::d", "fd00::6")
	if p := catalyst(t, "src-dst-ip", 8).Place(six); p.Index != 3 {
		t.Errorf("IPv6: %+v", p)
	}
	arp := flow.Frame{EtherType: 0x0806, SrcMAC: f.SrcMAC, DstMAC: f.DstMAC}
	if p := catalyst(t, "src-dst-ip", 8).Place(arp); p.Index != 7 {
		t.Errorf("what is not IP goes by MAC addresses: %+v", p)
	}
}

// The column Load of two links is 55 and AA, which is the last bit.
func TestLoadIsReadNotGuessed(t *testing.T) {
	read, ruled := catalyst(t, "src-dst-ip 55,AA", 2), catalyst(t, "src-dst-ip", 2)
	turned := catalyst(t, "src-dst-ip AA,55", 2)
	three, unread := catalyst(t, "src-dst-ip 92,49,24", 3), catalyst(t, "src-dst-ip", 3)
	for last := range 8 {
		f := pair("10.0.0.0", fmt.Sprintf("10.0.1.%d", last))
		if a, b := read.Place(f), ruled.Place(f); a.Index != b.Index || !a.Known {
			t.Errorf("value %d: %+v and %+v", last, a, b)
		}
		if p := turned.Place(f); p.Index != 1-ruled.Place(f).Index {
			t.Errorf("value %d of the other order: %+v", last, p)
		}
		want := []int{1, 0, 2, 1, 0, 2, 1, 0}[last]
		if p := three.Place(f); !p.Known || p.Index != want {
			t.Errorf("value %d of three: %+v, want %d", last, p, want)
		}
		if p := unread.Place(f); p.Known || !strings.Contains(p.Why, "Load") {
			t.Errorf("three links without Load: %+v", p)
		}
	}
	for _, bad := range []string{"src-dst-ip 55", "src-dst-ip 55,55", "src-dst-ip 55,2A", "src-dst-ip 55,GG", "src-dst-port", "", "src-dst-ip 155,AA"} {
		if _, err := ParseCatalyst(bad, steer.Numbered(2)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestWhichFlowsShareAMember(t *testing.T) {
	frames := []flow.Frame{pair("10.0.0.1", "10.0.1.1"), pair("10.0.0.1", "10.0.1.2"), pair("10.0.0.1", "10.0.1.3")}
	if g, known, _ := catalyst(t, "src-dst-ip", 2).Groups(frames); !known || !slices.Equal(g, []int{0, 1, 0}) {
		t.Errorf("two links: %v, %v", g, known)
	}
	if _, known, why := catalyst(t, "src-dst-ip", 3).Groups(frames); known || why == "" {
		t.Error("over three links nobody knows which values share one")
	}
	if g, known, _ := catalyst(t, "src-ip", 3).Groups(frames); !known || !slices.Equal(g, []int{0, 0, 0}) {
		t.Errorf("one value: %v, %v", g, known)
	}
	if _, known, why := catalyst(t, "src-mac", 2).Groups(frames); known || !strings.Contains(why, "MAC address") {
		t.Errorf("no MAC address is given: %v, %q", known, why)
	}
}

func TestDeclared(t *testing.T) {
	for word, want := range map[string]struct {
		policy netstate.HashPolicy
		ok     bool
	}{"layer3+4": {netstate.Layer34, true}, "catalyst-src-dst-ip": {netstate.PolicyUnread, true}, "catalyst-src-mac": {netstate.PolicyUnread, true},
		"unknown": {netstate.PolicyUnread, false}, "": {netstate.PolicyUnread, false}, "catalyst-src-dst-port": {netstate.PolicyUnread, false}, "src-dst-ip": {netstate.PolicyUnread, false}} {
		on, policy, ok := Declared(word, 2)
		if ok != want.ok || policy != want.policy || ok && len(on.Links()) != 2 {
			t.Errorf("%q: %v, %v, %v", word, on, policy, ok)
		}
	}
}

func rtag7(t *testing.T, text string, n int) RTAG7 {
	t.Helper()
	h, err := ParseRTAG7(text, steer.Numbered(n))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// With XOR16 the value is the exclusive or of all halves: of addresses, ports, protocol
// and seed.
func TestXOR16IsTheFoldOfAllFields(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		var a, b [4]byte
		for i := range a {
			a[i], b[i] = byte(r.Uint32()), byte(r.Uint32())
		}
		seed := r.Uint32()
		f := flow.Frame{Tuple: flow.Tuple{Proto: flow.TCP, Src: netip.AddrFrom4(a), Dst: netip.AddrFrom4(b), Sport: uint16(r.Uint32()), Dport: uint16(r.Uint32())}}
		half := func(x [4]byte) uint16 { return (uint16(x[0])<<8 | uint16(x[1])) ^ (uint16(x[2])<<8 | uint16(x[3])) }
		want := half(a) ^ half(b) ^ f.Sport ^ f.Dport ^ 6 ^ uint16(seed) ^ uint16(seed>>16)
		if got := rtag7(t, fmt.Sprintf("xor16 seed %d", seed), 2).Value(f); got != want {
			t.Fatalf("%+v: %#x, want %#x", f, got, want)
		}
	}
}

// The check values of the CRCs themselves: reflected CCITT from zero is CRC-16/KERMIT,
// and both are linear, so that a zero input has the value zero.
func TestCRCsAreThoseOfTheirNames(t *testing.T) {
	empty := flow.Frame{Tuple: flow.Tuple{Src: netip.IPv4Unspecified(), Dst: netip.IPv4Unspecified()}}
	for _, fn := range Functions() {
		h := RTAG7{Function: fn, Members: steer.Numbered(2)}
		if v := h.Value(empty); v != 0 {
			t.Errorf("%s of nothing: %#x", fn, v)
		}
		seeds := [3]uint32{0x31323334, 0x12345678, 0x31323334 ^ 0x12345678}
		var values [3]uint16
		for i, s := range seeds {
			h.Seed = s
			values[i] = h.Value(empty)
		}
		if values[0]^values[1] != values[2] || values[0] == 0 {
			t.Errorf("%s is not linear: %#x", fn, values)
		}
	}
	// Of "1234" behind zeros, which CRCs that start at zero do not see: KERMIT 0x8832
	// by the reflected table, reversed as the chip has it.
	h := RTAG7{Function: CCITT, Seed: 0x34333231}
	want := uint16(0)
	for _, c := range []byte("1234") {
		want ^= uint16(c)
		for range 8 {
			want = want>>1 ^ 0x8408*(want&1)
		}
	}
	if got := h.Value(empty); got != reversed(want) {
		t.Errorf("crc-ccitt of 1234: %#x, want %#x", got, reversed(want))
	}
}

func reversed(x uint16) (out uint16) {
	for i := range 16 {
		out |= x >> i & 1 << (15 - i)
	}
	return out
}

func TestRTAG7SaysWhatItCannot(t *testing.T) {
	h := rtag7(t, "crc32-lo seed 7 offset 4 premix", 4)
	if h.Seed != 7 || h.Offset != 4 || !h.Premix || !h.Place(pair("10.0.0.1", "10.0.0.2")).Known {
		t.Errorf("%+v", h)
	}
	same, icmp := pair("10.0.0.1", "10.0.0.2"), pair("10.0.0.1", "10.0.0.2")
	same.Sport, icmp.Proto = same.Dport, flow.ICMP
	for _, f := range []flow.Frame{same, icmp, {}} {
		if p := h.Place(f); p.Known || p.Why == "" {
			t.Errorf("%+v: %+v", f, p)
		}
	}
	for _, bad := range []string{"", "crc16", "xor16 offset 16", "xor16 seed x", "xor16 salt 1", "xor16 seed"} {
		if _, err := ParseRTAG7(bad, steer.Numbered(2)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	// Rotation by the offset to the right, then the low bits.
	f := pair("10.0.0.1", "10.0.0.2")
	plain, turned := rtag7(t, "xor16", 8), rtag7(t, "xor16 offset 3", 8)
	if v := plain.Value(f); turned.Place(f).Index != int(v>>3|v<<13)&unicastBits%8 {
		t.Errorf("offset 3 of %#x: %+v", v, turned.Place(f))
	}
}
