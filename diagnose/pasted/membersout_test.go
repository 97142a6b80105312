package pasted

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/record"
)

// TestListedMembers: groups of which one member is outside, as FastIron, EXOS, FASTPATH, VPP and
// ESXi show it, and the same groups whole.
func TestListedMembers(t *testing.T) {
	const asks = "Our LAG to the storage is only as fast as one port.\n\n"
	fastiron := func(second string) string {
		return asks + "ICX7450# show lag id 8\n=== LAG \"store8\" ID 8 (dynamic Deployed) ===\nLAG Configuration:\n   Ports:         e 1/1/7 to 1/1/8\n   Port Count:    2\n   Lag Interface: lg8\n   Trunk Type:    hash-based\n   LACP Key:      20008\nDeployment: HW Trunk ID 2\nPort       Link    State   Dupl Speed Trunk Tag Pvid Pri MAC             Name\n1/1/7      Up      Forward Full 10G   8     No  1    0   0000.5e00.5301\n1/1/8      Up      Forward Full 10G   8     No  1    0   0000.5e00.5301\n\nPort       [Sys P] [Port P] [ Key ] [Act][Tio][Agg][Syn][Col][Dis][Def][Exp][Ope]\n1/1/7           1        1   20008   Yes   L   Agg  Syn  Col  Dis  No   No   Ope\n1/1/8           1        1   20008   Yes   L   Agg  " + second + "\n"
	}
	sharing := func(member, link string) string {
		return asks + "X670.3 # show sharing\nLoad Sharing Monitor\nConfig    Current Agg     Min     Ld Share    Dist  Ld Share  Agg Link   Link Up\nMaster    Master  Control Active  Algorithm   Flags Group     Mbr State  Transitions\n==============================================================================\n    9      9      LACP      1     L3_L4       A     9          Y     A        1\n                                  L3_L4             10         " + member + "     " + link + "        2\n==============================================================================\nLink State: A-Active, D-Disabled, R-Ready, NP-Port not present, L-Loopback\n"
	}
	exos := func(second string) string {
		return asks + "X670.4 # show lacp lag 9 detail\nLag        Actor    Actor  Partner           Partner  Partner Agg   Actor\n           Sys-Pri  Key    MAC               Sys-Pri  Key     Count MAC\n--------------------------------------------------------------------------------\n9              0    0x03f1 00:00:5e:00:53:13    0     0x03f1      1 00:00:5e:00:53:11\n\nPort list:\n\nMember     Port      Rx           Sel          Mux            Actor     Partner\nPort       Priority  State        Logic        State          Flags     Port\n--------------------------------------------------------------------------------\n9          0         Current      Selected     Collect-Dist   A-GSCD--  1009\n" + second + "\n================================================================================\n"
	}
	fastpath := func(second string) string {
		return asks + "(M4300) #show port-channel 1/1/2\n\nLocal Interface................................ lag 2\nChannel Name................................... ch2\nLink State..................................... Up\nType........................................... Dynamic\nLoad Balance Option............................ 6\n\nMbr     Device/       Port      Port\nPorts   Timeout       Speed     Active\n------- ------------- --------- -------\n1/0/5   actor/long    10G Full  True\n        partner/long\n1/0/6   actor/long    10G Full  " + second + "\n        partner/long\n"
	}
	omni := func(second string) string {
		return asks + "-> show linkagg agg 7 port\nSlot/Port Aggregate   SNMP Id   Status    Agg  Oper Link Prim\n---------+---------+---------+----------+----+-----+----+----\n  1/1/3   Dynamic       1003   ATTACHED     7   UP   UP   YES\n  1/1/4   Dynamic       1004   " + second + " UP   NO\n"
	}
	aruba := func(second string) string {
		return asks + "(S2500) #show interface port-channel 3\nport-channel 3 is administratively Up, Link is Up, Line protocol is Up\nHardware is Port-Channel, LACP enabled, Address is 00:00:5e:00:53:85\nDescription: Link Aggregate\nMember port(s):\nGE0/0/2 is administratively Up, Link is Up, Line protocol is Up\nGE0/0/3 is administratively Up, Link is Up, Line protocol is " + second + "\nSpeed: 1000 Mbps\nInterface index: 1441\nMTU 1514 bytes\nFlags: Trunk, Trusted\n"
	}
	gateway := func(second string) string {
		return asks + "[Expert@gw7:0]# cphaprob show_bond bond7\n\nBond name:      bond7\nBond mode:      Load Sharing\nBond status:    UP\nBalancing mode: 802.3ad Layer3+4 Load Balancing\nConfigured slave interfaces: 2\nIn use slave interfaces:     1\nRequired slave interfaces:   1\n\nSlave name      | Status          | Link\n----------------+-----------------+-------\neth2            | Active          | Yes\neth3            | " + second + "\n"
	}
	paloAlto := func(second string) string {
		return asks + "admin@PA7> show lacp aggregate-ethernet ae7\n\nLACP:\nAE group: ae7\nMembers:              Bndl  Rx state         Mux state            Sel state\n  ethernet1/21         yes  Current          Tx_Rx                Selected\n  ethernet1/22         " + second + "\nStatus:                     Enabled\nMode:                       Active\n"
	}
	vpp := func(active ...string) string {
		listed := ""
		for _, a := range active {
			listed += "    " + a + "\n"
		}
		return asks + "vpp# show bond details\nBondEthernet0\n  mode: lacp\n  load balance: l34\n  number of active members: " + string(rune('0'+len(active))) + "\n" + listed + "  number of members: 2\n    TenGigabitEthernet6/0/0\n    TenGigabitEthernet6/0/1\n  device instance: 0\n  interface id: 0\n  sw_if_index: 5\n  hw_if_index: 5\n"
	}
	esxi := func(state, partner, bundled string) string {
		local := func(nic, state, partner, bundled string) string {
			return "         Local Information:\n               Admin Key: 9\n               Flags: SA\n               Oper Key: 9\n               Port Number: 32771\n               Port State: " + state + "\n         Nic: " + nic + "\n         Partner Information:\n               Age: 00:00:12\n               Device ID: " + partner + "\n               Oper Key: 12\n               Port State: " + state + "\n         State: " + bundled + "\n"
		}
		return asks + "[root@esx7:~] esxcli network vswitch dvs vmware lacp status get\nDSwitch7\n   DVSwitch: DSwitch7\n   Flags: S - Device is sending Slow LACPDUs, F - Device is sending fast LACPDUs, A - Device is in active mode, P - Device is in passive mode\n   LAGID: 370193045\n   Mode: Active\n   Nic List:\n" + local("vmnic4", "ACT,AGG,SYN,COL,DIST,", "00:00:5e:00:53:e1", "Bundled") + local("vmnic5", state, partner, bundled)
	}
	judgeHardware(t, []hardwareCase{
		{"FastIron", fastiron("No   No   No   Def  No   Ina"), record.LACPDown, 0.8, 0, "1/1/8", ""},
		{"FastIron, whole", fastiron("Syn  Col  Dis  No   No   Ope"), record.Unknown, 0, 0, "", "not in the bundle"},
		{"EXOS' sharing", sharing("-", "R"), record.LACPDown, 0.8, 0, "10 not in the bundle", ""},
		{"EXOS' sharing, whole", sharing("Y", "A"), record.Unknown, 0, 0, "", "not in the bundle"},
		{"EXOS' LACP", exos("10         0         Defaulted    Unselected   Detached       A-G---F-  0"), record.LACPDown, 0.8, 0, "Defaulted, Detached", ""},
		{"EXOS' LACP, whole", exos("10         0         Current      Selected     Collect-Dist   A-GSCD--  1010"), record.Unknown, 0, 0, "", "not in the bundle"},
		{"FASTPATH, with a speed of two words", fastpath("False"), record.LACPDown, 0.8, 0, "1/0/6", ""},
		{"FASTPATH, whole", fastpath("True"), record.Unknown, 0, 0, "", "not in the bundle"},
		{"OmniSwitch", omni("SELECTED     7   DOWN"), record.LACPDown, 0.8, 0, "1/1/4", ""},
		{"OmniSwitch, whole", omni("ATTACHED     7   UP  "), record.Unknown, 0, 0, "", "not in the bundle"},
		{"ArubaOS", aruba("Down"), record.LACPDown, 0.8, 0, "GE0/0/3", ""},
		{"ArubaOS, a port shut down", strings.Replace(aruba("Down"), "GE0/0/3 is administratively Up, Link is Up", "GE0/0/3 is administratively Down, Link is Down", 1), record.Unknown, 0, 0, "", "not in the bundle"},
		{"ArubaOS, whole", aruba("Up"), record.Unknown, 0, 0, "", "not in the bundle"},
		{"Check Point", gateway("Not Available   | Yes"), record.LACPDown, 0.8, 0, "eth3 is outside", ""},
		{"Check Point, whole", gateway("Active          | Yes"), record.Unknown, 0, 0, "", "is outside"},
		{"PAN-OS", paloAlto("no  Defaulted        Detached             Unselected(Negotiation failed)"), record.LACPDown, 0.8, 0, "ethernet1/22", ""},
		{"VPP", vpp("TenGigabitEthernet6/0/0"), record.LACPDown, 0.8, 0, "1 of 2 members of BondEthernet0", ""},
		{"VPP, whole", vpp("TenGigabitEthernet6/0/0", "TenGigabitEthernet6/0/1"), record.Unknown, 0, 0, "", "are in use"},
		{"VPP's hash of MACs", strings.Replace(vpp("TenGigabitEthernet6/0/0", "TenGigabitEthernet6/0/1"), "l34", "l2", 1), record.SingleLink, 0.4, 0.7, "by MAC addresses", ""},
		{"ESXi", esxi("ACT,AGG,DEF,", "00:00:00:00:00:00", "Independent"), record.LACPDown, 0.8, 0, "vmnic5 is outside", ""},
		{"ESXi, whole", esxi("ACT,AGG,SYN,COL,DIST,", "00:00:5e:00:53:e1", "Bundled"), record.SingleLink, 0.4, 0.6, "", "is outside"},
	})
}

// TestLACPFrames: a port's own LACP frames, as tcpdump prints and DPDK logs them.
func TestLACPFrames(t *testing.T) {
	dump := func(flags, partner string) string {
		return "Why does eth7 stay outside?\n\n# tcpdump -v -e -i eth7 ether proto 0x8809\n10:11:12.131415 00:00:5e:00:53:01 > 01:80:c2:00:00:02, ethertype Slow Protocols (0x8809), length 124: LACPv1, length 110\n\tActor Information TLV (0x01), length 20\n\t  System 00:00:5e:00:53:01, System Priority 65535, Key 15, Port 2, Port Priority 255\n\t  State Flags [" + flags + "]\n\tPartner Information TLV (0x02), length 20\n\t  System " + partner + ", System Priority 65535, Key 1, Port 1, Port Priority 255\n\t  State Flags [Activity]\n\tCollector Information TLV (0x03), length 16\n\t  Max Delay 0\n"
	}
	dpdk := func(state, partner string) string {
		return "PMD:    625 [Port 0: rx_machine] LACP -> CURRENT\nPMD: LACP: {\n  subtype= 01\n  ver_num=01\n  actor={ tlv=01, len=14\n    pri=0080, system=00:00:5E:00:53:09, key=410E, p_pri=0080 p_num=5E00\n       state={ " + state + " }\n  }\n  partner={ tlv=02, len=14\n    pri=0000, system=" + partner + ", key=0000, p_pri=0000 p_num=0000\n       state={ ACT AGG }\n  }\n  collector={info=03, length=10, max_delay=0000\n, type_term=00, terminator_length = 00}\n"
	}
	judgeHardware(t, []hardwareCase{
		{"no partner", dump("Activity, Aggregation, Default", "00:00:00:00:00:00"), record.LACPDown, 0.7, 0.8, "hears none", ""},
		{"not in sync", dump("Activity, Aggregation", "00:00:5e:00:53:77"), record.LACPDown, 0.55, 0.65, "has not agreed", ""},
		{"in use", dump("Activity, Aggregation, Synchronization, Collecting, Distributing", "00:00:5e:00:53:77"), record.Unknown, 0, 0, "", "has not agreed"},
		{"DPDK, no partner", dpdk("ACT AGG DEF", "00:00:00:00:00:00"), record.LACPDown, 0.7, 0.8, "hears none", ""},
		{"DPDK, in use", dpdk("ACT AGG SYNC COL DIST", "00:00:5E:00:53:0A"), record.Unknown, 0, 0, "", "has not agreed"},
	})
	if a := judge(dump("Activity, Aggregation, Synchronization, Collecting, Distributing", "00:00:5e:00:53:77")); a.Findings[0].Cause == scene.Healthy {
		t.Errorf("one port's frames do not show that all is well: %s", a.Findings[0].Text)
	}
}
