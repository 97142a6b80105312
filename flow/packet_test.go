package flow

import (
	"encoding/hex"
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// wire reads hexadecimal with blanks.
func wire(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const (
	macs     = "020000000222 020000000111 "
	v4       = "0000 00000000 40" // length, id, flags, time to live
	v4tcp    = "45 00" + v4 + "06 0000 0a000001 0a000002 "
	v6ends   = "fd000000000000000000000000000001 fd000000000000000000000000000002 "
	tcpPorts = "9c40 1451 "
)

func between(f Frame) Frame {
	f.SrcMAC, f.DstMAC = MAC{2, 0, 0, 0, 1, 0x11}, MAC{2, 0, 0, 0, 2, 0x22}
	return f
}

func tuple(p Proto, src, dst string, ports ...uint16) Tuple {
	t := Tuple{Proto: p, Src: netip.MustParseAddr(src), Dst: netip.MustParseAddr(dst)}
	if len(ports) == 2 {
		t.Sport, t.Dport = ports[0], ports[1]
	}
	return t
}

func TestParseFrame(t *testing.T) {
	four := func(p Proto, ports ...uint16) Tuple { return tuple(p, "10.0.0.1", "10.0.0.2", ports...) }
	six := func(p Proto, ports ...uint16) Tuple { return tuple(p, "fd00::1", "fd00::2", ports...) }
	quoted := Frame{Tuple: tuple(UDP, "10.0.0.2", "10.0.0.1", 53, 40000)}
	const udpQuote = "45 00 0000 0000 0000 40 11 0000 0a000002 0a000001 0035 9c40 "
	for _, tt := range []struct {
		name, wire string
		want       Frame
	}{
		{"tcp", macs + "0800 " + v4tcp + tcpPorts, Frame{Tuple: four(TCP, 40000, 5201)}},
		{"options", macs + "0800 46 00" + v4 + "11 0000 0a000001 0a000002 01010101 0035 0036", Frame{Tuple: four(UDP, 53, 54)}},
		{"do not fragment", macs + "0800 45 00 0000 0000 4000 40 84 0000 0a000001 0a000002 0001 0002", Frame{Tuple: four(SCTP, 1, 2)}},
		{"first fragment", macs + "0800 45 00 0000 0000 2000 40 06 0000 0a000001 0a000002 9c40 1451", Frame{Tuple: four(TCP), Fragment: true}},
		{"last fragment", macs + "0800 45 00 0000 0000 0001 40 06 0000 0a000001 0a000002", Frame{Tuple: four(TCP), Fragment: true}},
		{"ipv6", macs + "86dd 60000000 0000 06 40" + v6ends + tcpPorts, Frame{Tuple: six(TCP, 40000, 5201)}},
		{"extension headers", macs + "86dd 60000000 0000 00 40" + v6ends + "2b00 000000000000 3c01 000000000000 0000000000000000 0600 000000000000" + tcpPorts,
			Frame{Tuple: six(TCP, 40000, 5201), Extended: true}},
		{"fragment header", macs + "86dd 60000000 0000 2c 40" + v6ends + "1100 0001 00000001 9c40 1451", Frame{Tuple: six(UDP), Extended: true, Fragment: true}},
		{"mapped", macs + "86dd 60000000 0000 11 40 00000000000000000000ffff0a000001 00000000000000000000ffff0a000002" + tcpPorts,
			Frame{Tuple: tuple(UDP, "::ffff:10.0.0.1", "::ffff:10.0.0.2", 40000, 5201), EtherType: 0x86dd}},
		{"esp", macs + "0800 45 00" + v4 + "32 0000 0a000001 0a000002 00000010", Frame{Tuple: four(ESP), SPI: 16}},
		{"ah", macs + "86dd 60000000 0000 33 40" + v6ends + "0604 0000 00000011", Frame{Tuple: six(AH), SPI: 17}},
		{"ping", macs + "0800 45 00" + v4 + "01 0000 0a000001 0a000002 0800 0000 1267 0001", Frame{Tuple: four(ICMP), ICMP: &ICMPHeader{Type: 8, ID: 0x1267}}},
		{"no identifier", macs + "86dd 60000000 0000 3a 40" + v6ends + "8700 0000 1267 0001", Frame{Tuple: six(ICMPv6), ICMP: &ICMPHeader{Type: 135}}},
		{"unreachable", macs + "0800 45 00" + v4 + "01 0000 0a000001 0a000002 0303 0000 0000 0000" + udpQuote,
			Frame{Tuple: four(ICMP), ICMP: &ICMPHeader{Type: 3, Code: 3}, Inner: &quoted}},
		{"an error quotes half a tunnel", macs + "0800 45 00" + v4 + "01 0000 0a000001 0a000002 0b00 0000 0000 0000 45 00" + v4 + "2f 0000 0a000001 0a000002 0000 0800 4500",
			Frame{Tuple: four(ICMP), ICMP: &ICMPHeader{Type: 11}, Inner: &Frame{Tuple: four(GRE)}}},
		{"IP in IP", macs + "0800 45 00" + v4 + "04 0000 0a000001 0a000002 " + udpQuote, Frame{Tuple: four(IPIP), Inner: &quoted}},
		{"IPv6 in IPv4", macs + "0800 45 00" + v4 + "29 0000 0a000001 0a000002 60000000 0000 06 40" + v6ends + tcpPorts,
			Frame{Tuple: four(IPv6), Inner: &Frame{Tuple: six(TCP, 40000, 5201)}}},
		{"GRE with key and sequence", macs + "0800 45 00" + v4 + "2f 0000 0a000001 0a000002 3000 0800 00000001 00000002" + udpQuote, Frame{Tuple: four(GRE), Inner: &quoted}},
		{"GRE with Ethernet", macs + "0800 45 00" + v4 + "2f 0000 0a000001 0a000002 0000 6558" + macs + "88cc 00", func() Frame {
			inner := between(Frame{EtherType: 0x88cc})
			return Frame{Tuple: four(GRE), Inner: &inner}
		}()},
		{"GRE with MPLS", macs + "0800 45 00" + v4 + "2f 0000 0a000001 0a000002 0000 8847", Frame{Tuple: four(GRE), Inner: &Frame{EtherType: 0x8847}}},
		{"GRE with routing", macs + "0800 45 00" + v4 + "2f 0000 0a000001 0a000002 4000 0800", Frame{Tuple: four(GRE)}},
		{"PPTP", macs + "0800 45 00" + v4 + "2f 0000 0a000001 0a000002 2001 880b", Frame{Tuple: four(GRE)}},
		{"two tags", macs + "88a8 0064 8100 0065 0800 " + v4tcp + tcpPorts, Frame{Tuple: four(TCP, 40000, 5201), EtherType: 0x88a8}},
		{"arp", macs + "0806 0001", Frame{EtherType: 0x0806}},
		{"a length", macs + "0026 4242 03", Frame{EtherType: 0x26}},
	} {
		got, err := ParseFrame(wire(t, tt.wire))
		if diff := cmp.Diff(between(tt.want), got, cmpopts.EquateComparable(netip.Addr{})); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, diff)
		}
	}
}

// Every prefix that ends inside a header is refused as such.
func TestParseFrameTruncated(t *testing.T) {
	for _, tt := range []struct {
		name, wire string
	}{
		{"tcp", macs + "0800 " + v4tcp + tcpPorts},
		{"options", macs + "8100 0001 0800 46 00" + v4 + "06 0000 0a000001 0a000002 01010101" + tcpPorts},
		{"extension header", macs + "86dd 60000000 0000 00 40" + v6ends + "0601 000000000000 0000000000000000" + tcpPorts},
		{"fragment header", macs + "86dd 60000000 0000 2c 40" + v6ends + "1100 0001 00000001"},
		{"esp", macs + "0800 45 00" + v4 + "32 0000 0a000001 0a000002 00000010"},
		{"ah", macs + "0800 45 00" + v4 + "33 0000 0a000001 0a000002 0604 0000 00000011"},
		{"error", macs + "0800 45 00" + v4 + "01 0000 0a000001 0a000002 0303 0000 0000 0000" + v4tcp + tcpPorts},
		{"GRE", macs + "0800 45 00" + v4 + "2f 0000 0a000001 0a000002 2000 0800 00000001" + v4tcp + tcpPorts},
		{"IP in IP", macs + "0800 45 00" + v4 + "04 0000 0a000001 0a000002" + v4tcp + tcpPorts},
	} {
		whole := wire(t, tt.wire)
		if _, err := ParseFrame(whole); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		for n := range whole {
			if f, err := ParseFrame(whole[:n]); !errors.Is(err, ErrTruncated) || f.Src.IsValid() {
				t.Errorf("%s, %d of %d bytes: %+v, %v, want ErrTruncated", tt.name, n, len(whole), f, err)
			}
		}
	}
}

func TestParseFrameErrors(t *testing.T) {
	for _, tt := range []struct {
		name, wire string
		want       error
	}{
		{"version 6 in IPv4", macs + "0800 65 00" + v4 + "06 0000 0a000001 0a000002" + tcpPorts, ErrMalformed},
		{"short IPv4 header", macs + "0800 44 00" + v4 + "06 0000 0a000001 0a000002" + tcpPorts, ErrMalformed},
		{"version 4 in IPv6", macs + "86dd 40000000 0000 06 40" + v6ends + tcpPorts, ErrMalformed},
		{"type zero", macs + "0000 00", ErrMalformed},
		{"a nest of tunnels", macs + "0800 " + strings.Repeat("45 00"+v4+"04 0000 0a000001 0a000002 ", 20), ErrTooDeep},
		{"a stack of tags", macs + strings.Repeat("8100 0001 ", 20), ErrTooDeep},
		{"a chain of options", macs + "86dd 60000000 0000 00 40" + v6ends + strings.Repeat("0000 000000000000", 20), ErrTooDeep},
	} {
		if _, err := ParseFrame(wire(t, tt.wire)); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
}

func FuzzParseFrame(f *testing.F) {
	for _, seed := range []string{
		macs + "0800 " + v4tcp + tcpPorts,
		macs + "88a8 0064 8100 0065 86dd 60000000 0000 00 40" + v6ends + "2c00 000000000000 1100 0001 00000001",
		macs + "0800 45 00" + v4 + "01 0000 0a000001 0a000002 0303 0000 0000 0000" + v4tcp + tcpPorts,
		macs + "0800 45 00" + v4 + "2f 0000 0a000001 0a000002 b000 6558 00000000 00000001 00000002" + macs + "8100 0001 0806",
		macs + "86dd 60000000 0000 29 40" + v6ends + "60000000 0000 33 40" + v6ends + "0604 0000 00000011",
	} {
		f.Add(wire(f, seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		frame, err := ParseFrame(data)
		if err != nil {
			if !errors.Is(err, ErrTruncated) && !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrTooDeep) {
				t.Fatalf("an error of no kind: %v", err)
			}
			return
		}
		depth := 0
		for at := &frame; at != nil; at = at.Inner {
			if depth++; depth > mostHeaders+1 {
				t.Fatalf("%d packets in one another", depth)
			}
			if at.Src.IsValid() != at.Dst.IsValid() || at.Src.BitLen() != at.Dst.BitLen() {
				t.Fatalf("addresses %s and %s", at.Src, at.Dst)
			}
			if !at.Src.IsValid() && at.EtherType == 0 {
				t.Fatal("neither addresses nor a type")
			}
			if at.Fragment && (at.Sport != 0 || at.Dport != 0 || at.SPI != 0 || at.ICMP != nil || at.Inner != nil) {
				t.Fatalf("a fragment with a transport header: %+v", at)
			}
			if (at.ICMP != nil) != (!at.Fragment && at.Src.IsValid() && (at.Proto == ICMP || at.Proto == ICMPv6)) {
				t.Fatalf("protocol %s with ICMP header %v", at.Proto, at.ICMP)
			}
		}
	})
}

func TestParseICMPHeader(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want ICMPHeader
		fail bool
	}{
		{"8/0/4711", ICMPHeader{Type: 8, ID: 4711}, false},
		{"3/1", ICMPHeader{Type: 3, Code: 1}, false},
		{"128", ICMPHeader{Type: 128}, false},
		{"", ICMPHeader{}, true},
		{"256", ICMPHeader{}, true},
		{"8/0/65536", ICMPHeader{}, true},
		{"8/0/1/2", ICMPHeader{}, true},
		{"8//1", ICMPHeader{}, true},
		{"-1", ICMPHeader{}, true},
	} {
		got, err := ParseICMPHeader(tt.in)
		if got != tt.want || (err != nil) != tt.fail {
			t.Errorf("%q: %v, %v; want %v, error %t", tt.in, got, err, tt.want, tt.fail)
		}
	}
}

func FuzzParseICMPHeader(f *testing.F) {
	f.Add("8/0/4711")
	f.Add("3")
	f.Fuzz(func(t *testing.T, s string) {
		h, err := ParseICMPHeader(s)
		if err != nil {
			return
		}
		if again, err := ParseICMPHeader(h.String()); err != nil || again != h {
			t.Fatalf("%q: %v, again %v, %v", s, h, again, err)
		}
	})
}

func TestProtoWords(t *testing.T) {
	for n := range 256 {
		p := Proto(n)
		var again Proto
		if err := again.UnmarshalText([]byte(p.String())); err != nil || again != p {
			t.Errorf("protocol %d is called %q, which reads as %d, %v", n, p, again, err)
		}
	}
	for p, want := range map[Proto]bool{TCP: true, UDP: true, SCTP: true, ICMP: false, ESP: false, GRE: false} {
		if p.HasPorts() != want {
			t.Errorf("%s has ports: %t, want %t", p, p.HasPorts(), want)
		}
	}
}
