package paste

// centreCases are outputs of data centres and clouds: own data, in the tools' forms.
var centreCases = []factCase{
	{"ethtool -m of four lanes", "# ethtool -m ens3f0np0\n\tIdentifier                                : 0x11 (QSFP28)\n\tExtended identifier                       : 0xcc\n\tVendor name                               : ACME\n\tLaser tx bias current (Channel 1)         : 7.192 mA\n" +
		"\tRcvr signal avg optical power(Channel 1)  : 0.8013 mW / -0.96 dBm\n\tRcvr signal avg optical power(Channel 2)  : 0.0121 mW / -19.17 dBm\n\tRcvr signal avg optical power(Channel 3)  : 0.7907 mW / -1.02 dBm\n\tLaser rx power low alarm   (Chan 2)       : On\n\tLaser rx power low warning (Chan 2)       : On\n",
		[]string{"link ens3f0np0: optic_rx_dbm=-19.17 optic_rx_low=alarm optic_vendor=ACME"}},
	{"a copper module", "# ethtool -m eth4\n\tIdentifier                                : 0x03 (SFP)\n\tTransceiver type                          : Passive Cable\n\tReceiver signal average optical power     : 0.0000 mW / -inf dBm\n\tReceiver signal average optical power low alarm   : Off\n",
		[]string{"link eth4: optic_rx_dbm=-inf -optic_rx_low"}},
	{"metadata of AWS", "[ec2-user@ip-10-0-0-9 ~]$ curl -s http://169.254.169.254/latest/meta-data/instance-type\nc5.xlarge\n", []string{"host: cloud=aws instance=c5.xlarge"}},
	{"az vm show", "$ az vm show -g rg1 -n app2\n{\n  \"vmSize\": \"Standard_D4s_v3\",\n  \"enableAcceleratedNetworking\": false\n}\n", []string{"host: cloud=azure instance=Standard_D4s_v3 accelerated=false"}},
	{"gcloud", "$ gcloud compute instances describe web-3 | egrep 'machineType|nicType'\nmachineType: https://www.googleapis.com/compute/v1/projects/p1/zones/z/machineTypes/n2-standard-8\n  nicType: GVNIC\n",
		[]string{"host: cloud=gcp instance=n2-standard-8 nic_type=GVNIC"}},
	{"ibmcloud is instance", "$ ibmcloud is instance vsi-w1\nName                                  vsi-w1\nProfile                               bx2-16x64\nBandwidth(Mbps)                       32000\nVolume bandwidth(Mbps)                8000\nNetwork bandwidth(Mbps)               24000\n",
		[]string{"host: instance=bx2-16x64 total_mbps=32000 volume_mbps=8000 network_mbps=24000"}},
	{"an instance in prose", "Our m5n.8xlarge pair is slow.\n", []string{"said: cloud=aws instance=m5n.8xlarge"}},
	{"allowances", "$ ethtool -S ens5 | grep bw_\n     bw_in_allowance_exceeded: 0\n     bw_out_allowance_exceeded: 4120998\n",
		[]string{"link ens5: stat.bw_in_allowance_exceeded=0 stat.bw_out_allowance_exceeded=4120998"}},
	{"SYNs", "web1# tcpdump -nni eth0 'tcp[13] & 2 != 0'\n10:02:11.110220 IP 10.1.0.31.44120 > 10.2.0.31.5201: Flags [S], seq 1, win 64240, options [mss 1460,sackOK,nop,wscale 7], length 0\n" +
		"10:02:11.132330 IP 10.2.0.31.5201 > 10.1.0.31.44120: Flags [S.], seq 2, ack 2, win 65160, options [mss 1380], length 0\n2 packets captured\n",
		[]string{"handshake 10.1.0.31.44120 > 10.2.0.31.5201 S: wscale=7 mss=1460", "handshake 10.2.0.31.5201 > 10.1.0.31.44120 S.: wscale=none mss=1380 -sackOK"}},
	{"iptables with a limit", "# iptables -vnL INPUT\nChain INPUT (policy ACCEPT 912M packets, 61G bytes)\n pkts bytes target     prot opt in     out     source               destination\n" +
		"  12M   14G DROP       all  --  em1    *       0.0.0.0/0            0.0.0.0/0            limit: above 5mb/s burst 5mb mode srcip\n",
		[]string{"filter 1: chain=INPUT bps=41943040 above=yes drops=yes packets=12M link=em1"}},
	{"nft with a limit", "# nft list ruleset | grep limit\n\t\tip saddr 10.0.0.0/8 limit rate over 10 mbytes/second counter packets 912033 bytes 1203312203 drop\n",
		[]string{"filter 1: bps=83886080 above=yes drops=yes packets=912033"}},
	{"conntrack -S", "# conntrack -S\ncpu=0   \tfound=812 invalid=12033 insert=0 insert_failed=0 drop=20 early_drop=0 error=0 search_restart=1203\ncpu=1   \tfound=790 invalid=11920 insert=0 insert_failed=0 drop=22 early_drop=0 error=0 search_restart=1190\n",
		[]string{"conntrack: drop=42"}},
	{"a script", "$ cat bin/wan-test.sh\n#!/bin/sh\niperf3 -c \"$1\" -P 4 --fq-rate 3G -i 0\n", []string{"script: --fq-rate=3G"}},
	{"ceph", "# ceph -s\n  data:\n             188  active+undersized+degraded+remapped+backfill_wait\n             16   active+undersized+degraded+remapped+backfilling\n\n  io:\n    client:   112 MiB/s rd, 61 MiB/s wr, 1.20k op/s rd\n    recovery: 1 MiB/s, 71 objects/s\n" +
		"# ceph config get osd.12 osd_max_backfills\n1\n# ceph config dump | grep mclock\nosd  advanced  osd_mclock_profile  high_client_ops\n",
		[]string{"ceph: backfill_wait=188 backfilling=16 recovery_bps=8388608.000 osd_max_backfills=1 osd_mclock_profile=high_client_ops"}},
	{"lnet", "# lnetctl net show\nnet:\n    - net type: lo\n      local NI(s):\n        - nid: 0@lo\n          status: up\n    - net type: tcp\n      local NI(s):\n        - nid: 10.50.0.101@tcp\n          status: up\n          interfaces:\n              0: ens1f0np0\n" +
		"# cat /etc/modprobe.d/lnet.conf\noptions lnet networks=\"tcp(ens1f0np0)\"\n", []string{"nid 10.50.0.101@tcp: link=ens1f0np0", "lnet: networks=tcp(ens1f0np0)"}},
	{"iopolicy", "# cat /sys/class/nvme-subsystem/nvme-subsys0/iopolicy\nnuma\n", []string{"nvme: iopolicy=numa"}},
	{"a pod's annotation", "# kubectl describe pod p | grep bandw\nAnnotations:      kubernetes.io/egress-bandwidth: 500M\n", []string{"pod: egress_bps=500000000"}},
	{"counters that tail left", "# ip -s -h link show em1 | tail -4; ip -s -h link show em2 | tail -4\n    RX: bytes  packets  errors  dropped missed  mcast\n    91.2T 9120331  0 0 0 1203\n    TX: bytes  packets  errors  dropped carrier collsns\n    7920331220 8812033  0 0 0 0\n" +
		"    RX: bytes  packets  errors  dropped missed  mcast\n    8033122033 9022033  0 0 0 1203\n    TX: bytes  packets  errors  dropped carrier collsns\n    7811220331 8701220  0 0 0 0\n",
		[]string{"link em1: rx_bytes=91200000000000 tx_bytes=7920331220", "link em2: rx_bytes=8033122033 tx_bytes=7811220331"}},
	{"names with an MTU", "# ip -o link show | awk '{print $2,$4,$5}'\nens4: mtu 1460\ntunl0@NONE: mtu 1480\n", []string{"link ens4: mtu=1460", "link tunl0: mtu=1480"}},
	{"wicked", "# wicked ifstatus bond0\nbond0           up\n      link:     #8, state up, mtu 9000\n      type:     bond, mode active-backup, hwaddr 0c:42:a1:00:53:80\n", []string{"link bond0: kind=bond mode=active-backup"}},
	{"virtual functions", "# ip link show ens5f0\n4: ens5f0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc mq state UP mode DEFAULT group default qlen 1000\n    link/ether 3c:fd:fe:00:53:40 brd ff:ff:ff:ff:ff:ff\n" +
		"    vf 0     link/ether fa:16:3e:00:53:01 brd ff:ff:ff:ff:ff:ff, vlan 330, spoof checking on, link-state auto, trust off\n    vf 1     link/ether fa:16:3e:00:53:02 brd ff:ff:ff:ff:ff:ff, vlan 330, tx rate 5000 (Mbps), max_tx_rate 5000Mbps, spoof checking on\n",
		[]string{"vf ens5f0/0: mac=fa:16:3e:00:53:01 -max_tx_mbps", "vf ens5f0/1: mac=fa:16:3e:00:53:02 max_tx_mbps=5000"}},
	{"receive hash", "# ethtool -n ens1f0 rx-flow-hash udp4\nUDP over IPV4 flows use these fields for computing Hash flow key:\nIP SA\nIP DA\n", []string{`link ens1f0: "rxhash.udp4=IP SA, IP DA"`}},
	{"poll threads", "# ovs-appctl dpif-netdev/pmd-rxq-show\npmd thread numa_id 0 core_id 2:\n  isolated : false\n  port: dpdk0             queue-id:  0 (enabled)   pmd usage: 91 %\n  port: vhu5e-aa          queue-id:  0 (enabled)   pmd usage:  8 %\n  overhead:  0 %\n",
		[]string{"pmd 2: numa=0 usage=99"}},
	{"Solaris", "# ipadm show-prop -p send_buf,hostmodel tcp\nPROTO PROPERTY              PERM CURRENT      PERSISTENT   DEFAULT      POSSIBLE\ntcp   send_buf              rw   49152        --           49152        4096-1048576\n" +
		"# dladm show-link -s net0\nLINK              IPACKETS   RBYTES      IERRORS OPACKETS   OBYTES      OERRORS\nnet0              812033120  91203312203 0       1220331220 1612033122033 0\n" +
		"# dladm show-aggr -L aggr1\nLINK        PORT         AGGREGATABLE SYNC COLL DIST DEFAULTED EXPIRED\naggr1       net0         yes          yes  yes  yes  no        no\n--          net1         yes          no   no   no   yes       no\n",
		[]string{"property tcp: send_buf=49152", "link net0: rx_bytes=91203312203 tx_bytes=1612033122033 aggr_sync=yes", "link net1: aggr_defaulted=yes"}},
	{"AIX options", "tcp_recvspace = 1048576\nuse_isno = 1\n", []string{"no: tcp_recvspace=1048576 use_isno=1"}},
	{"policer of IOS", "R1#show policy-map interface GigabitEthernet0/0/0\n GigabitEthernet0/0/0\n\n  Service-policy output: TO-WAN\n\n    Class-map: class-default (match-any)\n      91203312 packets, 120331220331 bytes\n      5 minute offered rate 212204000 bps, drop rate 14120000 bps\n" +
		"      police:\n          cir 200000000 bps, bc 6250000 bytes\n        conformed 86100220 packets, 113302203312 bytes; actions:\n          transmit\n        exceeded 5103092 packets, 7029017019 bytes; actions:\n          drop\n        conformed 197912000 bps, exceeded 14120000 bps\n",
		[]string{"policy Gi0/0/0 out class-default: policy=TO-WAN police_bps=200000000 exceeded=5103092 dropping=exceeded exceeded_bps=14120000"}},
	{"policer of NX-OS", "n9k# show policy-map interface ethernet 1/12\n\nGlobal statistics status :   enabled prose\n\nEthernet1/12\n\n  Service-policy (qos) input:   LIMIT\n\n    Class-map (qos):   class-default (match-any)\n\n      police cir 2 gbps bc 200 ms\n        violated 91203312203 bytes, 412000000 bps action: drop\n",
		[]string{"policy Eth1/12 in class-default: police_bps=2000000000 violated=91203312203 dropping=violated"}},
	{"marks of NX-OS", "n9k# show running-config ipqos\npolicy-map type queuing OUT\n  class type queuing c-out-8q-q3\n    random-detect minimum-threshold 10 kbytes maximum-threshold 20 kbytes drop-probability 100 weight 0 ecn\n",
		[]string{"policy-config OUT c-out-8q-q3: mark_from_bytes=10000.000 mark_to_bytes=20000.000 marks=ecn"}},
	{"rates of ports", "<SW6>display current-configuration interface XGigabitEthernet0/0/3\n#\ninterface XGigabitEthernet0/0/3\n description office\n qos car inbound cir 204800 cbs 25600000\n#\n", []string{"policy-config XGE0/0/3: police_bps=204800000"}},
	{"queue of Junos", "admin@q> show interfaces queue xe-0/0/5\nPhysical interface: xe-0/0/5, Enabled, Physical link is Up\nQueue: 0, Forwarding classes: best-effort\n    Tail-dropped packets :               4120331                   2810 pps\n", []string{"port xe-0/0/5: tail_drops=4120331"}},
	{"clagctl", "cumulus@leaf01:~$ clagctl\nThe peer is alive\n                     System MAC: 44:38:39:ff:53:aa\n\nCLAG Interfaces\nOur Interface      Peer Interface     CLAG Id   Conflicts              Proto-Down Reason\n----------------   ----------------   -------   --------------------   -----------------\n" +
		"           bond1   bond1              1         -                      -\n           bond7   -                  7         -                      -\n", []string{"mlag bond1: id=1 peer=bond1", "mlag bond7: id=7 peer=none"}},
	{"vPC", "n9k# show vpc brief\nvPC domain id                     : 10\nPeer status                       : peer adjacency formed ok\n\nvPC status\n----------------------------------------------------------------------------\nId    Port          Status Consistency Reason                Active vlans\n--    ------------  ------ ----------- ------                ---------------\n12    Po12          up     success     success               20-29\n",
		[]string{"mlag Po12: id=12 state=up consistency=success"}},
	{"MLAG of EOS", "leaf1#show mlag interfaces\n   mlag       desc                            state        local       remote          status\n---------- ---------------------- ------------------ ----------- ------------ ------------\n      12       host12                 active-partial        Po12         Po12           up/down\n",
		[]string{"mlag Po12: id=12 state=active-partial peer=Po12"}},
	{"VLT", "OS10# show vlt 1 vlt-port-detail\nvlt-port-channel ID : 12\nVLT Unit ID   Port-Channel   Status   Configured ports   Active ports\n-------------------------------------------------------------------------------\n* 1           port-channel12 up       1                  1\n  2           port-channel12 down     1                  0\n",
		[]string{"mlag port-channel12: id=12 state=down"}},
	{"next hops of EOS", "spine1#show ip route 10.60.0.0/16\n\n O        10.60.0.0/16 [110/30]\n           via 10.255.1.0, Ethernet29/1\n           via 10.255.1.2, Ethernet30/1\nspine1#show running-config | include load-sharing\nip load-sharing trident fields ip source-ip destination-ip\nspine1#show running-config all | include hash seed\nport-channel load-balance trident hash seed 3\n",
		[]string{"port Et29/1: next_hop=yes", `host: "ecmp_hash=trident fields ip source-ip destination-ip" hash_seed=3`}},
	{"next hops of NX-OS", "leaf9# show ip route 10.9.0.0/16\n10.9.0.0/16, ubest/mbest: 2/0 prose\n    *via 10.255.0.1, Eth1/49, [110/41], 3d02h, ospf-1, intra\n    *via 10.255.0.3, Eth1/50, [110/41], 3d02h, ospf-1, intra\n", []string{"port Eth1/50: next_hop=yes"}},
	{"hash fields of EOS", "leaf1#show port-channel load-balance trident fields\nSource MAC address hashing for Non-IP packets is ON\nSource IP address hashing is ON\nDestination IP address hashing is ON\nSource TCP/UDP port hashing is OFF\n",
		[]string{`host: "load_balance=source ip address, destination ip address"`}},
	{"load of Huawei's ports", "<S67>display interface brief\nPHY: Physical\nInterface                   PHY   Protocol InUti OutUti   inErrors  outErrors\n10GE1/0/45                  up    up       3.11%  98.42%          0          0\n", []string{"port 10GE1/0/45: seen_rx_util=3.11 seen_tx_util=98.42 state=up"}},
}
