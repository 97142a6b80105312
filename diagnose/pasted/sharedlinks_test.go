package pasted

import (
	"testing"

	"github.com/linerate/linerate/record"
)

// TestVirtualLinks: addresses in one subnet on links that end at one and the same are no two
// ways; on links of their own they are.
func TestVirtualLinks(t *testing.T) {
	addr := func(first, second string) string {
		link := func(name, ip string) string {
			return name + ": <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP group default qlen 1000\n    inet " + ip + "/24 brd 192.0.2.255 scope global x\n"
		}
		return "Copies to this server are slow, 300 Mbit/s only.\n$ ip addr\n" + link("2: "+first, "192.0.2.10") + link("5: "+second, "192.0.2.11")
	}
	const vnics = "Copies to this server are slow.\n# ipadm show-addr\nADDROBJ           TYPE     STATE        ADDR\nlo0/v4            static   ok           127.0.0.1/8\naggr7/_a          static   ok           192.0.2.32/24\nadm0/_a           static   ok           192.0.2.36/24\n"
	judgeHardware(t, []hardwareCase{
		{"a macvlan on its own link", addr("eth0", "mac0@eth0"), record.Unknown, 0, 0, "", "the same subnet"},
		{"two macvlans on one link", addr("mac1@eth0", "mac0@eth0"), record.Unknown, 0, 0, "", "the same subnet"},
		{"two links", addr("eth0", "mac0@eth1"), record.AsymmetricRoute, 0.7, 0.8, "the same subnet", ""},
		{"two ports of a router's switch", addr("lan1@eth0", "lan2@eth0"), record.AsymmetricRoute, 0.7, 0.8, "the same subnet", ""},
		{"a vnic on an aggregation", "# dladm show-vnic\nLINK         OVER       SPEED MACADDRESS        MACADDRTYPE VID  ZONE\nadm0         aggr7      10000 2:8:20:0:53:9c    random      0    --\n" + vnics, record.Unknown, 0, 0, "", "the same subnet"},
		{"nobody says on what", vnics, record.AsymmetricRoute, 0.65, 0.75, "hostmodel weak", ""},
	})
}

// TestPartnerHeard: the kernel's warning of a bond's first second, and what the bond says later.
func TestPartnerHeard(t *testing.T) {
	const warned = "Two copies at once come to one port's rate over our new bond.\n[    9.4] bond3: Warning: No 802.3ad response from the link partner for any adapters in the bond\n"
	proc := func(mac string) string {
		return "Bonding Mode: IEEE 802.3ad Dynamic link aggregation\nTransmit Hash Policy: layer3+4 (1)\nMII Status: up\n\n802.3ad info\nLACP rate: fast\nActive Aggregator Info:\n\tAggregator ID: 7\n\tNumber of ports: 2\n\tPartner Mac Address: " + mac + "\n\nSlave Interface: eno1\nMII Status: up\nSpeed: 1000 Mbps\nAggregator ID: 7\n\nSlave Interface: eno2\nMII Status: up\nSpeed: 1000 Mbps\nAggregator ID: 7\n"
	}
	const small = "(sw9) #show port-channel 3/3\n\nLocal Interface................................ 3/3\nChannel Name................................... lag3\nLink State..................................... Up\nType........................................... Dynamic\n\n(sw9) #show lacp partner 0/9\n\n        Sys      System       Admin Prt Prt     Admin\n  Intf  Pri       ID          Key   Pri Id      State\n------ --- ----------------- ----- --- ----- -----------\n0/9    0   00:00:00:00:00:00 0     0   0     ACT|AGG|LTO\n\nAnd this is what the server says of it:\n\n"
	judgeHardware(t, []hardwareCase{
		{"warned, nothing else", warned, record.LACPDown, 0.55, 0.65, "heard no LACP partner", ""},
		{"a partner by now", warned + "$ cat /proc/net/bonding/bond3\n" + proc("00:00:5e:00:53:6a"), record.Unknown, 0, 0, "", "heard no LACP partner"},
		{"a partner by now, at the fast rate", "Two copies at once come to one port's rate.\nbond3: Enslaving eno1 as a backup interface with a down link\nbond3: Warning: No 802.3ad response from the link partner for any adapters in the bond\nbond3: first active interface up!\n$ cat /proc/net/bonding/bond3\n" + proc("00:00:5e:00:53:6a"), record.Unknown, 0, 0, "", "while it comes up"},
		{"none by now", warned + "$ cat /proc/net/bonding/bond3\n" + proc("00:00:00:00:00:00"), record.LACPDown, 0.8, 0.9, "no partner answers", ""},
		{"behind a switch's outputs", small + proc("00:00:00:00:00:00"), record.LACPDown, 0.8, 0.9, "no partner answers", ""},
	})
}

// TestEmptyChannels: a switch's channel that is down as a whole, in several systems' words.
func TestEmptyChannels(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"EOS", "leaf5#show interfaces Port-Channel 4\nPort-Channel4 is down, line protocol is lowerlayerdown (notconnect)\n  Hardware is Port-Channel, address is 0000.5e00.5301\n  Active members in this channel: 0\n", record.LACPDown, 0.55, 0.65, "no member of it is active", ""},
		{"EOS, shut", "leaf5#show interfaces Port-Channel 4\nPort-Channel4 is administratively down, line protocol is down (disabled)\n  Hardware is Port-Channel, address is 0000.5e00.5301\n  Active members in this channel: 0\n", record.Unknown, 0, 0, "", "no member of it is active"},
		{"NX-OS", "sw1# show interface port-channel 10\nport-channel10 is down (No operational members)\nadmin state is up,\n  Hardware: Port-Channel, address: 0000.5e00.5301 (bia 0000.5e00.5301)\n  MTU 1500 bytes, BW 100000 Kbit, DLY 10 usec\n", record.LACPDown, 0.55, 0.65, "no member of it is active", ""},
		{"IOS", "sw1#show interfaces port-channel 1\nPort-channel1 is down, line protocol is down (notconnect) \n  Hardware is EtherChannel, address is 0000.5e00.5301 (bia 0000.5e00.5301)\n  MTU 1500 bytes, BW 10000 Kbit/sec, DLY 1000 usec, \n", record.LACPDown, 0.55, 0.65, "no member of it is active", ""},
		{"IOS, up", "sw1#show interfaces port-channel 1\nPort-channel1 is up, line protocol is up (connected) \n  Hardware is EtherChannel, address is 0000.5e00.5301 (bia 0000.5e00.5301)\n  MTU 1500 bytes, BW 2000000 Kbit/sec, DLY 10 usec, \n", record.Unknown, 0, 0, "", "no member of it is active"},
		{"by words", "We cabled two switches of two makers together.\nAll the member ports of the EtherChannel show as stand-alone, and nothing passes.\n", record.LACPDown, 0.4, 0.5, "does not come up", ""},
		{"a server by itself", "We cabled two switches of two makers together.\nBoth ports of the EtherChannel lead to a stand-alone server, which is slow.\n", record.Unknown, 0, 0, "", "does not come up"},
	})
}
