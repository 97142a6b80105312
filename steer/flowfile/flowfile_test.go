package flowfile

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
)

func TestParse(t *testing.T) {
	in := "\xef\xbb\xbf# flows of the backup job\r\nProto, smac ,dmac,vlan,dst,src,dport,sport\r\n" +
		"udp,02:00:00:00:01:11,02:00:00:00:02:22,100,2001:db8::2,2001:db8::1,5201,40000\r\n" +
		"# a comment\r\n,,,,10.0.0.2, 10.0.0.1,,\r\n132,,,,,,,\r\n"
	got, err := Parse([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	between := func(proto flow.Proto, src, dst string) flow.Tuple {
		return flow.Tuple{Proto: proto, Src: netip.MustParseAddr(src), Dst: netip.MustParseAddr(dst)}
	}
	first := flow.Frame{Tuple: between(flow.UDP, "2001:db8::1", "2001:db8::2"), VLAN: 100}
	first.Sport, first.Dport = 40000, 5201
	first.SrcMAC, first.DstMAC = flow.MAC{2, 0, 0, 0, 1, 0x11}, flow.MAC{2, 0, 0, 0, 2, 0x22}
	want := []flow.Frame{
		first,
		{Tuple: between(flow.TCP, "10.0.0.1", "10.0.0.2"), NoSport: true, NoDport: true},
		{Tuple: flow.Tuple{Proto: flow.SCTP}, NoSport: true, NoDport: true},
	}
	if d := cmp.Diff(want, got, cmp.Comparer(func(a, b flow.Frame) bool { return a == b })); d != "" {
		t.Errorf("frames (-want +got):\n%s", d)
	}
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", "line 1, column 1: no header"},
		{"src,sprot\n", `line 1, column 5: unknown column "sprot": nearest is "sport"`},
		{"src,dst,src\n", `line 1, column 9: column "src" is there twice`},
		{"src,sport\n10.0.0.1,1\n10.0.0.2,x\n", `line 3, column 10: sport: parse port "x"`},
		{"sport\n65536\n", `line 2, column 1: sport: parse port "65536": want 0 to 65535`},
		{"src\n10.0.0.256\n", `line 2, column 1: src: parse address`},
		{"smac\n02:00\n", `line 2, column 1: smac: parse MAC`},
		{"proto\nsctpp\n", `line 2, column 1: proto: parse protocol`},
		{"vlan\n-1\n", `line 2, column 1: vlan: parse VLAN tag`},
		{"spi\n0x100000000\n", `line 2, column 1: spi: parse security parameter index`},
		{"src,icmp_type\n10.0.0.1,256\n", `line 2, column 10: icmp_type: parse ICMP type "256": want 0 to 255`},
		{"fragment\nmaybe\n", `line 2, column 1: fragment: parse "maybe": want yes or no`},
		{"src,dst\n10.0.0.1\n", "line 2, column 1: wrong number of fields"},
		{"src\n\"10.0.0.1\n", "line 2, column"},
	} {
		got, err := Parse([]byte(tt.in))
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) || got != nil {
			t.Errorf("%q: %v, %v; want %q", tt.in, got, err, tt.want)
		}
	}
}

// Every header word is accepted, so the table and the contract cannot part.
func TestParseColumns(t *testing.T) {
	const header = "proto,src,dst,sport,dport,smac,dmac,vlan"
	const further = ",icmp_type,icmp_code,icmp_id,spi,fragment,forwarded"
	if d := cmp.Diff(header+further, columnNames()); d != "" {
		t.Errorf("columns (-contract +table):\n%s", d)
	}
	for _, h := range []string{header, header + further} {
		if _, err := Parse([]byte(h)); err != nil {
			t.Error(err)
		}
	}
	got, err := Parse([]byte("proto,icmp_type,icmp_code,icmp_id,spi,fragment,forwarded\nicmp,8,0,4711,,,\nesp,,,,0x10,no,yes\n1,,2,,,TRUE,0\n"))
	want := []flow.Frame{
		{Tuple: flow.Tuple{Proto: flow.ICMP}, ICMP: &flow.ICMPHeader{Type: 8, ID: 4711}},
		{Tuple: flow.Tuple{Proto: flow.ESP}, SPI: 16, Forwarded: true},
		{Tuple: flow.Tuple{Proto: flow.ICMP}, ICMP: &flow.ICMPHeader{Code: 2}, Fragment: true},
	}
	if d := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); err != nil || d != "" {
		t.Errorf("further columns: %v (-want +got):\n%s", err, d)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("proto,src,dst,sport,dport,smac,dmac,vlan\ntcp,10.0.0.1,10.0.0.2,40000,5201,02:00:00:00:01:11,02:00:00:00:02:22,100\n"))
	f.Add([]byte("proto,src,dst,icmp_type,icmp_code,icmp_id,spi,fragment,forwarded\nicmp,10.0.0.1,10.0.0.2,3,1,0,,no,yes\n50,10.0.0.1,10.0.0.2,,,,0x1,,\n"))
	f.Add([]byte("src,dst\n::1,::2\n::ffff:10.0.0.1,fe80::1%eth0\n"))
	f.Add([]byte("# c\n\"src\",\"a\nb\"\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		frames, err := Parse(data)
		if err != nil {
			if frames != nil || !strings.HasPrefix(err.Error(), "line ") {
				t.Fatalf("%d frames with error %q", len(frames), err)
			}
			return
		}
		for _, one := range frames {
			if one.Proto.HasPorts() || !one.NoSport && !one.NoDport {
				continue
			}
			t.Fatalf("%s has no ports, and lacks them: %+v", one.Proto, one)
		}
	})
}
