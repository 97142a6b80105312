package pasted

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/record"
)

// What owners of switches paste, in small: excerpts of public threads, with their
// sources, and texts of our own beside each of them that have another answer.
const (
	// networkengineering.stackexchange.com, "Unbalanced port-channel utilization".
	channelTraffic = `NX5K-SW01# show port-channel traffic interface port-channel 22
ChanId      Port Rx-Ucst Tx-Ucst Rx-Mcst Tx-Mcst Rx-Bcst Tx-Bcst
------ --------- ------- ------- ------- ------- ------- -------
22  Eth101/1/38    0.0%    0.0%  50.00%   1.62%    0.0%    0.0%
22  Eth101/1/37    0.0% 100.00%  49.99%  98.37%    0.0% 100.00%
`
	// boonmee.blogspot.com, 2009-12-24: secondary aggregators.
	splitChannel = `Switch#show etherchannel summary
Group  Port-channel  Protocol    Ports
------+-------------+-----------+-----------------------------------------
1      Po1(SU)         LACP      Gi1/16(P)   Gi10/1(P)   Gi10/2(P)
2      Po2(SD)         LACP
2      Po2A(SU)        LACP      Gi1/15(P)   Gi10/3(P)   Gi10/4(P)
`
	// github.com/opnsense/core/issues/7685: EOS's list of a channel's ports.
	inactivePort = `sw1#show port-channel 7
  Active Ports: PeerEthernet7/1 Ethernet7/1
  Configured, but inactive ports:
       Port                Reason unconfigured
    ---------------------- -----------------------------------------------------
       Ethernet7/2         LACP negotiated incompatible aggregate (check config)
`
	// github.com/TritonDataCenter/smartos-live/issues/800.
	aggregation = `[root@node1 ~]# dladm show-aggr -L
LINK        PORT         AGGREGATABLE SYNC COLL DIST DEFAULTED EXPIRED
aggr2       igb0         yes          yes  yes  yes  no        no
--          igb1         yes          yes  yes  yes  no        no
[root@node1 ~]# dladm show-phys
LINK         MEDIA                STATE      SPEED  DUPLEX    DEVICE
igb0         Ethernet             up         1000   full      igb0
igb1         Ethernet             down       0      half      igb1
`
	// Data ONTAP's group, after community.netapp.com, "Why does the activity of LACP
	// is not balance?": figures of our own.
	groupStatus = `filer1> ifgrp status a0a
default: transmit 'IP Load balancing', Ifgrp Type 'multi_mode', fail 'log'
a0a: 2 links, transmit 'IP Load balancing', Ifgrp Type 'lacp' fail 'default'
	 Ifgrp Status	Up 	Addr_set
	up:
	e0b: state up, since 19Feb2015 10:12:01 (52+20:10:11)
		mediatype: auto-1000t-fd-up
		flags: enabled
		active aggr, aggr port: e0a
		input packets 118273411, input bytes 21238312331
		input lacp packets 12663, output lacp packets 212566
		output packets 91122001, output bytes 88123456781
		up indications 14, broken indications 8
	e0a: state up, since 19Feb2015 10:12:01 (52+20:10:11)
		mediatype: auto-1000t-fd-up
		flags: enabled
		active aggr, aggr port: e0a
		input packets 9827341100, input bytes 9723831233100
		input lacp packets 19331, output lacp packets 19293
		output packets 90122001, output bytes 87123456781
		up indications 2, broken indications 1
`
	offloads = `PS C:\> Get-NetOffloadGlobalSetting

ReceiveSideScaling           : Disabled
ReceiveSegmentCoalescing     : Enabled
Chimney                      : Disabled
TaskOffload                  : Enabled
`
)

// TestPortChannels is what a channel's owner pastes of it, with what shows its cause.
func TestPortChannels(t *testing.T) {
	dropping := errorsOf("TenGigabitEthernet1/0/1", "410077")
	check(t, []shows{
		{"one member has all unicast", channelTraffic, record.HashImbalance, 0.6, []string{"Po22", "100 % by Eth101/1/37", "source-dest-port"}, nil},
		{"and the hash is known", channelTraffic + "NX5K-SW01# show port-channel load-balance\nSystem: source-dest-ip\n", record.SingleLink, 0.85, []string{"IP addresses"}, nil},
		{"a second aggregator", splitChannel, record.LACPDown, 0.8, []string{"LACP split Po2", "Po2A", "show lacp neighbor"}, nil},
		{"an inactive port, with its reason", inactivePort, record.LACPDown, 0.8, []string{"Et7/2", "incompatible aggregate", "partner's key"}, nil},
		{"a port without a link that still distributes", aggregation, record.LACPDown, 0.8, []string{"igb1", "dladm show-phys igb1"}, nil},
		{"what comes in by one port", groupStatus, record.HashImbalance, 0.6, []string{"the switch chose", "by e0a"}, []string{"distr-func"}},
		{"what goes out by one port is the group's own", strings.NewReplacer("output bytes 88123456781", "output bytes 81", "input bytes 21238312331", "input bytes 9238312331000").Replace(groupStatus), record.SingleLink, 0.85, []string{"distributes by IP addresses"}, nil},
		{"no receive side scaling", offloads, record.ReceiverCPU, 0.6, []string{"Set-NetOffloadGlobalSetting"}, nil},
		{"output drops alone", dropping, record.Congestion, 0.6, []string{"410077", "output queue"}, nil},
		{"drops that a filter left", "sw1>sh int gi2/0/7 | i output drops\n  Input queue: 0/75/0/0 (size/max/drops/flushes); Total output drops: 2255550\n", record.Congestion, 0.5, []string{"Gi2/0/7"}, nil},
	})
	for name, text := range map[string]string{
		"all selected, and nobody says more": "# ovs-appctl bond/show\n---- bond0 ----\nbond_mode: balance-tcp\nlacp_status: negotiated\n\nmember eth0: enabled\n  active member\n  may_enable: true\n\nmember eth2: enabled\n  may_enable: true\n",
		"members share alike":                strings.NewReplacer("100.00%  49.99%", "52.00%  49.99%", " 0.0%  50.00%", "48.0%  50.00%").Replace(channelTraffic),
		"no second aggregator":               strings.Replace(strings.Replace(splitChannel, "2      Po2(SD)         LACP\n", "", 1), "Po2A(SU)", "Po2(SU) ", 1),
		"both ports active":                  "sw1#show port-channel 7\n  Active Ports: Ethernet7/1 Ethernet7/2\n",
		"both links are there":               strings.Replace(aggregation, "down       0      half ", "up         1000   full ", 1),
		"a few drops of many packets":        errorsOf("TenGigabitEthernet1/0/1", "1200"),
		"receive side scaling is on":         strings.Replace(offloads, "Scaling           : Disabled", "Scaling           : Enabled", 1),
		"both ports receive":                 strings.Replace(groupStatus, "input bytes 21238312331", "input bytes 9238312331000", 1),
		"messages of ports that come up":     "%ETHPORT-5-SPEED: Interface port-channel111, operational speed changed to 10 Gbps\n%LINK-3-UPDOWN: Interface Po1, changed state to up\n",
	} {
		for _, f := range judge(text).Findings {
			if f.Confidence >= 0.5 && f.Cause != record.Unknown && f.Cause != Healthy {
				t.Errorf("%s: %s %.2f: %s", name, f.Cause, f.Confidence, f.Text)
			}
		}
	}
}

// TestSaidAgainstStates: states that are well do not contradict somebody who says that
// one link carries all.
func TestSaidAgainstStates(t *testing.T) {
	const whole = "# ovs-appctl bond/show\n---- bond0 ----\nbond_mode: balance-tcp\nlacp_status: negotiated\n\nmember eth0: enabled\n  active member\n  may_enable: true\n\nmember eth2: enabled\n  may_enable: true\n"
	if f := judge(whole).Findings[0]; f.Cause != Healthy {
		t.Errorf("states alone: %s %.2f", f.Cause, f.Confidence)
	}
	if f := judge("With our LACP bond one interface gets all the egress traffic, and the other almost none of it.\n" + whole).Findings[0]; f.Cause == Healthy {
		t.Errorf("against what is said: %.2f %s", f.Confidence, f.Text)
	}
	const deselected = "admin@sonic:~$ show interfaces portchannel\n  No.  Team Dev       Protocol     Ports\n-----  -------------  -----------  ---------------------------\n    1  PortChannel1   LACP(A)(Dw)  Ethernet2(D) Ethernet3(D)\n"
	if f := judge(deselected).Findings[0]; f.Cause != record.LACPDown || !strings.Contains(f.Text, "deselected") || strings.Contains(f.Text, "port is down") {
		t.Errorf("SONiC's D: %s", f.Text)
	}
}

// TestSwitchLog is what a switch's own log says of its channels.
func TestSwitchLog(t *testing.T) {
	check(t, []shows{
		{"no LACP from the host, NX-OS", "%LACP-5-LACP_SUSPEND_INDIVIDUAL: LACP port Ethernet1/7(0x1a001400) of port-channel port-channel5(0x16000004) not receiving any LACP BPDUs suspending (individual) port\n", record.LACPDown, 0.8, []string{"Eth1/7", "heard no LACP", "suspend-individual"}, nil},
		{"no LACP from the host, IOS", "*Mar  1 00:03:10.577: %EC-5-L3DONTBNDL2: Gi1/0/7 suspended: LACP currently not enabled on the remote port.\n", record.LACPDown, 0.8, []string{"Gi1/0/7", "heard no LACP"}, nil},
		{"a member that is unlike", "Nov  3 10:22:01: %EC-5-CANNOT_BUNDLE2: Gi1/0/2 is not compatible with Gi1/0/1 and will be suspended (vlan mask is different)\n", record.LACPDown, 0.85, []string{"vlan mask is different"}, nil},
		{"a static channel against single ports", "%SPANTREE-2-CHNL_MISCFG: Detected loop due to etherchannel misconfiguration of Po3\n%PM-4-ERR_DISABLE: channel-misconfig (STP) error detected on Po3, putting Gi1/0/1 in err-disable state\n", record.LACPDown, 0.8, []string{"Po3", "mode on"}, nil},
		{"an address on two ports", "%SW_MATM-4-MACFLAP_NOTIF: Host 0200.0000.0a01 in vlan 120 is flapping between port Gi1/0/7 and port Gi1/0/8\n", record.LACPDown, 0.65, []string{"Gi1/0/7", "no channel", "IP hash"}, nil},
	})
	later := "%EC-5-L3DONTBNDL2: Te1/0/2 suspended: LACP currently not enabled on the remote port.\n" + channelUp
	if f := judge(later).Findings[0]; f.Cause == record.LACPDown && f.Confidence > 0.5 {
		t.Errorf("a port that is bundled by now: %.2f %s", f.Confidence, f.Text)
	}
	loop := "%SW_MATM-4-MACFLAP_NOTIF: Host 0200.0000.0a01 in vlan 120 is flapping between port Po1 and port Gi1/0/8\n"
	if f := judge(loop).Findings[0]; f.Confidence >= 0.5 {
		t.Errorf("a channel and a port may be a loop: %.2f %s", f.Confidence, f.Text)
	}
}

// TestSaidOfBundles is what sentences alone say of a bundle: never above an output.
func TestSaidOfBundles(t *testing.T) {
	const team = "{\n\t\"device\": \"team0\",\n\t\"runner\": {\"name\": \"lacp\", \"active\": true, \"tx_hash\": [\"eth\", \"ipv4\", \"ipv6\"]},\n\t\"ports\": {\"eth0\": {}, \"eth1\": {}}\n}\n"
	for _, c := range []struct {
		name, text  string
		cause       record.Cause
		least, most float64
	}{
		{"it does not come up", "We have configured LACP on both of the switches, however the portchannel does not come up at all.\n", record.LACPDown, 0.42, 0.49},
		{"and a team with LACP", "With the LACP runner both links are ready, but team0 is not.\n" + team, record.LACPDown, 0.55, 0.65},
		{"a team, and nobody says that it is down", "All our traffic between two storage nodes stays on one link of this team.\n" + team, record.SingleLink, 0.6, 0.65},
		{"macOS's own words", "* \"The port on the switch that the device is connected to doesn't seem to have 802.3ad Link Aggregation enabled.\"\n", record.LACPDown, 0.7, 0.8},
		{"a switch without channels", "I teamed two cards with NIC teaming, but my switch is just a dumb unmanaged switch and copies are no faster.\n", record.SingleLink, 0.42, 0.49},
		{"two of four carry", "The team with the LACP runner gets 2.2 Gbit and only two utilized ports of the four.\n", record.HashImbalance, 0.42, 0.49},
	} {
		f := judge(c.text).Findings[0]
		if f.Cause != c.cause || f.Confidence < c.least || f.Confidence > c.most {
			t.Errorf("%s: %s %.2f, want %s %.2f to %.2f: %s", c.name, f.Cause, f.Confidence, c.cause, c.least, c.most, f.Text)
		}
	}
	for _, text := range []string{
		"The bond came up on both links and the switch shows both of its ports in the channel.\n",
		"The server is down since the morning and does not come up, whatever I do with it.\n",
	} {
		for _, f := range judge(text).Findings {
			if f.Cause != record.Unknown {
				t.Errorf("%q: %s %.2f", text, f.Cause, f.Confidence)
			}
		}
	}
}

// TestMembersOut: ports that a channel leaves out, as several makers print it, and ports that
// wait because the channel may use no more.
func TestMembersOut(t *testing.T) {
	huawei := func(most string) string {
		return "  [~ce] display eth-trunk 9\n  Eth-Trunk9's state information is:\n  Local:\n  LAG ID: 9                   WorkingMode: STATIC\n  Least Active-linknumber: 1  Max Active-linknumber: " + most + "\n  Operate status: up          Number Of Up Port In Trunk: 1\n" +
			"  ActorPortName          Status   PortType PortPri PortNo PortKey PortState Weight\n  GigabitEthernet0/1/1   Selected 1GE      32768   128    2593    11111100  1\n  GigabitEthernet0/2/1   Unselect 1GE      32768   129    2593    10100000  1\n"
	}
	fortinet := func(second string) string {
		return "# diagnose netlink aggregate name agg2\nLACP flags: (A|P)(S|F)(A|I)(I|O)(E|D)(E|D)\n(A|P) - LACP mode is Active or Passive\nstatus: up\ndistribution algorithm: L4\nLACP mode: active\naggregator ID: 1\nports: 1\n" +
			"slave: port3\nstatus: up\nlink failure count: 0\nactor state: ASAIEE\npartner state: ASAIEE\naggregator ID: 1\nslave: port4\nstatus: up\nlink failure count: 0\nactor state: ASAODD\npartner state: ASIODD\naggregator ID: " + second + "\n"
	}
	const arista = "sw2#show port-channel 4 detailed\nPort Channel Port-Channel4 (Fallback State: Unconfigured):\nMinimum links: unconfigured\nCurrent weight/Max weight: 1/16\n  Active Ports:\n       Port            Time Became Active       Protocol       Mode      Weight\n    --------------- ------------------------ -------------- ------------ ------\n       Ethernet7       20:23:45                 LACP           Active      1\n"
	monitor := func(first, second, out string) string {
		return "/interface/bonding/monitor [find]\n                      mode: " + first + "           " + second + "\n              active-ports: ether4            ether6\n            inactive-ports:                   " + out + "\n            lacp-system-id: 02:00:00:11:22:33\n    lacp-partner-system-id: 02:00:00:44:55:66  02:00:00:44:55:77\n"
	}
	judgeHardware(t, []hardwareCase{
		{"huawei in a list", huawei("8"), record.LACPDown, 0.8, 0.9, "GE0/2/1", "hot standby"},
		{"huawei with a limit", huawei("1"), record.LACPDown, 0.55, 0.65, "hot standby", ""},
		{"fortinet, another aggregator", fortinet("2"), record.LACPDown, 0.8, 0.9, "port4", ""},
		{"fortinet, the same", fortinet("1"), record.Unknown, 0, 0, "", "not in the bundle"},
		{"arista's details", arista + "\n  Configured, but inactive ports:\n       Port            Time Became Inactive    Reason\n    --------------- -------------------------- -------------------------\n       Ethernet8       Always                     wrong speed for aggregate\n", record.LACPDown, 0.8, 0.9, "\"wrong speed for aggregate\"", ""},
		{"arista's, all active", arista, record.Unknown, 0, 0, "", "not in the bundle"},
		{"a backup that waits", monitor("802.3ad", "active-backup", "ether7"), record.Unknown, 0, 0, "", "not active"},
		{"a port of the second that is out", monitor("802.3ad", "802.3ad      ", "ether7"), record.LACPDown, 0.8, 0.9, "ether7 is not active", ""},
		{"a lagg that stops", "Feb  3 10:11:12 fw kernel: igb0: Interface stopped DISTRIBUTING, possible flapping\nFeb  3 10:11:14 fw kernel: igb1: Interface stopped DISTRIBUTING, possible flapping\n", record.LACPDown, 0.55, 0.7, "igb0, igb1", ""},
		{"a lagg that stopped once", "Feb  3 10:11:12 fw kernel: igb0: Interface stopped DISTRIBUTING, possible flapping\n", record.Unknown, 0, 0, "", "stopped sending"},
		{"uplinks that stand alone", "Our vmnics assigned to a Link Aggregation Group (LAG) of a VDS show a state of Stand-alone.\n", record.LACPDown, 0.4, 0.5, "", ""},
		{"deselected", "After a restart of the switch, one port of the LAG is in deselected state.\n", record.LACPDown, 0.4, 0.5, "", ""},
		{"always one", "ECMP hashes well, then the LAG's hash is polarised and it will always pick one of the LAG members.\n", record.HashImbalance, 0.4, 0.5, "do not carry alike", ""},
	})
}

// TestNothingMissed: whole bundles of which nobody misses anything, what is asked for and not
// measured, and datagrams that fill a link.
func TestNothingMissed(t *testing.T) {
	const lagg = "# ifconfig lagg3\nlagg3: flags=8843 metric 0 mtu 1500\n        laggproto lacp lagghash l2,l3,l4\n        laggport: ixl0 flags=1c\n        laggport: ixl1 flags=1c\n        status: active\n"
	datagrams := func(asked, rate, lost string) string {
		return "$ iperf3 -c 192.0.2.44 -u -b " + asked + " -t 30\n[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams\n[  5]   0.00-30.00  sec  3.33 GBytes   " + rate + " Mbits/sec  0.000 ms  0/2469630 (0%)  sender\n[  5]   0.00-30.04  sec  3.33 GBytes   " + rate + " Mbits/sec  0.009 ms  " + lost + "  receiver\n"
	}
	judgeHardware(t, []hardwareCase{
		{"a whole lagg", lagg, scene.Healthy, 0.65, 0.75, "all in use", "gives each flow one link"},
		{"a whole lagg that is slow", "Copies to the NAS are slow, only one port is busy.\n" + lagg, record.SingleLink, 0.4, 0.6, "gives each flow one link", ""},
		{"datagrams fill the link", datagrams("1100m", "953", "0/2469630 (0%)"), record.LineRate, 0.55, 0.65, "asked 1.10 Gbit/s", ""},
		{"datagrams as asked", datagrams("953m", "953", "0/2469630 (0%)"), record.Unknown, 0, 0, "", "the card itself is the limit"},
		{"datagrams that are lost", datagrams("1100m", "953", "246963/2469630 (10%)"), record.Unknown, 0, 0, "", "the card itself is the limit"},
	})
}
