package steer

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

func TestShowJSON(t *testing.T) {
	frames, err := ParseFlows([]byte("sport,src,dst,dport\n40000,192.168.10.1,192.168.10.2,5201\n40002,192.168.10.1,192.168.10.2,5201\n1,192.168.10.1,,2\n"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(Show(Declared(netstate.Layer34, 2), frames))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"policy":"layer3+4","links":2,"flows":[` +
		`{"proto":"tcp","src":"192.168.10.1","dst":"192.168.10.2","sport":40000,"dport":5201,"hash":690160461,"link":1,"known":true},` +
		`{"proto":"tcp","src":"192.168.10.1","dst":"192.168.10.2","sport":40002,"dport":5201,"hash":690160204,"link":0,"known":true},` +
		`{"proto":"tcp","src":"192.168.10.1","dst":"","sport":1,"dport":2,"hash":null,"link":null,"known":false,"why":"layer3+4 hashes both IP addresses, and one is not given"}],"per_link":[1,1]}`
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Errorf("document (-want +got):\n%s", d)
	}
	empty, err := json.Marshal(Show(Bundle{}, nil))
	if err != nil || string(empty) != `{"policy":"layer2","links":0,"flows":[],"per_link":[]}` {
		t.Errorf("nothing to show: %s, %v", empty, err)
	}
}

// A row without a port that the policy reads has no link, and one with all has
// the link of its flow.
func TestShowSaysWhichPortIsMissing(t *testing.T) {
	frames, err := ParseFlows([]byte("proto,src,dst,sport,dport\ntcp,10.0.0.1,10.0.0.2,,5201\ntcp,10.0.0.1,10.0.0.2,40000,\nudp,10.0.0.1,10.0.0.2,0,5201\n89,10.0.0.1,10.0.0.2,,\n"))
	if err != nil {
		t.Fatal(err)
	}
	shown := Show(Declared(netstate.Layer34, 2), frames)
	for i, want := range []string{"source port", "destination port", "", ""} {
		f := shown.Flows[i]
		if f.Known != (want == "") || (f.Link == nil) == f.Known || !strings.Contains(f.Why, want) {
			t.Errorf("row %d: known %t, link %v, %q; want %q", i+1, f.Known, f.Link, f.Why, want)
		}
	}
	if d := cmp.Diff(2, shown.PerLink[0]+shown.PerLink[1]); d != "" {
		t.Errorf("flows with a link (-want +got):\n%s", d)
	}
}

// A known link's condition reaches programs too.
func TestShowJSONSaysConditions(t *testing.T) {
	early := Declared(netstate.Layer34, 2)
	early.Era = EraHostProto
	got, err := json.Marshal(Show(early, []flow.Frame{frame("10.0.0.1", "10.0.0.2", 40000, 5201)}))
	if err != nil || !strings.Contains(string(got), `"known":true,"why":"not on kernels 5.15.0 to 5.15.17`) {
		t.Errorf("early 5.15: %s, %v", got, err)
	}
}

func TestShowBroadcast(t *testing.T) {
	s := Show(Bundle{Mode: netstate.Broadcast, Ports: []string{"a", "b"}}, make([]flow.Frame, 3))
	if d := cmp.Diff([]int{3, 3}, s.PerLink); d != "" || s.Flows[0].Link != nil || !s.Flows[0].Known {
		t.Errorf("broadcast: %+v (-want +got):\n%s", s.Flows[0], d)
	}
}

func TestParseFlows(t *testing.T) {
	in := "\xef\xbb\xbf# flows of the backup job\r\nProto, smac ,dmac,vlan,dst,src,dport,sport\r\n" +
		"udp,02:00:00:00:01:11,02:00:00:00:02:22,100,2001:db8::2,2001:db8::1,5201,40000\r\n" +
		"# a comment\r\n,,,,10.0.0.2, 10.0.0.1,,\r\n132,,,,,,,\r\n"
	got, err := ParseFlows([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	first := between(t, frame("2001:db8::1", "2001:db8::2", 40000, 5201))
	first.Proto, first.VLAN = flow.UDP, 100
	want := []flow.Frame{first, unported(frame("10.0.0.1", "10.0.0.2", 0, 0)), unported(flow.Frame{Tuple: flow.Tuple{Proto: protoSCTP}})}
	if d := cmp.Diff(want, got, cmp.Comparer(func(a, b flow.Frame) bool { return a == b })); d != "" {
		t.Errorf("frames (-want +got):\n%s", d)
	}
}

func TestParseFlowsErrors(t *testing.T) {
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
		got, err := ParseFlows([]byte(tt.in))
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) || got != nil {
			t.Errorf("%q: %v, %v; want %q", tt.in, got, err, tt.want)
		}
	}
}

// Every header word is accepted, so the table and the contract cannot part.
func TestParseFlowsColumns(t *testing.T) {
	const header = "proto,src,dst,sport,dport,smac,dmac,vlan"
	const further = ",icmp_type,icmp_code,icmp_id,spi,fragment,forwarded"
	if d := cmp.Diff(header+further, columnNames()); d != "" {
		t.Errorf("columns (-contract +table):\n%s", d)
	}
	for _, h := range []string{header, header + further} {
		if _, err := ParseFlows([]byte(h)); err != nil {
			t.Error(err)
		}
	}
	got, err := ParseFlows([]byte("proto,icmp_type,icmp_code,icmp_id,spi,fragment,forwarded\nicmp,8,0,4711,,,\nesp,,,,0x10,no,yes\n1,,2,,,TRUE,0\n"))
	want := []flow.Frame{
		{Tuple: flow.Tuple{Proto: flow.ICMP}, ICMP: &flow.ICMPHeader{Type: 8, ID: 4711}},
		{Tuple: flow.Tuple{Proto: flow.ESP}, SPI: 16, Forwarded: true},
		{Tuple: flow.Tuple{Proto: flow.ICMP}, ICMP: &flow.ICMPHeader{Code: 2}, Fragment: true},
	}
	if d := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); err != nil || d != "" {
		t.Errorf("further columns: %v (-want +got):\n%s", err, d)
	}
}

func FuzzParseFlows(f *testing.F) {
	f.Add([]byte("proto,src,dst,sport,dport,smac,dmac,vlan\ntcp,10.0.0.1,10.0.0.2,40000,5201,02:00:00:00:01:11,02:00:00:00:02:22,100\n"))
	f.Add([]byte("proto,src,dst,icmp_type,icmp_code,icmp_id,spi,fragment,forwarded\nicmp,10.0.0.1,10.0.0.2,3,1,0,,no,yes\n50,10.0.0.1,10.0.0.2,,,,0x1,,\n"))
	f.Add([]byte("src,dst\n::1,::2\n::ffff:10.0.0.1,fe80::1%eth0\n"))
	f.Add([]byte("# c\n\"src\",\"a\nb\"\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		frames, err := ParseFlows(data)
		if err != nil {
			if frames != nil || !strings.HasPrefix(err.Error(), "line ") {
				t.Fatalf("%d frames with error %q", len(frames), err)
			}
			return
		}
		for _, policy := range netstate.HashPolicies() {
			for _, era := range Eras() {
				b := Declared(policy, 3)
				b.Era = era
				s := Show(b, frames)
				if len(s.Flows) != len(frames) {
					t.Fatalf("%d flows shown of %d", len(s.Flows), len(frames))
				}
				b.Groups(frames[:min(len(frames), 2)])
			}
		}
	})
}
