package paste

// factCases are fixtures of the project's own, of several eras.
var factCases = []factCase{
	{"bond's file, new", `Ethernet Channel Bonding Driver: v6.1.0-18-amd64

Bonding Mode: IEEE 802.3ad Dynamic link aggregation
Transmit Hash Policy: layer2+3 (2)
MII Status: up
802.3ad info
LACP rate: fast
Active Aggregator Info:
	Aggregator ID: 1
	Number of ports: 1
	Partner Mac Address: 00:00:5e:00:53:f0

Slave Interface: eno1
MII Status: up
Speed: 10000 Mbps
Aggregator ID: 1
details actor lacp pdu:
    port state: 63
details partner lacp pdu:
    port state: 61

Slave Interface: eno2
Speed: Unknown
Aggregator ID: 2
`, []string{"host: release=6.1.0-18-amd64", "link bond0: mode=802.3ad xmit_hash_policy=layer2+3 lacp_rate=fast ad_num_ports=1 ad_aggregator=1",
		"link eno1: speed=10000 aggregator_id=1 actor_state=63 partner_state=61 master=bond0", "link eno2: speed=unknown aggregator_id=2"}},
	{"bond's file through grep", "$ grep -E 'Policy|Number|Fail|Slave I' /proc/net/bonding/bond7\nTransmit Hash Policy: layer2 (0)\n\tNumber of ports: 2\nSlave Interface: eth0\nLink Failure Count: 4\nSlave Interface: eth1\nLink Failure Count: 0\n",
		[]string{"link bond7: xmit_hash_policy=layer2 ad_num_ports=2", "link eth0: link_failure_count=4", "link eth1: link_failure_count=0"}},
	{"a list of options, nmcli", "[root@n1 ~]# nmcli -g bond.options con show bond7\nmode=802.3ad,miimon=100,lacp_rate=fast,xmit_hash_policy=layer2+3\n",
		[]string{"config bond7: mode=802.3ad miimon=100 lacp_rate=fast xmit_hash_policy=layer2+3 kind=bond"}},
	{"a list of options, modprobe.d", "# cat /etc/modprobe.d/bonding.conf\noptions bond1 mode=4 miimon=100 max_bonds=2\n", []string{"config bond1: mode=802.3ad miimon=100"}},
	{"ethtool in a loop that prints names", "root@n:~# for i in eno1 enp1s0; do echo $i; ethtool $i | grep Speed; done\neno1\n\tSpeed: 1000Mb/s\nenp1s0\n\tSpeed: 10000Mb/s\n",
		[]string{"link eno1: speed=1000", "link enp1s0: speed=10000"}},
	{"bond's file, one word", "$ grep -i rate /proc/net/bonding/mgmt-bo\nLACP rate: slow\n", []string{"link mgmt-bo: lacp_rate=slow"}},
	{"names first, counts after", "Slave Interface: eth0\nSlave Interface: eth1\nLink Failure Count: 8\nLink Failure Count: 9\n", []string{"link eth0: link_failure_count=8", "link eth1: link_failure_count=9"}},
	{"bond's files, grep's names", "/proc/net/bonding/bond0:Slave Interface: eth0\n/proc/net/bonding/bond1:Slave Interface: eth1\n", []string{"link eth0: master=bond0", "link eth1: master=bond1"}},
	{"ip -s -s link", `2: ens1@if3: <BROADCAST,MULTICAST,SLAVE,UP,LOWER_UP> mtu 9000 qdisc mq master bond0 state UP mode DEFAULT group default qlen 1000
    link/ether 00:00:5e:00:53:01 brd ff:ff:ff:ff:ff:ff permaddr 00:00:5e:00:53:02
    RX:  bytes packets errors dropped  missed   mcast
    100 20 3 4 5 6
    RX errors:  length    crc   frame    fifo overrun
                     0  3   1    0       0
    TX:  bytes packets errors dropped carrier collsns
    200 30 0 7 0 0
    altname enp1s0
`, []string{"link ens1: mtu=9000 qdisc=mq master=bond0 state=UP carrier=yes mac=00:00:5e:00:53:01 perm_mac=00:00:5e:00:53:02 below=if3 rx_bytes=100 rx_missed=5 rx_crc=3 rx_frame=1 tx_dropped=7 rx_multicast=6"}},
	{"ip without angle brackets", "3: eth0:  mtu 1500 qdisc mq state DOWN group default qlen 1000\n    link/ether 00:00:5e:00:53:03 brd ff:ff:ff:ff:ff:ff\n    inet 192.0.2.3/24 brd 192.0.2.255 scope global eth0\n       valid_lft forever preferred_lft forever\n",
		[]string{`link eth0: mtu=1500 state=DOWN "address 192.0.2.3/24=inet" -carrier`}},
	{"ip -d link", "4: bond0: <NO-CARRIER,BROADCAST,MULTICAST,MASTER,UP> mtu 1500 qdisc noqueue state DOWN\n    bond mode 802.3ad miimon 100 peer_notify_delay 0 xmit_hash_policy layer3+4 ad_num_ports 2 lacp_rate fast tlb_dynamic_lb 1 numtxqueues 16\n",
		[]string{"link bond0: kind=bond mode=802.3ad peer_notif_delay=0 xmit_hash_policy=layer3+4 carrier=no tx_queues=16"}},
	{"ip -d link, a port", "5: eth5: <BROADCAST,UP,LOWER_UP> mtu 1500 master bond0\n    bond_slave state ACTIVE mii_status UP perm_hwaddr 00:00:5e:00:53:05 ad_aggregator_id 3 ad_actor_oper_port_state 61 ad_partner_oper_port_state 5\n",
		[]string{"link eth5: aggregator_id=3 actor_state=61 partner_state=5 perm_mac=00:00:5e:00:53:05 slave_state=ACTIVE"}},
	{"ip through grep", "$ ip -d link show bond3 | grep -o 'xmit_hash_policy [^ ]*'\nxmit_hash_policy layer2\n", []string{"link bond3: xmit_hash_policy=layer2"}},
	{"ip -br", "$ ip -br addr\nlo UNKNOWN 127.0.0.1/8 ::1/128\neth0 UP 192.0.2.7/24\neth1 DOWN\n", []string{`link eth0: state=UP "address 192.0.2.7/24=inet" carrier=yes`, "link eth1: state=DOWN"}},
	{"ip -o addr", "4: bond0    inet 192.0.2.4/24 brd 192.0.2.255 scope global bond0\\       valid_lft forever preferred_lft forever\n", []string{`link bond0: "address 192.0.2.4/24=inet"`}},
	{"ip -j", `[{"ifindex":4,"ifname":"bond0","flags":["BROADCAST","UP","LOWER_UP"],"mtu":1500,"operstate":"UP","linkinfo":{"info_kind":"bond","info_data":{"mode":"802.3ad","xmit_hash_policy":"layer2","ad_info":{"num_ports":2}}},"stats64":{"rx":{"bytes":7,"over_errors":1}},"addr_info":[{"family":"inet","local":"192.0.2.8","prefixlen":24}]}]` + "\n",
		[]string{`link bond0: kind=bond mode=802.3ad xmit_hash_policy=layer2 ad_num_ports=2 rx_bytes=7 rx_overrun=1 carrier=yes "address 192.0.2.8/24=inet"`}},
	{"redacted addresses", "2: eth0: <UP> mtu 1500\n    link/ether xx:xx:xx:xx:xx:01 brd ff:ff:ff:ff:ff:ff\n    inet PUB_IP/24 scope global eth0\n", []string{`link eth0: mtu=1500 "-address PUB_IP/24"`}},
	{"neighbours", "192.0.2.9 dev bond0 lladdr 00:00:5e:00:53:09 REACHABLE\n192.0.2.10 dev bond0 FAILED\n? (192.0.2.11) at 00:00:5e:00:53:0b [ether] on eth0\n",
		[]string{"neighbour 192.0.2.9: mac=00:00:5e:00:53:09 link=bond0 state=REACHABLE", "neighbour 192.0.2.10: state=FAILED", "neighbour 192.0.2.11: mac=00:00:5e:00:53:0b link=eth0"}},
	{"ifconfig, old", "eth4      Link encap:Ethernet  HWaddr 00:00:5E:00:53:16\n          inet addr:192.0.2.16  Bcast:192.0.2.255  Mask:255.255.255.0\n          UP BROADCAST RUNNING MULTICAST  MTU:9000  Metric:1\n          RX packets:91 errors:1 dropped:2 overruns:3 frame:4\n          TX packets:19 errors:0 dropped:5 overruns:0 carrier:0\n          collisions:0 txqueuelen:1000\n          RX bytes:590 (590.0 B)  TX bytes:161 (161.0 B)\n",
		[]string{`link eth4: mac=00:00:5e:00:53:16 mtu=9000 "address 192.0.2.16/24=inet" rx_packets=91 rx_errors=1 rx_dropped=2 rx_overrun=3 rx_frame=4 tx_dropped=5 rx_bytes=590 tx_bytes=161 state=UP`}},
	{"ifconfig, old and German", "eth0      Protokoll:Ethernet  Hardware Adresse 00:00:5E:00:53:17\n          inet Adresse:192.0.2.17  Bcast:192.0.2.255  Maske:255.255.255.0\n          UP BROADCAST RUNNING MULTICAST  MTU:1500  Metrik:1\n          RX packets:5 errors:0 dropped:1 overruns:0 frame:0\n",
		[]string{`link eth0: mac=00:00:5e:00:53:17 "address 192.0.2.17/24=inet" mtu=1500 rx_dropped=1`}},
	{"ifconfig, new", "bond0: flags=5187<UP,BROADCAST,RUNNING,MASTER,MULTICAST>  mtu 1500\n        inet 192.0.2.18  netmask 255.255.255.0  broadcast 192.0.2.255\n        ether 00:00:5e:00:53:18  txqueuelen 1000  (Ethernet)\n        RX packets 5  bytes 332 (332.0 B)\n        RX errors 1  dropped 2  overruns 3  frame 4\n",
		[]string{`link bond0: mtu=1500 "address 192.0.2.18/24=inet" rx_bytes=332 rx_dropped=2 rx_frame=4 state=UP`}},
	{"lagg without names of flags", "lagg0: flags=8843 metric 0 mtu 1500\n\toptions=403bb\n\tether 00:00:5e:00:53:90\n\tinet 192.0.2.19 netmask 0xffffff00 broadcast 192.0.2.255\n\tmedia: Ethernet autoselect\n\tstatus: active\n\tlaggproto lacp lagghash l2,l3,l4\n\tlaggport: ix1 flags=1c\n\tlaggport: ix0 flags=0\n",
		[]string{`link lagg0: kind=lagg laggproto=lacp mode=802.3ad lagghash=l2,l3,l4 "address 192.0.2.19/24=inet" carrier=yes`, "link ix1: master=lagg0 bundled=yes lagg_flags=1c", "link ix0: bundled=no"}},
	{"ethtool", "Settings for eth1:\n\tSupported link modes:   100baseT/Full\n\t                        10000baseT/Full\n\tSpeed: 100Mb/s\n\tDuplex: Full\n\tLink detected: yes\n", []string{"link eth1: speed=100 speed_max=10000 duplex=full carrier=yes"}},
	{"ethtool in a loop", "# for i in eth0 eth1; do ethtool $i | grep Speed; done\n\tSpeed: 10000Mb/s\n\tSpeed: Unknown!\n", []string{"link eth0: speed=10000", "link eth1: speed=unknown"}},
	{"ethtool -i and -S", "$ ethtool -i ens5 | head -2; ethtool -S ens5 | grep allowance\ndriver: ena\nversion: 2.8.0g\n     bw_in_allowance_exceeded: 7\n     pps_allowance_exceeded: 0\n",
		[]string{"link ens5: driver=ena driver_version=2.8.0g stat.bw_in_allowance_exceeded=7 -stat.pps_allowance_exceeded"}},
	{"ethtool -k", "Features for eth2:\nrx-checksumming: on\n\ttx-checksum-ipv4: off [fixed]\ngeneric-receive-offload: off\ntcp-segmentation-offload: on\n", []string{"link eth2: offload.generic-receive-offload=off offload.tx-checksum-ipv4=off fixed.tx-checksum-ipv4=yes -fixed.generic-receive-offload"}},
	{"ethtool -g, -l, -c, -a", `Ring parameters for eth3:
Pre-set maximums:
RX:		4096
RX Mini:	n/a
TX:		4096
Current hardware settings:
RX:		256
TX:		512
Channel parameters for eth3:
Pre-set maximums:
RX:		n/a
Combined:	32
Current hardware settings:
Combined:	1
Coalesce parameters for eth3:
Adaptive RX: on  TX: off
rx-usecs: 50
Pause parameters for eth3:
Autonegotiate:	on
RX:		on
TX:		off
`, []string{"link eth3: ring_rx=256 ring_rx_max=4096 ring_tx=512 channels=1 channels_max=32 coalesce.adaptive-rx=on coalesce.adaptive-tx=off coalesce.rx-usecs=50 pause_rx=on pause_tx=off"}},
	{"ethtool of nobody", "\tSpeed: 1000Mb/s\n\tDuplex: Full\n", nil},
	{"interfaces, Proxmox", `auto eno1
iface eno1 inet manual

auto bond0
iface bond0 inet static
	address 192.0.2.11/24
	bond-slaves eno2 eno1
	bond-mode 802.3ad   # LACP
	bond-xmit-hash-policy 1
	post-up echo fast > /sys/class/net/bond0/bonding/lacp_rate

auto vmbr0
iface vmbr0 inet static
	address 198.51.100.2
	netmask 255.255.255.0
	gateway 198.51.100.1
	bridge-ports bond0
	mtu 9000
`, []string{`config bond0: kind=bond mode=802.3ad "written.mode=802.3ad   # LACP" xmit_hash_policy=layer3+4 "ports=eno2 eno1" lacp_rate=fast "address 192.0.2.11/24=inet" format=ifupdown`,
		`config vmbr0: ports=bond0 gateway=198.51.100.1 mtu=9000 "address 198.51.100.2/24=inet"`, "host: system=proxmox"}},
	{"interfaces without indentation, joined options", "iface bond1 inet manual\nslaves eth0 eth1\nbond_mode 4\nbond-xmit-hash-policy layer3+4 bond-lacp-rate 0\n", []string{`config bond1: mode=802.3ad xmit_hash_policy=layer3+4 lacp_rate=slow "ports=eth0 eth1"`}},
	{"interfaces, Open vSwitch", "auto bond0\niface bond0 inet manual\n\tovs_bonds eno1 eno2\n\tovs_type OVSBond\n\tovs_bridge vmbr0\n\tovs_options bond_mode=balance-tcp lacp=active other_config:lacp-time=fast\n", []string{`config bond0: kind=ovs-bond bond_mode=balance-tcp lacp=active lacp_time=fast "ports=eno1 eno2" master=vmbr0`}},
	{"interfaces, a mode that is none", "iface bond0 inet manual\n\tbond-mode LACP\n", []string{"config bond0: invalid.mode=LACP -mode"}},
	{"netplan", "network:\n  version: 2\n  bonds:\n    bond0:\n      interfaces: [eno1, eno2]\n      mtu: 9000\n      addresses: [192.0.2.20/24]\n      routes:\n      - to: default\n        via: 192.0.2.1\n      parameters:\n        mode: 802.3ad\n        transmit-hash-policy: layer3+4\n        mii-monitor-interval: 100\n",
		[]string{`config bond0: format=netplan mode=802.3ad xmit_hash_policy=layer3+4 miimon=100 mtu=9000 "ports=eno1 eno2" gateway=192.0.2.1 "address 192.0.2.20/24=inet"`}},
	{"netplan, Open vSwitch", "network:\n  version: 2\n  bonds:\n    bond0:\n      interfaces: [eno1, eno2]\n      openvswitch: {lacp: active}\n      parameters:\n        mode: balance-tcp\n  bridges:\n    br0:\n      interfaces: [bond0]\n      openvswitch: {}\n",
		[]string{`config bond0: kind=ovs-bond bond_mode=balance-tcp lacp=active -mode "ports=eno1 eno2"`, "config br0: kind=ovs-bridge"}},
	{"nmstate, Open vSwitch", "interfaces:\n- name: br0\n  type: ovs-bridge\n  state: up\n  bridge:\n    port:\n    - name: bond0\n      link-aggregation:\n        mode: lacp\n        port:\n        - name: eno1\n        - name: eno2\n",
		[]string{`config bond0: kind=ovs-bond lacp=active -bond_mode "ports=eno1 eno2"`}},
	{"netplan, its head cut off, prose behind", "  bonds:\n    bond0:\n      interfaces:\n      - eno1\n      - eno2\n      parameters:\n        mode: balance-rr\nThis is prose behind it.\n", []string{`config bond0: mode=balance-rr "ports=eno1 eno2"`}},
	{"nmstate", "desiredState:\n  interfaces:\n  - name: bond0\n    type: bond\n    state: up\n    ipv4:\n      address:\n      - ip: 192.0.2.21\n        prefix-length: 24\n    link-aggregation:\n      mode: 802.3ad\n      options:\n        miimon: '140'\n      port:\n      - eno1\n      - eno2\n",
		[]string{`config bond0: format=nmstate mode=802.3ad miimon=140 "ports=eno1 eno2" "address 192.0.2.21/24=inet"`}},
	{"Talos, both forms", "apiVersion: v1alpha1\nkind: BondConfig\nname: bond0\nlinks:\n  - eth0\n  - eth1\nbondMode: 802.3ad\nxmitHashPolicy: layer3+4\n---\nmachine:\n  network:\n    interfaces:\n      - interface: bond1\n        bond:\n          mode: active-backup\n          interfaces: [eth2, eth3]\n",
		[]string{`config bond0: format=talos mode=802.3ad xmit_hash_policy=layer3+4 "ports=eth0 eth1"`, `config bond1: mode=active-backup "ports=eth2 eth3"`}},
	{"a diff", "--- a/linkspec-bond0.yaml\n+++ b/linkspec-bond0.yaml\n@@ -1,4 +1,4 @@\n     kind: bond\n     bondMaster:\n         mode: 802.3ad\n-        useCarrier: true\n+        useCarrier: false\n", []string{"config bond0: mode=802.3ad use_carrier=0"}},
	{"Harvester", "install:\n  management_interface:\n    interfaces:\n      - name: ens1f0\n      - name: ens1f1\n    bond_options:\n      mode: active-backup\n      miimon: 100\n", []string{`config mgmt-bo: mode=active-backup miimon=100 "ports=ens1f0 ens1f1"`}},
	{"ifcfg, Red Hat", "==> ifcfg-bond0 <==\nDEVICE=bond0\nIPADDR=192.0.2.22\nNETMASK=255.255.255.0\nBONDING_OPTS=\"mode=4 miimon=100 xmit_hash_policy=layer3+4\"\n\n==> ifcfg-eth0 <==\nDEVICE=eth0\nMASTER=bond0\nSLAVE=yes\n", []string{`config bond0: mode=802.3ad miimon=100 xmit_hash_policy=layer3+4 ports=eth0 "address 192.0.2.22/24=inet"`}},
	{"ifcfg, SUSE", "# cat /etc/sysconfig/network/ifcfg-bond1\nBOOTPROTO='static'\nBONDING_MASTER='yes'\nBONDING_SLAVE_0='eth0'\nBONDING_SLAVE_1='eth1'\nBONDING_MODULE_OPTS='mode=active-backup miimon=100'\n", []string{`config bond1: mode=active-backup "ports=eth0 eth1"`}},
	{"rc.conf", "ifconfig_ix0=\"up mtu 9000\"\ncloned_interfaces=\"lagg0\"\nifconfig_lagg0=\"laggproto lacp laggport ix0 laggport ix1 192.0.2.23 netmask 255.255.255.0\"\n", []string{`config lagg0: laggproto=lacp mode=802.3ad "ports=ix0 ix1" "address 192.0.2.23/24=inet"`, "config ix0: mtu=9000 master=lagg0"}},
	{"networkd", "[NetDev]\nName=bond0\nKind=bond\n\n[Bond]\nMode=802.3ad\nTransmitHashPolicy=layer3+4\nMIIMonitorSec=0.1\n[Match]\nName=eno1 eno2\n[Network]\nBond=bond0\n", []string{`config bond0: mode=802.3ad xmit_hash_policy=layer3+4 miimon=100 "ports=eno1 eno2"`}},
	{"keyfile", "[connection]\nid=office\ntype=bond\ninterface-name=bond2\n[bond]\nmode=1\n[ipv4]\naddress1=192.0.2.24/24,192.0.2.1\nmethod=manual\n", []string{`config bond2: kind=bond mode=active-backup gateway=192.0.2.1 "address 192.0.2.24/24=inet"`}},
	{"nmcli", "connection.id:                          bond0\nconnection.interface-name:              bond0\nconnection.type:                        bond\nconnection.controller:                  --\nbond.options:                           mode=802.3ad,miimon=100,lacp_rate=fast\nIP4.ADDRESS[1]:                         192.0.2.25/24\n", []string{"config bond0: mode=802.3ad lacp_rate=fast", `link bond0: "address 192.0.2.25/24=inet"`}},
	{"nmcli's table, translated", "DEVICE  TYPE      STATE      CONNECTION\nbond0   bond      verbunden  bond0\neno1    ethernet  verbunden  eno1\n", []string{"link bond0: kind=bond"}},
	{"teamd's configuration", "{\n    \"device\": \"team0\",\n    \"runner\": {\"name\": \"lacp\", \"tx_hash\": [\"eth\", \"ipv4\"]},\n    \"ports\": {\"eth0\": {}, \"eth1\": {}}\n}\n", []string{`config team0: runner=lacp "tx_hash=eth ipv4" "ports=eth0 eth1"`}},
	{"teamd's state", "setup:\n  runner: lacp\nports:\n  eth0\n    link watches:\n      link summary: up\n      instance[link_watch_0]:\n        name: ethtool\n        link: up\n        down count: 3\n    runner:\n      aggregator ID: 4, Selected\n      selected: yes\n      state: current\nrunner:\n  active: yes\n  fast rate: no\n", []string{"link team0: kind=team runner=lacp lacp_rate=slow", "link eth0: carrier=yes aggregator_id=4 selected=yes lacp_state=current link_failure_count=3 master=team0"}},
	{"OVS before 2.15", "---- bond0 ----\nbond_mode: balance-slb\nlacp_status: off\n\nslave eth0: enabled\n\tmay_enable: true\n\nslave eth1: enabled\n\tactive slave\n\thash 71: 114 kB load\n", []string{`link bond0: kind=ovs-bond bond_mode=balance-slb active_slave=eth1`, `link eth1: master=bond0 "hash 71=114"`}},
	{"OVS, LACP", "---- bond1 ----\n\tstatus: active negotiated\n\tlacp_time: fast\n\nmember: eno3: current attached\n\tactor state: activity timeout aggregation synchronized collecting distributing\n\tpartner state: activity aggregation defaulted\n", []string{`link bond1: lacp_rate=fast "lacp_status=active negotiated"`, "link eno3: actor_state=63 partner_state=69"}},
	{"OVS, its tree", "7d2c3b1e-0000-4b2a-9a1f-000000000001\n    Bridge br0\n        Port bond0\n            Interface eno1\n            Interface eno2\n        Port br0\n            Interface br0\n                type: internal\n    ovs_version: \"3.1.0\"\n", []string{"link bond0: kind=ovs-bond master=br0", "link eno2: master=bond0", "host: ovs_version=3.1.0"}},
	{"bridges", "bridge name\tbridge id\t\tSTP enabled\tinterfaces\nvmbr0\t\t8000.00005e005301\tno\t\tbond0\n\t\t\t\t\t\t\ttap100i0\n", []string{"link vmbr0: kind=bridge", "link tap100i0: master=vmbr0"}},
	{"bridge vlan", "port\tvlan ids\nbond0\t 1 PVID Egress Untagged\n\t 20\n", []string{`link bond0: "vlan 20=yes"`}},
	{"sysfs through grep", "/sys/class/net/bond0/bonding/mode:802.3ad 4\n/sys/class/net/bond0/bonding/slaves:eno1 eno2\n/sys/class/net/eno1/statistics/rx_crc_errors:17\n", []string{"link bond0: mode=802.3ad kind=bond", "link eno2: master=bond0", "link eno1: rx_crc=17"}},
	{"sysfs, one file", "$ cat /sys/class/net/eno1/speed\n-1\n$ cat /sys/class/net/bond0/bonding/{xmit_hash_policy,lacp_rate}\nlayer2+3 2\nslow 0\n", []string{"link eno1: speed=unknown", "link bond0: xmit_hash_policy=layer2+3 lacp_rate=slow"}},
}
