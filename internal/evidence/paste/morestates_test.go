package paste

var moreStates = []stateCase{
	{"IOS-XR system and bundle", `RP/0/RSP0/CPU0:xr1#show lacp system-id
Thu Nov 26 10:00:00.000 UTC
Priority  MAC Address
--------  -----------------
  0x8000  02-00-00-00-01-00
RP/0/RSP0/CPU0:xr1#show bundle Bundle-Ether10

Bundle-Ether10
  Status:                                    Up
  Local links <active/standby/configured>:   1 / 1 / 2
  Local bandwidth <effective/available>:     10000000 (10000000) kbps
  MAC address (source):                      0200.0000.0110 (Chassis pool)
  Inter-chassis link:                        No
  Minimum active links / bandwidth:          2 / 1 kbps
  Maximum active links:                      64
  Wait while timer:                          2000 ms
  Load balancing:
    Link order signaling:                    Not configured
    Hash type:                               Default
    Locality threshold:                      None
  LACP:                                      Operational
    Flap suppression timer:                  Off
    Cisco extensions:                        Disabled
    Non-revertive:                           Disabled
  mLACP:                                     Not configured
  IPv4 BFD:                                  Not configured

  Port                  Device           State        Port ID         B/W, kbps
  --------------------  ---------------  -----------  --------------  ----------
  Te0/0/0/1             Local            Active       0x8000, 0x0001    10000000
      Link is Active
  Te0/0/0/2             Local            Standby      0x8000, 0x0002    10000000
      Link is Standby due to maximum-active links configuration
`, `vendor iosxr
system 02:00:00:00:01:00
BE10 oper up
channel BE10 lacp min 2 hash Default Te0/0/0/1=bundled Te0/0/0/2=hot-standby`},
	{"Catalyst group mask", `sw9#show platform software fed switch active etherchannel 10 group-mask
Group Mask Info

Aggport IIF Id: 000000000000004d

Active Port: : 2

Member Ports
If Name                    If Id              local    Group Mask
-----------------------------------------------------------------------
GigabitEthernet1/0/2       000000000000000a   true     5555555555555555
GigabitEthernet2/0/2       000000000000004a   false    aaaaaaaaaaaaaaaa
`, `vendor ios`},
	{"Comware verbose", `<sw5>display link-aggregation verbose Bridge-Aggregation 10
Loadsharing Type: Shar -- Loadsharing, NonS -- Non-Loadsharing
Port: A -- Auto port, M -- Management port, R -- Reference port
Port Status: S -- Selected, U -- Unselected, I -- Individual
Flags:  A -- LACP_Activity, B -- LACP_Timeout, C -- Aggregation,
        D -- Synchronization, E -- Collecting, F -- Distributing,
        G -- Defaulted, H -- Expired

Aggregate Interface: Bridge-Aggregation10
Creation Mode: Manual
Aggregation Mode: Dynamic
Loadsharing Type: Shar
Management VLANs: None
System ID: 0x8000, 0200-0000-0500
Local:
  Port                Status   Priority Index    Oper-Key               Flag
  XGE1/0/1(R)         S        32768    1        1                      {ACDEF}
  XGE1/0/2            U        32768    2        1                      {ACG}
Remote:
  Actor               Priority Index    Oper-Key SystemID               Flag
  XGE1/0/1            255      1        9        0xffff, 0200-0000-0a01 {ACDEF}
  XGE1/0/2            32768    0        0        0x8000, 0000-0000-0000 {EF}
<sw5>display link-aggregation load-sharing mode
Link-Aggregation Load-Sharing Mode:
Layer 2 traffic: packet type-based sharing
Layer 3 traffic: packet type-based sharing
`, `channel BAGG10 lacp active slow XGE1/0/1=bundled XGE1/0/2=out
actor of XGE1/0/1: active slow 02:00:00:00:05:00 key 1 port 1 state 61
partner of XGE1/0/1: active slow 02:00:00:00:0a:01 key 9 port 1 state 61`},
	{"Huawei eth-trunk", `<hw1>display eth-trunk 10
Eth-Trunk10's state information is:
Local:
LAG ID: 10                  WorkingMode: LACP
Preempt Delay: Disabled     Hash arithmetic: According to SIP-XOR-DIP
System Priority: 32768      System ID: 0200-0000-0600
Least Active-linknumber: 1  Max Active-linknumber: 8
Operate status: up          Number Of Up Port In Trunk: 1
--------------------------------------------------------------------------------
ActorPortName          Status   PortType PortPri PortNo PortKey PortState Weight
XGigabitEthernet0/0/1  Selected 10GE     32768   1      2561    10111100  1
XGigabitEthernet0/0/2  Unselect 10GE     32768   2      2561    10100010  1

Partner:
--------------------------------------------------------------------------------
ActorPortName          SysPri   SystemID        PortPri PortNo PortKey PortState
XGigabitEthernet0/0/1  65535    0200-0000-0a01  255     1      9       10111100
XGigabitEthernet0/0/2  0        0000-0000-0000  0       0      0       10100011
<hw1>display eth-trunk 11
Eth-Trunk11's state information is:
WorkingMode: NORMAL         Hash arithmetic: According to SA-XOR-DA
Least Active-linknumber: 1  Max Bandwidth-affected-linknumber: 8
Operate status: up          Number Of Up Port In Trunk: 2
--------------------------------------------------------------------------------
PortName                      Status      Weight
GigabitEthernet0/0/11         Up          1
GigabitEthernet0/0/12         Down        1
`, `channel Eth-Trunk10 lacp active slow min 1 hash SIP-XOR-DIP XGE0/0/1=bundled XGE0/0/2=out
channel Eth-Trunk11 static min 1 hash SA-XOR-DA GE0/0/11=bundled GE0/0/12=down
actor of XGE0/0/1: active slow 02:00:00:00:06:00 key 2561 port 1 state 61
partner of XGE0/0/1: active slow 02:00:00:00:0a:01 key 9 port 1 state 61`},
	{"RouterOS print and monitor", `[admin@gw1] > /interface bonding print detail
Flags: X - disabled, R - running
 0  R ;;; to db1
      name="bond1" mtu=9000 mac-address=02:00:00:00:07:01 arp=enabled arp-timeout=auto
      slaves=sfp-sfpplus1,sfp-sfpplus2 mode=802.3ad primary=none link-monitoring=mii
      arp-interval=100ms arp-ip-targets="" mii-interval=100ms down-delay=0ms up-delay=0ms
      lacp-rate=1sec transmit-hash-policy=layer-3-and-4 min-links=1
 1 X  name="bond2" mtu=1500 mac-address=02:00:00:00:07:02 arp=enabled arp-timeout=auto
      slaves=ether7,ether8 mode=active-backup primary=ether7 link-monitoring=mii
      lacp-rate=30secs transmit-hash-policy=layer-2 min-links=0
[admin@gw1] > /interface bonding monitor bond1
                    mode: 802.3ad
            active-ports: sfp-sfpplus1
          inactive-ports: sfp-sfpplus2
          lacp-system-id: 02:00:00:00:07:01
    lacp-system-priority: 65535
  lacp-partner-system-id: 02:00:00:00:0A:01
[admin@gw1] > /ip neighbor print detail
 0 interface=sfp-sfpplus1,bond1 address=192.0.2.21 address4=192.0.2.21 mac-address=02:00:00:00:0A:01 identity="db1" platform="" version="" interface-name="eth0" system-description="Debian" system-caps="" system-caps-enabled=""
`, `vendor routeros
channel bond1 lacp fast min 1 hash layer3+4 sfp-sfpplus1=bundled sfp-sfpplus2=out
bond1 mtu 9000
at sfp-sfpplus1: db1 port eth0 chassis 02:00:00:00:0a:01`},
	{"EOS counters, lacp counters, errors", `leaf1#show lacp counters
                   LACPDUs         Markers      Marker Response
   Port    Status  RX      TX      RX     TX    RX     TX      Illegal
----------------------------------------------------------------------
Port Channel Port-Channel10:
   Et1     Bundled 812     830     0      0     0      0       0
leaf1#show interfaces counters errors
Port          FCS    Align   Symbol       Rx    Runts   Giants       Tx
Et1          2203        0        0     2210        3        1        0
leaf1#show interfaces counters discards
Port              InDiscards      OutDiscards
Et1                        7            41007
---------          ---------        ---------
Totals                     7            41007
leaf1#show lldp neighbors
Last table change time   : 0:10:00 ago
Number of table inserts  : 2
Number of table deletes  : 0
Number of table drops    : 0
Number of table age-outs : 0

Port          Neighbor Device ID       Neighbor Port ID    TTL
---------- ------------------------ ---------------------- ---
Et1           db1                      0200.0000.0a01      120
`, `vendor eos
Et1 in_lacp 812
Et1 out_lacp 830
Et1 crc 2203
Et1 in_errors 2210
Et1 runts 3
Et1 out_drops 41007
Et1 in_drops 7
at Et1: db1 port 0200.0000.0a01 chassis`},
	{"NX-OS hash, oracle, interface", `n9k1# show port-channel load-balance
System config:
  Non-IP: src-dst mac
  IP: src-dst ip-l4port rotate 0

Port Channel Load-Balancing Configuration for all modules:
Module 1:
  Non-IP: src-dst mac
  IP: src-dst ip-l4port rotate 0
n9k1# show port-channel load-balance forwarding-path interface port-channel 10 src-ip 192.0.2.1 dst-ip 198.51.100.7
Missing params will be substituted by 0's.

Outgoing port id: Ethernet1/2
n9k1# show interface ethernet 1/2
Ethernet1/2 is up
admin state is up, Dedicated Interface
  Belongs to Po10
  Hardware: 1000/10000 Ethernet, address: 0200.0000.0102 (bia 0200.0000.0102)
  Description: db1 eth1
  MTU 9216 bytes, BW 10000000 Kbit, DLY 10 usec
  reliability 255/255, txload 1/255, rxload 1/255
  Encapsulation ARPA, medium is broadcast
  Port mode is trunk
  full-duplex, 10 Gb/s, media type is 10G
  Beacon is turned off
  Auto-Negotiation is turned on  FEC mode is Auto
  Input flow-control is off, output flow-control is off
  Auto-mdix is turned off
  Rate mode is dedicated
  Switchport monitor is off
  EtherType is 0x8100
  EEE (efficient-ethernet) : n/a
  Last link flapped 5week(s) 6day(s)
  Last clearing of "show interface" counters never
  1 interface resets
  30 seconds input rate 2000000 bits/sec, 900 packets/sec
  30 seconds output rate 9410000000 bits/sec, 810000 packets/sec
  RX
    880012 unicast packets  1200 multicast packets  10 broadcast packets
    881222 input packets  77120031 bytes
    0 jumbo packets  0 storm suppression bytes
    3 runts  1 giants  2203 CRC  0 no buffer
    2210 input error  0 short frame  0 overrun   0 underrun  0 ignored
    0 watchdog  0 bad etype drop  0 bad proto drop  0 if down drop
    0 input with dribble  7 input discard
    12 Rx pause
  TX
    991200 unicast packets  900 multicast packets  10 broadcast packets
    992110 output packets  88112233 bytes
    0 jumbo packets
    0 output error  0 collision  0 deferred  0 late collision
    0 lost carrier  0 no carrier  0 babble  41007 output discard
    44 Tx pause
`, `vendor nxos
hash src-dst ip-l4port rotate 0 (layer 4, module)
answer Eth1/2
Eth1/2 crc 2203
Eth1/2 in_errors 2210
Eth1/2 runts 3
Eth1/2 in_drops 7
Eth1/2 out_drops 41007
Eth1/2 in_pause 12
Eth1/2 out_pause 44
Eth1/2 mtu 9216
Eth1/2 mode trunk
Eth1/2 admin up
Eth1/2 out 9.41 Gbit/s
channel Po10 Eth1/2`},
	{"Junos extensive", `admin@ex1> show interfaces xe-0/0/0 extensive
Physical interface: xe-0/0/0, Enabled, Physical link is Up
  Interface index: 650, SNMP ifIndex: 516, Generation: 153
  Description: db1 eth0
  Link-level type: Ethernet, MTU: 1514, LAN-PHY mode, Speed: 10Gbps, Duplex: Full-Duplex, BPDU Error: None, Loop Detect PDU Error: None,
  Ethernet-Switching Error: None, MAC-REWRITE Error: None, Loopback: Disabled, Source filtering: Disabled, Flow control: Disabled
  Device flags   : Present Running
  Interface flags: SNMP-Traps Internal: 0x4000
  Current address: 02:00:00:00:08:01, Hardware address: 02:00:00:00:08:01
  Last flapped   : 2026-11-20 10:00:00 UTC (6d 00:00 ago)
  Traffic statistics:
   Input  bytes  :             77120031              2000000 bps
   Output bytes  :             88112233            941000000 bps
   Input  packets:               880012                  900 pps
   Output packets:               991200                81000 pps
  Input errors:
    Errors: 2210, Drops: 7, Framing errors: 2203, Runts: 3, Policed discards: 0, L3 incompletes: 0, L2 channel errors: 0, FIFO errors: 0, Resource errors: 0
  Output errors:
    Carrier transitions: 3, Errors: 0, Drops: 41007, Collisions: 0, Aged packets: 0, FIFO errors: 0, HS link CRC errors: 0, MTU errors: 0, Resource errors: 0
  MAC statistics:                      Receive         Transmit
    Total octets                      77120031         88112233
    CRC/Align errors                      2203                0
    MAC pause frames                        12               44
`, `vendor junos
xe-0/0/0 oper up
xe-0/0/0 mtu 1514
xe-0/0/0 duplex full
xe-0/0/0 in_bytes 77120031
xe-0/0/0 out_bytes 88112233
xe-0/0/0 in_errors 2210
xe-0/0/0 crc 2203
xe-0/0/0 runts 3
xe-0/0/0 in_drops 7
xe-0/0/0 out_drops 41007
xe-0/0/0 in_pause 12
xe-0/0/0 out_pause 44
xe-0/0/0 out 941 Mbit/s`},
	{"AOS-CX interface and lldp", `sw6# show interface 1/1/1

Interface 1/1/1 is up
 Admin state is up
 Link state: up for 6 days (since Fri Nov 20 10:00:00 UTC 2026)
 Link transitions: 3
 Description: db1 eth0
 Persona:
 Hardware: Ethernet, MAC Address: 02:00:00:00:09:01
 MTU 9198
 Type SFP+SR
 Full-duplex
 qos trust none
 Speed 10000 Mb/s
 Auto-negotiation is off
 Flow-control: off
 Error-control: off
 VLAN Mode: native-untagged
 Native VLAN: 999
 Allowed VLAN List: 100,200
 Rate collection interval: 300 seconds

 Rate                           RX                   TX        Total (RX+TX)
 ---------------- -------------------- -------------------- --------------------
 Mbits / sec                      2.00               941.00               943.00
 KPkts / sec                      0.90                81.00                81.90
   Unicast                        0.90                81.00                81.90
 Utilization %                    0.02                 9.41                 9.43

 Statistic                      RX                   TX                Total
 ---------------- -------------------- -------------------- --------------------
 Packets                       880012               991200              1871212
   Unicast                     880012               991200              1871212
 Bytes                       77120031             88112233            165232264
 Jumbos                             0                    0                    0
 Dropped                            7                41007                41014
 Filtered                           0                    0                    0
 Pause Frames                      12                   44                   56
 Errors                          2210                    0                 2210
 CRC/FCS                         2203                  n/a                 2203
 Collision                        n/a                    0                    0
 Runts                              3                  n/a                    3
 Giants                             1                  n/a                    1

sw6# show lldp neighbor-info

LLDP Neighbor Information
=========================

Total Neighbor Entries          : 1
Total Neighbor Entries Deleted  : 0
Total Neighbor Entries Dropped  : 0
Total Neighbor Entries Aged-Out : 0

LOCAL-PORT  CHASSIS-ID         PORT-ID            PORT-DESC          TTL      SYS-NAME
---------------------------------------------------------------------------------------
1/1/1       02:00:00:00:0a:00  02:00:00:00:0a:01  eth0               120      db1
`, `vendor aoscx
1/1/1 oper up
1/1/1 admin up
1/1/1 mtu 9198
1/1/1 duplex full
1/1/1 native 999
1/1/1 vlans 100,200
1/1/1 in_bytes 77120031
1/1/1 in_errors 2210
1/1/1 crc 2203
1/1/1 runts 3
1/1/1 giants 1
1/1/1 in_drops 7
1/1/1 out_drops 41007
1/1/1 in_pause 12
1/1/1 out_pause 44
1/1/1 out 941 Mbit/s
at 1/1/1: db1 port 02:00:00:00:0a:01 chassis 02:00:00:00:0a:00`},
	{"Dell OS9 and its ports", `s4048#show interfaces port-channel brief
Codes: L - LACP Port-channel
       O - OpenFlow Controller Port-channel
       A - Auto Port-channel
       I - Internally Lagged

    LAG  Mode  Status       Uptime      Ports
L   10   L2    up           5d20h       Te 1/1     (Up)
                                        Te 1/2     (Down)
    11   L2L3  up           5d20h       Te 1/3     (Up)
s4048#show interfaces TenGigabitEthernet 1/1
TenGigabitEthernet 1/1 is up, line protocol is up
Port is part of Port-channel 10
Description: db1 eth0
Hardware is DellEth, address is 02:00:00:00:0b:01
    Current address is 02:00:00:00:0b:01
Pluggable media present, SFP+ type is 10GBASE-SR
Interface index is 2097156
Internet address is not set
Mode of IPv4 Address Assignment : NONE
DHCP Client-ID :0200000b01
MTU 9216 bytes, IP MTU 9198 bytes
LineSpeed 10000 Mbit
Flowcontrol rx off tx off
ARP type: ARPA, ARP Timeout 04:00:00
Last clearing of "show interface" counters 5d20h
Queueing strategy: fifo
Input Statistics:
     880012 packets, 77120031 bytes
     10 64-byte pkts, 20 over 64-byte pkts, 30 over 127-byte pkts
     1200 Multicasts, 10 Broadcasts, 878802 Unicasts
     3 runts, 1 giants, 0 throttles
     2203 CRC, 0 overrun, 7 discarded
Output Statistics:
     991200 packets, 88112233 bytes, 0 underruns
     10 64-byte pkts, 20 over 64-byte pkts, 30 over 127-byte pkts
     900 Multicasts, 10 Broadcasts, 990290 Unicasts
     0 throttles, 41007 discarded, 0 collisions, 0 wreddrops
Rate info (interval 299 seconds):
     Input 02.00 Mbits/sec,        900 packets/sec, 0.02% of line-rate
     Output 941.00 Mbits/sec,      81000 packets/sec, 9.41% of line-rate
Time since last interface status change: 5d20h
`, `vendor os9
channel Po10 lacp Te1/1=bundled Te1/2=down
channel Po11 static Te1/3=bundled
Te1/1 mtu 9216
Te1/1 speed 10.0 Gbit/s
Te1/1 crc 2203
Te1/1 runts 3
Te1/1 in_drops 7
Te1/1 out_drops 41007
Te1/1 in_bytes 77120031
Te1/1 out_bytes 88112233
Te1/1 out 941 Mbit/s`},
	{"SONiC channels and status", `admin@tor1:~$ show interfaces portchannel
Flags: A - active, I - inactive, Up - up, Dw - Down, N/A - not available,
       S - selected, D - deselected, * - not synced
  No.  Team Dev         Protocol     Ports
-----  ---------------  -----------  -----------------------------
 0010  PortChannel0010  LACP(A)(Up)  Ethernet0(S) Ethernet4(D)
admin@tor1:~$ show interfaces status
  Interface    Lanes    Speed    MTU    FEC    Alias             Vlan    Oper    Admin    Type    Asym PFC
-----------  -------  -------  -----  -----  -------  ---------------  ------  -------  ------  ----------
  Ethernet0      0,1      25G   9100     rs     etp1  PortChannel0010      up       up   SFP28         N/A
  Ethernet4      4,5      25G   1500    N/A     etp2  PortChannel0010    down     down   SFP28         N/A
`, `vendor sonic
channel PortChannel0010 lacp Ethernet0=bundled Ethernet4=down
Ethernet0 speed 25.0 Gbit/s
Ethernet4 mtu 1500
Ethernet4 oper down
Ethernet4 admin down`},
	{"Cumulus counters and clag", `cumulus@leaf01:mgmt:~$ net show counters

Kernel Interface table
Iface              MTU    RX_OK    RX_ERR    RX_DRP    RX_OVR    TX_OK    TX_ERR    TX_DRP    TX_OVR  Flg
---------------  -----  -------  --------  --------  --------  -------  --------  --------  --------  -----
bond10            9216   880012         0         0         0   991200         0         0         0  BMmRU
swp1              9216   880012      2210         7         0   991200         0     41007         0  BMsRU
`, `vendor cumulus`},
}
