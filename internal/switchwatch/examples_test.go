package switchwatch

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/evidence/paste"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/internal/evidence/paste/switchfacts"
	"github.com/linerate/linerate/internal/evidence/switchanswer"
	"github.com/linerate/linerate/internal/evidence/switchstate"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/steer/ovs"
	"github.com/linerate/linerate/steer/switchhash"
)

func between(src, dst string) flow.Frame {
	return flow.Frame{Tuple: flow.Tuple{Proto: flow.TCP, Src: netip.MustParseAddr(src), Dst: netip.MustParseAddr(dst), Sport: 40000, Dport: 5201}}
}

func catalyst(text string, f flow.Frame) string {
	c, err := switchhash.ParseCatalyst(text, steer.Numbered(2))
	if err != nil {
		return err.Error()
	}
	p := c.Place(f)
	if !p.Known {
		return "unknown"
	}
	return fmt.Sprintf("value %d, index %d", *p.Hash, p.Index)
}

func rtag7(text string, n int, f flow.Frame) string {
	h, err := switchhash.ParseRTAG7(text, steer.Numbered(n))
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("value %#x, index %d", h.Value(f), h.Place(f).Index)
}

func bucket(address string, vlan uint16) string {
	mac, _ := flow.ParseMAC(address)
	return fmt.Sprint(ovs.Portable.Bucket(mac, vlan, 0))
}

// member is what an answer says: the port, of which channel.
func member(text string) string {
	all := switchanswer.Parse(text)
	if len(all) != 1 {
		return fmt.Sprintf("%d answers", len(all))
	}
	return strings.TrimSpace(all[0].Member + " " + all[0].Channel)
}

// seen is what an output shows of a switch.
func seen(text string, say func(switchstate.Switch) string) string {
	c := paste.Parse([]piece.Text{{Bytes: []byte(text)}})
	for _, h := range c.Hosts {
		if h.Switch {
			return say(switchfacts.State(h))
		}
	}
	return "no switch"
}

// channels are its channels with their members' states, sides and hashes.
func channels(sw switchstate.Switch) string {
	var out []string
	for _, c := range sw.Channels {
		line := strings.Join(strings.Fields(strings.Join([]string{c.Name, string(c.Protocol), c.Activity, c.Rate, c.Hash.Words}, " ")), " ")
		for _, m := range c.Members {
			line += fmt.Sprintf("; %s %s", m.Port, m.State)
			if m.Partner.Key > 0 {
				line += fmt.Sprintf(" of %s key %d", m.Partner.System, m.Partner.Key)
			}
		}
		out = append(out, line)
	}
	return strings.Join(out, " | ")
}

func hash(sw switchstate.Switch) string {
	return strings.Join(strings.Fields(strings.Join([]string{sw.Hash.Words, sw.Hash.Algorithm, sw.Hash.Seed}, " ")), " ")
}

// TestWorkedExamples: what the makers' documents and measurements give as examples comes
// out as it does there, each under its name. The golden outputs of others' readers are
// switchanswer's TestGoldenOutputs and paste's TestCorporaSwitches.
func TestWorkedExamples(t *testing.T) {
	ports := func(n int) string { return fmt.Sprint(switchhash.Shares(n)) }
	for name, c := range map[string]struct{ got, want string }{
		"Cisco 12023, eight buckets over 8 links": {ports(8), "[1 1 1 1 1 1 1 1]"},
		"Cisco 12023, eight buckets over 7 links": {ports(7), "[2 1 1 1 1 1 1]"},
		"Cisco 12023, eight buckets over 6 links": {ports(6), "[2 2 1 1 1 1]"},
		"Cisco 12023, eight buckets over 5 links": {ports(5), "[2 2 2 1 1]"},
		"Cisco 12023, eight buckets over 4 links": {ports(4), "[2 2 2 2]"},
		"Cisco 12023, eight buckets over 3 links": {ports(3), "[3 3 2]"},
		"Cisco 12023, eight buckets over 2 links": {ports(2), "[4 4]"},
		"Cisco, both addresses even":              {catalyst("src-dst-ip", between("192.0.2.10", "192.0.2.20")), "value 6, index 0"},
		"Cisco, one address odd":                  {catalyst("src-dst-ip", between("192.0.2.11", "192.0.2.20")), "value 7, index 1"},
		"Cisco, both addresses odd":               {catalyst("src-dst-ip", between("198.51.100.7", "203.0.113.7")), "value 0, index 0"},
		"Cisco, Load 55 and AA as it is":          {catalyst("src-dst-ip 55,AA", between("192.0.2.11", "192.0.2.20")), "value 7, index 1"},
		"Cisco, Load 55 and AA turned round":      {catalyst("src-dst-ip AA,55", between("192.0.2.11", "192.0.2.20")), "value 7, index 0"},
		// 0xc000^0x020a^0xc000^0x0214^0x9c40^0x1451^6, with Dell's seed ^0x4f24; the
		// member is of the low ten bits.
		"Dell xor16 without a seed":                 {rtag7("xor16", 2, between("192.0.2.10", "192.0.2.20")), "value 0x8809, index 1"},
		"Dell xor16 with the seed that is printed":  {rtag7("xor16 seed 20260", 2, between("192.0.2.10", "192.0.2.20")), "value 0xc72d, index 1"},
		"RTAG7, rotated right by 4, of 8 members":   {rtag7("xor16 seed 20260 offset 4", 8, between("192.0.2.10", "192.0.2.20")), "value 0xc72d, index 2"},
		"RTAG7, addresses of IPv6 fold to 32 bits":  {rtag7("xor16", 2, between("2001:db8::c000:20a", "2001:db8::c000:214")), "value 0x8809, index 1"},
		"Open vSwitch 3.1, bond/hash of :01:11":     {bucket("02:00:00:00:01:11", 0), "9"},
		"Open vSwitch 3.1, bond/hash of :01:12":     {bucket("02:00:00:00:01:12", 0), "131"},
		"Open vSwitch 3.1, bond/hash of :01:13":     {bucket("02:00:00:00:01:13", 0), "43"},
		"Open vSwitch 3.1, bond/hash of :01:14":     {bucket("02:00:00:00:01:14", 0), "80"},
		"Open vSwitch 3.1, bond/hash in VLAN 10":    {bucket("02:00:00:00:01:12", 10), "211"},
		"Open vSwitch, members in order of use":     {slbMembers(), "p1 p2 p1 p2"},
		"asked: test etherchannel load-balance":     {member("sw# test etherchannel load-balance interface port-channel 10 ip 192.0.2.1 192.0.2.2\nComputed RBH: 0x5\nWould select Gi3/2 of Po10\n"), "Gi3/2 Po10"},
		"asked: Catalyst 9000":                      {member("Dest Port: : TenGigabitEthernet1/0/2\n"), "TenGigabitEthernet1/0/2"},
		"asked: NX-OS forwarding-path":              {member("Missing params will be substituted by 0's.\nOutgoing port id: Ethernet1/2\n"), "Ethernet1/2"},
		"asked: NX-OS forwarding-path, older":       {member("PC member: Ethernet1/7\n"), "Ethernet1/7"},
		"asked: NX-API":                             {member(`{"outgoing-port-id": {"port": "Ethernet1/9"}}`), "Ethernet1/9"},
		"asked: AOS-S show trunks load-balance":     {member("Traffic in this flow will be forwarded out port 23 based on the configured L2\nload balancing.\n"), "23"},
		"asked: Open vSwitch balance-slb":           {member("Datapath actions: 2\n"), "2"},
		"asked: Open vSwitch balance-tcp says none": {member("Datapath actions: hash(l4(0)),recirc(0x1)\n"), "0 answers"},
		"printed: NX-OS show lacp neighbor": {seen("port-channel10 neighbors\nPartner's information\n            Partner                Partner                     Partner\nPort        System ID              Port Number     Age         Flags\nEth1/1      65535,2-0-0-0-a-1      0x1             612         SA\n"+
			"            LACP Partner           Partner                     Partner\n            Port Priority          Oper Key                    Port State\n            255                    0x9                         0x3d\n", channels), "Po10 lacp; Eth1/1  of 02:00:00:00:0a:01 key 9"},
		"printed: EOS show port-channel summary": {seen("   Po10(U)           LACP(a)       Et1(PG+) Et2(G-)\n", channels), "Po10 lacp active; Et1 bundled; Et2 out"},
		"printed: Junos show lacp interfaces": {seen("Aggregated interface: ae0\n    LACP state:       Role   Exp   Def  Dist  Col  Syn  Aggr  Timeout  Activity\n      xe-0/0/0       Actor    No    No   Yes  Yes  Yes   Yes     Fast    Active\n"+
			"    LACP protocol:        Receive State  Transmit State          Mux State\n      xe-0/0/0                  Current   Slow periodic Collecting distributing\n      xe-0/0/1                Defaulted   Fast periodic           Detached\n", channels), "ae0 lacp active fast; xe-0/0/0 bundled; xe-0/0/1 out"},
		"printed: AOS-S show trunks":           {seen(" Load Balancing Method:  L3-based (default)\n  Port   | Name                             Type       | Group Type\n  1      | db1 eth0                         10GbE-SR   | Trk1  LACP\n", hash), "L3-based (default)"},
		"printed: AOS-CX show lacp aggregates": {seen("Aggregate-name        : lag10\nAggregated-interfaces : 1/1/1 1/1/2\nHeartbeat rate        : slow\nHash                  : l3-src-dst\nAggregate mode        : active\n", channels), "lag10 lacp active slow l3-src-dst; 1/1/1 ; 1/1/2 "},
		"printed: Comware display link-aggregation verbose": {seen("Aggregate Interface: Bridge-Aggregation1\nAggregation Mode: Dynamic\nLocal:\n  Port                Status   Priority Index    Oper-Key               Flag\n  XGE1/0/1(R)         S        32768    1        1                      {ACDEF}\n"+
			"  XGE1/0/2            U        32768    2        1                      {ACG}\nRemote:\n  Actor               Priority Index    Oper-Key SystemID               Flag\n  XGE1/0/1            255      1        9        0xffff, 0200-0000-0a01 {ACDEF}\n", channels), "BAGG1 lacp active slow; XGE1/0/1 bundled of 02:00:00:00:0a:01 key 9; XGE1/0/2 out"},
		"printed: Dell OS9 show hash-algorithm":          {seen("stack-unit 0 Port-Set 0\nSeed 20260\nHg-Seed 77001\nEcmpAlgo- crc32MSB LagAlgo- crc32LSB HgAlgo- crc16\n", hash), "crc32LSB 20260"},
		"printed: Arista Sand show load-balance profile": {seen("Lag Hashing on IP-TCP-UDP headers for IP packets is ON\nLag Hash seed is 0 (automatically selected)*\nLag Hash polynomial is 3 (automatically selected)*\nLag Hash key shift is 16 (automatically selected)*\n", hash), "IP-TCP-UDP headers polynomial 3, key shift 16 0"},
		"printed: SONiC show interfaces portchannel":     {seen("   10  PortChannel0010  LACP(A)(Up)  Ethernet0(S) Ethernet4(D)\n", channels), "PortChannel0010 lacp; Ethernet0 bundled; Ethernet4 out"},
		"printed: RouterOS bonding print detail":         {seen(" 0  R name=\"bond1\" mtu=9000 slaves=sfp-sfpplus1,sfp-sfpplus2 mode=802.3ad lacp-rate=30secs transmit-hash-policy=layer-2 min-links=0\n", channels), "bond1 lacp slow layer2; sfp-sfpplus1 ; sfp-sfpplus2 "},
	} {
		t.Run(name, func(t *testing.T) {
			if c.got != c.want {
				t.Errorf("%q, want %q", c.got, c.want)
			}
		})
	}
}

// slbMembers places four addresses where each bucket has the member that was free when
// it was used first.
func slbMembers() string {
	names := []string{"p1", "p2"}
	bond := ovs.Bond{Mode: netstate.OVSBalanceSLB, Members: names, Has: map[uint8]string{}}
	var frames []flow.Frame
	for i := range byte(4) {
		f := flow.Frame{SrcMAC: flow.MAC{2, 0, 0, 0, 1, 0x11 + i}}
		bond.Has[ovs.Portable.Bucket(f.SrcMAC, 0, 0)] = names[i%2]
		frames = append(frames, f)
	}
	var out []string
	for _, f := range frames {
		out = append(out, bond.Place(f).Link)
	}
	return strings.Join(out, " ")
}
