package paste

// freshStates are outputs in forms that turned up last: own data.
var freshStates = []stateCase{
	{"Huawei, LACP with a reference port", `<sw7>display eth-trunk 10
Eth-Trunk10's state information is:
(h): high priority
(r): reference port
Local:
LAG ID: 10                      WorkingMode: STATIC
Preempt Delay: Disabled         Hash arithmetic: According to flow
System Priority: 32768          System ID: 0200-0000-0701(Local)
Least Active-linknumber: 1      Max Active-linknumber: 32
Operate status: up              Number Of Up Ports In Trunk: 1
Timeout Period: Fast
PortKeyMode: Auto
--------------------------------------------------------------------------------
ActorPortName              Status   PortType PortPri PortNo PortKey PortState Weight
GigabitEthernet0/1/0(hr)   Selected 1GE      32768   1      2593    11111100  1
GigabitEthernet0/1/1       Unselect 1GE      32768   129    2593    11100010  1

Partner:
--------------------------------------------------------------------------------
ActorPortName              SysPri   SystemID        PortPri PortNo PortKey PortState
GigabitEthernet0/1/0       32768    0200-0000-0a01  32768   3      9       10111100
GigabitEthernet0/1/1       0        0000-0000-0000  0       0      0       10100011
--------------------------------------------------------------------------------
`, `vendor huawei
system 02:00:00:00:07:01
channel Eth-Trunk10 lacp active fast min 1 hash flow GE0/1/0=bundled GE0/1/1=out
Eth-Trunk10 oper up
actor of GE0/1/0: active fast 02:00:00:00:07:01 key 2593 port 1 state 63
partner of GE0/1/0: active slow 02:00:00:00:0a:01 key 9 port 3 state 61`},
	{"Huawei port, its unit and its trunk", `<sw7>display interface
GigabitEthernet1/0/1 current state : UP (ifindex: 29)
Line protocol current state : UP
Link quality grade : GOOD
Description: db1 eth0
Route Port,The Maximum Transmit Unit is 9194
Internet protocol processing : disabled
IP Sending Frames' Format is PKTFMT_ETHNT_2, Hardware address is 0200-0000-0741
The Vendor PN is ACME-10G
The Vendor Name is ACME
Port BW: 10G, Transceiver max BW: 10G, Transceiver Mode: SingleMode
Loopback: none, LAN full-duplex mode, Pause Flowcontrol: Receive Enable and Send Enable
    Last 300 seconds input rate: 242275 bits/sec, 255 packets/sec
    Input: 785773731492 bytes, 8072105483 packets
    Output: 399363420485 bytes, 3947616196 packets
    Input:
      Unicast: 7945564334 packets, Multicast: 126541132 packets
      CRC: 21 packets, Symbol: 0 packets

GigabitEthernet1/0/1.50 current state : DOWN (ifindex: 80)
Line protocol current state : DOWN
Route Port,The Maximum Transmit Unit is 1500
`, `vendor huawei
GE1/0/1 oper up
GE1/0/1 speed 10.0 Gbit/s
GE1/0/1 mtu 9194
GE1/0/1 description db1 eth0
GE1/0/1 crc 21
GE1/0/1 in_bytes 785773731492
GE1/0/1 out_packets 3947616196
GE1/0/1.50 oper down
GE1/0/1.50 mtu 1500`},
	{"Comware, the other half of a pair", `[sw5]display link-aggregation verbose Bridge-Aggregation 4
Loadsharing Type: Shar -- Loadsharing, NonS -- Non-Loadsharing
Port: A -- Auto port, M -- Management port, R -- Reference port
Aggregate Interface: Bridge-Aggregation4
Creation Mode: Manual
Aggregation Mode: Dynamic
Loadsharing Type: Shar
Management VLANs: None
System ID: 0x8000, 0200-0000-0501
Local:
  Port                Status   Priority Index    Oper-Key               Flag
  GE1/0/1             S        32768    1        1                      {ACDEF}
  GE1/0/3             I        32768    3        1                      {ACG}
Remote:
  Actor               Priority Index    Oper-Key SystemID               Flag
  GE1/0/1(R)          32768    16386    40004    0x7b  , 0200-0000-0a01 {ABCDEF}
  GE1/0/3             32768    0        0        0x8000, 0000-0000-0000 {DEF}
[sw5]display link-aggregation member-port gigabitethernet 1/0/7
Flags: A -- LACP_Activity, B -- LACP_Timeout, C -- Aggregation,
       D -- Synchronization, E -- Collecting, F -- Distributing,
       G -- Defaulted, H -- Expired

GigabitEthernet1/0/7:
Aggregate Interface: Bridge-Aggregation7
Local:
    Port Number: 7
    Oper-Key: 2
    Flag: {ACDEF}
Remote:
    System ID: 0x8000, 0200-0000-0a02
    Port Number: 26
    Oper-Key: 3
    Flag: {ACDEF}
[sw5]display interface brief
Brief information on interfaces in bridge mode:
Link: ADM - administratively down; Stby - standby
Speed: (a) - auto
Duplex: (a)/A - auto; H - half; F - full
Type: A - access; T - trunk; H - hybrid
Interface            Link Speed   Duplex Type PVID Description
BAGG4                UP   2G(a)   F(a)   T    1    to db1
GE1/0/9              ADM  auto    A      A    30
`, `vendor comware
system 02:00:00:00:05:01
channel BAGG4 lacp active slow GE1/0/1=bundled GE1/0/3=standalone
partner of GE1/0/1: active fast 02:00:00:00:0a:01 key 40004 port 16386 state 63
channel BAGG7 lacp active slow GE1/0/7=bundled
partner of GE1/0/7: active slow 02:00:00:00:0a:02 key 3 port 26 state 61
BAGG4 oper up
BAGG4 speed 2.00 Gbit/s
BAGG4 native 1
BAGG4 description to db1
GE1/0/9 admin down
GE1/0/9 access 30`},
	{"AOS-CX, who is passive", `cx1# show lacp interfaces
State abbreviations :
A - Active        P - Passive      F - Aggregable I - Individual
S - Short-timeout L - Long-timeout N - InSync     O - OutofSync
C - Collecting    D - Distributing
X - State m/c expired              E - Default neighbor state
Actor details of all interfaces:
------------------------------------------------------------------------------
Intf    Aggr       Port  Port  State   System-id         System Aggr Forwarding
        Name       Id    Pri                             Pri    Key  State
------------------------------------------------------------------------------
1/1/11  lag1(mc)   11    1     ASFNCD  02:00:00:00:06:01 65534  1    up
Partner details of all interfaces:
------------------------------------------------------------------------------
Intf    Aggr       Port  Port  State   System-id         System Aggr
        Name       Id    Pri                             Pri    Key
------------------------------------------------------------------------------
1/1/11  lag1(mc)   56    0     PLFNCD  02:00:00:00:0a:01 27904  986
`, `system 02:00:00:00:06:01
channel lag1 1/1/11=bundled
actor of 1/1/11: active fast 02:00:00:00:06:01 key 1 port 11 state 63
partner of 1/1/11: passive slow 02:00:00:00:0a:01 key 986 port 56 state 60`},
	{"AOS-S counters", `HP-2920# show lacp counters
LACP Port Counters.
               LACP      LACP      Marker    Marker    Marker     Marker
Port   Trunk   PDUs Tx   PDUs Rx   Req. Tx   Req. Rx   Resp. Tx   Resp. Rx   Error
----   ------  -------   -------   -------   -------   --------   --------   -----
A2     Trk1    1234      1230       0          0         0         0           0
A3     A3      5         0          0          0         0         0           0
`, `vendor procurve
channel Trk1 lacp A2
A2 in_lacp 1230
A2 out_lacp 1234
A3 out_lacp 5`},
	{"EOS, both halves of a pair in one table", `leaf1#show port-channel dense
   Port-Channel       Protocol    Ports
   Po1(U)            LACP(a)     Et1(PG+) Et2(PG+) PEt1(P) PEt2(P)
leaf1#show interfaces status
Port       Name   Status       Vlan     Duplex Speed  Type
Et1        db1    connected    trunk    full   10G    10GBASE-SR
Et3               disabled     22       auto   auto   1000BASE-T
`, `channel Po1 lacp active Et1=bundled Et2=bundled
Et1 mode trunk
Et1 oper up
Et3 admin down
Et3 access 22`},
	{"IOS ports of channels, apart from these", `sw1#show etherchannel port
                Channel-group listing:
                ----------------------
Group: 2
----------
                Ports in the group:
                -------------------
Port: Gi0/2
------------

Port state      = Up Mstr In-Bndl
Channel group   = 2           Mode  = Active       Gcchange = -
Port-channel    = Po2         GC    = -        Pseudo port-channel = Po2
Port index      = 0           Load  = 0x00         Protocol =   LACP
Partner's information
          Partner                 Partner                    Partner
Port      System ID               Port Number    Age         Flags
Gi0/2     00001,0200.0000.0a01    0x4            4s          SP
          LACP Partner           Partner        Partner
          Port Priority          Oper Key       Port State
          32768                  0x9            0x3C
Age of the port in the current state: 00d:00h:00m:35s
Port: Gi0/3
------------
Port state      = Up Mstr Not-in-Bndl
Channel group   = 3           Mode  = Desirable-Sl    Gcchange = 0
Port-channel    = Po3         GC    = 0x00030001   Pseudo port-channel = Po3
Port index      = 0           Load  = 0x00         Protocol =   PAgP
`, `channel Po2 lacp active Gi0/2=bundled
partner of Gi0/2: passive slow 02:00:00:00:0a:01 key 9 port 4 state 60
channel Po3 pagp Gi0/3=out`},
	{"NX-OS channel of a pair", `n9k# show interface port-channel99
port-channel99 is up
admin state is up,
 vPC Status: Up, vPC number: 99
  Hardware: Port-Channel, address: 0200.0000.0901 (bia 0200.0000.0901)
  Description: db1
  MTU 9216 bytes, BW 20000000 Kbit, DLY 10 usec
  Port mode is trunk
  full-duplex, 10 Gb/s
  Members in this channel: Eth1/9, Eth1/10
n9k# show interface counters errors
--------------------------------------------------------------------------------
Port         InDiscards
--------------------------------------------------------------------------------
Eth1/9               17
`, `channel Po99 pair 99 Eth1/9 Eth1/10
Po99 oper up
Po99 speed 20.0 Gbit/s
Po99 mtu 9216
Po99 description db1
Po99 mode trunk
Eth1/9 in_drops 17`},
	{"IOS port that is up and passes no frame", `sw1#show interfaces
GigabitEthernet1/0/1 is up, line protocol is down (suspended)
  Hardware is Gigabit Ethernet, address is 0200.0000.0101 (bia 0200.0000.0101)
  MTU 1500 bytes, BW 1000000 Kbit/sec, DLY 10 usec,
  Full-duplex, 1000Mb/s, media type is 10/100/1000BaseTX
  Input queue: 0/2000/31/0 (size/max/drops/flushes); Total output drops: 8
GigabitEthernet1/0/2 is administratively down, line protocol is down (disabled)
  MTU 1500 bytes, BW 1000000 Kbit/sec, DLY 10 usec,
`, `Gi1/0/1 oper down
Gi1/0/1 reason suspended
Gi1/0/1 in_drops 31
Gi1/0/1 out_drops 8
not Gi1/0/1 admin down
Gi1/0/2 admin down
Gi1/0/2 oper down`},
	{"Dell OS9 port, channel without ports, neighbours", `os9#show interfaces TenGigabitEthernet 0/1
TenGigabitEthernet 0/1 is up, line protocol is up
Port is part of Port-channel 1
Description: db1
Hardware is DellEth, address is 02:00:00:00:04:01
    Current address is 02:00:00:00:04:01
Server Port AdminState is N/A
Pluggable media not present
Interface index is 1048580
MTU 9216 bytes, IP MTU 9198 bytes
LineSpeed 10000 Mbit
Input Statistics:
     1744615501 packets, 4113562169497 bytes
     0 runts, 0 giants, 0 throttles
     3 CRC, 0 overrun, 31467 discarded
Output Statistics:
     1816060613 packets, 3247499732460 bytes, 0 underruns
     0 throttles, 12 discarded, 0 collisions, 0 wreddrops
os9#show interfaces port-channel brief
Codes: L - LACP Port-channel
LAG  Mode  Status       Uptime      Ports
L    9    L2L3  down         00:00:00
os9#show lldp neighbors detail
========================================================================
 Local Interface Te 0/1 has 2 neighbors
  Total Frames Out: 656296
  The neighbors are given below:
  -----------------------------------------------------------------------

    Remote Chassis ID Subtype: Mac address (4)
    Remote Chassis ID:  02:00:00:00:0a:01
    Remote Port Subtype:  Mac address (3)
    Remote Port ID:  02:00:00:00:0a:02
    Remote Port Description:  eth0
    Local Port ID: TenGigabitEthernet 0/1
    Remote System Name:  db1
    Remote Management Address (IPv4):  192.0.2.10
   ---------------------------------------------------------------------------

    Remote Chassis ID Subtype: Mac address (4)
    Remote Chassis ID:  02:00:00:00:0a:05
    Remote Port Subtype:  Mac address (3)
    Remote Port ID:  02:00:00:00:0a:06
    Remote System Name:  bmc1
`, `vendor os9
channel Po1 Te0/1
channel Po9 lacp
Po9 oper down
Te0/1 oper up
Te0/1 speed 10.0 Gbit/s
Te0/1 mtu 9216
Te0/1 crc 3
Te0/1 in_bytes 4113562169497
Te0/1 in_drops 31467
Te0/1 out_drops 12
at Te0/1: db1 port 02:00:00:00:0a:02 chassis 02:00:00:00:0a:01
at Te0/1: bmc1 port 02:00:00:00:0a:06 chassis 02:00:00:00:0a:05`},
	{"Junos extensive, neighbours in units and channels", `me@ex1> show lacp interfaces extensive
Aggregated interface: ae0
    LACP state:       Role   Exp   Def  Dist  Col  Syn  Aggr  Timeout  Activity
      ge-0/0/3       Actor    No    No   Yes  Yes  Yes   Yes     Fast    Active
      ge-0/0/3     Partner    No    No   Yes  Yes  Yes   Yes     Slow   Passive
    LACP protocol:        Receive State  Transmit State          Mux State
      ge-0/0/3                  Current   Slow periodic Collecting distributing
    LACP info:        Role     System             System       Port     Port    Port
                             priority         identifier   priority   number     key
      ge-0/0/3       Actor        127  02:00:00:00:08:01        127        1       1
      ge-0/0/3     Partner      32768  02:00:00:00:0a:01      32768        2       7
me@ex1> show lldp neighbors
Local Interface    Parent Interface    Chassis Id          Port info          System Name
re0:mgmt-0         -                   02:00:00:00:0c:01   tap5               oob1
ge-0/0/4.0         -                   02:00:00:00:0b:01   ge-2/0/33.0        sw21
et-0/0/3           ae1                 02:00:00:00:0b:02   ge-0/0/2           sw22
`, `system 02:00:00:00:08:01
channel ae0 lacp active fast ge-0/0/3=bundled
actor of ge-0/0/3: active fast 02:00:00:00:08:01 key 1 port 1 state 63
partner of ge-0/0/3: passive slow 02:00:00:00:0a:01 key 7 port 2 state 60
channel ae1 et-0/0/3
at et-0/0/3: sw22 port ge-0/0/2 chassis 02:00:00:00:0b:02
at ge-0/0/4: sw21 port ge-2/0/33.0 chassis 02:00:00:00:0b:01
at re0:mgmt-0: oob1 port tap5 chassis 02:00:00:00:0c:01`},
	{"Junos ranges of ports and groups", `set interfaces interface-range db1 member ge-0/0/0
set interfaces interface-range db1 member-range ge-1/0/0 to ge-1/0/1
set interfaces interface-range db1 ether-options 802.3ad ae1
set interfaces ae1 aggregated-ether-options lacp active
set groups EVPN interfaces et-0/0/50 ether-options 802.3ad ae100
set groups EVPN interfaces ae100 aggregated-ether-options lacp periodic slow
set groups other interfaces et-0/0/51 ether-options 802.3ad ae100
set apply-groups EVPN
`, `channel ae1 lacp active ge-0/0/0 ge-1/0/0 ge-1/0/1
channel ae100 lacp slow et-0/0/50`},
	{"RouterOS options over several lines", `# 2026-08-19 17:40:47 by RouterOS 7.19.4
/interface bonding
add comment="LAG(6)" down-delay=100ms lacp-rate=1sec \
    mii-interval=80ms mode=802.3ad name=lag6 slaves=\
    ether4,ether3 transmit-hash-policy=layer-3-and-4 up-delay=100ms
`, `vendor routeros
channel lag6 lacp fast hash layer3+4 ether4 ether3`},
	{"Cumulus links with what they hear", `cumulus@leaf01:mgmt:~$ net show interface
State  Name           Spd    MTU  Mode          LLDP                          Summary
-----  -------------  ---  -----  ------------  ----------------------------  ---------------------------
UP     lo             N/A  65536  Loopback                                    IP: 127.0.0.1/8
UP     eth0           1G    1500  Mgmt          oob (swp10)                   Master: mgmt(UP)
                                                                              IP: 192.0.2.11/24(DHCP)
UP     swp49          1G    9216  BondMember    leaf02 (swp49)                Master: peerlink(UP)
UP     swp51          1G    9216  Default       spine01 (swp1)
UP     peerlink       2G    9216  802.3ad                                     Master: bridge(UP)
       peerlink                                                               Bond Members: swp49(UP)
       peerlink                                                               Bond Members: swp50(DN)
cumulus@leaf01:mgmt:~$ net show interface bonds
    Name   Speed   MTU  Mode     Summary
--  -----  -----  ----  -------  ----------------------------------
UP  db1    2G     1500  802.3ad  Bond Members: swp1(UP), swp2(UP)
`, `vendor cumulus
channel db1 lacp swp1 swp2
channel peerlink lacp swp49 swp50
peerlink mtu 9216
swp49 speed 1.00 Gbit/s
at swp49: leaf02 port swp49 chassis
at swp51: spine01 port swp1 chassis`},
	{"Cumulus file", `auto bond-db1
iface bond-db1
    bond-mode 802.3ad
    bond-lacp-rate fast
    bond-slaves swp1 swp2
    mtu 9000
    bridge-vids 100
`, `vendor cumulus
channel bond-db1 lacp fast swp1 swp2
bond-db1 mtu 9000
bond-db1 vlans 100`},
	{"SONiC channel by its management", `sonic# show interface PortChannel 1
PortChannel 1 is up, line protocol is down, mode lacp
Interface index is 49
MTU 1532 bytes, IP MTU 1500 bytes
Minimum number of links to bring Port-channel up is 2
LACP mode active interval slow
LACP Actor System ID: Priority 65535 Address 02:00:00:00:03:01
Members in this channel: Ethernet56 Ethernet60
`, `vendor sonic
system 02:00:00:00:03:01
channel PortChannel1 lacp active slow min 2 Ethernet56 Ethernet60
PortChannel1 oper down
PortChannel1 mtu 1532`},
	{"PAN-OS counters", `AE group: ae2
Members:                Bndl Rx state       Mux state  Sel state
  ethernet1/11          yes  Current        Tx_Rx      Selected
Port Counters
--------------------------------------------------------------------------------
Interface               LACPDUs         Marker      Marker Response       Error
                    Sent     Recv     Sent Recv     Sent     Recv     Unknown  Illegal
--------------------------------------------------------------------------------
ethernet1/11         100      101      0    0        0        0        0        0
`, `channel ae2 lacp ethernet1/11=bundled
ethernet1/11 in_lacp 101
ethernet1/11 out_lacp 100`},
	{"a name that a table cut", `sw1#show lldp neighbors
Device ID           Local Intf     Hold-time  Capability      Port ID
db1.storage.examp   Gi1            120        B               17
twb-sf-hpsw1.local.dGi2            120        B               18
sw1#show lldp neighbors detail
------------------------------------------------
Local Intf: Gi2
Chassis id: 0200.0000.0a01
Port id: 18
System Name: twb-sf-hpsw1.local.domain
------------------------------------------------
`, `at Gi1: db1.storage.examp port 17 chassis
at Gi2: twb-sf-hpsw1.local.domain port 18 chassis 02:00:00:00:0a:01
not at Gi2: twb-sf-hpsw1.local.d port 18 chassis`},
	{"a neighbour whose chassis is no address", `n9k# show lldp neighbors detail
Chassis id: SERIAL77
Port id: 1/2.1
Local Port id: Eth1/6
System Name: lb1.example.com
Vlan ID: 0

Chassis id: 0200.0000.0a02
Port id: Ethernet1/1
Local Port id: Eth1/1
System Name: leaf01
`, `at Eth1/6: lb1.example.com port 1/2.1 chassis SERIAL77
at Eth1/1: leaf01 port Ethernet1/1 chassis 02:00:00:00:0a:02`},
	{"EOS, what a Jericho hashes on", `s1#show load-balance profile
default (global):
Lag Hashing on IP-TCP-UDP headers for IP packets is ON
Lag Hashing on MAC header for IP packets is OFF
Full symmetric hashing is OFF
Lag Hashing mode is flow-based
Lag Hash seed is 7 (automatically selected)*
Lag Hash polynomial is 3 (automatically selected)*
Lag Hash key shift is 16 (automatically selected)*
Lag Hashing on ingress interface is ON
Allowed member selection methods: Multiplication SmoothDistribution
Port-channel load-balancing in egress replication is OFF
MAC hash fields:
   Source MAC Address is ON
IPv4 hash fields:
   Source IPv4 Address is ON
L4 hash fields:
   Source Port is ON
`, `vendor eos
hash IP-TCP-UDP headers, ingress interface polynomial 3, key shift 16 (layer 4, switch)`},
	{"Dell OS9, names that run into ports", `os9#show lldp neighbors
 Loc PortID     Rem Host Name     Rem Port Id                        Rem Chassis Id
 --------------------------------------------------------------------------------

 Te 1/1         -                 02:00:00:00:0a:01                  02:00:00:00:0a:02
 Te 1/3         db1.example.com...02:00:00:00:0a:03                  02:00:00:00:0a:04
`, `at Te1/1: port 02:00:00:00:0a:01 chassis 02:00:00:00:0a:02
at Te1/3: db1.example.com... port 02:00:00:00:0a:03 chassis 02:00:00:00:0a:04`},
	{"AOS-CX neighbours in paragraphs", `cx1# show lldp neighbor-info detail
Port                          : 1/1/1
Neighbor Entries              : 1
Chassis-id                    : 02:00:00:00:0a:01
Port-id                       : 2
System Name                   : edge1
`, `at 1/1/1: edge1 port 2 chassis 02:00:00:00:0a:01`},
	{"NX-OS channels with their modes", `n9k# show port-channel database
port-channel1
    Administrative channel mode is active
    Operational channel mode is active
    Last membership update is successful
    2 ports in total, 1 ports up
    First operational port is Ethernet1/1
    Ports:   Ethernet1/1     [active ] [up] *
             Ethernet1/2     [passive] [down]
`, `channel Po1 Eth1/1=bundled Eth1/2=down`},
}
