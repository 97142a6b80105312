package switchanswer

import (
	"cmp"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
)

// The outputs as the makers' documents and public captures print them.
func TestEveryFormOfAnswer(t *testing.T) {
	for _, c := range []struct{ name, text, member, channel, vendor string }{
		{"IOS", "SW1# test etherchannel load-balance interface po1 mac 0200.0000.0001 0200.1111.1111\nWould select Gi1/0/22 of Po1\n", "Gi1/0/22", "Po1", "ios"},
		{"IOS with its hash", "sw#test etherchannel load-balance interface port-channel 1 ip 192.0.2.1 192.0.2.2\nComputed RBH: 0x5\nWould select Gi3/2 of Po1\r\n", "Gi3/2", "Po1", "ios"},
		{"IOS-XE", "Dest Port: : GigabitEthernet1/0/4\n", "GigabitEthernet1/0/4", "", "ios"},
		{"IOS-XE, a stack's", "Dest Port: : HundredGigE1/3/0/13", "HundredGigE1/3/0/13", "", "ios"},
		{"NX-OS", "Missing params will be substituted by 0's.\nLoad-balance Algorithm: src-dst ip-l4port\nRBH: 0x21 Outgoing port id: no\n\tOutgoing port id: Ethernet1/2\n", "Ethernet1/2", "", "nxos"},
		{"NX-OS, older", "PC member: Ethernet1/7", "Ethernet1/7", "", "nxos"},
		{"NX-API", `{"outgoing-port-id": {"port": "Ethernet1/9"}}`, "Ethernet1/9", "", "nxos"},
		{"NX-API on lines", "\"outgoing-port-id\": {\n    \"port\": \"Ethernet1/9\"\n}", "Ethernet1/9", "", "nxos"},
		{"EOS", "s7058#show load-balance destination ip ingress-interface Et47 src-ipv4-address 192.0.2.1 dst-ipv4-address 198.51.100.1 ip-protocol 6 src-l4-port 30002 dst-l4-port 80\nOutput Interface: Ethernet43\n", "Ethernet43", "", "eos"},
		{"eAPI", `{"outputIntf": "Ethernet43"}`, "Ethernet43", "", "eos"},
		{"AOS-S", "switch# show trunks load-balance interface trk1 mac 424521-498421 534516-795463 inbound-port a5\nTraffic in this flow will be forwarded out port 23 based on the confiugred L2\nload balancing.\n", "23", "trk1", "procurve"},
		{"Open vSwitch", "Final flow: unchanged\nMegaflow: recirc_id=0,eth\nDatapath actions: 2\n", "2", "", "ovs"},
	} {
		all := Parse(c.text)
		if len(all) != 1 || all[0].Member != c.member || all[0].Channel != c.channel || all[0].Vendor != c.vendor {
			t.Errorf("%s: %+v, want %s of %q by %s", c.name, all, c.member, c.channel, c.vendor)
		}
	}
}

// What does not say a member is no answer.
func TestWhatIsNoAnswer(t *testing.T) {
	for _, text := range []string{
		"", "Dest Port: :\n", "Outgoing port id: no\n", "Datapath actions: hash(l4(0)),recirc(0x1)\n", "Datapath actions: drop\n", "Datapath actions: push_vlan(vid=5),2\n",
		"Would select no port of Po1\n", "Traffic in this flow will be forwarded out port\n", "I asked which Dest Port: it takes\n", strings.Repeat("Would select ", 10000),
	} {
		if all := Parse(text); len(all) != 0 {
			t.Errorf("%.60q: %+v", text, all)
		}
	}
}

// The golden outputs of genieparser, where the corpus lies.
func TestGoldenOutputs(t *testing.T) {
	dir := filepath.Join(cmp.Or(os.Getenv("LINERATE_CORPORA"), "../../../../shared/corpora"), "genieparser")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("real outputs are missing: ../shared/corpora/genieparser")
	}
	read := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		low := strings.ToLower(path)
		if err != nil || d.IsDir() || !strings.Contains(low, "etherchannelloadbalance") || !strings.HasSuffix(path, "_output.txt") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		want, err := os.ReadFile(strings.TrimSuffix(path, "_output.txt") + "_expected.py")
		if err != nil {
			return err
		}
		all := Parse(string(text))
		if len(all) != 1 || !strings.Contains(string(want), "'"+all[0].Member+"'") {
			t.Errorf("%s: %+v, want %s", path, all, want)
		}
		read++
		return nil
	})
	if err != nil || read < 14 {
		t.Errorf("%d outputs were read: %v", read, err)
	}
}

// A question that is typed is read back with the flow that it asks for.
func TestQuestionsAreReadBack(t *testing.T) {
	v4 := flow.Frame{Tuple: flow.Tuple{Proto: flow.TCP, Src: netip.MustParseAddr("192.0.2.1"), Dst: netip.MustParseAddr("198.51.100.7"), Sport: 40000, Dport: 5201},
		SrcMAC: flow.MAC{2, 0, 0, 0, 1, 0x11}, DstMAC: flow.MAC{2, 0, 0, 0, 1, 0x12}, VLAN: 100}
	for _, c := range []struct {
		system, channel, want string
		f                     flow.Frame
		ports, macs           bool
	}{
		{"ios", "Po10", "test etherchannel load-balance interface port-channel 10 ip 192.0.2.1 198.51.100.7", v4, false, false},
		{"ios", "10", "test etherchannel load-balance interface port-channel 10 mac 0200.0000.0111 0200.0000.0112", flow.Frame{SrcMAC: v4.SrcMAC, DstMAC: v4.DstMAC}, false, true},
		{"iosxe", "port-channel10", "show platform software fed switch active etherchannel 10 load-balance ip-protocol-port-v4 192.0.2.1 198.51.100.7 6 40000 5201", v4, true, false},
		{"nxos", "Po10", "show port-channel load-balance forwarding-path interface port-channel 10 src-ip 192.0.2.1 dst-ip 198.51.100.7 l4-src-port 40000 l4-dst-port 5201 protocol 6 vlan 100", v4, true, false},
		{"eos", "", "show load-balance destination ip ingress-interface INGRESS src-ipv4-address 192.0.2.1 dst-ipv4-address 198.51.100.7 ip-protocol 6 src-l4-port 40000 dst-l4-port 5201", v4, true, false},
		{"procurve", "Trk1", "show trunks load-balance interface trk1 mac 020000-000111 020000-000112 ip 192.0.2.1 198.51.100.7 src-tcp-port 40000 dest-tcp-port 5201 inbound-port INGRESS", v4, true, true},
		{"ovs", "", "ovs-appctl ofproto/trace BRIDGE tcp,in_port=INGRESS,dl_src=02:00:00:00:01:11,dl_dst=02:00:00:00:01:12,nw_src=192.0.2.1,nw_dst=198.51.100.7,tp_src=40000,tp_dst=5201,dl_vlan=100", v4, true, true},
	} {
		got, why := Question(c.system, c.channel, c.f)
		if got != c.want || why != "" {
			t.Errorf("%s: %q (%s), want %q", c.system, got, why, c.want)
		}
		back, _, ok := Asked("sw1# " + got)
		if !ok || back.Src != c.f.Src || back.Dst != c.f.Dst || c.ports && (back.Sport != c.f.Sport || back.Dport != c.f.Dport || back.Proto != c.f.Proto) || c.macs && (back.SrcMAC != c.f.SrcMAC || back.DstMAC != c.f.DstMAC) {
			t.Errorf("%s was read as %+v, %v", got, back, ok)
		}
	}
	got, why := Question("comware", "10", v4)
	if want := "display link-aggregation load-sharing path interface bridge-aggregation 10 ingress-port INGRESS source-ip 192.0.2.1 destination-ip 198.51.100.7 ip-protocol 6 source-port 40000 destination-port 5201"; got != want || why != "" {
		t.Errorf("comware: %q (%s)", got, why)
	}
	if got, why := Question("aoscx", "lag1", v4); got != "" || !strings.Contains(why, "--learn") {
		t.Errorf("aoscx: %q, %q", got, why)
	}
	if got, why := Question("nxos", "1", flow.Frame{Tuple: flow.Tuple{Src: netip.MustParseAddr("fd00::1"), Dst: netip.MustParseAddr("fd00::2")}}); got != "" || !strings.Contains(why, "unknown") {
		t.Errorf("IPv6 of nxos: %q, %q", got, why)
	}
}

// An answer belongs to the command above it, and each command to one answer.
func TestAnswersBelongToTheirQuestions(t *testing.T) {
	all := Parse("n9k# show port-channel load-balance forwarding-path interface port-channel 10 src-ip 192.0.2.1 dst-ip 192.0.2.2 l4-src-port 40000 l4-dst-port 5201\n" +
		"Outgoing port id: Ethernet1/1\nOutgoing port id: Ethernet1/2\n")
	if len(all) != 2 || all[0].Frame == nil || all[0].Frame.Sport != 40000 || all[0].Channel != "port-channel10" || all[1].Frame != nil {
		t.Errorf("%+v", all)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("sw# test etherchannel load-balance interface po1 ip 1.2.3.4 5.6.7.8\nWould select Gi1/0/1 of Po1\n")
	f.Add("show platform software fed switch active etherchannel 1 load-balance mac-addr 0 1\nDest Port: : Te1/1/1")
	f.Fuzz(func(_ *testing.T, text string) { Parse(text) })
}
